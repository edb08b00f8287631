"""What can be told of a frame from its first twelve bytes, and when is it no Kafka frame at all?

A request frame begins with size (int32, of what follows), API key (int16), version (int16) and correlation id (int32).
Nothing here looks further: a size is judged as soon as its four bytes are there.
"""

from __future__ import annotations

from struct import Struct

import attrs

SIZE_BYTES = 4
HEAD_BYTES = 12
SMALLEST = 8
"""The smallest size a request can claim: key, version and correlation id (ControlledShutdown v0 has no more)."""

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
    """This frame ends its connection; the text says why, for the log."""


@attrs.define(slots=True)
class FrameHead:
    """The first twelve bytes of a request frame; `size` counts the bytes behind the size prefix."""

    size: int
    api_key: int
    api_version: int
    correlation_id: int


def looks_like(data: bytes | bytearray, at: int) -> str:
    """What the bytes from `at` on seem to be when they are no Kafka frame; empty when nothing known."""
    return next((f": it looks like {what}" for mark, what in _FOREIGN if data.startswith(mark, at)), "")


def read_size(data: bytes | bytearray, at: int, limit: int) -> int | None:
    """The size that the frame at `at` claims (bytes behind the prefix); None while its four bytes are not all there.

    Raises FrameRefused when it is below a header's or above `limit`.
    """
    if len(data) - at < SIZE_BYTES:
        return None
    return check_size(_SIZE.unpack_from(data, at)[0], data, at, limit)


def check_size(size: int, data: bytes | bytearray, at: int, limit: int) -> int:
    """`size`, which the frame at `at` claims. Raises FrameRefused as `read_size`."""
    if size < SMALLEST:
        raise FrameRefused(f"a frame of {size} bytes is too small for a request header{looks_like(data, at)}")
    if size > limit:
        raise FrameRefused(f"a frame of {size} bytes is above the limit of {limit}{looks_like(data, at)}")
    return size


def read_raw_size(data: bytes | bytearray, at: int, limit: int) -> int | None:
    """As `read_size`, for SASL tokens without a header (SaslHandshake v0), which may be empty."""
    if len(data) - at < SIZE_BYTES:
        return None
    size: int = _SIZE.unpack_from(data, at)[0]
    if not 0 <= size <= limit:
        raise FrameRefused(f"a SASL token of {size} bytes is outside 0 to {limit}")
    return size


def read_head(data: bytes | bytearray, at: int = 0) -> FrameHead | None:
    """The frame's head, or None while fewer than twelve bytes are there."""
    return None if len(data) - at < HEAD_BYTES else FrameHead(*_HEAD.unpack_from(data, at))
