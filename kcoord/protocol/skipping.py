"""Skipping fields: where they end, and whether they can be read. For the generated check functions.

A check function goes over the bytes of a message as its decoder does, and makes no objects. What it accepts, the
decoder accepts. What it refuses, the decoder may still accept: then the decoder must be asked. Like the decoder it may
move beyond the end of the data; the next read, or the check at the end of the message, finds that.

Short strings are not looked at: those that are not UTF-8 are read with U+FFFD for each wrong part, so they are no
error. Only longer ones could become too long by that.
"""

from __future__ import annotations

import struct

from kcoord.protocol.primitives import MAX_STRING, Malformed, read_string_length, read_uvarint

__all__ = [
    "alike",
    "skip_bytes",
    "skip_fixed_rows",
    "skip_int16_string",
    "skip_int32_bytes",
    "skip_string",
    "skip_tagged",
]

_REPLACEMENT = 3
"""Bytes of U+FFFD, which may stand for a single wrong byte."""
_SURE = MAX_STRING // _REPLACEMENT
"""The most bytes of a string that can be read whatever they are."""
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from


def skip_string(data: bytes, pos: int, nullable: bool) -> int:
    """The position after a string of a flexible version, whose length is at `pos`.

    Raises IndexError, Malformed, and UnicodeDecodeError for a long string that is not UTF-8.
    """
    n, pos = read_string_length(data, pos)
    if n == 0:
        if not nullable:
            raise Malformed
        return pos
    stop = pos + n - 1
    if n > _SURE:
        data[pos:stop].decode()
    return stop


def skip_bytes(data: bytes, pos: int, nullable: bool) -> int:
    """The position after bytes of a flexible version, whose length is at `pos`. Raises IndexError and Malformed."""
    n, pos = read_uvarint(data, pos)
    if n == 0:
        if not nullable:
            raise Malformed
        return pos
    return pos + n - 1


def skip_int16_string(data: bytes, pos: int, nullable: bool) -> int:
    """The position after a string of a version that is not flexible, whose length is at `pos`.

    Raises struct.error, Malformed, and UnicodeDecodeError for a long string that is not UTF-8.
    """
    (n,) = _unpack_h(data, pos)
    pos += 2
    if n < 0:
        if not nullable or n != -1:
            raise Malformed
        return pos
    stop: int = pos + n
    if n > _SURE:
        data[pos:stop].decode()
    return stop


def skip_int32_bytes(data: bytes, pos: int, nullable: bool) -> int:
    """The position after bytes of a version that is not flexible, whose length is at `pos`. Raises struct.error and
    Malformed.
    """
    (n,) = _unpack_i(data, pos)
    pos += 4
    if n < 0:
        if not nullable or n != -1:
            raise Malformed
        return pos
    stop: int = pos + n
    return stop


def skip_tagged(data: bytes, pos: int) -> int:
    """The position after a tagged section whose fields nobody knows. Raises IndexError and Malformed."""
    n, pos = read_uvarint(data, pos)
    end = len(data)
    for _ in range(n):
        _, pos = read_uvarint(data, pos)
        size, pos = read_uvarint(data, pos)
        pos += size
        if pos > end:
            raise Malformed("a tagged field beyond the end")
    return pos


def skip_fixed_rows(data: bytes, pos: int, count: int, size: int) -> int:
    """The position after `count` structs that have `size` bytes each, the last of these for the tagged section, unless
    it is not empty. Raises IndexError and Malformed.
    """
    flags = data[pos + size - 1 : pos + count * size : size]
    empty = len(flags) - len(flags.lstrip(b"\0"))
    pos += empty * size
    for _ in range(count - empty):
        pos = skip_tagged(data, pos + size - 1)
    return pos


def alike(data: bytes, start: int, pos: int, left: int, places: tuple[int, ...]) -> int:
    """How many of the `left` structs from `pos` on have the shape of the one from `start` to `pos`.

    `places` are the positions of its lengths and counts, and of its tagged section, which is empty. If one of these
    takes more than a byte, the answer is 0.
    """
    size = pos - start
    stop = pos + left * size
    for place in places:
        byte = data[place]
        if byte > 127:
            return 0
        others = data[place + size : stop : size]
        if others.count(byte) != left:
            left = len(others) - len(others.lstrip(data[place : place + 1]))
            stop = pos + left * size
    return left
