"""Record levels: what a release of kcoord can read of the log, as one number.

| level | release | what it reads beyond the level before |
| --- | --- | --- |
| 0 | 0.1.0 | record types 0 to 10, their values in the versions of `records.py` |
| 1 | 0.2.0 | nothing so far |

A new record type, and a new version of a type's value, get a row in `TYPE_LEVELS` or `VALUE_LEVELS`, with the level of
the release that reads it first. They are written only while every living instance reads that level: an older one that
has to load such a record cannot serve its partition. New tagged fields need no level, because older releases skip them.
"""

from __future__ import annotations

from collections.abc import Iterable

RELEASE_0_1_0 = 0
"""What an instance reads that does not say its level."""
RECORD_LEVEL = 1
"""What this kcoord reads."""
TYPE_LEVELS: dict[int, int] = {}
"""The level of each record type, by the number of its key; 0 for types that are not here."""
VALUE_LEVELS: dict[tuple[int, int], int] = {}
"""The level of each version of a value, by its key's number and the version; that of its type if it is not here."""


def writable_level(instances: Iterable[int]) -> int:
    """The level that may be written while instances of these levels are alive: all of them read it."""
    return min(instances, default=RELEASE_0_1_0)


def level_of(number: int, version: int | None = None) -> int:
    """The level of a record with a key of that number and a value of that version; None: without a value."""
    level = TYPE_LEVELS.get(number, RELEASE_0_1_0)
    return level if version is None else max(level, VALUE_LEVELS.get((number, version), RELEASE_0_1_0))


def version_at(level: int, number: int, lowest: int, highest: int) -> int:
    """The highest version of a value, from `lowest` to `highest`, that instances of `level` read."""
    readable = (each for each in range(highest, lowest, -1) if level_of(number, each) <= level)
    return next(readable, lowest)
