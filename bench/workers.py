"""What load do workers of a connect group put on a server, inside the process of the load generator?

Each worker is the worker library's own membership (`kcoord.worker`), on a connection of its own, whose connectors and
tasks start and stop in no time. `Workers` counts what they send: heartbeats at the interval are steady ones, all others
are extra.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import attrs

from bench.lines import Asking, request_frame
from bench.member_connection import MemberConnection, now_ms
from kcoord.assign import CONNECTOR, CooperativeAssignor, Resource
from kcoord.protocol.generated.connect_group_heartbeat_request import ConnectorsAndTasks, ConnectorTaskId
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    Request,
)
from kcoord.protocol.resources import Entry, pack, unpack
from kcoord.worker.actions import Abandon, Action, Assign, Gone, Revoke, Seek, Send
from kcoord.worker.membership import Membership
from kcoord.worker.setup import Offer, Setup

HEARTBEAT_VERSION = 0
STEADY_SHARE = 0.9
"""A heartbeat that comes after less than this share of the interval is an extra one."""
POLL_S = 0.02
SETTLE_ROUNDS = 100
REBALANCE_MS = 60_000


class WorkersFailed(Exception):
    """The server did to a worker what must not happen under this load."""


def configured_set(connectors: int, tasks: int) -> frozenset[Resource]:
    """`tasks` tasks, evenly in `connectors` connectors, which are resources too."""
    each = tasks // connectors
    return frozenset(
        Resource(f"connector-{number:04}", task) for number in range(connectors) for task in range(CONNECTOR, each)
    )


@attrs.define(eq=False)
class Sending:
    """What all workers have sent."""

    steady_s: float
    """What counts as the interval."""
    extra: Counter[str] = attrs.Factory(Counter)
    """Requests beside the steady heartbeats, by name."""
    steady: int = 0

    def count(self, request: Request, since_s: float) -> None:
        """One more, `since_s` after the worker's last heartbeat."""
        if isinstance(request, ConnectGroupHeartbeatRequest) and since_s >= STEADY_SHARE * self.steady_s:
            self.steady += 1
        else:
            self.extra[type(request).__name__.removesuffix("Request")] += 1


class Worker(MemberConnection[Action]):
    """One membership and its connection."""

    VERSION = HEARTBEAT_VERSION

    def __init__(self, setup: Setup, sending: Sending) -> None:
        self.membership = Membership(setup)
        super().__init__(self.membership)
        self._sending = sending
        self._assignor = CooperativeAssignor()
        self._last_beat_s = 0.0

    def _act(self, action: Action) -> list[Action]:
        match action:
            case Seek():
                return self.membership.connected(now_ms())
            case Send(number, request):
                self._send(number, request)
            case Revoke(number):
                return self.membership.released(now_ms(), number)
            case Assign(number, _, group):
                return self.membership.computed(now_ms(), number, self._assignor.assign(group))
            case Abandon(number, _, why):
                self.failure = why
                return self.membership.abandoned(now_ms(), number)
            case Gone(error, message) if error:
                self.failure = f"error {error}: {message}"
        return []

    def _send(self, number: int, request: Request) -> None:
        now_s = time.monotonic()
        self._sending.count(request, now_s - self._last_beat_s)
        if isinstance(request, ConnectGroupHeartbeatRequest):
            self._last_beat_s = now_s
        self._write(number, request)


@attrs.frozen
class Joined:
    """What one more worker cost."""

    seconds: float
    """From its first request until it owned its whole target, and so everybody else what they are to own."""
    steps: int
    """In so many steps it grew."""
    changed: int
    """Workers whose assignment changed, the new one included."""
    extra: dict[str, int]
    """Requests beside the steady heartbeats."""


@attrs.define(eq=False)
class Workers:
    """The workers of one group."""

    host: str
    port: int
    group_id: str
    interval_s: float
    max_wait_ms: int
    sending: Sending = attrs.Factory(lambda self: Sending(self.interval_s), takes_self=True)
    workers: list[Worker] = attrs.Factory(list)

    async def found(self, count: int, connectors: int, tasks: int, deadline_s: float) -> None:
        """Bring `count` workers together until all have one epoch and every resource is owned. Raises WorkersFailed."""
        configured = configured_set(connectors, tasks)
        for number in range(count):
            await self._add(number, configured if number == 0 else None)

        def settled() -> bool:
            epochs = {each.membership.epoch for each in self.workers}
            owned = sum(len(each.membership.owned) for each in self.workers)
            return len(epochs) == 1 and 0 not in epochs and owned == len(configured)

        await self._until(settled, f"{count} workers have settled", deadline_s)

    async def _add(self, number: int, configured: frozenset[Resource] | None) -> Worker:
        setup = Setup(
            self.group_id,
            f"worker-{number:04}",
            url=f"http://worker-{number:04}:8083/",
            offers=(Offer("cooperative", 0, 1, 0, 1),),
            configured=configured,
            config_offset=-1 if configured is None else 1,
            max_wait_ms=self.max_wait_ms,
        )
        worker = Worker(setup, self.sending)
        await asyncio.get_running_loop().create_connection(lambda: worker, self.host, self.port)
        self.workers.append(worker)
        worker.do(worker.membership.start(now_ms()))
        return worker

    async def one_more(self, deadline_s: float) -> Joined:
        """One worker joins; returns when everybody owns what it is to own. Raises WorkersFailed."""
        before = {each: each.membership.owned for each in self.workers}
        epoch = max(each.membership.epoch for each in self.workers)
        self.sending.extra.clear()
        began_s = time.monotonic()
        newcomer = await self._add(len(self.workers), None)
        grown: list[tuple[int, float]] = [(0, began_s)]

        def arrived() -> bool:
            owned = len(newcomer.membership.owned)
            if owned != grown[-1][0]:
                grown.append((owned, time.monotonic()))
            return newcomer.membership.epoch > epoch

        await self._until(arrived, "the newcomer owns its target", deadline_s, every_s=0.001)
        seconds = time.monotonic() - began_s
        await asyncio.sleep(2.5 * self.interval_s)  # those who gave something move to the new epoch
        changed = [each for each in self.workers if before.get(each, frozenset()) != each.membership.owned]
        return Joined(seconds, len(grown) - 1, len(changed), dict(self.sending.extra))

    async def _until(self, reached: Callable[[], bool], what: str, deadline_s: float, every_s: float = POLL_S) -> None:
        end_s = time.monotonic() + deadline_s
        while not reached():
            failed = [each.failure for each in self.workers if each.failure]
            if failed:
                raise WorkersFailed(failed[0])
            if time.monotonic() > end_s:
                raise WorkersFailed(f"after {deadline_s:.0f} s not yet: {what}")
            await asyncio.sleep(every_s)

    def close(self) -> None:
        """All are gone at once."""
        for each in self.workers:
            each.close()


async def settle_workers(lines: Sequence[Asking], group_id: str) -> list[bytes]:
    """Bring workers into a stable group, one on each line, which asks for `uniform` and has one task each; the steady
    heartbeat of each as a frame. Raises WorkersFailed.
    """
    packed = pack(configured_set(1, len(lines)), ConnectorsAndTasks, ConnectorTaskId)
    epochs = dict.fromkeys(lines, 0)
    for line in lines:
        request = ConnectGroupHeartbeatRequest(
            group_id,
            _member_id(lines, line),
            0,
            rebalance_timeout_ms=REBALANCE_MS,
            server_assignor="uniform",
            connectors_and_tasks=[],
            config_offset=1,
            configured_connectors_and_tasks=packed,
        )
        epochs[line] = (await line.ask(request, HEARTBEAT_VERSION, ConnectGroupHeartbeatResponse)).member_epoch
    rounds = 0
    while len(set(epochs.values())) > 1 or 0 in epochs.values():
        for line in lines:
            request = ConnectGroupHeartbeatRequest(group_id, _member_id(lines, line), epochs[line])
            told = await line.ask(request, HEARTBEAT_VERSION, ConnectGroupHeartbeatResponse)
            if told.error_code:
                raise WorkersFailed(f"error {told.error_code}: {told.error_message}")
            if told.assignment is not None:
                request.member_epoch = told.member_epoch
                request.connectors_and_tasks = _as_said(told.assignment.connectors_and_tasks)
                told = await line.ask(request, HEARTBEAT_VERSION, ConnectGroupHeartbeatResponse)
            epochs[line] = told.member_epoch
        rounds += 1
        if rounds > SETTLE_ROUNDS:
            raise WorkersFailed(f"group {group_id} does not settle: epochs {sorted(epochs.values())}")
    return [
        request_frame(ConnectGroupHeartbeatRequest(group_id, _member_id(lines, line), epochs[line]), HEARTBEAT_VERSION)
        for line in lines
    ]


def _member_id(lines: Sequence[Asking], line: Asking) -> str:
    return f"worker-{lines.index(line):04}"


def _as_said(told: Iterable[Entry]) -> list[ConnectorsAndTasks]:
    return pack(unpack(told), ConnectorsAndTasks, ConnectorTaskId)
