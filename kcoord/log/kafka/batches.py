"""How do records become the batches that a broker takes?

A batch is as large as the topic allows (`max.message.bytes`), up to a size that many records share well. A record that
alone is more than the topic allows is sent as a compressed batch of its own: a group with thousands of members has one
such, and the names in it shrink to a fraction. All have one time, as in the file: by that a reader knows what was
written together.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Sequence

from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from kcoord.log.interface import RawRecord

SHARED_BYTES = 1 << 20
"""How large a batch of several records becomes."""
COMPRESSED_IN_PLACE = 8 << 20
"""Up to this size, in bytes, it is tried whether a record that is too large fits when it is compressed."""
_BATCH_OVERHEAD_BYTES = 128
"""The header of a batch and of its one record, and what a checksum and the wire's lengths take."""
_MAGIC = 2


class TooLarge(Exception):
    """A record is larger than the topic takes, also when it is compressed; the text says how large."""


def record_fits(key: bytes, value: bytes | None, limit: int) -> bool:
    """Whether a record goes into a batch of `limit` bytes, compressed if need be. A record that is beyond both `limit`
    and `COMPRESSED_IN_PLACE` is not tried: compressing it would hold up everybody else.
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
    """Batches of `records` in order, and how many are in each. `limit`: the largest batch that the topic takes.

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
        else:  # the first record is taken whatever its size
            assert count == 1
            yield await _compressed(records[at - 1], now_ms, limit, producer_id, epoch, sequence), 1
        sequence = (sequence + count) & 0x7FFFFFFF


async def _compressed(record: RawRecord, now_ms: int, limit: int, producer_id: int, epoch: int, sequence: int) -> bytes:
    key, value = record
    size = len(key) + len(value or b"")
    builder = _builder(DefaultRecordBatch.CODEC_GZIP, 2 * size + SHARED_BYTES, producer_id, epoch, sequence)
    builder.append(0, now_ms, key, value, [])
    batch = await asyncio.to_thread(builder.build)  # some 30 ms a MiB
    if len(batch) > limit:
        raise TooLarge(f"a record of {size} bytes is {len(batch)} bytes when compressed, and the topic takes {limit}")
    return bytes(batch)


def _builder(codec: int, size: int, producer_id: int, epoch: int, sequence: int) -> DefaultRecordBatchBuilder:
    return DefaultRecordBatchBuilder(_MAGIC, codec, 1, producer_id, epoch, sequence, size)
