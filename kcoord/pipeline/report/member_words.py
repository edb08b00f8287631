"""The words of the page for a group: Connect workers run connectors and tasks, consumers consume partitions."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from kcoord.pipeline.history.classic_assignments import CONSUMER_PROTOCOL_TYPE


@attrs.frozen
class MemberWords:
    """What members and resources are called, and what members do with them."""

    member: str
    resources: str
    could_be: str
    """What members could be doing with resources."""
    ran_nowhere: str
    """What a resource did in a gap."""
    ran_again: str
    """What all resources do when a gap is over."""
    nobody_ran: str
    """What nobody did in a gap."""
    unowned: str
    """The unit of the sum of all gaps."""

    @property
    def members(self) -> str:
        """More than one of them."""
        return f"{self.member}s"


WORKERS = MemberWords(
    member="worker",
    resources="connectors and tasks",
    could_be="running",
    ran_nowhere="ran nowhere",
    ran_again="ran again",
    nobody_ran="nobody ran",
    unowned="task-seconds nobody ran",
)
CONSUMERS = MemberWords(
    member="consumer",
    resources="partitions",
    could_be="consuming",
    ran_nowhere="was consumed by nobody",
    ran_again="were consumed again",
    nobody_ran="nobody consumed",
    unowned="partition-seconds nobody consumed",
)
UNOWNED_OF_ALL = "task-seconds or partition-seconds of nobody"
"""The unit of sums of gaps in a list that has groups of both kinds."""


def words_for(protocol_type: str | None) -> MemberWords:
    """The words for a group of such members."""
    return CONSUMERS if protocol_type == CONSUMER_PROTOCOL_TYPE else WORKERS


def unowned_in(groups: Iterable[MemberWords]) -> str:
    """The unit of sums of gaps in a list of groups."""
    units = {each.unowned for each in groups}
    return units.pop() if len(units) == 1 else UNOWNED_OF_ALL
