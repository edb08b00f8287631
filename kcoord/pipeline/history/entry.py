"""A record of the log as the tables see it, and its group, member and epoch."""

from __future__ import annotations

from typing import Any

from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.records import EPOCH_FIELDS, Record

Row = dict[str, Any]
"""A row by the names of its columns. A time is in unix ms, or None."""

CLASSIC, CONNECT, CONFIGURED, SAID, TARGET, CURRENT, SETTINGS, MEMBER_TARGET, HISTORY = 2, 3, 4, 5, 6, 7, 8, 9, 10
"""The numbers of the record types about groups."""
CONSUMERS, CONSUMER_SAID, CONSUMERS_TARGET, CONSUMERS_MEMBER_TARGET, CONSUMERS_CURRENT, CONSUMERS_HISTORY = (
    20, 22, 23, 24, 25, 27
)  # fmt: skip
"""The same of consumer groups, as far as anything asks for them."""
NAMES = {
    0: "LegacyOffsetCommit",
    1: "OffsetCommit",
    2: "GroupMetadata",
    3: "ConnectWorkerGroupMetadata",
    4: "ConnectWorkerGroupConnectorsTasksMetadata",
    5: "ConnectWorkerGroupMemberMetadata",
    6: "ConnectWorkerGroupTargetAssignment",
    7: "ConnectWorkerGroupCurrentMemberAssignment",
    8: "ConnectWorkerGroupConfiguration",
    9: "ConnectWorkerGroupTargetAssignmentMember",
    10: "ConnectWorkerGroupHistory",
    20: "ConsumerGroupMetadata",
    21: "ConsumerGroupTopics",
    22: "ConsumerGroupMemberMetadata",
    23: "ConsumerGroupTargetAssignmentMetadata",
    24: "ConsumerGroupTargetAssignmentMember",
    25: "ConsumerGroupCurrentMemberAssignment",
    26: "ConsumerGroupRegularExpression",
    27: "ConsumerGroupHistory",
    28: "DeclaredTopic",
}
_OF_MEMBER = frozenset((
    SAID, CURRENT, MEMBER_TARGET, CONSUMER_SAID, CONSUMERS_MEMBER_TARGET, CONSUMERS_CURRENT
))  # fmt: skip


@frozen(slots=True)
class Entry:
    """A record that was read, with its position."""

    partition: int
    offset: int
    at_ms: int
    record: Record
    lists: frozenset[Any] | None = None
    """What the lists of the value say, if they were read apart from it; the value's own are empty then. See
    `assignment_lists.py`.
    """


def group_of(record: Record) -> str:
    """The id of the group that the record belongs to."""
    key: Any = record.key
    group_id: str = key.group_id if key.API_KEY >= CONNECT else key.group
    return group_id


def member_of(record: Record) -> str | None:
    """The id of the member that the record belongs to, if it belongs to one."""
    key: Any = record.key
    return key.member_id if key.API_KEY in _OF_MEMBER else None


def epoch_of(record: Record) -> int | None:
    """The epoch or generation in the record (see the column `epoch` of `records`). Records 10 and 27 have it in their
    keys.
    """
    key: Any = record.key
    if key.API_KEY in (HISTORY, CONSUMERS_HISTORY):
        epoch: int = key.epoch
        return epoch
    name = EPOCH_FIELDS.get(key.API_KEY)
    return None if name is None or record.value is None else getattr(record.value, name)
