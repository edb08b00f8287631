# Generated from schemas/message/HeartbeatResponse.json by `python -m schemas.generator`. Do not edit.
"""HeartbeatResponse, a response, versions 0-4."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import Malformed, read_tagged, read_uvarint, write_tagged

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_ih = Format(">ih").unpack_from
unpack_ihn = Format(">ihB").unpack_from
pack_h = Format(">h").pack
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class HeartbeatResponse(Response):
    """Whether the member's generation still stands."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    error_code: int = 0
    """The error, or 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> HeartbeatResponse:
    message = new(HeartbeatResponse)
    message.throttle_time_ms = 0
    (message.error_code,) = unpack_h(data, pos)
    pos += 2
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> HeartbeatResponse:
    message = new(HeartbeatResponse)
    message.throttle_time_ms, message.error_code = unpack_ih(data, pos)
    pos += 6
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> HeartbeatResponse:
    message = new(HeartbeatResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: HeartbeatResponse) -> bytes:
    return pack_h(m.error_code)


def _encode_v1(m: HeartbeatResponse) -> bytes:
    return pack_ih(m.throttle_time_ms, m.error_code)


def _encode_v4(m: HeartbeatResponse) -> bytes:
    return b"".join((
        pack_ih(m.throttle_time_ms, m.error_code),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


HeartbeatResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 4), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (0, 4)),
)
HeartbeatResponse.NAME = "HeartbeatResponse"
HeartbeatResponse.API_KEY = 12
HeartbeatResponse.MIN_VERSION = 0
HeartbeatResponse.MAX_VERSION = 4
HeartbeatResponse.FLEXIBLE_FROM = 4
HeartbeatResponse._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v1, 3: _decode_v1, 4: _decode_v4}
HeartbeatResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v1, 3: _encode_v1, 4: _encode_v4}
