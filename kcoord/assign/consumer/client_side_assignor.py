"""The client-side assignors of consumer groups: what they are, what they get, and what they return.

Such an assignor runs in a consumer of the group, the one that the coordinator chooses. It gets the group as it was when
that consumer asked for it, and says what each member is to consume. Its input and output are values that never change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import attrs

from kcoord.assign.consumer.model import ConsumerTarget, ConsumerTargets, SubscribedGroup, Subscriber
from kcoord.assign.model import Metadata


@attrs.frozen
class PreparedMember(Subscriber):
    """A consumer of the group, with its present target and what its own assignor of the same name says."""

    epoch: int = 0
    """The member epoch."""
    version: int = 0
    """The version of `metadata`."""
    reason: int = 0
    """`Metadata.reason` of the member's assignor."""
    metadata: bytes = b""
    """What the member's assignor gave (`ClientSideAssignor.metadata`)."""


@attrs.frozen
class PreparedGroup(SubscribedGroup):
    """All that an assignor may look at. The assignors of the coordinator (`ConsumerAssignor`) take it as well."""

    members: tuple[PreparedMember, ...]
    topics: Mapping[bytes, int]
    """How many partitions each topic has. A subscribed topic that is not here does not exist."""
    names: Mapping[bytes, str] = attrs.field(factory=dict)
    """The topics' names."""


@attrs.frozen
class ConsumerMemberAssignment:
    """What one member is to consume: everything, not a difference."""

    member_id: str
    target: ConsumerTarget = attrs.field(factory=dict)
    version: int = 0
    """The version of `metadata`."""
    metadata: bytes = b""
    """Handed to the member's assignor unchanged."""


@attrs.frozen
class ConsumerAssignment:
    """What all members are to consume. A member that is not named gets nothing."""

    members: tuple[ConsumerMemberAssignment, ...]
    error: int = 0
    """Not 0, but between -128 and 127: no assignment could be made, and the coordinator asks another member."""

    @classmethod
    def of(cls, targets: ConsumerTargets) -> ConsumerAssignment:
        """These targets, such as an assignor of the coordinator makes, without metadata."""
        return cls(tuple(ConsumerMemberAssignment(member_id, target) for member_id, target in targets.items()))


class ClientSideAssignor(ABC):
    """Runs in the consumer that the coordinator chose.

    The coordinator takes an assignor that all members list, and a consumer whose range of versions contains the ranges
    of all members.
    """

    name: str
    """Unique among assignors; not empty."""
    minimum_version: int = 0
    """The oldest metadata version that it reads."""
    maximum_version: int = 0
    """The newest metadata version that it reads."""

    def metadata(self) -> Metadata:
        """What the coordinator hands to the assignor that computes. It is asked for every second; each change of it
        makes the group compute a new assignment, so it must not contain the present one.
        """
        return Metadata(version=self.maximum_version)

    @abstractmethod
    def assign(self, group: PreparedGroup) -> ConsumerAssignment:
        """The assignment: each partition of each subscribed topic once, with a member that subscribes to the topic.

        It is pure: the same group gives the same assignment; no clock, no random number, no memory of the last call. It
        is called in a thread of its own. If it raises an exception, it has failed, and another member computes.
        """

    def on_assignment(self, assignment: ConsumerMemberAssignment) -> None:  # noqa: B027 (most have no use for it)
        """This member has come to a new assignment. Called once per epoch, before the consumer's `on_assigned`, with
        what the member may consume at that moment. What others must let go of first is told to `on_assigned` alone.
        """
