"""A whole kcoord that runs alone, in one process without sockets, on a clock that is moved by hand.

The real server, connections, coordinator and embedded log; only the transports and the clocks are the test's. `World`
carries out events: a connection opens, bytes arrive, a connection breaks, time passes, the log is compacted, kcoord is
started again. Beside them live canaries, a classic member and a connect worker in each partition, which keep the
protocol; whatever happens, they must never notice.

Raises `Fault` for: a line logged as an error, a canary that was told anything but that all is well, a request that is
not answered though nothing keeps its answer back, a log that `log verify` finds unsound.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import attrs

from kcoord.cli.output.log_output import checked, told
from kcoord.group.durable_invariants import complaints
from kcoord.group.log_verification import Verifier
from kcoord.group.partition_of_group import partition_of
from kcoord.group.state.settings import GroupSettings
from kcoord.log import clock as log_clock
from kcoord.log.embedded import EmbeddedLog
from kcoord.log.history import FileHistory
from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.generated import connect_group_heartbeat_request as beat
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    RESPONSES,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.server import clock as server_clock
from kcoord.server.connections.connection import Connection
from kcoord.server.server import Limits, Server
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.shards.shard_phase import ShardPhase
from kcoord.server.standalone import Standalone
from kcoord.server.standalone_nodes import OneNode

PARTITIONS = 4
BEAT_MS = 9_000
WALL_MS = 1_700_000_000_000
LAST_WAIT_MS = 120_000
"""Longer than any answer may be kept back, but for those of members that wait for others."""
MAY_WAIT = (JoinGroupRequest, SyncGroupRequest)
"""Whose answers may be kept back until others have joined or assigned, or a timeout that the client chose is over."""
SIZE_BYTES = 4


class Fault(AssertionError):
    """Something that no client may bring about."""


class Clock:
    """The time, moved by hand."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def wall_ms(self) -> int:
        return WALL_MS + self.now_ms


class ClockedLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers run on `clock`."""

    def __init__(self, clock: Clock) -> None:
        self._moved_by_hand = clock
        super().__init__()

    def time(self) -> float:
        return self._moved_by_hand.now_ms / 1000

    def next_timer_ms(self) -> int | None:
        """When the next timer is due; None where there is none."""
        scheduled = [handle for handle in self._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
        return round(min(handle.when() for handle in scheduled) * 1000 + 0.5) if scheduled else None

    def is_noop_heartbeat(self) -> bool:
        """Whether no callback waits for its turn."""
        return not self._ready  # type: ignore[attr-defined]


@contextlib.contextmanager
def moved_by_hand(clock: Clock) -> Iterator[None]:
    """Let every module of kcoord read `clock`."""
    instead = {log_clock.lease_now_ms: lambda: clock.now_ms, server_clock.wall_ms: clock.wall_ms}
    patched: list[tuple[Any, str, Any]] = []
    for name, module in list(sys.modules.items()):
        if name.startswith("kcoord."):
            for attribute, value in list(vars(module).items()):
                if callable(value) and getattr(value, "__hash__", None) and value in instead:
                    patched.append((module, attribute, value))
                    setattr(module, attribute, instead[value])
    try:
        yield
    finally:
        for module, attribute, value in patched:
            setattr(module, attribute, value)


class Wire(asyncio.Transport):
    """A client's connection, seen from the client: what was asked, and what came back."""

    def __init__(self, connect: Callable[[], Connection], number: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__({"peername": (f"10.0.0.{number % 200}", 1), "sockname": ("127.0.0.1", 9092)})
        self.loop = loop
        self.unanswered: deque[tuple[Request | None, int, int]] = deque()
        self.is_sound = True
        """False once bytes were sent that are no whole frames: nothing more can be expected."""
        self._read = bytearray()
        self._closing = False
        self._correlation = itertools.count(1)
        self.connection = connect()
        self.connection.connection_made(self)

    # what a client does

    def frame(self, request: Request, version: int, client_id: str = "fuzz") -> bytes:
        """The whole frame of a request."""
        self.unanswered.append((request, version, correlation_id := next(self._correlation)))
        body = encode_request_header(RequestHeader(request.API_KEY, version, correlation_id, client_id))
        body += request.encode(version)
        return len(body).to_bytes(SIZE_BYTES, "big") + body

    def send(self, data: bytes) -> None:
        """Bytes arrive at kcoord."""
        if not self._closing:
            self.connection.data_received(data)

    def break_off(self) -> None:
        """The client is gone."""
        if not self._closing:
            self._closing = True
            self.connection.connection_lost(None)

    def answers(self) -> Iterator[tuple[Request, Response]]:
        """What has come back since, each with its request."""
        while len(self._read) >= SIZE_BYTES:
            end = SIZE_BYTES + int.from_bytes(self._read[:SIZE_BYTES], "big")
            if len(self._read) < end:
                raise Fault("half an answer")
            data = bytes(self._read[SIZE_BYTES:end])
            del self._read[:end]
            if not self.is_sound or not self.unanswered:
                continue
            request, version, correlation_id = self.unanswered.popleft()
            if request is None:
                continue
            known, body_pos = decode_response_header(request.API_KEY, version, data)
            if known != correlation_id:
                raise Fault(f"{type(request).__name__} {correlation_id} is answered with {known}")
            yield request, RESPONSES[request.API_KEY].decode(data, version, body_pos)

    @property
    def is_open(self) -> bool:
        return not self._closing

    # what kcoord asks of a transport

    def write(self, data: Any) -> None:
        self._read += data

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self.loop.call_soon(self.connection.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None:
        """All that is sent is taken, whatever the connection asks for."""

    def resume_reading(self) -> None:
        """See pause_reading."""

    def get_write_buffer_size(self) -> int:
        return 0


class Faults(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {record.exc_info[1]!r}"[:500]
            if self.formatter is None:
                self.formatter = logging.Formatter()
            text += "\n" + self.formatter.formatException(record.exc_info)
        self.lines.append(text)


@attrs.define(eq=False)
class Canary:
    """A member that keeps the protocol, in a group of its own."""

    group_id: str
    is_worker: bool
    member_id: str = ""
    epoch: int = 0
    wire: Wire | None = None

    def heartbeat(self) -> Request:
        """What it says again and again."""
        if self.is_worker:
            return ConnectGroupHeartbeatRequest(
                self.group_id, self.member_id, self.epoch, connectors_and_tasks=[_all_resources()]
            )
        return HeartbeatRequest(self.group_id, self.epoch, self.member_id)

    def is_well(self, response: Response) -> bool:
        """Whether the answer says that nothing has changed."""
        if isinstance(response, ConnectGroupHeartbeatResponse):
            return not response.error_code and response.member_epoch == self.epoch
        return isinstance(response, HeartbeatResponse) and not response.error_code


def _all_resources() -> beat.ConnectorsAndTasks:
    return beat.ConnectorsAndTasks(["C"], [beat.ConnectorTaskId("C", 0)])


class World:
    """See the module. `directory` holds the log."""

    def __init__(self, directory: Path, settings: GroupSettings, limits: Limits, clock: Clock) -> None:
        self.clock = clock
        self.settings = settings
        self.wires: dict[int, Wire] = {}
        self.requests = 0
        self.on_answer: Callable[[int, Request, Response], None] = lambda number, request, response: None
        """Told the connection, the request and its answer."""
        self._directory = directory
        self._limits = limits
        self._loop = cast(ClockedLoop, asyncio.get_running_loop())
        self._serials = itertools.count(1)
        self._ids = itertools.count(1)
        self._faults = Faults()
        self._canaries = list(_canaries())
        self._log: EmbeddedLog | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """kcoord starts, and the canaries join or go on."""
        logging.getLogger("kcoord").addHandler(self._faults)
        logging.getLogger("asyncio").addHandler(self._faults)
        self._log = EmbeddedLog(
            self._directory, PARTITIONS, history_retention_ms=60_000, check_interval_ms=0, clock=self.clock.wall_ms
        )
        await self._log.open()
        self._coordinator = Coordinator(self._log, self.settings, PARTITIONS, lambda: f"id-{next(self._ids)}")
        await self._coordinator.load()
        behind = Standalone(self._coordinator, OneNode("fuzzed", None), consumer_groups=True)
        await behind.topics.look()
        behind.topics.has_heard.set()
        self._server = Server(self._limits, behind, None, on_gone=self._coordinator.closed)
        for canary in self._canaries:
            canary.wire = self._wire()
        if not self._canaries[0].epoch:
            await self._canaries_join()
        await self._beat()

    async def stop(self) -> None:
        """kcoord stops in good order."""
        assert self._log is not None
        for canary in self._canaries:
            if canary.wire is not None:
                canary.wire.break_off()
        for wire in self.wires.values():
            wire.break_off()
        self.wires.clear()
        await self._coordinator.stop()
        await self._log.close()
        self._log = None
        logging.getLogger("kcoord").removeHandler(self._faults)
        logging.getLogger("asyncio").removeHandler(self._faults)
        self._check_faults()

    # -- events -------------------------------------------------------------------------------------------------------

    def open(self, number: int) -> Wire:
        """A client connects."""
        wire = self.wires[number] = self._wire()
        return wire

    async def data(self, number: int, data: bytes) -> None:
        """Bytes arrive by a connection, and all that follows at once is done."""
        if number in self.wires:
            self.wires[number].send(data)
            await self.settle()

    async def break_off(self, number: int) -> None:
        """A client's connection breaks."""
        wire = self.wires.pop(number, None)
        if wire is not None:
            wire.break_off()
            await self.settle()

    async def pass_ms(self, ms: int) -> None:
        """Time passes, with the canaries' heartbeats in it."""
        end_ms = self.clock.now_ms + ms
        while self.clock.now_ms < end_ms:
            await self._move_to(min(end_ms, self.clock.now_ms + BEAT_MS))
            await self._beat()

    async def compact(self) -> None:
        """The log is compacted."""
        assert self._log is not None
        await self._log.compact()
        await self.settle()

    async def restart(self) -> None:
        """kcoord stops and starts again."""
        await self.stop()
        await self.verify()
        await self.start()

    async def settle(self) -> None:
        """Let everything be done that need not wait for time."""
        quiet = 0
        while quiet < 2:
            await asyncio.sleep(0)
            waiting = [
                future
                for host in self._coordinator._hosts
                for future in host.outbox.on_their_way()
                if not future.done()
            ]
            if waiting:
                await asyncio.wait(waiting)
            quiet = 0 if waiting or not self._loop.is_noop_heartbeat() else quiet + 1
        for number, wire in self.wires.items():
            for request, response in wire.answers():
                self.requests += 1
                self.on_answer(number, request, response)
        self._check_faults()

    # -- checks -------------------------------------------------------------------------------------------------------

    async def end(self) -> None:
        """All answers that time gives are given, then kcoord stops, and its log is sound."""
        await self.pass_ms(LAST_WAIT_MS)
        for wire in self.wires.values():
            if wire.is_open and wire.is_sound and wire.unanswered:
                request = wire.unanswered[0][0]
                if request is not None and not isinstance(request, MAY_WAIT):
                    raise Fault(f"never answered: {request!r}"[:2_000])
        for host in self._coordinator._hosts:
            for what in complaints(host.shard.state):
                raise Fault(f"partition {host.partition}: {what}")
        await self.restart()
        await self.stop()

    async def verify(self) -> None:
        """`kcoord log verify`."""
        async with FileHistory(self._directory) as history:
            for partition in range(PARTITIONS):
                verifier = Verifier(partition, PARTITIONS)
                async for entries in history.read(partition):
                    for finding in checked(verifier, entries):
                        raise Fault(f"log verify: {told(partition, finding)}")
                for finding in verifier.end():
                    raise Fault(f"log verify: {told(partition, finding)}")

    def _check_faults(self) -> None:
        if self._faults.lines:
            lines, self._faults.lines = self._faults.lines, []
            raise Fault("logged as an error: " + "\n".join(lines))
        if self._log is not None:
            for host in self._coordinator._hosts:
                if host.state is not ShardPhase.ACTIVE:
                    raise Fault(f"partition {host.partition} is {host.state}")

    # -- inside -------------------------------------------------------------------------------------------------------

    def _wire(self) -> Wire:
        serial = next(self._serials)
        return Wire(lambda: Connection(self._server, serial, None, True), serial, self._loop)

    async def _move_to(self, end_ms: int) -> None:
        """Stop at each timer on the way."""
        while (due_ms := self._loop.next_timer_ms()) is not None and due_ms <= end_ms:
            self.clock.now_ms = max(self.clock.now_ms, due_ms)
            await self.settle()
        self.clock.now_ms = end_ms
        await self.settle()

    async def _ask(self, canary: Canary, request: Request) -> Response:
        assert canary.wire is not None
        canary.wire.send(canary.wire.frame(request, request.MAX_VERSION, canary.group_id))
        await self.settle()
        for _, response in canary.wire.answers():
            return response
        raise Fault(f"the canary of {canary.group_id} is not answered: {type(request).__name__}")

    async def _canaries_join(self) -> None:
        for canary in self._canaries:
            await (self._worker_joins(canary) if canary.is_worker else self._member_joins(canary))

    async def _member_joins(self, canary: Canary) -> None:
        protocols = [JoinGroupRequestProtocol("range", b"canary")]
        request = JoinGroupRequest(canary.group_id, 30_000, 30_000, "", None, "consumer", protocols)
        given = await self._ask(canary, request)
        assert isinstance(given, JoinGroupResponse)
        canary.member_id = given.member_id
        assert canary.wire is not None
        canary.wire.send(canary.wire.frame(attrs.evolve(request, member_id=given.member_id), 9))
        await self._move_to(self.clock.now_ms + self.settings.initial_rebalance_delay_ms + 1)
        ((_, joined),) = canary.wire.answers()
        assert isinstance(joined, JoinGroupResponse)
        assert not joined.error_code
        canary.epoch = joined.generation_id
        mine = SyncGroupRequestAssignment(canary.member_id, b"all")
        sync = SyncGroupRequest(
            canary.group_id, canary.epoch, canary.member_id, None, "consumer", joined.protocol_name, [mine]
        )
        synced = await self._ask(canary, sync)
        assert isinstance(synced, SyncGroupResponse)
        assert not synced.error_code

    async def _worker_joins(self, canary: Canary) -> None:
        canary.member_id = "canary"
        configured = [_all_resources()]
        request = ConnectGroupHeartbeatRequest(
            canary.group_id, "canary", 0, None, 30_000, "uniform", None, [], "http://canary", 1, configured
        )
        for _ in range(3):
            response = await self._ask(canary, request)
            assert isinstance(response, ConnectGroupHeartbeatResponse)
            assert not response.error_code, response.error_message
            canary.epoch = response.member_epoch
            request = ConnectGroupHeartbeatRequest(
                canary.group_id, "canary", canary.epoch, connectors_and_tasks=configured
            )
        assert canary.epoch > 0

    async def _beat(self) -> None:
        """All canaries send a heartbeat, and each must be told that nothing has changed."""
        for canary in self._canaries:
            assert canary.wire is not None
            canary.wire.send(canary.wire.frame(canary.heartbeat(), 0 if canary.is_worker else 4, canary.group_id))
        await self.settle()
        for canary in self._canaries:
            assert canary.wire is not None
            told = [response for _, response in canary.wire.answers()]
            if len(told) != 1 or not canary.is_well(told[0]):
                raise Fault(f"the canary of {canary.group_id} was told {told!r}")


def _canaries() -> Iterator[Canary]:
    """One of each kind in every partition."""
    for is_worker in (False, True):
        names = (f"canary-{'worker' if is_worker else 'member'}-{at}" for at in itertools.count())
        wanted = set(range(PARTITIONS))
        while wanted:
            name = next(names)
            if partition_of(name, PARTITIONS) in wanted:
                wanted.discard(partition_of(name, PARTITIONS))
                yield Canary(name, is_worker)
