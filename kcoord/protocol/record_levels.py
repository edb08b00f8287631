"""Record levels: one number that says which records a release of kcoord can read.

| level | release | what it reads beyond the previous level |
| --- | --- | --- |
| 0 | 0.1.0 | record types 0 to 10, their values in the versions of `records.py` |
| 1 | 0.2.0 | record types 20 to 28 |

A new record type gets a row in `TYPE_LEVELS`, and a new version of a type's value one in `VALUE_LEVELS`, with the level
of the first release that reads it. Such records are written only while every living instance reads that level: an older
instance that loads such a record cannot serve its partition. New tagged fields need no level, because older releases
skip them.
"""

from __future__ import annotations

from collections.abc import Iterable

RELEASE_0_1_0 = 0
"""The level of an instance that does not report one."""
CONSUMER_GROUPS = 1
"""The level of the records of consumer groups and declared topics."""
RECORD_LEVEL = CONSUMER_GROUPS
"""The level that this kcoord reads."""
TYPE_LEVELS: dict[int, int] = dict.fromkeys(range(20, 29), CONSUMER_GROUPS)
"""Number of a record's key → level of the record type; 0 for types that are not here."""
VALUE_LEVELS: dict[tuple[int, int], int] = {}
"""(Number of the key, version of the value) → level; if it is not here, the level of the type."""


def writable_level(instances: Iterable[int]) -> int:
    """The highest level that all living instances, which have these levels, can read; only such records may be
    written.
    """
    return min(instances, default=RELEASE_0_1_0)


def level_of(number: int, version: int | None = None) -> int:
    """The level of a record with a key of this number and a value of this version; None: without a value."""
    level = TYPE_LEVELS.get(number, RELEASE_0_1_0)
    return level if version is None else max(level, VALUE_LEVELS.get((number, version), RELEASE_0_1_0))


def version_at(level: int, number: int, lowest: int, highest: int) -> int:
    """The highest version of a value, between `lowest` and `highest`, that instances of `level` can read."""
    readable = (each for each in range(highest, lowest, -1) if level_of(number, each) <= level)
    return next(readable, lowest)
