"""Kafka's primitive types as bytes, and the errors of encoding and decoding.

Numbers are big-endian. ``UNSIGNED_VARINT`` has 7 bits in a byte, low bits first, and 32 bits at most. A *tagged
section* ends every struct of a flexible version (KIP-482): a count, then for each field its tag, its size in bytes, and
the bytes.

The generated codecs read with plain indexing and slicing. A slice past the end is silently too short, but the position
is then beyond the data. The next read, or the check at the end of the message, finds that. Nothing is allocated for a
length that is only claimed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

__all__ = [
    "MAX_STRING",
    "ONE_BYTE",
    "READ_INT8S",
    "READ_INT16S",
    "READ_INT32S",
    "WRITE_INT8S",
    "WRITE_INT16S",
    "WRITE_INT32S",
    "ZERO_UUID",
    "DecodeError",
    "EncodeError",
    "Malformed",
    "integers",
    "read_string_length",
    "read_tagged",
    "read_uvarint",
    "write_string_length",
    "write_tagged",
    "write_uvarint",
]

ZERO_UUID = bytes(16)

ONE_BYTE: tuple[bytes, ...] = tuple(bytes([i]) for i in range(128))
"""The varints 0 to 127, which take one byte, made once."""

READ_INT8S, READ_INT16S, READ_INT32S = (
    tuple(struct.Struct(f">{n}{letter}").unpack_from for n in range(17)) for letter in "bhi"
)
"""Readers of 0 to 16 integers, made once: most lists of integers (replicas, partitions) are short."""

WRITE_INT8S, WRITE_INT16S, WRITE_INT32S = (
    tuple(struct.Struct(f">{n}{letter}").pack for n in range(17)) for letter in "bhi"
)
"""Writers of 0 to 16 integers, made once."""

MAX_STRING = 0x7FFF
"""The most bytes of a string in UTF-8, in every version."""

_MAX_UVARINT_BYTES = 5


class DecodeError(ValueError):
    """The bytes are not a message of this name and version. The text names message, version, field and position."""


class EncodeError(ValueError):
    """A value cannot be written in this version: it is out of range, it is a null that is not allowed, or the version
    lacks the field.
    """


class Malformed(ValueError):
    """Something is wrong, inside a codec. ``Message.decode`` and ``encode`` catch it and find out what."""


def integers(letter: str, count: int) -> Callable[[bytes], tuple[int, ...]]:
    """A reader of ``count`` integers with the struct format ``letter``: b, h or i."""
    table = {"b": READ_INT8S, "h": READ_INT16S, "i": READ_INT32S}[letter]
    return table[count] if count < len(table) else struct.Struct(f">{count}{letter}").unpack_from


def read_uvarint(data: bytes, pos: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 32 bits; return it and the position after it.

    Raises IndexError if the data ends inside it, and Malformed if it is too long.
    """
    value = shift = 0
    for i in range(_MAX_UVARINT_BYTES):
        byte = data[pos + i]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                raise Malformed("a varint of more than 32 bits")
            return value, pos + i + 1
        shift += 7
    raise Malformed("a varint of more than 5 bytes")


def read_string_length(data: bytes, pos: int) -> tuple[int, int]:
    """Read the length of a string plus one, in a flexible version; like ``read_uvarint``.

    Also raises Malformed for a string of more than MAX_STRING bytes, which Kafka refuses too.
    """
    value, pos = read_uvarint(data, pos)
    if value > MAX_STRING + 1:
        raise Malformed(f"a string of {value - 1} bytes, at most {MAX_STRING} are possible")
    return value, pos


def write_string_length(value: int) -> bytes:
    """The bytes of ``value``, a string's length plus one. Raises Malformed for more than MAX_STRING bytes."""
    if value > MAX_STRING + 1:
        raise Malformed(f"a string of {value - 1} bytes, at most {MAX_STRING} are possible")
    return write_uvarint(value)


def write_uvarint(value: int) -> bytes:
    """The bytes of an unsigned varint, 0 ≤ value < 2^32."""
    if value < 0x80:
        return ONE_BYTE[value]
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if value > 0xFFFFFFFF:
        raise EncodeError(f"{value} does not fit an unsigned varint of 32 bits")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_tagged(data: bytes, pos: int, count: int) -> tuple[tuple[tuple[int, bytes], ...], int]:
    """Read ``count`` tagged fields as bytes; return ((tag, bytes), …) in their order, and the position after them."""
    end = len(data)
    if count > end - pos:
        raise Malformed("more tagged fields than bytes")
    found = []
    for _ in range(count):
        tag, pos = read_uvarint(data, pos)
        size, pos = read_uvarint(data, pos)
        stop = pos + size
        if stop > end:
            raise Malformed("a tagged field beyond the end")
        found.append((tag, data[pos:stop]))
        pos = stop
    return tuple(found), pos


def write_tagged(fields: Iterable[tuple[int, bytes]]) -> bytes:
    """A tagged section with these fields, in ascending order of their tags.

    Raises EncodeError if a tag occurs twice. That happens if a field that this version knows was also kept as unknown
    from another version.
    """
    ordered = sorted(fields)
    count = len(ordered)
    parts = [ONE_BYTE[count] if count < 128 else write_uvarint(count)]
    previous = -1
    for tag, value in ordered:
        if tag == previous:
            raise EncodeError(f"tag {tag} is written twice")
        previous = tag
        size = len(value)
        parts += (
            _SHORT_TAGS[tag] if 0 <= tag < _TAGS else write_uvarint(tag),
            ONE_BYTE[size] if size < 128 else write_uvarint(size),
            value,
        )
    return b"".join(parts)


_TAGS = 2048
_SHORT_TAGS: tuple[bytes, ...] = tuple(write_uvarint(tag) for tag in range(_TAGS))
"""Tags as bytes, made once. Kafka's tags are small, and kcoord's own begin at 1000."""
