"""The interface of consumer groups' assignors.

An assignor is pure: the same group gives the same targets; no clock, no random number, no memory of the last call.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from kcoord.assign.consumer.model import ConsumerTargets, SubscribedGroup


@runtime_checkable
class ConsumerAssignor(Protocol):
    """Runs in the coordinator."""

    @property
    def name(self) -> str:
        """The name by which consumers ask for it (`group.remote.assignor`)."""

    @property
    def reads_racks(self) -> bool:
        """Whether a target may depend on where members run. Then a member that comes with another rack begins a new
        assignment.
        """

    def assign(self, group: SubscribedGroup) -> ConsumerTargets:
        """The targets: each partition of each subscribed topic once, with a member that subscribes to the topic.

        If it raises an exception, or breaks that rule, it has failed: the group keeps its targets and tries again.
        """
