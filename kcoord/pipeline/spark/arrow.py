"""How do batches of Arrow go through the codecs? What Spark's `mapInArrow` calls, on the executors.

Raw rows (partition, offset, at, key, value) come in. `decoded` gives `records` and `quarantine`, told apart by
`reason`; what is only passed on is not copied. `deriver` gives all derived tables as one: the table's name, and a
struct for each table of which one is filled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from kcoord.pipeline.history.derive import derive
from kcoord.pipeline.history.entry import NAMES, Entry, epoch_of, group_of, member_of
from kcoord.pipeline.tables import DERIVED, RECORDS, Kind, Table
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.records import decode_record, is_of_newer_kcoord

ROWS = 4096
"""So many rows of a table are handed on together."""
RAW = "partition int, offset bigint, at timestamp, key binary, value binary"
"""What every source gives."""
DECODED = f"{RECORDS.ddl}, reason string, newer boolean"
DERIVED_DDL = "`table` string, " + ", ".join(
    f"`{each.name}` struct<{each.ddl.replace('` ', '`:')}>" for each in DERIVED
)

_TIME = pa.timestamp("us", tz="UTC")
_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.SHORT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.TEXT: pa.string(),
    Kind.TIME: _TIME,
    Kind.BYTES: pa.binary(),
    Kind.TEXTS: pa.list_(pa.string()),
}
_STRUCTS = {
    table.name: pa.struct([(column.name, _TYPES[column.kind]) for column in table.columns]) for table in DERIVED
}


def decoded(batches: Iterable[Any]) -> Iterator[Any]:
    """`DECODED` of raw rows."""
    for batch in batches:
        yield _decoded(batch)


def _decoded(batch: Any) -> Any:
    keys, values = batch.column("key").to_pylist(), batch.column("value").to_pylist()
    rows = [_row(key, value) for key, value in zip(keys, values, strict=True)]
    number, group, member, epoch, reason, newer = zip(*rows, strict=True) if rows else ((),) * 6
    names = [None if each is None else NAMES[each] for each in number]
    columns = {
        "partition": batch.column("partition"),
        "offset": batch.column("offset"),
        "at": batch.column("at"),
        "type": pa.array(number, pa.int16()),
        "name": pa.array(names, pa.string()),
        "group_id": pa.array(group, pa.string()),
        "member_id": pa.array(member, pa.string()),
        "epoch": pa.array(epoch, pa.int32()),
        "tombstone": batch.column("value").is_null(),
        "key": batch.column("key"),
        "value": batch.column("value"),
        "reason": pa.array(reason, pa.string()),
        "newer": pa.array(newer, pa.bool_()),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


_Told = tuple[int | None, str | None, str | None, int | None, str | None, bool | None]


def _row(key: bytes | None, value: bytes | None) -> _Told:
    """Type, group, member, epoch; or what is wrong, and whether a newer kcoord wrote it."""
    try:
        record = decode_record(key or b"", value)
        return record.key.API_KEY, group_of(record), member_of(record), epoch_of(record), None, None
    except DecodeError as error:
        return None, None, None, None, str(error) or "cannot be read", is_of_newer_kcoord(key or b"", value)


def deriver(partitions: int | None) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What makes `DERIVED_DDL` of raw rows that can be read: whole partitions, each in the order of offsets."""

    def derived(batches: Iterable[Any]) -> Iterator[Any]:
        waiting: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for name, row in _rows(batches, partitions):
            rows = waiting[name]
            rows.append(row)
            if len(rows) == ROWS:
                yield _tagged(name, waiting.pop(name))
        for name in sorted(waiting):
            yield _tagged(name, waiting[name])

    return derived


def _rows(batches: Iterable[Any], partitions: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    entries = _entries(batches)
    entry = next(entries, None)
    while entry is not None:
        partition, following = entry.partition, _Following(entry, entries)
        yield from derive(partition, following, partitions)
        entry = following.next


class _Following:
    """The entries of one partition; `next` is the first one of the next."""

    def __init__(self, first: Entry, entries: Iterator[Entry]) -> None:
        self.next: Entry | None = first
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        entry = self.next
        assert entry is not None
        partition = entry.partition
        while entry is not None and entry.partition == partition:
            yield entry
            entry = self.next = next(self._entries, None)


def _entries(batches: Iterable[Any]) -> Iterator[Entry]:
    for batch in batches:
        times = batch.column("at").cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
        columns = [batch.column(name).to_pylist() for name in ("partition", "offset", "key", "value")]
        for at_us, partition, offset, key, value in zip(times, *columns, strict=True):
            yield Entry(partition, offset, at_us // 1000, decode_record(key, value))


def _tagged(name: str, rows: list[dict[str, Any]]) -> Any:
    count = len(rows)
    columns = [pa.array([name] * count, pa.string())]
    for table in DERIVED:
        structs = _STRUCTS[table.name]
        columns.append(_struct(table, rows) if table.name == name else pa.nulls(count, structs))
    return pa.RecordBatch.from_arrays(columns, names=["table", *(each.name for each in DERIVED)])


def _struct(table: Table, rows: list[dict[str, Any]]) -> Any:
    arrays = []
    for column in table.columns:
        found = [row[column.name] for row in rows]
        if column.kind is Kind.TIME:
            found = [None if each is None else each * 1000 for each in found]
        arrays.append(pa.array(found, _TYPES[column.kind]))
    return pa.StructArray.from_arrays(arrays, fields=list(_STRUCTS[table.name]))
