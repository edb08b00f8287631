"""Raw rows in Arrow as the records that tables are made from.

Records of no group, above all offsets, get no value here: they were read for `records`. Nothing is read twice that
comes again: a key, or the lists of a member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from kcoord.pipeline.history.assignment_lists import ListReader
from kcoord.pipeline.history.entry import Entry
from kcoord.pipeline.history.state import OF_GROUPS
from kcoord.protocol.records import Record, Value, decode_key, value_decoder

_Read = Callable[[bytes, bytes], tuple[Value, "frozenset[Any] | None"]]
"""Reads a value, given its key, and apart from it its lists (see Entry)."""


def entries_of(batch: Any) -> Iterator[Entry]:
    """The records of a batch of readable rows. Raises DecodeError if a row is not readable."""
    times = batch.column("at").cast(pa.timestamp("us")).cast(pa.int64()).to_numpy() // 1000
    columns = [batch.column(name).to_pylist() for name in ("partition", "offset", "value")]
    keys = batch.column("key").dictionary_encode()
    distinct = [(*_typed(each), each) for each in keys.dictionary.to_pylist()]
    typed = map(distinct.__getitem__, keys.indices.to_pylist())
    for at_ms, partition, offset, value, (bare, read, key) in zip(times.tolist(), *columns, typed, strict=True):
        if value is None or read is None:
            yield Entry(partition, offset, at_ms, bare)
        else:
            known, lists = read(key, value)
            yield Entry(partition, offset, at_ms, Record(bare.key, known), lists)


@lru_cache(maxsize=1 << 14)
def _typed(data: bytes) -> tuple[Record, _Read | None]:
    """A record of this key without a value, and the function that reads its values if tables are made from them."""
    key = decode_key(data)
    return Record(key, None), _reader(key.API_KEY) if key.API_KEY in OF_GROUPS else None


@lru_cache
def _reader(number: int) -> _Read:
    """A function that reads the values of this record number, and their lists apart if these may come again."""
    reader, decode = ListReader.of(number), value_decoder(number)
    return (lambda _, value: (decode(value), None)) if reader is None else reader.read
