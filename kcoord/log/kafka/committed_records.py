"""Reading the committed records of a partition, for a load and for history.

A load reads up to the high watermark of the moment when it began, not up to the last stable offset. A transaction that
another program has open would hide what kcoord committed after it; so the load waits for that transaction to end. The
reader fetches the next part while the previous one is processed. It leaves out records of aborted transactions, which
the broker names, and checks the checksum of every batch.

Readers of history (`steps`) read up to the last stable offset and get whole transactions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import attrs
from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.offset import OffsetRequest
from aiokafka.record.control_record import ABORT_MARKER, ControlRecord
from aiokafka.record.memory_records import MemoryRecords

from kcoord.log.history import Entry
from kcoord.log.interface import LogCorrupt, LogUnusable, StoredRecord
from kcoord.log.kafka.broker_errors import Then, said, then
from kcoord.log.kafka.connections import Connections, Unreachable

_log = logging.getLogger(__name__)

_EARLIEST, _LATEST = -2, -1
_UNCOMMITTED, _COMMITTED = 0, 1
_CONSUMER = -1
_FETCH_BYTES = 2 << 20
_WAIT_MS = 300
_PAUSE_S = 0.05
_CHUNK_RECORDS = 1000
_SAY_EVERY_S = 10.0


@attrs.define
class _Part:
    """The result of one fetch."""

    data: bytes
    aborted: list[tuple[int, int]]
    """The producer ids and first offsets of aborted transactions."""
    stable: int
    """The last stable offset: before it no transaction is open."""
    throttled: bool
    start: int = 0
    end: int = 0
    """The range of offsets that is wanted: from `start` up to, but without, `end`."""


@attrs.define(eq=False)
class Reader:
    """The reader of one partition."""

    connections: Connections
    topic: str
    partition: int
    patience_s: float
    """How long the reader goes without an answer from a broker. After that it raises LogUnusable."""

    @property
    def name(self) -> str:
        return f"partition {self.partition} of topic {self.topic}"

    async def bounds(self) -> tuple[int, int]:
        """The first offset of the partition, and its end. Raises LogUnusable."""
        return await self._offset(_EARLIEST), await self._offset(_LATEST)

    async def stable_end(self) -> int:
        """The last stable offset: where the first open transaction begins, or the end. Raises LogUnusable."""
        return await self._offset(_LATEST, _COMMITTED)

    async def first_since(self, at_ms: int) -> int | None:
        """The offset of the first record written at `at_ms` or later; None if there is none. Raises LogUnusable."""
        found = await self._offset(at_ms)
        return None if found < 0 else found

    async def signs(self, start: int, end: int) -> AsyncGenerator[int, None]:
        """The times (unix ms) of all batches between the two offsets, markers of transactions included."""
        async with aclosing(self._parts(start, end)) as parts:
            async for part in parts:
                for batch in _batches(part.data):
                    if start <= batch.base_offset < end:
                        yield batch.max_timestamp

    async def read(self, start: int, end: int) -> AsyncGenerator[list[StoredRecord], None]:
        """All committed records from `start` up to, but without, `end`, in chunks. Raises LogUnusable, LogCorrupt."""
        async with aclosing(self._parts(start, end)) as parts:
            async for part in parts:
                for chunk in self._chunks(part):
                    yield chunk

    async def steps(self, start: int, end: int) -> AsyncGenerator[list[Entry], None]:
        """The same with times. Each list is one transaction, or what compaction has left of several."""
        entries: list[Entry] = []
        async with aclosing(self._parts(start, end)) as parts:
            async for part in parts:
                for batch in self._committed(part):
                    if batch is not None:
                        entries += [Entry(self.partition, *each) for each in self._timed(batch, part)]
                    elif entries:
                        yield entries
                        entries = []
        if entries:
            yield entries

    # Inside

    async def _parts(self, start: int, end: int) -> AsyncGenerator[_Part, None]:
        if start >= end:
            return
        waits = _Waits(self, end)
        fetch = asyncio.create_task(self._fetch(start))
        try:
            while True:
                part = await fetch
                after = _end_of(part.data, start)
                if after == start:
                    if part.stable >= end and not part.throttled:
                        return  # compaction removed the records at the end
                    waits.still(start, part)
                if after < end:
                    fetch = asyncio.create_task(self._fetch(after))
                part.start, part.end = start, end
                yield part
                if after >= end:
                    return
                start = after
        finally:
            fetch.cancel()
            await asyncio.wait([fetch])

    def _chunks(self, part: _Part) -> Iterator[list[StoredRecord]]:
        """The committed records of `part`."""
        start, end = part.start, part.end
        chunk: list[StoredRecord] = []
        for batch in self._committed(part):
            if batch is None:
                continue
            at = batch.base_offset
            try:
                for record in batch:
                    at = record.offset
                    if start <= at < end:
                        if record.key is None:
                            raise self._corrupt(at, "it has no key, so it is none of kcoord's")
                        chunk.append((at, record.key, record.value))
            except (CorruptRecordException, UnsupportedCodecError) as error:
                raise self._corrupt(at, str(error)) from None
            if len(chunk) >= _CHUNK_RECORDS:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def _timed(self, batch: Any, part: _Part) -> Iterator[tuple[int, int, bytes, bytes | None]]:
        """Offset, time, key and value of the records of `batch`."""
        at = batch.base_offset
        try:
            for record in batch:
                at = record.offset
                if part.start <= at < part.end:
                    yield at, record.timestamp, record.key or b"", record.value
        except (CorruptRecordException, UnsupportedCodecError) as error:
            raise self._corrupt(at, str(error)) from None

    def _committed(self, part: _Part) -> Iterator[Any]:
        """The committed batches of `part`, and None at each end of a transaction."""
        undone: set[int] = set()
        aborted = sorted(part.aborted, key=lambda each: each[1], reverse=True)
        for batch in _batches(part.data):
            if not batch.validate_crc():
                raise self._corrupt(max(part.start, batch.base_offset), "its checksum does not match")
            while aborted and aborted[-1][1] <= batch.base_offset:
                undone.add(aborted.pop()[0])
            if batch.is_control_batch:
                marker = next(iter(batch), None)  # compaction may leave an empty batch
                if marker is not None and ControlRecord.parse(marker.key) == ABORT_MARKER:
                    undone.discard(batch.producer_id)
                yield None
            elif not batch.is_transactional or batch.producer_id not in undone:
                yield batch

    def _corrupt(self, offset: int, what: str) -> LogCorrupt:
        return LogCorrupt(
            f"the record at offset {offset} of {self.name} cannot be read: {what}. Records are never skipped: see that "
            "nothing but kcoord writes to this topic, or name another by log.topic"
        )

    async def _fetch(self, offset: int) -> _Part:
        where = [(self.topic, [(self.partition, offset, _FETCH_BYTES)])]
        request = FetchRequest(_WAIT_MS, 1, _FETCH_BYTES, _COMMITTED, where)
        answer = await self._ask(request, lambda answer: _partition_of(answer)["error_code"] if answer.topics else 0)
        throttled = bool(answer.throttle_time_ms)
        if not answer.topics:
            return _Part(b"", [], -1, throttled=True)
        found = _partition_of(answer)
        data = found["message_set"] or b""
        return _Part(data, found["aborted_transactions"] or [], found["last_stable_offset"], throttled)

    async def _offset(self, which: int, isolation: int = _UNCOMMITTED) -> int:
        request = OffsetRequest(_CONSUMER, isolation, [(self.topic, [(self.partition, which)])])
        answer = await self._ask(request, lambda answer: answer.topics[0][1][0][1])
        offset: int = answer.topics[0][1][0][3]
        return offset

    async def _ask(self, request: Any, error_of: Any) -> Any:
        """The leader's answer. Raises LogUnusable if there is none within `patience_s`."""
        trouble = "no answer"
        try:
            async with asyncio.timeout(self.patience_s):
                while True:
                    try:
                        leader = await self.connections.leader(self.partition)
                        answer = await self.connections.send(leader, request, self.partition)
                    except Unreachable as error:
                        trouble, next_step = str(error), Then.SEEK
                    else:
                        code = error_of(answer)
                        next_step = then(code)
                        if next_step is Then.DONE:
                            return answer
                        trouble = f"{type(request).__name__}: {said(code)}"
                    if next_step in (Then.FINAL, Then.FENCED):
                        raise LogUnusable(f"{self.name} cannot be read: {trouble}")
                    if next_step is Then.SEEK:
                        await self.connections.refresh()
                    await asyncio.sleep(_PAUSE_S)
        except TimeoutError:
            raise LogUnusable(f"{self.name} cannot be read: not within {self.patience_s:g} s: {trouble}") from None


@attrs.define
class _Waits:
    """Logs from time to time why a load makes no progress."""

    reader: Reader
    end: int
    _said_at: float = -_SAY_EVERY_S

    def still(self, offset: int, part: _Part) -> None:
        now = asyncio.get_running_loop().time()
        if part.throttled or now < self._said_at + _SAY_EVERY_S:
            return
        self._said_at = now
        _log.warning(
            "%s is read up to offset %d of %d, and waits for a transaction that is open there: it goes on when that "
            "ends or times out. If it does not within two minutes, something but kcoord writes to this topic, or the "
            "cluster has lost the transaction's end: kafka-transactions.sh find-hanging shows it (docs/instances.md)",
            self.reader.name,
            offset,
            self.end,
        )


def _partition_of(answer: Any) -> dict[str, Any]:
    """The one partition in a fetch answer, as field name → value. The fields differ between versions."""
    partition = answer.topics[0][1][0]
    fields = answer.SCHEMA.fields[answer.SCHEMA.names.index("topics")].array_of.fields[1].array_of.names
    return dict(zip(fields, partition, strict=True))


def _batches(data: bytes) -> Iterator[Any]:
    """The whole batches in `data`. A partial batch at the end is left out."""
    records = MemoryRecords(data)
    while records.has_next():
        batch = records.next_batch()
        assert batch is not None
        yield batch


def _end_of(data: bytes, start: int) -> int:
    """The offset after the last whole batch in `data`, or `start` if there is none."""
    end = start
    for batch in _batches(data):
        end = max(end, batch.next_offset)
    return end
