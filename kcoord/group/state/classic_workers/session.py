"""Session state of classic workers: what is kept of them beside the records.

It ends with the process and starts afresh after a load. What a classic worker holds is its `current` (CM-5). Its record
has the protocols that it speaks, its url, and the last leader that it was told. This file has its phase in its own
rebalance, and which of its requests wait.
"""

from __future__ import annotations

from collections import Counter
from typing import Generic, TypeVar

import attrs

from kcoord.group.state.classic_workers.embedded_protocol import elect
from kcoord.group.state.classic_workers.leader_picture import Picture
from kcoord.group.state.classic_workers.look_verdicts import Asking
from kcoord.group.state.classic_workers.phases import MOVES, Phase
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.step import Token
from kcoord.resource import Resource

NO_GENERATION = -1

R = TypeVar("R")


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ClassicSession:
    """The session of one classic worker."""

    phase: Phase = Phase.STABLE
    generation: int = NO_GENERATION
    """The generation in the answer to its last JoinGroup. It stays valid until the worker joins again."""
    protocol: str | None = None
    """The embedded protocol in that answer: its next SyncGroup uses it."""
    previous_generation: int = NO_GENERATION
    """The generation before. A heartbeat that was under way when the worker joined still carries it."""
    generation_unsure: bool = False
    """After a load: the worker may know any generation from the recorded one up to the group epoch."""
    listed: frozenset[Resource] = frozenset()
    """What its last JoinGroup listed. This includes what it has stopped under `default`: it starts that again after any
    answer in another protocol that does not take it away.
    """
    due_ms: int = NEVER_MS
    """The deadline by which it must have joined, or synced."""
    parked_join: Token | None = None
    parked_sync: Token | None = None
    parked_until_ms: int = NEVER_MS
    """When the parked SyncGroup is answered with what there is by then, or when the JoinGroup of a worker that joined
    too often is answered.
    """
    part_since_ms: int = NEVER_MS
    """Since when a part of what it is to get has been free, while other members still hold the rest."""
    is_heard: bool = False
    """It has sent a heartbeat since its last assignment. So its next heartbeat comes soon, or already waits here."""
    handover_due_ms: int = NEVER_MS
    """When it is told to stop what other workers are to run, even if they cannot be told yet to start it."""
    past_barrier: bool = False
    """Its parked JoinGroup was there when a barrier ended, and now waits for something else. It does not start another
    barrier.
    """
    may_park: bool = False
    """Its JoinGroup said that it runs nothing: its SyncGroup may wait (CM-24)."""
    computes: bool = False
    """Its JoinGroup was answered with all members, so its SyncGroup brings the assignment."""
    has_synced: bool = False
    """It has received an assignment, after the load or before it."""
    was_called: bool = False
    """Since its last assignment an answer has told it to join again."""
    window_ms: int = 0
    joins_in_window: int = 0
    """For the fuse against workers that join again without end (CM-7)."""

    @property
    def is_waiting(self) -> bool:
        """Whether a JoinGroup or SyncGroup of the worker is parked, so that its session cannot end."""
        return self.parked_join is not None or self.parked_sync is not None

    def move(self, phase: Phase) -> None:
        """Change to `phase`. Raises AssertionError for a move that is not in MOVES."""
        assert phase is self.phase or phase in MOVES[self.phase], f"from {self.phase.label} to {phase.label}"
        self.phase = phase


@attrs.define(slots=True, eq=False)
class ConfigRound:
    """The bounded barrier for a change of configuration."""

    offset: int
    """The config offset that every worker that holds something, and the leader's install, must have reached."""
    until_ms: int
    """The round ends then, even if workers are missing."""
    nudge_ms: int
    """When the workers that are still below the offset are told to join. NEVER_MS once they have been told (CM-22)."""
    is_certain: bool = True
    """False: SyncGroups only wait to see whether others come by themselves, which would make it a certain round."""
    next_offset: int = -1
    """The higher offset that a worker has reported meanwhile: the next round is for it."""


@attrs.define(slots=True, eq=False)
class OpenLook:
    """A running series of looks: the leader is being asked what exists."""

    leader: str
    asking: Asking
    picture: Picture | None = None
    """What it was shown; None once it has answered."""
    offset: int = -1
    """The leader's config offset when it was shown the picture."""
    existing: frozenset[Resource] | None = None
    """What exists, according to the looks before this one."""
    learns: bool = False
    """This look is to show the delay that is set on the workers (CM-36)."""
    has_left_out: bool = False
    """To learn that delay, something was left out of the last picture."""


QUIET_MS = 60_000
"""After so long without a change, a look brings the leader up to date."""


@attrs.define(slots=True, eq=False)
class ClassicWorkers(Generic[R]):
    """What all classic workers of a group have in common."""

    members: dict[str, tuple[str, ...]] = attrs.Factory(dict)
    """The embedded protocols of each worker, by member id; kept in step with the records."""
    offers: Counter[tuple[str, ...]] = attrs.Factory(Counter)
    """How many workers offer the same protocols."""
    protocol: str | None = None
    """The embedded protocol that they speak."""
    last_protocol: str | None = None
    """The embedded protocol at the time when the group was last settled."""
    joining: dict[str, None] = attrs.Factory(dict)
    """The workers whose JoinGroup is parked, in the order in which they came."""
    gathering_due_ms: int = NEVER_MS
    """Until then an empty group waits for more workers, and JoinGroups are parked."""
    round: ConfigRound | None = None
    look: OpenLook | None = None
    """The look that is open: the leader is being asked what exists."""
    remembered_by: str | None = None
    """The worker that answered the last look."""
    remembers: bool = False
    """That worker has received the answer, so its assignor remembers the picture. Not known after a load."""
    remembered: frozenset[R] = frozenset()
    """What exists according to that look."""
    learned_by: str | None = None
    """The leader that last showed how long lost work is to wait."""
    leader_due_ms: int = NEVER_MS
    """Until when nobody else leads: the leader has stopped in order and may come back (CM-48)."""
    deleted: frozenset[R] = frozenset()
    """Deleted resources that a worker still runs. When all have stopped, the leader is asked once more."""
    ask_again_ms: int = NEVER_MS
    """Until then the leader is not asked again because others have read further."""
    map_due_ms: int = NEVER_MS
    """When the leader is shown, if all is at rest, what has been placed since its last look (CM-35)."""
    frozen_until_ms: int = NEVER_MS
    """Until when, at most, nothing is placed, because the leader has to answer first."""
    computing: bool = False
    """An assignment was being computed when the group was last settled."""
    retiring: str | None = None
    """The leader that must join, and wait, before another worker computes (CM-14)."""
    failed: tuple[int, frozenset[str]] = (-1, frozenset())
    """The workers that have failed to compute at that group epoch; kept while the group waits for the leader."""
    ready_leader: str | None = None
    """The leader that has received its own answer for the installed assignment (CM-15, CM-23)."""
    looked_at_unready: bool = False
    """Whether workers have been checked while the leader was not ready."""
    barrier_due_ms: int = NEVER_MS
    """Under `default`: until when JoinGroups are parked for workers that have not joined (CM-16)."""
    barrier_is_extended: bool = False
    """The barrier was extended for workers that came in time and have to join once more."""

    def take_in(self, member_id: str, protocols: tuple[str, ...]) -> None:
        """Note the protocols that a worker offers from now on."""
        if self.members.get(member_id) == protocols:
            return
        self._count(member_id)
        self.members[member_id] = protocols
        self.offers[protocols] += 1
        self.protocol = elect(self.offers)

    def drop(self, member_id: str) -> None:
        """Remove a worker that is gone."""
        if member_id in self.members:
            self._count(member_id)
            del self.members[member_id]
            self.joining.pop(member_id, None)
            self.protocol = elect(self.offers)
        if not self.members:
            self._begin_anew()

    def doubt_memory_of(self, member_id: str) -> None:
        """The worker follows another leader now, so what its assignor remembers of its last look no longer counts."""
        if self.remembered_by == member_id:
            self.remembered_by, self.remembers = None, False

    def _begin_anew(self) -> None:
        self.round, self.look, self.retiring, self.ready_leader = None, None, None, None
        self.remembered_by, self.remembers, self.remembered, self.deleted = None, False, frozenset(), frozenset()
        self.gathering_due_ms = self.barrier_due_ms = self.ask_again_ms = self.frozen_until_ms = NEVER_MS
        self.map_due_ms, self.leader_due_ms, self.learned_by = NEVER_MS, NEVER_MS, None

    def _count(self, member_id: str) -> None:
        predecessor = self.members.get(member_id)
        if predecessor is not None:
            self.offers[predecessor] -= 1
            if not self.offers[predecessor]:
                del self.offers[predecessor]
