"""Does a rebalance survive `kill -9` of the coordinator at each of its record boundaries?

Four workers run fifteen connectors and tasks, a fifth joins, and kcoord dies at the first append of that rebalance,
before or after it is on the disk; then at the second, and so on until the rebalance has no more. After each restart the
group converges, and never did two workers run the same thing.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import attrs
import pytest

from kcoord.assign import CooperativeAssignor, Resource
from kcoord.worker import Configured, Worker, WorkerRebalanceListener
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import DEADLINE_S

RESOURCES = frozenset((name, task) for name in "abc" for task in range(-1, 4))
SETTINGS = {
    "group.connect.min.session.timeout.ms": 1_000,
    "group.connect.session.timeout.ms": 30_000,
    "group.connect.min.heartbeat.interval.ms": 100,
    "group.connect.heartbeat.interval.ms": 200,
    "group.connect.rebalance.delay.ms": 0,
}
LEAST_BOUNDARIES = 4
"""Join, install, a release, a grant: a rebalance with fewer appends would be none."""


@attrs.define
class Dying(Kcoord):
    """kcoord under `dying.py`."""

    @property
    def order(self) -> Path:
        """The file that says when it dies."""
        return self.folder / "die-at"

    def command(self) -> list[str]:
        """See Kcoord.command."""
        (python, _, _, *arguments) = super().command()
        return [python, "-m", "tests.connectgroups.dying", str(self.order), *arguments]


@attrs.define
class Invariants:
    """Who runs what, over all workers of the test."""

    owners: dict[Resource, str] = attrs.Factory(dict)
    violations: list[str] = attrs.Factory(list)

    def start(self, who: str, resources: frozenset[Resource]) -> None:
        for resource in resources:
            if resource in self.owners:
                self.violations.append(f"{who} starts {resource}, which {self.owners[resource]} runs")
            self.owners[resource] = who

    def stop(self, who: str, resources: frozenset[Resource]) -> None:
        for resource in resources:
            if self.owners.get(resource) == who:
                del self.owners[resource]


@attrs.define
class Listener(WorkerRebalanceListener):
    """Keeps the books of one worker."""

    who: str
    books: Invariants

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        self.books.start(self.who, resources)

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        await asyncio.sleep(0)
        self.books.stop(self.who, resources)


@attrs.define
class Group:
    """The workers of the test, all in its own process."""

    bootstrap: str
    books: Invariants = attrs.Factory(Invariants)
    workers: dict[str, Worker] = attrs.Factory(dict)
    stack: AsyncExitStack = attrs.Factory(AsyncExitStack)

    async def add(self, who: str) -> None:
        worker = Worker(
            self.bootstrap,
            "doomed",
            listener=Listener(who, self.books),
            url=f"http://{who}",
            assignors=[CooperativeAssignor()],
            configured=Configured(1, RESOURCES),
            client_id=who,
        )
        self.workers[who] = await self.stack.enter_async_context(worker)

    async def remove(self, who: str) -> None:
        await self.workers.pop(who).close()

    def settled(self) -> bool:
        """Whether all have an even share of everything, at one epoch."""
        shares = [len(worker.owned) for worker in self.workers.values()]
        even = max(shares) - min(shares) <= 2  # connectors and tasks are each even within one
        one_epoch = len({worker.epoch for worker in self.workers.values()}) == 1
        return even and one_epoch and sum(shares) == len(RESOURCES) == len(self.books.owners)


async def until(reached: Callable[[], bool], what: str) -> None:
    """Wait for it."""
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + DEADLINE_S
    while not reached():
        assert loop.time() < deadline_s, f"not yet: {what}"
        await asyncio.sleep(0.02)


@pytest.fixture
async def kcoord(tmp_path: Path) -> AsyncIterator[Dying]:
    process = Dying(tmp_path / "kcoord", settings=SETTINGS)
    process.folder.mkdir()
    await asyncio.to_thread(process.start)
    yield process
    process.remove()


@pytest.mark.long("starts a coordinator at each record")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_rebalance_survives_kill_9_at_each_record_boundary(kcoord: Dying, when: str) -> None:
    """CG-1, CG-2, CG-11, CG-12, CG-14, CG-24"""
    group = Group(kcoord.bootstrap)
    async with group.stack:
        for number in range(1, 5):
            await group.add(f"w{number}")
        await until(group.settled, "four workers share everything")
        boundary = 0
        died = True
        while died:
            boundary += 1
            kcoord.order.write_text(f"{boundary} {when}")
            await group.add("w5")
            await until(lambda: not kcoord.process.running or group.settled(), f"boundary {boundary}")
            died = not kcoord.process.running
            kcoord.order.unlink()
            if died:
                await asyncio.to_thread(kcoord.start)
                await until(group.settled, f"five workers share everything after boundary {boundary}")
            await group.remove("w5")
            await until(group.settled, f"four workers again after boundary {boundary}")
            assert group.books.violations == []
        assert boundary > LEAST_BOUNDARIES
