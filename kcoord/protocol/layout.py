"""The layout of structs on the wire: the fields of each generated class as data, taken from its schema.

The generated codecs do not read this; they are straight-line code. It is for code that works *by the schema*: the
careful reader that names the wrong field, the walks that find a section in the bytes, the rewriting of node addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs

NEVER = (1, 0)
"""An empty range of versions."""

FIXED_WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "int64": 8, "float64": 8, "uuid": 16}
"""The types of a fixed width → their width in bytes."""


@attrs.frozen(slots=True)
class Field:
    """One field of a struct. Ranges of versions are (lowest, highest), both included; an empty range is (1, 0)."""

    attribute: str
    """The field's name in Python."""
    name: str
    """The field's name in the schema."""
    kind: str
    """A type of ``FIXED_WIDTHS``, or "string", "bytes", "records", "struct"; for an array, the type of its elements."""
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
    """Whether the field keeps the old form (16-bit length) in flexible versions."""

    def is_in(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def is_nullable(self, version: int) -> bool:
        return self.nullable[0] <= version <= self.nullable[1]

    def is_tagged(self, version: int) -> bool:
        return self.tagged[0] <= version <= self.tagged[1]


class Struct:
    """A struct of a message: an attrs class with one attribute for each field of all versions."""

    __slots__ = ()

    FIELDS: ClassVar[tuple[Field, ...]]
    """The fields in the order of the schema."""


class MessageLayout(Struct):
    """A top-level struct, as far as its schema goes: its name, number and versions."""

    __slots__ = ()

    NAME: ClassVar[str]
    """The name of the schema, for example ``JoinGroupRequest``."""
    API_KEY: ClassVar[int]
    """The API key; for records, the number of the record type (the version of its key)."""
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int]
    """The first flexible version (KIP-482). If no version is flexible, it is larger than MAX_VERSION."""


def regular_fields(fields: tuple[Field, ...], version: int) -> Iterator[Field]:
    """The fields of this version that are not tagged, in order."""
    return (field for field in fields if field.is_in(version) and not field.is_tagged(version))


def tagged_fields(fields: tuple[Field, ...], version: int) -> dict[int, Field]:
    """The tagged fields of this version, by tag."""
    return {field.tag: field for field in fields if field.tag is not None and field.is_tagged(version)}
