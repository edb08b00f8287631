"""What does an event in a large fleet of Connect's own workers cost, inside the process of the load generator?

`LegacyFleet` lets one worker join, leave or bounce, waits until nothing moves any more, makes sure that all that is
configured runs once, and says what that took.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import attrs

from bench.classic_station import Ledger, Station
from bench.fleet import connect
from bench.members import FIND_VERSION, HEARTBEAT_VERSION, NOT_YET
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from kcoord.sim.classic_worker import ClassicSetup, ClassicWorker, Configs

POLL_S = 0.01
QUIET_INTERVALS = 2.2
"""Nothing moves any more when nobody has joined or synced for so many heartbeat intervals."""


class FleetFailed(Exception):
    """The coordinator did to a worker what must not happen under this load."""


@attrs.frozen
class Spent:
    """What one event took. Who leaves is not counted among the workers."""

    changed: int
    """Workers whose assignment is another than before."""
    interrupted: int
    """Workers that joined, or were told to."""
    needlessly: int
    """Of these, whose assignment is as before."""
    joins: int
    syncs: int
    round_bytes: int
    """Answered to JoinGroup and SyncGroup."""
    bytes: int
    """Answered in all."""
    stopped: int
    """Connectors and tasks that were stopped."""
    all_run_s: float
    """Until everything ran where it stays."""
    quiet_s: float
    """Until the last JoinGroup or SyncGroup was answered."""
    leading_s: float
    """What the leader took of that to read, assign and write."""
    watched_s: float
    client_cpu_s: float
    """Of the workers' process, while it was watched."""


@attrs.define(eq=False)
class ClassicWorkers:
    """The workers of one group."""

    host: str
    port: int
    group_id: str
    connectors: int
    tasks: int
    interval_ms: int
    session_ms: int
    max_delay_ms: int = 0
    """`scheduled.rebalance.max.delay.ms` of all workers."""
    configs: Configs = attrs.Factory(Configs)
    """What every worker has read of the config topic."""
    books: Ledger = attrs.Factory(Ledger)
    stations: dict[str, Station] = attrs.Factory(dict)
    """By url, in the order in which they were added."""

    async def found(self, count: int, grown: bool, deadline_s: float) -> None:
        """Bring `count` workers together, over one heartbeat interval, so that their heartbeats are spread too, until
        all have work and nothing moves. `grown`: connectors begin with one task, and all get one more at a time. Raises
        FleetFailed.
        """
        tasks = self.tasks // self.connectors
        self._configure(1 if grown else tasks)
        await self._find_coordinator(deadline_s)
        began_s = time.monotonic()
        for number in range(count):
            self._add(number)
            await asyncio.sleep(began_s + self.interval_ms / 1000 * number / count - time.monotonic())
        await self._until_quiet(lambda: all(each.runs for each in self.stations.values()), deadline_s)
        for each in range(2, tasks + 1 if grown else 0):
            self._configure(each)
            await self._until(lambda: not self.books.waiting and not self._faults(), deadline_s)
        await self._until_quiet(lambda: True, deadline_s)

    def _configure(self, tasks: int) -> None:
        """Every connector has so many tasks from now on; everybody reads it at once."""
        names = [f"connector-{number:04}" for number in range(self.connectors)]
        offset = self.configs.offset + len(names) * (tasks + 1)
        self.configs = Configs(offset, dict.fromkeys(names, tasks), dict.fromkeys(names, tasks))
        for station in self.stations.values():
            station.hear(self.configs)

    async def _find_coordinator(self, deadline_s: float) -> None:
        """Wait until the group has one that works: a fresh Kafka makes its offsets topic when first asked. Raises
        TimeoutError.
        """
        (line,) = await connect(self.host, self.port, 1)
        find = FindCoordinatorRequest(coordinator_keys=[self.group_id])
        beat = HeartbeatRequest(self.group_id, 0, "nobody")
        async with asyncio.timeout(deadline_s):
            while (await line.ask(beat, HEARTBEAT_VERSION, HeartbeatResponse)).error_code in NOT_YET:
                await line.ask(find, FIND_VERSION, FindCoordinatorResponse)
                await asyncio.sleep(POLL_S)
        line.close()

    def _add(self, number: int) -> Station:
        setup = ClassicSetup(
            self.group_id,
            _url(number),
            heartbeat_interval_ms=self.interval_ms,
            session_timeout_ms=self.session_ms,
            max_delay_ms=self.max_delay_ms,
        )
        station = Station(ClassicWorker(setup, self.configs), self.books, (self.host, self.port))
        self.stations[setup.url] = station
        station.start()
        return station

    def delay(self, max_delay_ms: int) -> None:
        """Set the delay of all workers."""
        self.max_delay_ms = max_delay_ms
        for station in self.stations.values():
            station.worker.setup = attrs.evolve(station.worker.setup, max_delay_ms=max_delay_ms)

    # -- events -------------------------------------------------------------------------------------------------------

    async def join(self, deadline_s: float) -> Spent:
        """One worker more joins. Raises FleetFailed."""

        async def event() -> Station:
            return self._add(len(self.stations))

        return await self._measured(event, deadline_s)

    async def leave(self, deadline_s: float) -> Spent:
        """The youngest worker leaves in good order. Raises FleetFailed."""
        _, leaver = self.stations.popitem()

        async def event() -> None:
            leaver.leave()
            await leaver.gone.wait()

        return await self._measured(event, deadline_s)

    async def bounce(self, deadline_s: float) -> Spent:
        """A worker that does not lead leaves in good order, and as soon as its connection is closed a new process with
        the same url joins. Raises FleetFailed.
        """
        number = len(self.stations) // 2
        leaver = self.stations[_url(number)]
        if leaver.worker.leads:
            number += 1
            leaver = self.stations[_url(number)]

        async def event() -> Station:
            leaver.leave()
            await leaver.gone.wait()
            return self._add(number)

        return await self._measured(event, deadline_s)

    async def call(self, deadline_s: float) -> Spent:
        """Nothing happens but what the coordinator wants by itself: it lets somebody join. Raises FleetFailed."""

        async def event() -> None:
            await self._until(lambda: self.books.calls["JoinGroup"] > 0, deadline_s)

        return await self._measured(event, deadline_s)

    async def _measured(self, event: Callable[[], Awaitable[Station | None]], deadline_s: float) -> Spent:
        before = {station: frozenset(station.runs) for station in self.stations.values()}
        books = self.books
        books.open()
        began_s, cpu_s = time.monotonic(), time.process_time()
        newcomer = await event()
        await self._until_quiet(lambda: newcomer is None or bool(newcomer.runs), deadline_s)
        changed = {each for each in self.stations.values() if before.get(each, frozenset()) != each.runs}
        interrupted = {each for each in books.interrupted if not each.leaving}
        return Spent(
            changed=len(changed),
            interrupted=len(interrupted),
            needlessly=len(interrupted - changed),
            joins=books.calls["JoinGroup"],
            syncs=books.calls["SyncGroup"],
            round_bytes=books.answered["JoinGroup"] + books.answered["SyncGroup"],
            bytes=books.answered.total(),
            stopped=books.stopped,
            all_run_s=books.changed_s - began_s,
            quiet_s=books.round_s - began_s,
            leading_s=books.leading_s,
            watched_s=time.monotonic() - began_s,
            client_cpu_s=time.process_time() - cpu_s,
        )

    async def _until_quiet(self, arrived: Callable[[], bool], deadline_s: float) -> None:
        """Wait until nobody has joined or synced for a while; all that is configured must run once then."""
        books = self.books
        quiet_s = QUIET_INTERVALS * self.interval_ms / 1000

        def quiet() -> bool:
            return not books.waiting and time.monotonic() - books.round_s >= quiet_s and arrived()

        await self._until(quiet, deadline_s)
        faults = self._faults()
        if faults:
            raise FleetFailed(f"nothing moves any more; {faults}")

    async def _until(self, reached: Callable[[], bool], deadline_s: float) -> None:
        books = self.books
        end_s = time.monotonic() + deadline_s
        while not reached():
            if books.failure:
                raise FleetFailed(books.failure)
            if time.monotonic() > end_s:
                raise FleetFailed(f"after {deadline_s:.0f} s: {books.waiting} calls wait; {self._faults()}")
            await asyncio.sleep(POLL_S)

    def _faults(self) -> str:
        """What is configured and does not run exactly once; empty: nothing."""
        running, configured = self.books.running, self.configs.resources()
        kinds = {
            "run nowhere": configured - running.keys(),
            "run and are not configured": running.keys() - configured,
            "run on more than one worker": {each for each, count in running.items() if count > 1},
            "ran on more than one worker for a time": self.books.twice,
        }
        return ", ".join(f"{len(some)} {what}, as {min(some)}" for what, some in kinds.items() if some)

    def close(self) -> None:
        """All are gone at once."""
        for each in self.stations.values():
            each.close()


def _url(number: int) -> str:
    return f"http://worker-{number:04}:8083/"
