"""What is kept of legacy workers beside the records? It ends with the process, and begins afresh after a load.

What a legacy worker holds is its `current` (CM-5); what it speaks, where it is and what it was last told of
the leader stand in its record. Here is where it stands in its own rebalance, and which of its requests wait.
"""

from __future__ import annotations

from collections import Counter
from typing import Generic, TypeVar

import attrs

from kcoord.group.deadlines import NEVER_MS
from kcoord.group.step import Token
from kcoord.group.translation.asking_leader import Asking
from kcoord.group.translation.phases import MOVES, Phase
from kcoord.group.translation.picture import Picture
from kcoord.group.translation.spoken import elect
from kcoord.protocol.resources import Resource

NO_GENERATION = -1

R = TypeVar("R")


@attrs.define(slots=True, eq=False, weakref_slot=False)
class LegacySession:
    """One legacy worker."""

    phase: Phase = Phase.STABLE
    generation: int = NO_GENERATION
    """What its last JoinGroup was answered; stays valid until it joins again."""
    protocol: str | None = None
    """The embedded protocol that it was answered in: that of its next SyncGroup."""
    previous_generation: int = NO_GENERATION
    """A heartbeat on its way when it joined carries that one yet."""
    generation_unsure: bool = False
    """After a load: any from the recorded one to the group epoch may have been told."""
    listed: frozenset[tuple[str, int]] = frozenset()
    """What its last JoinGroup said that it has: also what it has stopped under `default`, and runs again by any answer
    in another protocol that does not take it away.
    """
    due_ms: int = NEVER_MS
    """By when it must have joined, or synced."""
    parked_join: Token | None = None
    parked_sync: Token | None = None
    parked_until_ms: int = NEVER_MS
    """When the parked SyncGroup is answered with what there is, or the JoinGroup that came too often."""
    part_since_ms: int = NEVER_MS
    """Since when some of what it is to get is free, and others hold the rest yet."""
    is_heard: bool = False
    """It has sent a heartbeat since it was last given an assignment: the next one is not far, or waits here."""
    handover_due_ms: int = NEVER_MS
    """When it is told to stop what others are to run, though they cannot be told yet to start it."""
    past_barrier: bool = False
    """Its parked JoinGroup was there when a barrier ended, and waits for something else: it is no cause for another."""
    may_park: bool = False
    """Its JoinGroup said that it runs nothing: its SyncGroup may wait (CM-24)."""
    computes: bool = False
    """Its JoinGroup was answered with all members: its SyncGroup brings the assignment."""
    has_synced: bool = False
    """It has been given an assignment, since the load or before it."""
    was_called: bool = False
    """An answer has told it to come again, since it was last given an assignment."""
    window_ms: int = 0
    joins_in_window: int = 0
    """For the fuse against workers that join without end (CM-7)."""

    def move(self, phase: Phase) -> None:
        """Be in `phase`. Raises AssertionError for a move that is not in MOVES."""
        assert phase is self.phase or phase in MOVES[self.phase], f"from {self.phase.label} to {phase.label}"
        self.phase = phase


@attrs.define(slots=True, eq=False)
class ConfigRound:
    """The bounded barrier that a change of configuration needs."""

    offset: int
    """What every worker that holds something, and the leader's install, must have reached."""
    until_ms: int
    """Then it ends, whoever is missing."""
    nudge_ms: int
    """When those that are still below are told to join; never once they have been (CM-22)."""
    is_certain: bool = True
    """Else it is only waited for whether others come by themselves, so that it becomes one."""
    next_offset: int = -1
    """What a worker has come with meanwhile: the round that follows this one."""


@attrs.define(slots=True, eq=False)
class OpenLook:
    """The leader is being asked what exists."""

    leader: str
    asking: Asking
    picture: Picture | None = None
    """What it was shown, until it has answered."""
    offset: int = -1
    """How far it had read when it was shown that."""
    existing: frozenset[Resource] | None = None
    """What exists, as far as the looks before this one tell."""
    learns: bool = False
    """It is to show how long the workers are set to let lost work wait (CM-36)."""
    has_left_out: bool = False
    """For that: something was left out of the last picture."""


QUIET_MS = 60_000
"""After so long without a change the leader is brought up to date."""


@attrs.define(slots=True, eq=False)
class LegacyFleet(Generic[R]):
    """What all legacy workers of a group have in common."""

    members: dict[str, tuple[str, ...]] = attrs.Factory(dict)
    """The embedded protocols of each, by member id; kept in step with the records."""
    offers: Counter[tuple[str, ...]] = attrs.Factory(Counter)
    """How many offer the same ones."""
    protocol: str | None = None
    """The one that they speak."""
    last_protocol: str | None = None
    """The one that they spoke when the group was last brought to rest."""
    joining: dict[str, None] = attrs.Factory(dict)
    """Whose JoinGroup is parked, in the order in which they came."""
    gathering_due_ms: int = NEVER_MS
    """An empty group waits for more workers until then: JoinGroups are parked."""
    round: ConfigRound | None = None
    look: OpenLook | None = None
    """The leader is asked what exists."""
    remembered_by: str | None = None
    """Whose look was the last one."""
    remembers: bool = False
    """That worker has got the answer, so its assignor knows the picture. Not known after a load."""
    remembered: frozenset[R] = frozenset()
    """What exists by that look."""
    learned_by: str | None = None
    """Which leader has shown last how long lost work is to wait."""
    leader_due_ms: int = NEVER_MS
    """Until when nobody else leads, since the leader has stopped in order and may be back (CM-48)."""
    deleted: frozenset[R] = frozenset()
    """What exists no more and somebody runs yet: when it is stopped the leader is asked once more."""
    ask_again_ms: int = NEVER_MS
    """Before that the leader is not asked again because others have read further."""
    map_due_ms: int = NEVER_MS
    """When the leader is shown, if all is at rest, what has been placed since it was last asked (CM-35)."""
    frozen_until_ms: int = NEVER_MS
    """Until when at most nothing is placed, since the leader has to say something first."""
    computing: bool = False
    """An assignment was being made when the group was last brought to rest."""
    retiring: str | None = None
    """The leader that must have joined, and wait, before somebody else computes (CM-14)."""
    failed: tuple[int, frozenset[str]] = (-1, frozenset())
    """Who has failed to compute at that group epoch, kept while the leader is waited for."""
    ready_leader: str | None = None
    """Who has been answered as the leader that made the installed assignment (CM-15, CM-23)."""
    looked_at_unready: bool = False
    """Whether workers have been looked at since the leader could be relied upon last."""
    barrier_due_ms: int = NEVER_MS
    """With `default` in the group: until when JoinGroups are parked for those who have not come (CM-16)."""
    barrier_is_extended: bool = False
    """It lasts longer than it was to, for workers that came in time and have to come once more."""

    def take_in(self, member_id: str, protocols: tuple[str, ...]) -> None:
        """A worker offers these protocols from now on."""
        if self.members.get(member_id) == protocols:
            return
        self._count(member_id)
        self.members[member_id] = protocols
        self.offers[protocols] += 1
        self.protocol = elect(self.offers)

    def drop(self, member_id: str) -> None:
        """A worker is gone."""
        if member_id in self.members:
            self._count(member_id)
            del self.members[member_id]
            self.joining.pop(member_id, None)
            self.protocol = elect(self.offers)
        if not self.members:
            self._begin_anew()

    def doubt_memory_of(self, member_id: str) -> None:
        """It follows somebody else now: what its assignor remembers of its last look counts for nothing."""
        if self.remembered_by == member_id:
            self.remembered_by, self.remembers = None, False

    def _begin_anew(self) -> None:
        self.round, self.look, self.retiring, self.ready_leader = None, None, None, None
        self.remembered_by, self.remembers, self.remembered, self.deleted = None, False, frozenset(), frozenset()
        self.gathering_due_ms = self.barrier_due_ms = self.ask_again_ms = self.frozen_until_ms = NEVER_MS
        self.map_due_ms, self.leader_due_ms, self.learned_by = NEVER_MS, NEVER_MS, None

    def _count(self, member_id: str) -> None:
        elder = self.members.get(member_id)
        if elder is not None:
            self.offers[elder] -= 1
            if not self.offers[elder]:
                del self.offers[elder]
