"""The order in which Java goes through names, which decides who gets what.

Connect goes through a group in the order of a `java.util.HashMap`. The rules are those of the class documentation of
`String`, `HashMap` and `HashSet`, and what OpenJDK 17 and 25 were seen to do:

- A string is a row of UTF-16 units: sorted by them, and hashed as h = 31 h + unit, in 32 bits.
- A key is in the bucket (h xor h >>> 16) modulo the size of the table, a power of 2. Java goes through the buckets from
  the first to the last, and in each through the keys in the order in which they came.
- A table has 16 buckets at first. It doubles whenever more than 3/4 of them would be filled if each key had its own, or
  when a ninth key comes to a bucket of a table smaller than 64.

Not followed: the order within a bucket of more than eight keys in a table of 64 or more (a tree of them). With names
that nobody chose for that purpose, one bucket in ten million has as many.
"""

from __future__ import annotations

import array
import sys
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

SMALLEST_TABLE = 16
CROWDED = 8
"""A bucket with this number of keys doubles a small table when one more key comes."""
SMALL_TABLE = 64
"""From this size on no bucket doubles the table."""


def sort_key(name: str) -> bytes:
    """The key by which Java sorts strings."""
    return name.encode("utf-16-be", "surrogatepass")


@lru_cache(maxsize=1 << 16)
def spread_hash(name: str) -> int:
    """The hash that chooses the bucket of a name."""
    units = array.array("H", name.encode(f"utf-16-{sys.byteorder[0]}e", "surrogatepass"))
    value = 0
    for unit in units:
        value = (31 * value + unit) & 0xFFFFFFFF
    return value ^ (value >> 16)


def hashed(names: Iterable[str]) -> list[str]:
    """The order of a `HashMap` or `HashSet` to which the names were added one by one."""
    keys = list(dict.fromkeys(names))
    return _in_buckets(keys, _grown(keys, SMALLEST_TABLE))


def copied(names: Collection[str], newer_java: bool = False) -> list[str]:
    """The order of `new HashSet<>(names)`, whose table is made for the number of names.

    Java 17 makes it larger than needed if the names fill it exactly; Java 25 (`newer_java`) does not.
    """
    keys = list(dict.fromkeys(names))
    count = len(names)
    wanted = -(-max(count, 12) * 4 // 3) if newer_java else max(count * 4 // 3 + 1, SMALLEST_TABLE)
    return _in_buckets(keys, _grown(keys, 1 << (wanted - 1).bit_length()))


def _in_buckets(keys: list[str], table: int) -> list[str]:
    mask = table - 1
    return sorted(keys, key=lambda key: spread_hash(key) & mask)


def _grown(keys: list[str], table: int) -> int:
    """The size of a table of `table` buckets when all keys are in it."""
    if CROWDED < len(keys) <= SMALL_TABLE * 3 // 8:
        return _grown_one_by_one(keys, table)
    while len(keys) > table * 3 // 4:
        table *= 2
    return table


def _grown_one_by_one(keys: list[str], table: int) -> int:
    """As `_grown`, for a small number of keys, with which one full bucket can double the table."""
    buckets: Counter[int] = Counter()
    for at, key in enumerate(keys, 1):
        bucket = spread_hash(key) & (table - 1)
        buckets[bucket] += 1
        crowded = buckets[bucket] > CROWDED and table < SMALL_TABLE
        doubled = table * 2 if crowded else table
        if at > doubled * 3 // 4:
            doubled *= 2
        if doubled != table:
            table = doubled
            buckets = Counter(spread_hash(each) & (table - 1) for each in keys[:at])
    return table
