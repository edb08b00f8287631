"""The quota of history: which replaced records are deleted when history takes too many bytes.

History is the records that a later one with the same key has replaced, and tombstones. If it takes more than the quota,
each group is cut down to the same number of bytes; groups with less keep what they have. So a group that writes without
end loses only its own history. Within a group the oldest records are deleted first, and a tombstone only after all
earlier records of its key. So no deleted key comes back if kcoord is killed in between.

A group is in one partition, and its id is the first field of each key.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from kcoord.log.sqlite_file import first_position
from kcoord.protocol.frozen_class import frozen

ROW_OVERHEAD_BYTES = 32
"""Bytes that a row takes beside its key and value."""
_ID_AT, _ID_LENGTH_AT = 4, 2
_PAUSE_ROWS, _PAUSE_S = 2_000, 0.001
"""After this many rows, other threads get Python's lock for this long."""

Row = tuple[int, bytes, int, int]
"""Position, key, bytes, and whether it is a tombstone."""


@frozen(slots=True)
class Surplus:
    """The part of history that is too much."""

    by_partition: Mapping[int, Mapping[bytes, int]]
    """Partition → group → bytes of its history that are too many."""
    total: int
    """Bytes of all history."""


def group_in(key: bytes) -> bytes:
    """The id of the group that a record's key belongs to; empty if the key is too short to have one."""
    return key[_ID_AT : _ID_AT + int.from_bytes(key[_ID_LENGTH_AT:_ID_AT], "big")]


def find_surplus(connection: sqlite3.Connection, partitions: int, quota_bytes: int) -> Surplus:
    """Read all partitions and find the part of history beyond `quota_bytes`, by group."""
    held = {partition: _history_of(connection, partition) for partition in range(partitions)}
    sizes = [size for groups in held.values() for size in groups.values()]
    total = sum(sizes)
    level = level_of(sizes, quota_bytes)
    over = {
        partition: {group: size - level for group, size in groups.items() if size > level}
        for partition, groups in held.items()
    }
    return Surplus({partition: groups for partition, groups in over.items() if groups}, total)


def level_of(sizes: Iterable[int], quota_bytes: int) -> int:
    """The number of bytes to which each group is cut down, so that all together take no more than the quota."""
    ordered = sorted(sizes)
    left = quota_bytes
    for at, size in enumerate(ordered):
        share = left // (len(ordered) - at)
        if size > share:
            return share
        left -= size
    return ordered[-1] if ordered else 0


def rows_to_take(connection: sqlite3.Connection, partition: int, surplus: Mapping[bytes, int]) -> list[int]:
    """The positions of the rows to delete in `partition`, in order."""
    left = dict(surplus)
    last = {key: position for position, key, _, _ in _rows(connection, partition) if group_in(key) in left}
    taken: list[int] = []
    for position, key, size, is_tombstone in _rows(connection, partition):
        group = group_in(key)
        if left.get(group, 0) > 0 and (is_tombstone or position < last[key]):
            taken.append(position)
            left[group] -= size
    return taken


def _history_of(connection: sqlite3.Connection, partition: int) -> Counter[bytes]:
    """The bytes of history of each group."""
    history: Counter[bytes] = Counter()
    newest: dict[bytes, int] = {}
    for _, key, size, is_tombstone in _rows(connection, partition):
        replaced = newest.pop(key, 0)
        if replaced:
            history[group_in(key)] += replaced
        if is_tombstone:
            history[group_in(key)] += size
        else:
            newest[key] = size
    return history


def _rows(connection: sqlite3.Connection, partition: int) -> Iterator[Row]:
    rows = connection.execute(
        "SELECT position, key, length(key) + ifnull(length(value), 0) + ?, value IS NULL FROM record"
        " WHERE position >= ? AND position < ? ORDER BY position",
        (ROW_OVERHEAD_BYTES, first_position(partition), first_position(partition + 1)),
    )
    for count, row in enumerate(rows, 1):
        if count % _PAUSE_ROWS == 0:
            time.sleep(_PAUSE_S)
        yield row
