"""How does one of Connect's own workers act on a connection of its own, and what is noted of it?

The worker is the simulator's scripted one (`kcoord.sim.classic_worker`); its connectors and tasks start and stop in no
time. What the whole fleet sends, is answered and runs is noted in one `Ledger`.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections import Counter, deque
from collections.abc import Iterable
from typing import cast
from urllib.parse import urlsplit

import attrs

from bench.lines import request_frame
from kcoord.assign import Resource
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import decode_response_header
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    RESPONSES,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
)
from kcoord.sim.classic_worker import Action, ClassicWorker, Close, Configs, ReadConfigs, Seek, Send, Start, Stop

_SIZE = struct.Struct(">i")
_IDS = struct.Struct(">ii")


def now_ms() -> int:
    """The workers' clock."""
    return time.monotonic_ns() // 1_000_000


@attrs.define(eq=False)
class Ledger:
    """What a fleet has sent, been answered and run since the books were opened."""

    running: Counter[Resource] = attrs.Factory(Counter)
    """On how many workers each resource runs; goes on when the books are opened anew."""
    twice: set[Resource] = attrs.Factory(set)
    """What ran on two workers at a time; likewise."""
    waiting: int = 0
    """JoinGroups and SyncGroups under way; likewise."""
    calls: Counter[str] = attrs.Factory(Counter)
    """Requests, by their API."""
    answered: Counter[str] = attrs.Factory(Counter)
    """Bytes of answers, sizes included, by the API."""
    interrupted: set[Station] = attrs.Factory(set)
    """Who joined, or was told to."""
    stopped: int = 0
    """Connectors and tasks."""
    round_s: float = 0.0
    """When the last JoinGroup or SyncGroup was sent or answered."""
    changed_s: float = 0.0
    """When something was last started or stopped."""
    leading_s: float = 0.0
    """How long leaders took from the answer with the members to the SyncGroup with their assignments."""
    failure: str = ""

    def open(self) -> None:
        """Begin anew."""
        self.calls.clear()
        self.answered.clear()
        self.interrupted.clear()
        self.stopped = 0
        self.leading_s = 0.0
        self.round_s = self.changed_s = time.monotonic()

    def sent(self, station: Station, request: Request) -> None:
        """A request goes out."""
        self.calls[_api(request)] += 1
        if isinstance(request, JoinGroupRequest | SyncGroupRequest):
            self.interrupted.add(station)
            self.waiting += 1
            self.round_s = time.monotonic()

    def got(self, station: Station, request: Request, response: Response, size: int) -> None:
        """Its answer of `size` bytes has come."""
        self.answered[_api(request)] += size
        if isinstance(request, JoinGroupRequest | SyncGroupRequest):
            self.waiting -= 1
            self.round_s = time.monotonic()
        elif isinstance(response, HeartbeatResponse) and response.error_code and not station.leaving:
            self.interrupted.add(station)
            if response.error_code != ErrorCode.REBALANCE_IN_PROGRESS:
                self.failure = f"a heartbeat is answered {ErrorCode(response.error_code).name}"

    def starts(self, resources: Iterable[Resource]) -> None:
        """These run on one worker more."""
        self.changed_s = time.monotonic()
        for resource in resources:
            self.running[resource] += 1
            if self.running[resource] > 1:
                self.twice.add(resource)

    def stops(self, resources: Iterable[Resource]) -> None:
        """These run on one worker less."""
        self.changed_s = time.monotonic()
        for resource in resources:
            self.stopped += 1
            self.running[resource] -= 1
            if not self.running[resource]:
                del self.running[resource]


def _api(request: Request) -> str:
    return type(request).__name__.removesuffix("Request")


class Station(asyncio.Protocol):
    """One worker and its connection."""

    def __init__(self, worker: ClassicWorker, books: Ledger, address: tuple[str, int]) -> None:
        self.worker = worker
        self.runs: set[Resource] = set()
        self.leaving = False
        self.gone = asyncio.Event()
        """It has left, was answered, and its connection is closed."""
        self._ledger = books
        self._address = address
        self._client_id = f"connect-{urlsplit(worker.setup.url).netloc}"
        """As Connect makes it where nobody sets one; member ids begin with it."""
        self._transport: asyncio.Transport | None = None
        self._data = b""
        self._requests: dict[int, tuple[Request, int]] = {}
        self._over = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._connecting: asyncio.Task[object] | None = None

    def start(self) -> None:
        """The process starts."""
        self._do(self.worker.start(now_ms()))

    def hear(self, configs: Configs) -> None:
        """The config topic says this now."""
        self._do(self.worker.config_read(configs, now_ms()))

    def leave(self) -> None:
        """Stop in good order."""
        self.leaving = True
        self._do(self.worker.leave(now_ms()))

    def close(self) -> None:
        """Be gone."""
        self.leaving = self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.close()

    # -- the connection -----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._do(self.worker.connected(now_ms()))

    def data_received(self, data: bytes) -> None:
        if self._data:
            data = self._data + data
        pos = 0
        while len(data) - pos >= 4 and len(data) >= (end := pos + 4 + _SIZE.unpack_from(data, pos)[0]):
            self._answered(data[pos:end])
            pos = end
        self._data = data[pos:]

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.gone.set()
        if not self.leaving:
            self._ledger.failure = f"the coordinator closed the connection of {self.worker.setup.url}: {exc}"

    def _answered(self, frame: bytes) -> None:
        number = _IDS.unpack_from(frame)[1]
        request, version = self._requests.pop(number)
        _, pos = decode_response_header(request.API_KEY, version, frame, 4)
        response = RESPONSES[request.API_KEY].decode(frame, version, pos)
        self._ledger.got(self, request, response, len(frame))
        if self._over:
            self._close_when_answered()
            return
        began_s = time.monotonic()
        self._do(self.worker.received(number, response, now_ms()))
        if isinstance(response, JoinGroupResponse) and response.members:
            self._ledger.leading_s += time.monotonic() - began_s

    def _close_when_answered(self) -> None:
        if not self._requests:
            self.close()

    # -- what the worker wants ----------------------------------------------------------------------------------------

    def _do(self, wanted: list[Action]) -> None:
        """Carry out actions in their order, and then what follows from them."""
        todo = deque(wanted)
        while todo:
            todo.extend(self._act(todo.popleft()))
        at_ms = self.worker.wake_at()
        # a timer that comes sooner is left as it is, and sets itself anew
        if at_ms is not None and not self._over and (self._timer is None or at_ms < self._timer_ms):
            self._set_timer(at_ms)

    def _act(self, action: Action) -> list[Action]:
        """Carry out one action; what its outcome leads to."""
        match action:
            case Seek():
                self._seek()
            case Send(number, request, version):
                self._send(number, request, version)
            case Start(resources):
                self.runs |= resources
                self._ledger.starts(resources)
            case Stop(resources):
                self.runs -= resources
                self._ledger.stops(resources)
                return self.worker.stopped(now_ms())
            case ReadConfigs():
                return self.worker.read_to_end(now_ms())
            case Close(died_of):
                self._over = True
                if died_of:
                    self._ledger.failure = f"{self.worker.setup.url} died: {died_of}"
                self._close_when_answered()
        return []

    def _seek(self) -> None:
        if self._connecting is not None:
            self._ledger.failure = f"{self.worker.setup.url} gives its connection up"
            return
        loop = asyncio.get_running_loop()
        self._connecting = loop.create_task(loop.create_connection(lambda: self, *self._address))

    def _send(self, number: int, request: Request, version: int) -> None:
        self._ledger.sent(self, request)
        self._requests[number] = request, version
        if self._transport is not None:
            self._transport.write(request_frame(request, version, number, self._client_id))

    def _set_timer(self, at_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = at_ms
        delay_s = max(0, at_ms - now_ms()) / 1000
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._poll)

    def _poll(self) -> None:
        self._timer = None
        self._do(self.worker.poll(now_ms()))
