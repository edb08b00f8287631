"""The careful codec: a slow codec that follows the schema as data and can name the field that is wrong.

It runs only after a generated codec has failed, to say why. It also reads the messages that the generated codec leaves
to it: those with strings that are not UTF-8. It reads such a string as Kafka does, with U+FFFD for each wrong part.
"""

from __future__ import annotations

import struct
from typing import Any, TypeVar

from kcoord.protocol.layout import FIXED_WIDTHS, Field, MessageLayout, regular_fields, tagged_fields
from kcoord.protocol.primitives import MAX_STRING, DecodeError, EncodeError, Malformed, read_uvarint

_M = TypeVar("_M", bound=MessageLayout)

EXPLAINED = 128 * 1024
"""Bytes of the largest message that is read again to find what is wrong with it. Larger ones would take too long."""
_FORMATS = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q", "float64": ">d"}


def decode(cls: type[_M], data: bytes, version: int, pos: int) -> _M:
    """Read a message and keep track of the position. Raises DecodeError, which names the field and the position."""
    message: _M = _Reader(cls, data, version, pos).message()
    return message


def explain_decode(cls: type[MessageLayout], data: bytes, version: int, pos: int, fault: Exception) -> DecodeError:
    """The error that says why these bytes could not be read. ``fault`` is the generated codec's exception."""
    if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
        return DecodeError(f"{cls.NAME} has no version {version}: valid are {cls.MIN_VERSION}-{cls.MAX_VERSION}")
    if len(data) - pos > EXPLAINED:
        return DecodeError(f"{cls.NAME} v{version}: {len(data) - pos} bytes that do not decode: {fault!r:.80}")
    try:
        decode(cls, data, version, pos)
    except DecodeError as error:
        return error
    return DecodeError(f"{cls.NAME} v{version}: the generated codec refuses what the careful one reads: {fault!r}")


def explain_encode(message: MessageLayout, version: int, fault: Exception) -> EncodeError:
    """The error that says why a message could not be written. ``fault`` is the generated codec's exception."""
    cls = type(message)
    if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
        return EncodeError(f"{cls.NAME} has no version {version}: valid are {cls.MIN_VERSION}-{cls.MAX_VERSION}")
    found = _first_unwritable(message, cls.FIELDS, version, ())
    return EncodeError(f"{cls.NAME} v{version}: {found or fault}")


class _Reader:
    def __init__(self, cls: type[MessageLayout], data: bytes, version: int, pos: int) -> None:
        self.cls = cls
        self.data = data
        self.end = len(data)
        self.version = version
        self.pos = pos
        self.flexible = version >= cls.FLEXIBLE_FROM
        self.path: list[str] = []

    def message(self) -> Any:
        value = self.struct(self.cls)
        if self.pos < self.end:
            raise self.error(f"{self.end - self.pos} bytes too many behind the last field")
        return value

    def error(self, what: str) -> DecodeError:
        where = f"{'.'.join(self.path)} at" if self.path else "at"
        return DecodeError(f"{self.cls.NAME} v{self.version}: {where} byte {self.pos}: {what}")

    def struct(self, cls: Any) -> Any:
        values: dict[str, Any] = {}
        for field in regular_fields(cls.FIELDS, self.version):
            self.path.append(field.name)
            values[field.attribute] = self.field(field, self.flexible and not field.never_flexible)
            self.path.pop()
        if self.flexible:
            values["unknown_tagged_fields"] = self.tagged_section(cls, values)
        return cls(**values)

    def tagged_section(self, cls: Any, values: dict[str, Any]) -> tuple[tuple[int, bytes], ...]:
        known = tagged_fields(cls.FIELDS, self.version)
        unknown = []
        self.path.append("tagged fields")
        count = self.uvarint()
        for _ in range(self.claimed(count, 2)):
            tag = self.uvarint()
            size = self.length(self.uvarint())
            stop = self.pos + size
            field = known.get(tag)
            if field is None:
                unknown.append((tag, self.data[self.pos : stop]))
                self.pos = stop
                continue
            self.path.append(field.name)
            values[field.attribute] = self.field(field, True)
            if self.pos != stop:
                raise self.error(f"the tagged field says {size} bytes, its value has {size + self.pos - stop}")
            self.path.pop()
        self.path.pop()
        return tuple(unknown)

    def field(self, field: Field, flexible: bool) -> Any:
        nullable = field.is_nullable(self.version)
        if not field.is_array:
            return self.value(field, flexible, nullable)
        count = self.uvarint() - 1 if flexible else self.fixed("int32")
        if count < 0:
            return self.null(count, nullable)
        self.claimed(count, _least_size(field, self.version, self.flexible))
        values = []
        for i in range(count):
            self.path.append(f"[{i}]")
            values.append(self.value(field, flexible, False))
            self.path.pop()
        return values

    def value(self, field: Field, flexible: bool, nullable: bool) -> Any:
        kind = field.kind
        if kind in FIXED_WIDTHS:
            return self.fixed(kind)
        if kind == "struct":
            if nullable and self.is_null(field):
                return None
            return self.struct(field.struct)
        size = self.uvarint() - 1 if flexible else self.fixed("int16" if kind == "string" else "int32")
        if kind == "string" and size > MAX_STRING:
            raise self.error(f"a string of {size} bytes, at most {MAX_STRING} are possible")
        if size < 0:
            return self.null(size, nullable)
        start = self.pos
        self.pos += self.length(size)
        if kind == "records":
            return memoryview(self.data)[start : self.pos]
        value = self.data[start : self.pos]
        return self.text(value) if kind == "string" else value

    def text(self, data: bytes) -> str:
        """A string with U+FFFD for each part that is not UTF-8. The result must still be short enough to be sent."""
        text = data.decode("utf-8", "replace")
        if (grown := len(text.encode())) > MAX_STRING:
            raise self.error(
                f"a string that is not UTF-8 and has {grown} bytes with U+FFFD, at most {MAX_STRING} are possible"
            )
        return text

    def is_null(self, field: Field) -> bool:
        """Whether the byte before a struct says that it is null: in a tagged field 0, else a negative number."""
        said: int = self.fixed("int8")
        return said == 0 if field.is_tagged(self.version) else said < 0

    def null(self, length: int, nullable: bool) -> None:
        if length < -1:
            raise self.error(f"a length of {length}")
        if not nullable:
            raise self.error("null, which is not allowed here")

    def fixed(self, kind: str) -> Any:
        width = FIXED_WIDTHS[kind]
        start = self.pos
        if width > self.end - start:
            raise self.error(f"the data ends: {width} bytes are needed, {self.end - start} are left")
        self.pos = start + width
        if kind == "uuid":
            return self.data[start : self.pos]
        if kind == "bool":
            return self.data[start] != 0
        return struct.unpack_from(_FORMATS[kind], self.data, start)[0]

    def uvarint(self) -> int:
        try:
            value, self.pos = read_uvarint(self.data, self.pos)
        except IndexError:
            raise self.error("the data ends inside a varint") from None
        except Malformed as fault:
            raise self.error(str(fault)) from None
        return value

    def length(self, size: int) -> int:
        if size > self.end - self.pos:
            raise self.error(f"says {size} bytes, {self.end - self.pos} are left")
        return size

    def claimed(self, count: int, least_size: int) -> int:
        if count * least_size > self.end - self.pos:
            left = self.end - self.pos
            raise self.error(f"says {count} elements of at least {least_size} bytes, {left} bytes are left")
        return count


def _least_size(field: Field, version: int, flexible: bool) -> int:
    """The fewest bytes that one element of this field can take."""
    if field.kind in FIXED_WIDTHS:
        return FIXED_WIDTHS[field.kind]
    if field.kind == "struct":
        inner = regular_fields(field.struct.FIELDS, version)
        return flexible + sum(_least_field_size(each, version, flexible) for each in inner)
    if flexible and not field.never_flexible:
        return 1
    return 2 if field.kind == "string" else 4


def _least_field_size(field: Field, version: int, flexible: bool) -> int:
    if field.is_array:
        return 1 if flexible else 4
    if field.kind == "struct" and field.is_nullable(version):
        return 1
    return _least_size(field, version, flexible)


def _first_unwritable(value: Any, fields: tuple[Field, ...], version: int, path: tuple[str, ...]) -> str | None:
    for field in fields:
        if not field.is_in(version):
            continue
        here = (*path, field.name)
        found = getattr(value, field.attribute)
        if found is None:
            if not field.is_nullable(version):
                return f"{'.'.join(here)} is null, which is not allowed in this version"
            continue
        if field.is_array and not isinstance(found, (list, tuple)):
            return f"{'.'.join(here)} is {found!r}, not a list"
        elements = enumerate(found) if field.is_array else [(None, found)]
        for i, element in elements:
            there = here if i is None else (*here, f"[{i}]")
            if field.kind == "struct":
                if not isinstance(element, field.struct):
                    return f"{'.'.join(there)} is {element!r:.80}, not a {field.struct.__name__}"
                problem = _first_unwritable(element, field.struct.FIELDS, version, there)
                if problem:
                    return problem
            elif not _fits(field, element):
                return f"{'.'.join(there)} is {element!r:.80}, which does not fit {field.kind}"
    return None


def _fits(field: Field, value: Any) -> bool:
    kind = field.kind
    if kind in _FORMATS:
        try:
            struct.pack(_FORMATS[kind], value)
        except (struct.error, TypeError):
            return False
        return True
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "uuid":
        return isinstance(value, bytes) and len(value) == FIXED_WIDTHS["uuid"]
    if kind == "string":
        try:
            size = len(value.encode())
        except (AttributeError, UnicodeEncodeError):
            return False
        return size <= MAX_STRING
    return isinstance(value, (bytes, bytearray, memoryview))
