"""A log in memory: it outlives the coordinator that writes to it, and ends with the test.

It keeps what every log promises (`kcoord.log.interface`). A commit takes one turn of the event loop and no time. If the
coordinator is killed, what was appended in that turn is lost, as a disk loses what it has not written yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from kcoord.log.interface import NEVER_MS, Lease, LogUnusable, RawRecord, StoredRecord

_CHUNK_RECORDS = 1000


class MemoryLog:
    """A log (see `kcoord.log.interface.Log`) of `partitions` partitions. If it is opened again, it has the same
    records.
    """

    lease_ms = 0

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.on_writable: Callable[[], None] | None = None
        self.commits = 0
        """The number of commits. Appends in the same turn of the loop share one commit."""
        self._is_open = False
        self._live: list[dict[bytes, tuple[int, bytes]]] = [{} for _ in range(partitions)]
        self._next = [0] * partitions
        self._lease = Lease(NEVER_MS)
        self._waiting: list[tuple[int, Sequence[RawRecord], asyncio.Future[None]]] = []

    @property
    def writable(self) -> bool:
        """See Log.writable."""
        return self._is_open

    async def open(self) -> None:
        """See Log.open."""
        self._waiting = []
        self._is_open = True

    async def close(self) -> None:
        """See Log.close."""
        self._commit()
        self._is_open = False

    def lease(self, partition: int) -> Lease:
        """See Log.lease. It never ends, because nobody else has this log."""
        self._check(partition)
        return self._lease

    async def load(self, partition: int) -> AsyncIterator[list[StoredRecord]]:
        """See Log.load. Yields the last record of each key that has a value."""
        self._check(partition)
        self._commit()
        records: list[StoredRecord] = [(at, key, value) for key, (at, value) in self._live[partition].items()]
        for begin in range(0, len(records), _CHUNK_RECORDS):
            yield records[begin : begin + _CHUNK_RECORDS]
            await asyncio.sleep(0)

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """See Log.append."""
        self._check(partition)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append((partition, batch, done))
        return done

    def fits(self, key: bytes, value: bytes | None) -> bool:
        """See Log.fits."""
        return True

    def tick(self, partition: int) -> asyncio.Future[None]:
        """See Log.tick."""
        return self.append(partition, ())

    async def release(self, partition: int) -> None:
        """See Log.release."""
        self._check(partition)
        self._commit()

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        self.commits += bool(waiting)
        for partition, batch, done in waiting:
            for key, value in batch:
                self._write(partition, key, value)
            if not done.done():
                done.set_result(None)

    def _write(self, partition: int, key: bytes, value: bytes | None) -> None:
        live = self._live[partition]
        live.pop(key, None)
        if value is not None:
            live[key] = self._next[partition], value
        self._next[partition] += 1

    def _check(self, partition: int) -> None:
        if not self._is_open:
            raise LogUnusable("the log in memory is not open")
        if not 0 <= partition < self.partitions:
            raise ValueError(f"partition {partition} is not one of the log's {self.partitions}")
