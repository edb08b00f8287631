"""A classic group: its durable record, and the session state around it.

Durable is `record`, the last GroupMetadata record. Only `replay` changes it, and it is never mutated. It is the group's
*generation*: its members, its protocol, its leader, and each member's assignment. All else is session state. It starts
from the record (`follow_record`, or `classic/sessions.py` after a load). It runs ahead of the record only in
PreparingRebalance, while the next generation is being gathered.
"""

from __future__ import annotations

import attrs

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_member import ClassicMember, Protocols
from kcoord.group.state.groups.classic_reasons import TOLD, tell_all
from kcoord.group.state.groups.classic_states import LABELS, MOVES, ClassicState
from kcoord.group.state.groups.subscription import subscribed_topics
from kcoord.group.state.repeated_rebalances import Repetition
from kcoord.protocol.records import GroupMetadataValue

CONSUMER = "consumer"
"""The protocol type whose metadata the coordinator reads, to find the topics that a group is subscribed to."""

NO_RECORD = GroupMetadataValue(protocol=None, leader=None)
"""The record of a group that only has offsets: generation 0, no protocol type, no members."""


@attrs.define(slots=True, eq=False)
class Rebalance:
    """A running rebalance: PreparingRebalance, from its cause to the end of its join phase."""

    reasons: list[str]
    """What caused it, and what else happened until its end: only the first few."""
    since_wall_ms: int
    initial: bool
    """The group was empty. So it waits for `due_ms` even if all known members have joined, since more may come."""
    due_ms: int = NEVER_MS
    """When the join phase ends without those who have not joined."""
    delay_ms: int = 0
    """Initial: the delay that ends at `due_ms`."""
    remaining_ms: int = 0
    """Initial: how much further it may be extended."""
    grew: bool = False
    """Initial: a member has arrived since the delay began."""
    more_reasons: int = 0

    def note(self, reason: str) -> None:
        """Note that something else has happened."""
        if len(self.reasons) < TOLD:
            self.reasons.append(reason)
        else:
            self.more_reasons += 1

    def tell(self) -> str:
        """All that has happened, for the record of the generation."""
        return tell_all(self.reasons, self.more_reasons)


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ClassicGroup:
    """One classic group."""

    group_id: str
    # durable
    record: GroupMetadataValue = NO_RECORD
    # session
    state: ClassicState = ClassicState.DEAD
    version: int = 0
    """Increases with everything that could change the answer to a heartbeat (hot path)."""
    protocol_type: str = ""
    """As recorded, or as the first member of a new rebalance named it; empty for a group that only has offsets."""
    leader_id: str | None = None
    members: dict[str, ClassicMember] = attrs.Factory(dict)
    """By member id, in the order in which they came."""
    static_ids: dict[str, str] = attrs.Factory(dict)
    """Member id by group.instance.id."""
    pending: dict[str, int] = attrs.Factory(dict)
    """Member ids that were given to newcomers which have not yet joined with them (KIP-394), and when each lapses."""
    support: dict[str, int] = attrs.Factory(dict)
    """How many members speak each protocol."""
    weight: int = 0
    """The most bytes that the group's record can take without the assignments: the sum of `weight_of` its members."""
    parked_joins: int = 0
    """How many members have a parked JoinGroup."""
    rebalance: Rebalance | None = None
    unsynced: set[str] = attrs.Factory(set)
    """Members that have not yet fetched their assignment of this generation."""
    heartbeat_is_sync: bool = False
    """After a load: an unsynced member that heartbeats had its assignment before (see `classic/sessions.py`)."""
    sync_due_ms: int = NEVER_MS
    """When the members that are still unsynced are evicted."""
    repetition: Repetition = attrs.Factory(Repetition)
    """How often the last generations have repeated themselves."""
    held_reason: str | None = None
    """A rebalance is held because the last ones repeated themselves: the reason that it will have. The member that
    asked for it waits.
    """
    needs_leader: tuple[int, bool] = (-1, False)
    """In which version of the group it was found out whether a consumer of it has to lead, and what was found
    (`classic_consumers/individual_mode.py`).
    """
    wake_ms: int = NEVER_MS
    """For `Deadlines`."""

    @property
    def generation(self) -> int:
        """The number of the current generation."""
        return self.record.generation

    @property
    def protocol_name(self) -> str | None:
        """The protocol that the current generation speaks."""
        return self.record.protocol

    @property
    def was_converted(self) -> bool:
        """Whether this was a connect group until its last record. Then each member knows a generation of its own, and
        all have to join again (`conversion/to_generic.py`).
        """
        return self.record.state == LABELS[ClassicState.PREPARING]

    @property
    def leader_is_unknown(self) -> bool:
        """Whether the leader of the generation is unknown: the group was adopted, and its leader had not been seen."""
        return self.record.leader is None and bool(self.record.members)

    def may_know(self, generation: int) -> bool:
        """Whether `generation` may be the last one that a member was told."""
        return generation == self.generation or (
            self.was_converted and max(0, self.record.lowest_generation) <= generation <= self.generation
        )

    # -- following the record -----------------------------------------------------------------------------------------

    def follow_record(self) -> None:
        """Bring the session state in line with the record that was just replayed."""
        record = self.record
        if not self.leader_is_unknown:
            self.leader_id = record.leader
        self.protocol_type = record.protocol_type
        for recorded in record.members:
            self.members[recorded.member_id].assignment = recorded.assignment
        self.move(recorded_state(record))

    def move(self, state: ClassicState) -> None:
        """Change to `state`. Raises AssertionError for a move that is not in MOVES."""
        assert state in MOVES[self.state], f"group {self.group_id}: from {self.state.label} to {state.label}"
        self.state = state
        self.version += 1

    def forget_answers(self) -> None:
        """No answer of before may be repeated: the next heartbeat is to be handled."""
        self.version += 1

    def close(self) -> None:
        """Close the group: nothing of it may be answered any more, and nothing falls due."""
        self.state = ClassicState.DEAD
        self.version += 1
        self.wake_ms = NEVER_MS

    # -- members ------------------------------------------------------------------------------------------------------

    def add(self, member: ClassicMember) -> None:
        """Add a new member. The first one brings the group's protocol type and leads."""
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self._count(member.protocols, 1)
        self.weight += weight_of(member)
        self.pending.pop(member.member_id, None)
        self.version += 1

    def remove(self, member: ClassicMember) -> None:
        """Remove a member. If it led, the member that has been there longest leads. Its parked requests must have been
        answered.
        """
        del self.members[member.member_id]
        if member.instance_id is not None:
            del self.static_ids[member.instance_id]
        if self.leader_id == member.member_id:
            self.leader_id = next(iter(self.members), None)
        self._count(member.protocols, -1)
        self.weight -= weight_of(member)
        self.unsynced.discard(member.member_id)
        self.version += 1

    def replace(self, predecessor: ClassicMember, successor: ClassicMember) -> None:
        """Put `successor`, which has the same group.instance.id, in the place and role of `elder`, the member
        before.
        """
        assert predecessor.instance_id is not None
        led = self.leader_id == predecessor.member_id
        was_unsynced = predecessor.member_id in self.unsynced
        self.remove(predecessor)
        self.add(successor)
        if led:
            self.leader_id = successor.member_id
        if was_unsynced:
            self.unsynced.add(successor.member_id)

    def offer(self, member: ClassicMember, protocols: Protocols) -> None:
        """Note that a member offers `protocols` from now on."""
        self._count(member.protocols, -1)
        self.weight -= weight_of(member)
        member.protocols = protocols
        member.from_record = False
        self._count(protocols, 1)
        self.weight += weight_of(member)

    def _count(self, protocols: Protocols, by: int) -> None:
        support = self.support
        for name, _ in protocols:
            count = support.get(name, 0) + by
            if count:
                support[name] = count
            else:
                del support[name]

    # -- questions ----------------------------------------------------------------------------------------------------

    def all_joined(self) -> bool:
        """Whether all expected members have joined, including newcomers that were given a member id."""
        return self.parked_joins == len(self.members) and not self.pending

    def rebalance_timeout_ms(self) -> int:
        """How long a rebalance may take: the longest rebalance timeout of a member."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def subscribed_topics(self) -> frozenset[str] | None:
        """The topics that the current generation is subscribed to; None if the group's metadata does not say."""
        if self.record.protocol_type != CONSUMER:
            return None
        return subscribed_topics(recorded.subscription for recorded in self.record.members)

    def is_subscribed(self, topics: frozenset[str] | None, topic: str) -> bool:
        """Whether the group is subscribed to `topic`, where `topics` is its `subscribed_topics()`. A consumer group
        whose metadata cannot be read counts as subscribed to everything.
        """
        return topic in topics if topics is not None else self.record.protocol_type == CONSUMER


def weight_of(member: ClassicMember) -> int:
    """The most bytes that the member can take in the group's record, without its assignment. Its id is there up to
    three times. Of its metadata the record has the part for the chosen protocol, which may be the largest.
    """
    ids = 3 * len(member.member_id) + len(member.instance_id or "") + len(member.client_id) + len(member.client_host)
    return ids + max([len(metadata) for _, metadata in member.protocols], default=0)


def recorded_state(record: GroupMetadataValue) -> ClassicState:
    """The state that a record describes. Kafka's own records have no such field: there a group with members is
    Stable.
    """
    if not record.members:
        return ClassicState.EMPTY
    return ClassicState.COMPLETING if record.state == LABELS[ClassicState.COMPLETING] else ClassicState.STABLE
