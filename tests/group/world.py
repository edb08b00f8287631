"""A shard with a log, a clock driven by hand, and checks that hold after every step.

Whatever a test does, after each step `World` checks that
1. replaying the log so far, also when compacted to the last record of each key, gives the durable state that is live;
2. a shard loaded from that log is consistent in itself, as the live one is (`consistency.py`);
3. each request is answered exactly once or is parked: nobody is forgotten, and `drop` returns exactly those who wait;
4. each record and each answer can be written in its version;
5. an answer that may be given from the hot path is the one that the coordinator itself would give now;
6. all answers of one generation agree on its protocol and its leader, and generations never go back;
7. only a request that may write, by its row in the API table, has written.
"""

from __future__ import annotations

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import CachedReply, RequestContext, Step
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, Record, decode_record, encode_record
from tests.group.consistency import check_consistent, durable_state
from tests.group.sabotage import Saboteur, Take

WALL_MS = 1_700_000_000_000
"""Unix time when the clock stands at 0."""


@attrs.define(slots=True, eq=False)
class Ticket:
    """One request: the token that the shard gets, and what became of it."""

    request: Request
    version: int
    who: str
    response: Response | None = None
    remember: CachedReply | None = None
    lost: bool = False
    """The shard was dropped before it was answered."""

    @property
    def is_open(self) -> bool:
        """Whether it is still parked."""
        return self.response is None and not self.lost


class World:
    """One shard, its log and its clock."""

    def __init__(self, settings: GroupSettings | None = None, log: list[Record] | None = None, now_ms: int = 0) -> None:
        self.settings = settings or GroupSettings()
        self.log: list[Record] = list(log or [])
        self.now_ms = now_ms
        self.wall_step_ms = 0
        """How far the wall clock has been set on since the beginning."""
        self.ids_made = 0
        """No two member ids are ever the same, also across crashes."""
        self.open: list[Ticket] = []
        self._remembered: list[Ticket] = []
        self._generations: dict[str, tuple[int, int]] = {}
        """Of each group: how often it was deleted, and its generation since."""
        self._agreed: dict[tuple[str, int, int], tuple[str | None, str]] = {}
        self.saboteur: Saboteur | None = None
        """Breaks off a copy of each step first."""
        self.shard = Shard(self.settings, self._make_id)
        self._load()

    @property
    def wall_ms(self) -> int:
        """The time of day."""
        return WALL_MS + self.now_ms + self.wall_step_ms

    def _sabotage(self, own: Ticket | None, take: Take) -> None:
        if self.saboteur is not None:
            made = self.ids_made
            self.saboteur.attack(self.shard, self.log, own, self.now_ms, take)
            self.ids_made = made

    def _make_id(self) -> str:
        self.ids_made += 1
        return str(self.ids_made)

    @property
    def state(self) -> ShardState:
        """What the shard holds, for checks."""
        return self.shard.state  # the tests look behind the door

    # -- steps --------------------------------------------------------------------------------------------------------

    def call(self, request: Request, version: int, who: str = "client") -> tuple[Ticket, list[Ticket]]:
        """Send a request; returns its ticket, and the others that the step answered."""
        context = RequestContext(version, who, f"/10.0.0.{len(who)}", 1, self.wall_ms)
        decoded = type(request).decode(request.encode(version), version)
        ticket = Ticket(decoded, version, who)
        self._sabotage(ticket, lambda shard: shard.handle(decoded, context, ticket, self.now_ms))
        self.open.append(ticket)
        may_write = self.shard.may_write(decoded)
        step = self.shard.handle(decoded, context, ticket, self.now_ms)
        assert may_write or not step.records, "the shard's host lets it pass while the log cannot be written"
        answered = self._take(step)
        return ticket, [each for each in answered if each is not ticket]

    def advance_to(self, now_ms: int) -> list[Ticket]:
        """Move the clock, stopping at every deadline on the way; returns the tickets that time answered."""
        answered: list[Ticket] = []
        while (deadline := self.shard.next_deadline()) is not None and deadline <= now_ms:
            self.now_ms = max(self.now_ms, deadline)
            self._sabotage(None, lambda shard: shard.advance(self.now_ms, WALL_MS + self.now_ms))
            answered += self._take(self.shard.advance(self.now_ms, self.wall_ms))
            after = self.shard.next_deadline()
            assert after is None or after > self.now_ms, "a deadline that does not go away"
        self.now_ms = now_ms
        return answered

    def call_in_vain(self, request: Request, version: int, who: str = "client") -> Ticket:
        """Send a request whose records cannot be appended: nobody is answered, and the shard is lost."""
        ticket = Ticket(request, version, who)
        self.open.append(ticket)
        context = RequestContext(version, who, f"/10.0.0.{len(who)}", 1, self.wall_ms)
        self.crash(self.shard.handle(request, context, ticket, self.now_ms))
        return ticket

    def crash(self, unfinished: Step | None = None, lease_ms: int = 0) -> list[Ticket]:
        """Lose the shard and load another one from the log; returns the tickets that were lost. `lease_ms`: for so long
        the lost one may still answer.
        """
        lost = self.shard.drop() + ([reply.token for reply in unfinished.replies] if unfinished is not None else [])
        assert sorted(map(id, lost)) == sorted(map(id, self.open)), "drop returns exactly those who wait"
        for ticket in self.open:
            ticket.lost = True
        was_open, self.open = self.open, []
        for ticket in self._remembered:
            assert ticket.remember is not None
            assert ticket.remember.basis.version != ticket.remember.version, "a hot answer of a lost shard"
        self._remembered = []
        self.shard = Shard(self.settings, self._make_id)
        self._load(lease_ms)
        return was_open

    def fork(self) -> World:
        """Another coordinator that takes over now, from the same log."""
        successor = World(self.settings, self.log, self.now_ms)
        successor.ids_made = self.ids_made
        successor._generations = dict(self._generations)
        return successor

    def group_records(self) -> list[GroupMetadataValue]:
        """All that was written about groups, but for tombstones."""
        return [record.value for record in self.log if isinstance(record.value, GroupMetadataValue)]

    # -- checks -------------------------------------------------------------------------------------------------------

    def _load(self, lease_ms: int = 0) -> None:
        for record in self.log:
            self.shard.replay(record)
        self._take(self.shard.loaded(self.now_ms, self.wall_ms, lease_ms))

    def _take(self, step: Step) -> list[Ticket]:
        step.checked()
        for record in step.records:
            assert decode_record(*encode_record(record)) == record
            self._check_generation(record)
        self.log += step.records
        answered = []
        for reply in step.replies:
            ticket = reply.token
            assert isinstance(ticket, Ticket)
            assert ticket.is_open, f"answered twice: {ticket}"
            again = type(reply.response).decode(reply.response.encode(ticket.version), ticket.version)
            ticket.response, ticket.remember = again, reply.cached
            self._check_agreement(ticket)
            self.open.remove(ticket)
            answered.append(ticket)
            if reply.cached is not None:
                self._remembered.append(ticket)
        self._check()
        return answered

    def _check_generation(self, record: Record) -> None:
        if isinstance(record.key, GroupMetadataKey):
            deleted, generation = self._generations.get(record.key.group, (0, 0))
            if isinstance(record.value, GroupMetadataValue):
                assert record.value.generation >= generation, "the generation goes back"
                self._generations[record.key.group] = (deleted, record.value.generation)
            else:
                self._generations[record.key.group] = (deleted + 1, 0)

    def _check_agreement(self, ticket: Ticket) -> None:
        request, response = ticket.request, ticket.response
        if (
            isinstance(request, JoinGroupRequest)
            and isinstance(response, JoinGroupResponse)
            and not response.error_code
        ):
            deleted, _ = self._generations.get(request.group_id, (0, 0))
            generation = (request.group_id, deleted, response.generation_id)
            # without the unique part: a static leader may come back under another member id
            told = (response.protocol_name, response.leader.rpartition("-")[0])
            assert self._agreed.setdefault(generation, told) == told, "answers of one generation contradict each other"

    def _check(self) -> None:
        live = durable_state(self.state)
        for log in (self.log, compacted(self.log)):
            fresh = Shard(self.settings, self._make_id)
            for record in log:
                fresh.replay(record)
            assert durable_state(fresh.state) == live
        fresh.loaded(self.now_ms, self.wall_ms)
        check_consistent(fresh.state, self.now_ms)
        check_consistent(self.state, self.now_ms)
        parked = [
            token
            for group in self.state.groups.values()
            for member in group.members.values()
            for token in (member.parked_join.token if member.parked_join else None, member.parked_sync)
            if token is not None
        ]
        assert sorted(map(id, parked)) == sorted(map(id, self.open)), "somebody is forgotten"
        self._check_hot_answers()

    def _check_hot_answers(self) -> None:
        for ticket in list(self._remembered):
            remember, request = ticket.remember, ticket.request
            assert remember is not None
            assert isinstance(request, HeartbeatRequest)
            if remember.basis.version != remember.version:
                self._remembered.remove(ticket)
                continue
            seen_ms = remember.session.last_seen_ms
            context = RequestContext(ticket.version, ticket.who, "/10.0.0.1", 1, self.wall_ms)
            step = self.shard.handle(request, context, ticket, self.now_ms)
            remember.session.last_seen_ms = seen_ms
            assert not step.records
            assert step.replies[0].response == HeartbeatResponse(error_code=0) == ticket.response


def compacted(log: list[Record]) -> list[Record]:
    """The log with only the last record of each key, tombstones dropped."""
    last = {encode_record(record)[0]: at for at, record in enumerate(log)}
    return [
        record for at, record in enumerate(log) if last[encode_record(record)[0]] == at and record.value is not None
    ]
