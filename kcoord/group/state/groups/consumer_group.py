"""The state of a consumer group (KIP-848): what every group without a barrier has, topics, what each member is told.

Words of its rules: *assigned* is what a member was told to consume, *pending* what it must let go of; *current* is
both, and is given to nobody else. The assignment epoch of a partition is the epoch at which the member got it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

import attrs

from kcoord.assign.consumer.model import SubscribedGroup
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.modern_group import LONG_AGO_MS, ModernGroup
from kcoord.group.state.groups.modern_group import Target as ModernTarget
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, NO_EPOCH, ModernMember
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.topic import Topic
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.records import ConsumerGroupMemberMetadataValue

Metadata: TypeAlias = ConsumerGroupMemberMetadataValue
Partition: TypeAlias = tuple[bytes, int]
"""A topic's id, and a number from 0."""
Partitions: TypeAlias = frozenset[Partition]
TargetByTopic: TypeAlias = Mapping[bytes, AbstractSet[int]]
"""Partitions by topic id."""
if TYPE_CHECKING:
    _Member: TypeAlias = ModernMember[Metadata, Partition]
    Target: TypeAlias = ModernTarget[Partition]
else:  # to call a class with its parameters takes ten times as long as the class alone
    _Member, Target = ModernMember, ModernTarget

PROTOCOL_TYPE = "consumer"
"""The protocol type in ListGroups and DescribeGroups."""
FIRST_EPOCH = 1
"""The epoch of a group that has just been made."""
NOTHING: Partitions = frozenset()
Note: TypeAlias = tuple[int, bytes]
"""What a client-side assignor tells a member: the version, and the metadata that is written in it."""
NO_NOTE: Note = (0, b"")


class Stage(IntEnum):
    """How far a member is on its way to its target. The numbers are those in records."""

    STABLE = 0
    """It has what it is told to have, at its epoch."""
    UNREVOKED = 1
    """It must let go of something before it may go on."""
    UNRELEASED = 2
    """It waits for what other members have not let go of."""


@attrs.define(slots=True, eq=False)
class ConsumerMember(_Member):
    """A consumer, from its first heartbeat until it is removed."""

    # durable
    stage: Stage = Stage.STABLE
    assigned: Partitions = NOTHING
    """The part of its current that it is told to consume."""
    epochs: Mapping[Partition, int] = attrs.Factory(dict)
    """The assignment epochs of its current. A partition that is not in it: 0."""
    names: frozenset[str] = frozenset()
    """The topics that it subscribes to by name, as its metadata has them."""
    # session
    unconfirmed: Partitions = NOTHING
    """What it was granted and has not said to own since. A list without that may be older than the grant."""
    said_on_arrival: bool = False
    """Whether what it last said to own was the first that it said on its connection."""
    told_epoch: int = JOINING_EPOCH
    """The epoch in its last heartbeat, or in the answer to that. While an answer waits, its epoch may move on."""
    is_patient: bool = False
    """Whether its client is known to wait for an answer for longer than one interval."""
    told_interval_ms: int = 0
    """The interval between two heartbeats that it was told last on its connection. 0: none was yet."""
    answered_ms: int = LONG_AGO_MS
    """When it was answered last."""
    is_owed_all: bool = False
    """Whether its held answer must have the assignment although it may be as before."""
    told_to_compute: bool = False
    """Whether an answer has asked it to compute since it was chosen."""
    told_note: Note = NO_NOTE
    """What it was told last by the assignor that computed."""
    generation: int = NO_EPOCH
    """Of a classic member: the epoch that its last JoinGroup was told. It may have moved since, with the same share."""
    has_parked_sync: bool = False
    """Of a classic member: whether what is held is the answer to its SyncGroup."""
    call_due_ms: int = NEVER_MS
    """Of a classic member that was told to join again, or that has joined: until when it must join, or sync."""

    def move(self, epoch: int) -> None:
        """Move the member to `epoch`. It may not hear of that for a while, or not at all if it moves again."""
        self.epoch = epoch

    def tell_epoch(self) -> None:
        """Note that an answer tells the member its epoch. The one that it knows is still accepted if it misses that."""
        if self.epoch != self.told_epoch:
            self.previous_epoch = self.told_epoch if self.told_epoch > JOINING_EPOCH else NO_EPOCH
            self.told_epoch = self.epoch

    @property
    def known_epoch(self) -> int:
        """The epoch that it knows, as far as anybody can tell; of a classic member its epoch."""
        is_told = self.told_epoch > JOINING_EPOCH and not self.is_classic
        return self.told_epoch if is_told else self.epoch

    @property
    def is_classic(self) -> bool:
        """Whether it speaks the classic protocol."""
        return self.metadata.classic_member_metadata is not None

    @property
    def pending(self) -> Partitions:
        """What it must let go of."""
        return self.current if not self.assigned else self.current - self.assigned


@frozen(slots=True)
class Subscription:
    """What a member subscribes to. Members that subscribe to the same share one, as long as nothing changes."""

    by_name: frozenset[str]
    """The topics that it names."""
    names: frozenset[str]
    """These, and those that match its regular expression, whether they exist or not."""
    ids: frozenset[bytes]
    """The ids of the existing topics among them."""


@frozen(slots=True)
class AssignmentFailure:
    """The assignor could not make targets, so the last ones stay."""

    epoch: int
    """The group epoch for which they were to be."""
    why: str
    times: int
    """How often in a row it has failed for that epoch."""
    retry_ms: int
    """When it is tried again, on the steps' clock."""


@frozen(slots=True)
class FrozenConsumers:
    """The frozen input of a client-side assignor (KG-27)."""

    epoch: int
    """The group epoch of the assignment that is computed from it."""
    input: SubscribedGroup


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ConsumerGroup(ModernGroup[ConsumerMember, Partition]):
    """One consumer group."""

    epoch: int = FIRST_EPOCH
    """The group epoch."""
    # durable
    topics: Mapping[str, Topic] = attrs.Factory(dict)
    """The topics that members subscribe to and that exist, by name."""
    resolved: Mapping[str, frozenset[str]] = attrs.Factory(dict)
    """By regular expression, the names that match it. A change replaces the mapping, as with `topics`."""
    assignor: str = ""
    """The assignor that made the installed targets."""
    assignment_wall_ms: int = 0
    """When it made them, in Unix time; 0: never."""
    fence_epoch: int = 0
    """The group epoch at which somebody last lost partitions without having let go of them; if that happens again in
    the same epoch, or has happened before it was a consumer group, the next number. A commit of that member
    that is still on its way must not land.
    """
    recorded: bool = False
    """Whether the log has a record of the group itself. False while a first member joins, and during a load."""
    # session
    computation: Computation[FrozenConsumers] | None = None
    computed_by: str | None = None
    """The member whose targets are installed; None: the coordinator made them, or that is from before the load. It
    computes again if it can.
    """
    learned_from: tuple[Mapping[str, Topic] | None, Mapping[str, frozenset[str]] | None] = (None, None)
    """The topics that existed when the group looked last, and what matched regular expressions then."""
    learned_at: int = -1
    """The group's `version` then."""
    learned_ms: dict[str, int] = attrs.Factory(dict)
    """When it heard of each topic as it knows it now, in front of a cluster. A topic that is not in it: before the
    load.
    """
    former_ids: dict[str, bytes] = attrs.Factory(dict)
    """The ids of the topics that had these names before, as far as it has heard of them."""
    assignment_ms: int = LONG_AGO_MS
    """When the installed targets were made, on the steps' clock."""
    gathering_ms: int = LONG_AGO_MS
    """Since when classic members that must let go of something wait for each other (KG-26)."""
    took_ms: int = 0
    """How long that took, as far as anybody has told."""
    failure: AssignmentFailure | None = None
    """Why the last try to make targets has failed; None: it has not."""
    targets_by_topic: Mapping[str, tuple[Partitions, TargetByTopic]] = attrs.Factory(dict)
    """The targets as assignors have them, by member id, each with the partitions that it stands for. It saves time:
    one that stands for other partitions than the member's target does not count.
    """
    _subscriptions: dict[tuple[frozenset[str], str], Subscription] = attrs.field(factory=dict, init=False)
    """By names and regular expression."""
    _subscriptions_of: tuple[object, object] = attrs.field(default=(None, None), init=False)
    """The `topics` and `resolved` that these are made from."""

    @property
    def shown_state(self) -> ModernState:
        """The state in answers, as Kafka has it: Reconciling until every member has been told the assignment epoch."""
        lags = any(member.epoch != self.assignment_epoch for member in self.members.values())
        if lags and self.state is ModernState.STABLE:
            return ModernState.RECONCILING
        return self.state

    def subscribed_names(self, member: ConsumerMember) -> frozenset[str]:
        """The topics that a member subscribes to by name or by its regular expression, whether they exist or not."""
        return self._subscription(member).names

    def subscribed_ids(self, member: ConsumerMember) -> frozenset[bytes]:
        """The ids of the existing topics among them. Members with the same subscription mostly share one set."""
        return self._subscription(member).ids

    def all_names(self) -> frozenset[str]:
        """The topics that any member subscribes to."""
        return frozenset().union(*set(map(self.subscribed_names, self.members.values())))

    def _subscription(self, member: ConsumerMember) -> Subscription:
        topics, resolved = self._subscriptions_of
        if topics is not self.topics or resolved is not self.resolved:
            self._subscriptions.clear()
            self._subscriptions_of = self.topics, self.resolved
        key = member.names, member.metadata.subscribed_topic_regex or ""
        found = self._subscriptions.get(key)
        if found is None:
            found = self._add_subscription(*key)
        member.names = found.by_name  # one set for all who name the same: it is found again without comparing names
        return found

    def _add_subscription(self, by_name: frozenset[str], pattern: str) -> Subscription:
        if len(self._subscriptions) > 2 * len(self.members) + 100:  # most of them have probably gone out of use
            self._subscriptions.clear()
        names = by_name | self.resolved.get(pattern, frozenset()) if pattern else by_name
        ids = frozenset([self.topics[name].id for name in names if name in self.topics])
        found = self._subscriptions[by_name, pattern] = Subscription(by_name, names, ids)
        return found

    def _judge(self, member_id: str) -> None:
        """As in any group, but a member that has something to confirm, or waits for others, has not converged, even if
        its target names by now what it has.
        """
        super()._judge(member_id)
        member = self.members.get(member_id)
        if member is not None and member.stage is not Stage.STABLE:
            self.unconverged.add(member_id)

    @property
    def is_input_taken(self) -> bool:
        """Whether the targets for the group epoch are made already, or are computed from an input that is frozen: what
        changes from now on needs another epoch.
        """
        computation = self.computation
        frozen = None if computation is None else computation.frozen
        return self.epoch == (self.assignment_epoch if frozen is None else frozen.epoch)

    def note_for(self, member: ConsumerMember) -> Note:
        """What the assignor that computed tells the member."""
        target = self.targets.get(member.member_id)
        return NO_NOTE if target is None else (target.version, target.metadata)

    def set_assigned(
        self, member: ConsumerMember, assigned: Partitions, pending: Partitions, epochs: Mapping[Partition, int]
    ) -> None:
        """Set what a member is told, and what it must let go of. Only `replay` calls this."""
        member.assigned, member.epochs = assigned, epochs
        self.set_current(member, assigned | pending if pending else assigned)


def by_topic(partitions: Iterable[Partition]) -> dict[bytes, list[int]]:
    """Partitions in order, by topic id in order."""
    found: dict[bytes, list[int]] = {}
    for topic_id, number in sorted(partitions):
        found.setdefault(topic_id, []).append(number)
    return found
