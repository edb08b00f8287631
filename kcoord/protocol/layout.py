"""What does a struct look like on the wire? The fields of each generated class as data, straight from its schema.

The generated codecs do not read this (they are straight-line code). It serves those who must *talk about* a message:
the careful reader that names the wrong field, the walker that finds a section in a stream, the rewriting of node
addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

NEVER = (1, 0)
"""An empty range of versions."""

FIXED_WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "int64": 8, "float64": 8, "uuid": 16}
"""Types of a fixed width, in bytes."""


@attrs.frozen(slots=True)
class Field:
    """One field of a struct. Ranges of versions are (lowest, highest), both included; an empty one is (1, 0)."""

    attribute: str
    """Its name in Python."""
    name: str
    """Its name in the schema."""
    kind: str
    """A type of ``FIXED_WIDTHS``, or "string", "bytes", "records", "struct"; of the element for an array."""
    versions: tuple[int, int]
    is_array: bool = False
    nullable: tuple[int, int] = NEVER
    tag: int | None = None
    tagged: tuple[int, int] = NEVER
    struct: Any = None
    """The class of the struct or of the array's elements."""
    entity: str | None = None
    """What an identifier identifies: brokerId, groupId, topicName, …"""
    ignorable: bool = False
    never_flexible: bool = False
    """Keeps the old form (16-bit length) in flexible versions."""

    def is_in(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def is_nullable(self, version: int) -> bool:
        return self.nullable[0] <= version <= self.nullable[1]

    def is_tagged(self, version: int) -> bool:
        return self.tagged[0] <= version <= self.tagged[1]


def regular_fields(fields: tuple[Field, ...], version: int) -> Iterator[Field]:
    """The fields of that version that stand in line, in order."""
    return (field for field in fields if field.is_in(version) and not field.is_tagged(version))


def tagged_fields(fields: tuple[Field, ...], version: int) -> dict[int, Field]:
    """The tagged fields of that version by tag."""
    return {field.tag: field for field in fields if field.tag is not None and field.is_tagged(version)}
