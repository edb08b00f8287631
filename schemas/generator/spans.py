"""Where are the lists in the value of a record? Emits a function that finds them and makes no objects.

The values in `LISTS` say what a member has or is to have. The same lists come again and again, with another epoch
before them and other things behind them: whoever has read them once can look them up by their bytes.
"""

from __future__ import annotations

from schemas.generator.check import CheckEmitter
from schemas.generator.flat import is_number

LISTS = {
    "ConnectWorkerGroupCurrentMemberAssignmentValue": ("ConnectorsTasks",),
    "ConnectWorkerGroupTargetAssignmentMemberValue": ("ConnectorsTasks",),
    "ConsumerGroupCurrentMemberAssignmentValue": ("AssignedPartitions", "PartitionsPendingRevocation"),
    "ConsumerGroupTargetAssignmentMemberValue": ("TopicPartitions",),
}
"""The lists of each of these values. They stand one behind the other, with nothing but numbers before them. None may
be null.
"""


class SpanEmitter(CheckEmitter):
    """Emits the finding function of one version."""

    def top(self) -> list[str]:
        """The body of the function (data, pos) -> (first byte of the lists, first byte behind them)."""
        fields = [field for field in self.message.top.fields if field.is_regular(self.version)]
        names = LISTS[self.message.name]
        first = [field.name for field in fields].index(names[0])
        lists = fields[first : first + len(names)]
        assert self.flexible
        assert tuple(field.name for field in lists) == names, f"{self.message.name}: the lists are not together"
        for field in fields[:first]:
            assert is_number(field), f"{self.message.name}: the lists are not always at the same place"
            self.field(field, True)
        self.settle()
        self.out.add("start = pos")
        for field in lists:
            assert field.is_array
            assert self.version not in field.nullable
            self.field(field, True)
        self.settle()
        self.out.add("return start, pos")
        return self.out.lines
