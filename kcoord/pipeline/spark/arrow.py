"""The decoding of Arrow batches: what Spark's `mapInArrow` calls on the executors.

Raw rows (partition, offset, at, key, value) come in. `decoded` gives everything that is known of each row, with a
reason if the row cannot be read. `readable` makes `records` from that, `unreadable` makes `quarantine`. Columns that
are only passed on are not copied. `deriver` gives all derived tables as one: the name of the table, whether more of the
log can still change the row, and a struct for each table, of which one is filled.

Spark's own rows cost more than the decoding, so what is not a row of `records` does not get there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import compute

from kcoord.pipeline.history.derive import Follower
from kcoord.pipeline.history.entry import NAMES, Entry, epoch_of, group_of, member_of
from kcoord.pipeline.history.kept_follower import kept, restored
from kcoord.pipeline.schemas import DERIVED, FOLLOWED, QUARANTINE, RECORDS, WHOLE, Kind, Table
from kcoord.pipeline.spark.arrow_entries import entries_of
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.records import Record, decode_key, is_of_newer_kcoord, value_check

ROWS = 4096
"""How many rows of a table are passed on together."""
RAW = "partition int, offset bigint, at timestamp, key binary, value binary"
"""The columns that every source gives."""
FOLLOWING = (*DERIVED, FOLLOWED)
"""The tables that come from following the groups."""
DERIVED_DDL = "`table` string, `open` boolean, " + ", ".join(
    f"`{each.name}` struct<{each.ddl.replace('` ', '`:')}>" for each in FOLLOWING
)
KEPT_OFFSET = -1
"""The position of a row that is no record: it has no key, and what was kept of the partition for its value."""

_RECORDS, _QUARANTINE = ([column.name for column in table.columns] for table in (RECORDS, QUARANTINE))
_TIME = pa.timestamp("us", tz="UTC")
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999. Records may have any number; hardly any program reads a later time."""
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
    table.name: pa.struct([(column.name, _TYPES[column.kind]) for column in table.columns]) for table in FOLLOWING
}


class Adds(Protocol):
    """What is used of Spark's accumulators."""

    def add(self, term: int) -> None: ...


def decoded(batches: Iterable[Any]) -> Iterator[Any]:
    """Raw rows with the columns of `records`, a reason, and whether a newer kcoord wrote them."""
    for batch in batches:
        yield _decoded(batch)


def readable(refused: Adds) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function that makes `records` from raw rows, without rows that cannot be read. It adds their number to
    `refused`.
    """

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            good, bad = split(batch)
            if bad is not None:
                refused.add(len(bad))
            yield good

    return read


def split(batch: Any) -> tuple[Any, Any | None]:
    """The rows of `records` and those of `quarantine`, from raw rows. None: all of them can be read."""
    found = _decoded(batch)
    reason = found.column("reason")
    if reason.null_count == len(reason):
        return found.select(_RECORDS), None
    return found.filter(reason.is_null()).select(_RECORDS), found.filter(reason.is_valid()).select(_QUARANTINE)


def whole(batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of `records` and of `quarantine` together, from raw rows."""
    for batch in decoded(batches):
        yield batch.select(WHOLE.names)


def unreadable(batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of `quarantine` from raw rows."""
    for batch in decoded(batches):
        yield batch.filter(batch.column("reason").is_valid()).select(_QUARANTINE)


def _decoded(batch: Any) -> Any:
    keys = batch.column("key").dictionary_encode("encode")
    distinct = [_key(each) for each in keys.dictionary.to_pylist()]
    epochs, refused = _epochs(map([key.epoch for key in distinct].__getitem__, keys.indices.to_pylist()), batch)
    told = {
        "type": pa.array([key.number for key in distinct], pa.int16()),
        "name": pa.array([key.name for key in distinct], pa.string()),
        "group_id": pa.array([key.group for key in distinct], pa.string()),
        "member_id": pa.array([key.member for key in distinct], pa.string()),
    }
    columns = {
        "partition": batch.column("partition"),
        "offset": batch.column("offset"),
        "at": batch.column("at"),
        **{name: column.take(keys.indices) for name, column in told.items()},
        "epoch": pa.array(epochs, pa.int32()),
        "tombstone": batch.column("value").is_null(),
        "key": batch.column("key"),
        "value": batch.column("value"),
        "reason": pa.nulls(len(epochs), pa.string()),
        "newer": pa.nulls(len(epochs), pa.bool_()),
    }
    if refused:
        columns |= _quarantined(batch, refused, {name: columns[name] for name in told})
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _epochs(readers: Iterable[_Epoch], batch: Any) -> tuple[list[int | None], dict[int, str]]:
    """The epoch of each row, and what is wrong with rows that cannot be read, by their places."""
    epochs: list[int | None] = []
    refused = {}
    for read, value in zip(readers, batch.column("value").to_pylist(), strict=True):
        try:
            epochs.append(read(value))
        except DecodeError as error:
            refused[len(epochs)] = str(error) or "cannot be read"
            epochs.append(None)
    return epochs, refused


def _quarantined(batch: Any, refused: dict[int, str], told: dict[str, Any]) -> dict[str, Any]:
    """The columns that differ for rows that cannot be read: of these only the fault is known."""
    count = len(batch)
    reasons = [refused.get(place) for place in range(count)]
    newer = [
        is_of_newer_kcoord(batch.column("key")[place].as_py() or b"", batch.column("value")[place].as_py())
        if place in refused
        else None
        for place in range(count)
    ]
    reason = pa.array(reasons, pa.string())
    nothing = {name: pa.nulls(count, column.type) for name, column in told.items()}
    return {
        **{name: compute.if_else(reason.is_null(), column, nothing[name]) for name, column in told.items()},
        "reason": reason,
        "newer": pa.array(newer, pa.bool_()),
    }


_Epoch = Callable[[bytes | None], int | None]
"""Reads a whole value and gives its epoch. Raises DecodeError."""


@frozen(slots=True)
class _Key:
    """What a key says, and the function that reads the values that go with it."""

    number: int | None
    name: str | None
    group: str | None
    member: str | None
    epoch: _Epoch


@lru_cache(maxsize=1 << 14)
def _key(data: bytes | None) -> _Key:
    """Decode a key. Keys repeat, so each is decoded once. If a key cannot be read, its values cannot either."""
    try:
        key = decode_key(data or b"")
    except DecodeError as error:
        return _Key(None, None, None, None, _refusing(str(error)))
    record = Record(key, None)
    return _Key(key.API_KEY, NAMES[key.API_KEY], group_of(record), member_of(record), _epoch(record))


def _epoch(record: Record) -> _Epoch:
    check, of_key = value_check(record.key.API_KEY), epoch_of(record)

    def in_key(value: bytes | None) -> int | None:
        check(value)
        return of_key

    return check if of_key is None else in_key


def _refusing(why: str) -> _Epoch:
    def refuse(value: bytes | None) -> int | None:
        raise DecodeError(why)

    return refuse


def deriver(partitions: int | None, *, keeps: bool = False) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A function that makes `DERIVED_DDL` from readable raw rows: whole partitions, each in order of offset.

    If `keeps`, it also gives what must be kept of each partition to go on with later rows. Before these a row at
    `KEPT_OFFSET` brings it back.
    """

    def derived(batches: Iterable[Any]) -> Iterator[Any]:
        waiting: defaultdict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
        for name, is_open, row in _rows(batches, partitions, keeps):
            rows = waiting[name, is_open]
            rows.append(row)
            if len(rows) == ROWS:
                yield _tagged(name, is_open, waiting.pop((name, is_open)))
        for name, is_open in sorted(waiting):
            yield _tagged(name, is_open, waiting[name, is_open])

    return derived


def _rows(batches: Iterable[Any], partitions: int | None, keeps: bool) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Rows with the names of their tables, and whether more of the log can still change them."""
    was_kept: dict[int, bytes] = {}
    entries = _entries(batches, was_kept)
    entry = next(entries, None)
    while entry is not None:
        partition, following = entry.partition, _Following(entry, entries)
        before = was_kept.pop(partition, None)
        follower = Follower(partition, partitions) if before is None else restored(before)
        yield from ((name, False, row) for name, row in follower.follow(following))
        if keeps:
            yield FOLLOWED.name, True, {"partition": partition, "follower": kept(follower)}
        yield from ((name, True, row) for name, row in follower.rest())
        entry = following.next


class _Following:
    """The entries of one partition. `next` is the first entry of the next partition."""

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


def _entries(batches: Iterable[Any], was_kept: dict[int, bytes]) -> Iterator[Entry]:
    """The records that tables are made from. What was kept of a partition is put into `was_kept` before its first
    record is given.
    """
    for batch in batches:
        yield from entries_of(_without_kept(batch, was_kept))


def _without_kept(batch: Any, was_kept: dict[int, bytes]) -> Any:
    """The records of a batch. What is no record is put into `was_kept`."""
    keys = batch.column("key")
    if not keys.null_count:
        return batch
    for row in batch.filter(keys.is_null()).select(["partition", "value"]).to_pylist():
        was_kept[row["partition"]] = row["value"]
    return batch.filter(keys.is_valid())


def _tagged(name: str, is_open: bool, rows: list[dict[str, Any]]) -> Any:
    count = len(rows)
    columns = [pa.array([name] * count, pa.string()), pa.array([is_open] * count, pa.bool_())]
    for table in FOLLOWING:
        structs = _STRUCTS[table.name]
        columns.append(_struct(table, rows) if table.name == name else pa.nulls(count, structs))
    return pa.RecordBatch.from_arrays(columns, names=["table", "open", *(each.name for each in FOLLOWING)])


def rows_of(table: Table, rows: list[dict[str, Any]]) -> Any:
    """Rows of a derived table, as a batch with its columns."""
    return pa.RecordBatch.from_arrays(_arrays(table, rows), names=table.names)


def _struct(table: Table, rows: list[dict[str, Any]]) -> Any:
    return pa.StructArray.from_arrays(_arrays(table, rows), fields=list(_STRUCTS[table.name]))


def _arrays(table: Table, rows: list[dict[str, Any]]) -> list[Any]:
    arrays = []
    for column in table.columns:
        found = list(map(itemgetter(column.name), rows))
        if column.kind is Kind.TIME:
            found = [None if each is None or each > _LAST_MS else each * 1000 for each in found]
        arrays.append(pa.array(found, _TYPES[column.kind]))
    return arrays
