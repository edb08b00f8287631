"""Members that live as a client's do, and what an event costs them: how many had to stop their work, for how long
none of it was anybody's, and which commits failed.

A member beats and commits all the time, joins when it is told to, and finds its coordinator again. Its work stops when
it joins, as an eager consumer's does, and goes on when it has an assignment again. A commit has failed when it was
answered with an error that a client hands on to its user; when the coordinator is another one now, or the connection
ends, clients try again by themselves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import attrs

from kcoord.protocol.errors import ErrorCode
from tests.gateway.live_member import LOOK_AGAIN, LOST, LiveMember

AGAIN = LOOK_AGAIN | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.REQUEST_TIMED_OUT}
"""A commit that is answered with these clients try again by themselves."""
ROUND_S = 0.4
"""How long a member waits between two commits."""
DEADLINE_S = 300.0
ASK_EVERY_S = 0.05


@attrs.define(eq=False)
class Worker(LiveMember):
    """A member whose work is watched."""

    times_stopped: int = 0
    """How often its work stopped."""
    longest_s: float = 0.0
    """How long it stood still at most."""
    failed: int = 0
    retried: int = 0
    """Commits that a client tries again by itself."""
    slowest_s: float = 0.0
    """The longest time from when a commit was due until one succeeded."""
    _works: bool = False
    _stopped_at: float | None = None
    _tried_at: float | None = None

    @property
    def port(self) -> int:
        """Whom it is connected to."""
        assert self.member is not None
        return int(self.member.client.writer.get_extra_info("peername")[1])

    def forget(self) -> None:
        """Count from now on."""
        self.times_stopped = self.failed = self.retried = 0
        self.longest_s = self.slowest_s = 0.0
        self._tried_at = None

    def note_stop(self) -> None:
        """Its work stops now, if it has not stopped already."""
        if self._works:
            self._works, self._stopped_at = False, time.monotonic()
            self.times_stopped += 1

    async def _live(self) -> None:
        while not self._stops:
            if self._works:
                self._tried_at = self._tried_at or time.monotonic()
            try:
                await self._find()
                await self._round()
            except LOST:
                self.retried += self._works
                await self._lose()
            await asyncio.sleep(ROUND_S)

    async def _round(self) -> None:
        assert self.member is not None
        if self._joins_now:
            self.note_stop()
            await self._join(self.member)
            self._goes_on()
            return
        self.tried += 1
        error = await self.member.commit(self.topic, self.tried)
        if not error:
            self.committed = self.tried
            if self._tried_at is not None:
                self.slowest_s = max(self.slowest_s, time.monotonic() - self._tried_at)
            self._tried_at = None
        elif error in AGAIN:
            self.retried += 1
        else:
            self.failed += 1
            self._tried_at = None
        await self._obey(error or await self.member.heartbeat())

    def _goes_on(self) -> None:
        if self._joins_now:
            return
        self._works = True
        if self._stopped_at is not None:
            self.longest_s = max(self.longest_s, time.monotonic() - self._stopped_at)
            self._stopped_at = None


@attrs.frozen
class Cost:
    """What an event cost so many members."""

    members: int
    stopped: int
    """Members whose work stopped."""
    gap_s: float
    """The longest time in which a member's work stood still."""
    failed: int
    """Commits."""
    retried: int
    slowest_s: float
    """The longest time from when a commit was due until one succeeded."""


async def settled(workers: Sequence[Worker]) -> None:
    """Return once all are in one generation and each has committed since."""
    async with asyncio.timeout(DEADLINE_S):
        await _all_commit(workers)


async def _all_commit(workers: Sequence[Worker]) -> None:
    before = {worker: worker.committed for worker in workers}
    while True:
        generations = {worker.member.generation if worker.member is not None else -1 for worker in workers}
        is_calm = len(generations) == 1 and all(worker.is_stable for worker in workers)
        if is_calm and all(worker.committed > before[worker] for worker in workers):
            return
        if not is_calm:
            before = {worker: worker.committed for worker in workers}
        await asyncio.sleep(ASK_EVERY_S)


@asynccontextmanager
async def counted(workers: Sequence[Worker], costs: list[Cost]) -> AsyncIterator[None]:
    """What happens in the block is an event: what it cost, until all commit again, is added to `costs`."""
    await settled(workers)
    for worker in workers:
        worker.forget()
    yield
    await settled(workers)
    costs.append(
        Cost(
            members=len(workers),
            stopped=sum(worker.times_stopped > 0 for worker in workers),
            gap_s=max(worker.longest_s for worker in workers),
            failed=sum(worker.failed for worker in workers),
            retried=sum(worker.retried for worker in workers),
            slowest_s=max(worker.slowest_s for worker in workers),
        )
    )


async def began(workers: Sequence[Worker], at_once: int = 20) -> None:
    """Start all of them, some at a time, and wait until all commit."""
    for first in range(0, len(workers), at_once):
        for worker in workers[first : first + at_once]:
            worker.start()
        await asyncio.sleep(ROUND_S)
    await settled(workers)


async def restarted(workers: Sequence[Worker]) -> None:
    """All of them end in order, and are started again: without kcoord's help that is how a group changes clusters."""
    for worker in workers:
        worker.note_stop()
    await asyncio.gather(*(worker.stop() for worker in workers))
    for worker in workers:
        if worker.member is not None:
            await worker.member.close()
        worker.member, worker._stops = None, False
        worker.start()
