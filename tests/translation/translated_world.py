"""What does a test of classic workers work with that looks at single requests? The world of connect groups, its mode
`individual`, with the four requests of the classic protocol in short.

Resources are written as there: "AC0" is connector A, "AT1" its task 1. A worker `W1` is at `http://W1`, and comes by
the connection of its number unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.classic_workers.session import ClassicSession
from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.leave_group import STOPPED
from kcoord.protocol.embedded import (
    EAGER,
    NAMES,
    SESSIONED,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
    encode_assignment,
    encode_state,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.message_base import Request
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.group.connect.world import SETTINGS, World, res, text
from tests.translation.java_leader import JavaLeader, task_counts, worker_of

VERSIONS = {JoinGroupRequest: 9, SyncGroupRequest: 5, HeartbeatRequest: 4, LeaveGroupRequest: 5}
OFFSET = 5
REBALANCE_MS = 60_000
SESSION_MS = 10_000


@attrs.frozen
class Joined:
    """What a JoinGroup was answered, in short."""

    error: ErrorCode
    member_id: str
    generation: int
    leader: str
    protocol: str | None
    shown: dict[str, tuple[int, str]]
    """Config offset and what it is said to run, by member."""

    @property
    def leads(self) -> bool:
        return self.leader == self.member_id


@attrs.frozen
class Synced:
    """What a SyncGroup was answered, in short."""

    error: ErrorCode
    assigned: str = ""
    revoked: str = ""
    leader: str = ""
    leader_url: str = ""
    offset: int = -1
    delay_ms: int = 0
    failed: int = 0

    @property
    def brief(self) -> tuple[str, str]:
        """What to start, what to stop."""
        return self.assigned, self.revoked


OK = ErrorCode.NONE
AGAIN = ErrorCode.REBALANCE_IN_PROGRESS


class TranslatedWorld(World):
    """One shard with one group, whose workers a test plays itself."""

    def __init__(
        self, settings: ConnectSettings = SETTINGS, wait_ms: int = 0, gather_ms: int = 0, asks_delay: bool = False
    ) -> None:
        """`asks_delay`: the group sets none, so the leader is asked what the workers' is."""
        individual = attrs.evolve(settings, classic_mode=ClassicMode.INDIVIDUAL, classic_wait_ms=wait_ms)
        self._gather_ms = gather_ms
        self._always = {} if asks_delay else {"rebalance_delay_ms": str(settings.rebalance_delay_ms)}
        self.ids = 0
        self.known: dict[str, str] = {}
        """Member ids by worker."""
        self.generations: dict[str, int] = {}
        self.leaders: dict[str, JavaLeader] = {}
        """Connect's assignor in each worker that has led."""
        self.looks = 0
        """How often leaders were asked what exists."""
        super().__init__(individual)
        self.settings = GroupSettings(connect=individual, initial_rebalance_delay_ms=gather_ms)
        self.shard = Shard(self.settings, self._id)
        self._keep(self.shard.loaded(self.now_ms, self.wall_ms))
        if self._always:
            self.configure()

    def configure(self, **values: str) -> None:
        super().configure(**{**self._always, **values})

    def restart(self, lose_ms: int = 0, compacted: bool = False, lease_ms: int = 0) -> list[object]:
        """The coordinator is killed, and loads its log."""
        waiting = super().restart(lose_ms, compacted, lease_ms)
        self.shard.state.ids = self._id
        return waiting

    def _id(self) -> str:
        self.ids += 1
        return str(self.ids)

    def send(self, request: Request, connection: int = 1, pipelined: bool = False, client: str = "w") -> object:
        """One request, in the version that Connect 4.3 speaks."""
        if type(request) not in VERSIONS:
            return super().send(request, connection, pipelined, client)
        version = VERSIONS[type(request)]
        request = type(request).decode(request.encode(version), version)
        token = object()
        context = RequestContext(version, client, "/10.0.0.1", connection, self.wall_ms, pipelined)
        self.asked[token] = request, context
        self._keep(self.shard.handle(request, context, token, self.now_ms))
        return token

    # -- requests -----------------------------------------------------------------------------------------------------

    def send_join(
        self,
        name: str,
        runs: str | None = None,
        offset: int = OFFSET,
        connection: int | None = None,
        protocol: int = SESSIONED,
        **fields: Any,
    ) -> object:
        """A JoinGroup, twice for a newcomer; it may stay parked. `runs` None is a null allocation."""
        at = number(name) if connection is None else connection
        request = self.join_request(name, runs, offset, protocol, **fields)
        token = self.send(request, at, client=name)
        first = self.answers.get(token)
        if isinstance(first, JoinGroupResponse) and first.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.known[name] = first.member_id
            token = self.send(self.join_request(name, runs, offset, protocol, **fields), at, client=name)
        return token

    def join_request(
        self, name: str, runs: str | None, offset: int, protocol: int, url: str | None = None, **fields: Any
    ) -> JoinGroupRequest:
        offered = [
            JoinGroupRequestProtocol(
                NAMES[version], encode_state(_state(url or f"http://{name}", version, runs, offset))
            )
            for version in range(protocol, EAGER - 1, -1)
        ]
        return JoinGroupRequest(
            **{
                "group_id": self.group_id,
                "session_timeout_ms": SESSION_MS,
                "rebalance_timeout_ms": REBALANCE_MS,
                "member_id": self.known.get(name, ""),
                "protocol_type": "connect",
                "protocols": offered,
                **fields,
            }
        )

    def joined(self, token: object) -> Joined:
        """The answer to a JoinGroup."""
        response = cast(JoinGroupResponse, self.answers[token])
        name = next((name for name, known in self.known.items() if known == response.member_id), "")
        if not response.error_code:
            self.generations[name] = response.generation_id
        shown = {}
        for each in response.members:
            state = decode_state(each.metadata)
            held = "" if state.allocation is None else text(state.allocation.assigned)
            shown[self.name(each.member_id)] = (state.config_offset, held)
        return Joined(
            ErrorCode(response.error_code),
            name,
            response.generation_id,
            self.name(response.leader),
            response.protocol_name,
            shown,
        )

    def come(self, name: str, runs: str | None = None, offset: int = OFFSET, **more: Any) -> Joined:
        """A JoinGroup that is answered at once."""
        return self.joined(self.send_join(name, runs, offset, **more))

    def send_sync(
        self,
        name: str,
        given: Mapping[str, str] | None = None,
        offset: int = OFFSET,
        delay_ms: int = 0,
        connection: int | None = None,
        generation: int | None = None,
        protocol: str = "sessioned",
        raw: Mapping[str, bytes] | None = None,
    ) -> object:
        """A SyncGroup. `given`: of the leader, `"+AC0 -AT1"` for each worker."""
        assignments = {
            self.known.get(each, each): self._given(name, told, offset, delay_ms)
            for each, told in (given or {}).items()
        }
        assignments |= {self.known.get(each, each): data for each, data in (raw or {}).items()}
        request = SyncGroupRequest(
            self.group_id,
            self.generations[name] if generation is None else generation,
            self.known[name],
            protocol_type="connect",
            protocol_name=protocol,
            assignments=[SyncGroupRequestAssignment(each, data) for each, data in assignments.items()],
        )
        return self.send(request, number(name) if connection is None else connection, client=name)

    def _given(self, leader: str, told: str, offset: int, delay_ms: int) -> bytes:
        words = told.split()
        return encode_assignment(
            WorkerAssignment(
                SESSIONED,
                0,
                self.known[leader],
                f"http://{leader}",
                offset,
                res(" ".join(each[1:] for each in words if each[0] == "+")),
                res(" ".join(each[1:] for each in words if each[0] == "-")),
                delay_ms,
            )
        )

    def synced(self, token: object) -> Synced:
        """The answer to a SyncGroup."""
        response = cast(SyncGroupResponse, self.answers[token])
        if response.error_code:
            return Synced(ErrorCode(response.error_code))
        told = decode_assignment(response.assignment)
        return Synced(
            ErrorCode.NONE,
            text(told.assigned),
            text(told.revoked),
            self.name(told.leader),
            told.leader_url,
            told.config_offset,
            told.delay_ms,
            told.error,
        )

    def fetch(self, name: str, given: Mapping[str, str] | None = None, **more: Any) -> Synced:
        """A SyncGroup that is answered at once."""
        return self.synced(self.send_sync(name, given, **more))

    def send_heartbeat(self, name: str, generation: int | None = None, connection: int | None = None) -> object:
        """A Heartbeat of the classic protocol; it may be kept back."""
        known = self.generations[name] if generation is None else generation
        request = HeartbeatRequest(self.group_id, known, self.known[name])
        return self.send(request, number(name) if connection is None else connection, client=name)

    def beats(self, name: str, generation: int | None = None, connection: int | None = None) -> ErrorCode:
        """A Heartbeat that is answered at once."""
        return self.beaten(self.send_heartbeat(name, generation, connection))

    def beaten(self, token: object) -> ErrorCode:
        """The answer to a Heartbeat."""
        return ErrorCode(cast(HeartbeatResponse, self.answers[token]).error_code)

    def leaves(self, name: str, reason: str | None = STOPPED, connection: int | None = None) -> ErrorCode:
        """A LeaveGroup."""
        at = number(name) if connection is None else connection
        request = LeaveGroupRequest(self.group_id, members=[MemberIdentity(self.known[name], None, reason)])
        response = cast(LeaveGroupResponse, self.answers[self.send(request, at, client=name)])
        return ErrorCode(response.members[0].error_code)

    def close(self, connection: int) -> None:
        """A connection has ended."""
        self._keep(self.shard.closed(connection, self.now_ms, self.wall_ms))

    # -- longer things ------------------------------------------------------------------------------------------------

    def lead(self, name: str, given: Mapping[str, str], runs: str | None = None, **more: Any) -> Synced:
        """The leader joins, computes, and gets its part."""
        offset = more.get("offset", OFFSET)
        joined = self.come(name, runs, offset)
        assert joined.leads, f"{name} does not lead"
        return self.fetch(name, given, **more)

    def look(self, name: str, configured: str, runs: str | None = None, offset: int = OFFSET, **more: Any) -> object:
        """The leader joins and says what exists, as Connect's own assignor does, as often as it is asked. Returns the
        token of its last SyncGroup, which may stay parked.
        """
        java = self.leaders.setdefault(name, JavaLeader())
        while True:
            token = self.send_join(name, runs, offset, **more)
            joined = self.joined(token)
            assert joined.leads, f"{name} does not lead"
            self.looks += 1
            java.now_ms = self.now_ms
            workers = [worker_of(each) for each in cast(JoinGroupResponse, self.answers[token]).members]
            told = java.answer(workers, self.known[name], task_counts(res(configured)), offset, joined.generation)
            raw = {each: encode_assignment(assignment) for each, assignment in told.items()}
            sync = self.send_sync(name, raw=raw, offset=offset, connection=more.get("connection"))
            if sync in self.answers and self.synced(sync).error is OK:
                java.completed = joined.generation
            if sync not in self.answers or self.synced(sync).offset > 0:
                return sync

    def led(self, name: str, configured: str, runs: str | None = None, **more: Any) -> Synced:
        """The same, where its part is given at once."""
        return self.synced(self.look(name, configured, runs, **more))

    def keep_alive(self, ms: int, *names: str) -> dict[str, ErrorCode]:
        """Let time pass while these heartbeat; returns what each was told last."""
        told = {}
        for _ in range(ms // 1_000):
            self.pass_ms(1_000)
            for name in names:
                told[name] = self.beats(name)
        return told

    # -- looking ------------------------------------------------------------------------------------------------------

    def name(self, member_id: str) -> str:
        """Whose member id it is; itself where it is nobody's."""
        return next((name for name, known in self.known.items() if known == member_id), member_id)

    def at(self, name: str) -> ClassicSession:
        """The worker's session."""
        return session_of(self.member(self.known[name]))

    def phase(self, name: str) -> Phase:
        return self.at(name).phase

    def holds(self, name: str) -> str:
        """What the worker may be running (CM-5)."""
        return text(self.member(self.known[name]).current)

    def is_to_run(self, name: str) -> str:
        """Its target."""
        return text(self.group.target_of(self.member(self.known[name])) or frozenset())

    @classmethod
    def fleet(cls, runs: Mapping[str, str], **more: Any) -> TranslatedWorld:
        """Workers at rest, the first of which leads. Together they run this evenly: so it is what the coordinator gives
        them.
        """
        world = cls(**{"gather_ms": 100, **more})
        waits = [world.send_join(name) for name in runs]
        world.pass_ms(100)
        first, configured = next(iter(runs)), " ".join(runs.values())
        assert world.joined(waits[0]).leads
        syncs = {}
        for name, token in list(zip(runs, waits, strict=True))[1:]:
            world.joined(token)
            syncs[name] = world.send_sync(name)
        given = {first: world.led(first, configured)}
        given |= {name: world.synced(token) for name, token in syncs.items()}
        assert {name: each.assigned for name, each in given.items()} == {
            name: text(res(has)) for name, has in runs.items()
        }
        for name in runs:
            assert world.phase(name) is Phase.STABLE
            beaten = world.send_heartbeat(name)
            assert beaten not in world.answers or world.beaten(beaten) is ErrorCode.NONE
        return world


ALL = "AC0 AT0 AT1 AT2"
"""What `three` run."""


def three() -> TranslatedWorld:
    """Three workers at rest."""
    return TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1", "W3": "AT2"})


def one_gives() -> tuple[TranslatedWorld, str]:
    """Three workers and a fourth that has just come, for which one of them, who is named, is to give something up."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0 AT3", "W2": "AT1 AT4", "W3": "AT2 AT5"})
    world.come("W4")
    return world, next(name for name in ("W1", "W2", "W3") if world.holds(name) != world.is_to_run(name))


def number(name: str) -> int:
    """The connection of a worker."""
    return int(name[1:])


def _plus(resources: str) -> str:
    return " ".join(f"+{each}" for each in resources.split())


def _state(url: str, version: int, runs: str | None, offset: int) -> WorkerState:
    allocation = None
    if runs is not None and version > EAGER:
        allocation = WorkerAssignment(version, config_offset=offset, assigned=res(runs))
    return WorkerState(version, url, offset, allocation)
