"""The log of a simulated process: what is committed stays; appends take time, can fail, and are lost with
the process.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from enum import Enum
from random import Random

from kcoord.log.interface import NEVER_MS, AppendFailed, Lease, LogUnusable, RawRecord, StoredRecord
from kcoord.sim.adoption.loop import SimLoop


class Fate(Enum):
    """What becomes of an append."""

    COMMITTED = "it is in the log"
    IN_DOUBT = "it fails, and is in the log all the same"
    ROLLED_BACK = "it fails, and is not in the log"


class Disk:
    """What survives the process."""

    def __init__(self) -> None:
        self.live: dict[bytes, tuple[int, bytes]] = {}
        """The last record of each key that has a value."""
        self._next = 0

    def write(self, batch: Sequence[RawRecord]) -> None:
        """Commit a batch."""
        for key, value in batch:
            self.live.pop(key, None)
            if value is not None:
                self.live[key] = self._next, value
            self._next += 1


class DiskLog:
    """A log (see `kcoord.log.interface.Log`) of one partition, as one life of a process has it."""

    partitions = 1
    lease_ms = 0

    def __init__(self, disk: Disk, loop: SimLoop, random: Random, append_ms: float) -> None:
        self.on_writable: Callable[[], None] | None = None
        self.on_append: Callable[[Sequence[RawRecord]], None] = lambda _batch: None
        """Called with each append that begins."""
        self.next = Fate.COMMITTED
        """What becomes of the next append."""
        self.takes_s = 0.0
        """How much longer the next append takes."""
        self._disk = disk
        self._loop = loop
        self._random = random
        self._append_ms = append_ms
        self._lease = Lease(NEVER_MS)
        self._waiting: deque[tuple[Sequence[RawRecord], asyncio.Future[None]]] = deque()
        self._is_failed = False
        self._is_dead = False
        self._ends_s = 0.0

    @property
    def writable(self) -> bool:
        """See Log.writable."""
        return True

    async def open(self) -> None:
        """See Log.open."""

    async def close(self) -> None:
        """See Log.close."""

    def lease(self, _partition: int) -> Lease:
        """See Log.lease."""
        return self._lease

    def fits(self, _key: bytes, _value: bytes | None) -> bool:
        """See Log.fits."""
        return True

    def tick(self, partition: int) -> asyncio.Future[None]:
        """See Log.tick."""
        return self.append(partition, ())

    async def release(self, _partition: int) -> None:
        """See Log.release."""

    async def load(self, _partition: int) -> AsyncIterator[list[StoredRecord]]:
        """See Log.load."""
        await asyncio.sleep(self._random.random() * self._append_ms / 1000)
        if self._is_dead:
            raise LogUnusable("its process is dead")
        self._is_failed = False
        yield [(at, key, value) for key, (at, value) in self._disk.live.items()]

    def append(self, _partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """See Log.append."""
        done: asyncio.Future[None] = self._loop.create_future()
        if self._is_failed or self._is_dead:
            done.set_exception(AppendFailed("the log has to be loaded first"))
            return done
        self.on_append(batch)
        takes_s, self.takes_s = self._random.random() * self._append_ms / 1000 + self.takes_s, 0.0
        self._ends_s = max(self._ends_s, self._loop.time() + takes_s)
        self._waiting.append((batch, done))
        self._loop.call_at(self._ends_s, self._commit)
        return done

    def _commit(self) -> None:
        if self._is_dead or not self._waiting:
            return
        fate, self.next = self.next, Fate.COMMITTED
        if fate is Fate.COMMITTED:
            batch, done = self._waiting.popleft()
            self._disk.write(batch)
            if not done.done():
                done.set_result(None)
            return
        self._is_failed = True
        if fate is Fate.IN_DOUBT:
            self._disk.write(self._waiting[0][0])
        waiting = list(self._waiting)
        self._waiting.clear()
        for _, done in waiting:
            if not done.done():
                done.set_exception(AppendFailed("an append failed"))

    def die(self) -> None:
        """The process has died. The first few of the appends on their way are in the log."""
        self._is_dead = True
        for batch, _ in list(self._waiting)[: self._random.randint(0, len(self._waiting))]:
            self._disk.write(batch)
        self._waiting.clear()
