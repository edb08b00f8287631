"""The first twelve bytes of a request frame: size, API, version; and signs that it is not a Kafka frame.

A request frame begins with size (int32, of what follows), API key (int16), version (int16) and correlation id (int32).
This module reads no further. It checks a size as soon as its four bytes are there.
"""

from __future__ import annotations

from struct import Struct

import attrs

SIZE_BYTES = 4
HEAD_BYTES = 12
SMALLEST = 8
"""The smallest size of a request: API key, version and correlation id (ControlledShutdown v0 has no more)."""

_SIZE = Struct(">i")
_HEAD = Struct(">ihhi")

_FOREIGN = (
    (b"GET ", "an HTTP request"),
    (b"POST", "an HTTP request"),
    (b"PUT ", "an HTTP request"),
    (b"HEAD", "an HTTP request"),
    (b"OPTI", "an HTTP request"),
    (b"\x16\x03", "a TLS handshake (this listener speaks plaintext: mend the client's security.protocol)"),
    (b"SSH-", "an SSH greeting"),
)


class FrameRefused(Exception):
    """The frame is refused and its connection is closed. The text says why, for the log."""


@attrs.define(slots=True)
class FrameHead:
    """The first twelve bytes of a request frame. `size` counts the bytes after the size prefix."""

    size: int
    api_key: int
    api_version: int
    correlation_id: int


def looks_like(data: bytes | bytearray, at: int) -> str:
    """What the bytes from `at` on look like if they are not a Kafka frame; empty if they look like nothing known."""
    return next((f": it looks like {what}" for mark, what in _FOREIGN if data.startswith(mark, at)), "")


def read_size(data: bytes | bytearray, at: int, limit: int) -> int | None:
    """The size that the frame at `at` claims (bytes after the prefix); None while its four bytes are not all there.

    Raises FrameRefused if it is smaller than a header or above `limit`.
    """
    if len(data) - at < SIZE_BYTES:
        return None
    return check_size(_SIZE.unpack_from(data, at)[0], data, at, limit)


def check_size(size: int, data: bytes | bytearray, at: int, limit: int) -> int:
    """Check `size`, which the frame at `at` claims, and return it. Raises FrameRefused as `read_size` does."""
    if size < SMALLEST:
        raise FrameRefused(f"a frame of {size} bytes is too small for a request header{looks_like(data, at)}")
    if size > limit:
        raise FrameRefused(f"a frame of {size} bytes is above the limit of {limit}{looks_like(data, at)}")
    return size


def read_raw_size(data: bytes | bytearray, at: int, limit: int) -> int | None:
    """Like `read_size`, for SASL tokens without a header (after SaslHandshake v0), which may be empty."""
    if len(data) - at < SIZE_BYTES:
        return None
    size: int = _SIZE.unpack_from(data, at)[0]
    if not 0 <= size <= limit:
        raise FrameRefused(f"a SASL token of {size} bytes is outside 0 to {limit}")
    return size


def read_head(data: bytes | bytearray, at: int = 0) -> FrameHead | None:
    """The head of the frame at `at`; None while fewer than twelve bytes are there."""
    return None if len(data) - at < HEAD_BYTES else FrameHead(*_HEAD.unpack_from(data, at))
