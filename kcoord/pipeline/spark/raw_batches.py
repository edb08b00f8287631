"""Arrow batches of raw rows: what the log's own readers give is handed to Spark in these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

MOST_ROWS = 4096
MOST_BYTES = 8 << 20
"""The size of keys and values above which a batch takes no more rows."""
PART_BYTES = 64 << 20
"""The size of batches that are handed to a cluster at once."""

RawRow = tuple[int, int, bytes, bytes | None]
"""Position, time (unix ms), key, value."""


def batches(partition: int, rows: Iterable[RawRow]) -> Iterator[Any]:
    """The rows of one partition, many in a batch."""
    chunk: list[RawRow] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row[2]) + len(row[3] or b"")
        if len(chunk) == MOST_ROWS or size >= MOST_BYTES:
            yield _batch(partition, chunk)
            chunk, size = [], 0
    if chunk:
        yield _batch(partition, chunk)


def nothing() -> Any:
    """A batch without rows, which has the columns."""
    return _batch(0, [])


def together(found: Iterable[Any]) -> Iterator[list[Any]]:
    """Those batches together that have about `PART_BYTES`."""
    part: list[Any] = []
    size = 0
    for batch in found:
        part.append(batch)
        size += batch.nbytes
        if size >= PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _batch(partition: int, rows: list[RawRow]) -> Any:
    places, times, keys, values = zip(*rows, strict=True) if rows else ((), (), (), ())
    arrays = [
        pa.array([partition] * len(rows), pa.int32()),
        pa.array(places, pa.int64()),
        pa.array([each * 1000 for each in times], pa.timestamp("us", tz="UTC")),
        pa.array(keys, pa.binary()),
        pa.array(values, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=["partition", "offset", "at", "key", "value"])
