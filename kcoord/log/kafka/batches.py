"""Record batches for a broker: built up to the topic's `max.message.bytes`, compressed if one record is larger.

A batch of several records is as large as the topic allows, up to `SHARED_BYTES`. A record that alone is larger than the
topic allows is sent as a compressed batch of its own. A group with thousands of members has such a record, and the
names in it compress well. All records of a call have the same time, as in the file. By that time a reader knows what
was written together.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Sequence

from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from kcoord.log.interface import RawRecord

SHARED_BYTES = 1 << 20
"""The largest size, in bytes, of a batch of several records."""
COMPRESSED_IN_PLACE = 8 << 20
"""The largest record, in bytes, that `record_fits` compresses to see whether it fits."""
_BATCH_OVERHEAD_BYTES = 128
"""Bytes of the headers of a batch and its one record, with checksum and lengths."""
_MAGIC = 2


class TooLarge(Exception):
    """A record is larger than the topic takes, even when compressed. The text says how large."""


def record_fits(key: bytes, value: bytes | None, limit: int) -> bool:
    """Whether a record fits a batch of `limit` bytes, compressed if necessary. A record larger than both `limit` and
    `COMPRESSED_IN_PLACE` counts as too large without a try, because compressing it would block the event loop.
    """
    size = len(key) + len(value or b"") + _BATCH_OVERHEAD_BYTES
    if size <= limit:
        return True
    if value is None or size > COMPRESSED_IN_PLACE:
        return False
    return len(key) + len(zlib.compress(value, level=1)) + _BATCH_OVERHEAD_BYTES <= limit


async def batches(
    records: Sequence[RawRecord], limit: int, producer_id: int, epoch: int, sequence: int
) -> AsyncIterator[tuple[bytes, int]]:
    """Batches of `records` in order, each with the number of its records. `limit`: the largest batch that the topic
    takes.

    Raises TooLarge.
    """
    at = 0
    now_ms = time.time_ns() // 1_000_000
    while at < len(records):
        builder = _builder(DefaultRecordBatch.CODEC_NONE, min(limit, SHARED_BYTES), producer_id, epoch, sequence)
        count = 0
        while at < len(records) and builder.append(count, now_ms, *records[at], []) is not None:
            at += 1
            count += 1
        if builder.size() <= limit:
            yield bytes(builder.build()), count
        else:  # the builder takes a first record of any size
            assert count == 1
            yield await _compressed(records[at - 1], now_ms, limit, producer_id, epoch, sequence), 1
        sequence = (sequence + count) & 0x7FFFFFFF


async def _compressed(record: RawRecord, now_ms: int, limit: int, producer_id: int, epoch: int, sequence: int) -> bytes:
    key, value = record
    size = len(key) + len(value or b"")
    builder = _builder(DefaultRecordBatch.CODEC_GZIP, 2 * size + SHARED_BYTES, producer_id, epoch, sequence)
    builder.append(0, now_ms, key, value, [])
    batch = await asyncio.to_thread(builder.build)  # about 30 ms a MiB
    if len(batch) > limit:
        raise TooLarge(f"a record of {size} bytes is {len(batch)} bytes when compressed, and the topic takes {limit}")
    return bytes(batch)


def _builder(codec: int, size: int, producer_id: int, epoch: int, sequence: int) -> DefaultRecordBatchBuilder:
    return DefaultRecordBatchBuilder(_MAGIC, codec, 1, producer_id, epoch, sequence, size)
