# Generated from schemas/message/ConsumerGroupInstallAssignmentResponse.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupInstallAssignmentResponse, a response, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
)

new = object.__new__
unpack_ihn = Format(">ihB").unpack_from
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupInstallAssignmentResponse(Response):
    """Whether the assignment was taken."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupInstallAssignmentResponse:
    message = new(ConsumerGroupInstallAssignmentResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupInstallAssignmentResponse) -> bytes:
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    return b"".join((
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


ConsumerGroupInstallAssignmentResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
)
ConsumerGroupInstallAssignmentResponse.NAME = "ConsumerGroupInstallAssignmentResponse"
ConsumerGroupInstallAssignmentResponse.API_KEY = 32111
ConsumerGroupInstallAssignmentResponse.MIN_VERSION = 0
ConsumerGroupInstallAssignmentResponse.MAX_VERSION = 0
ConsumerGroupInstallAssignmentResponse.FLEXIBLE_FROM = 0
ConsumerGroupInstallAssignmentResponse._DECODERS = {0: _decode_v0}
ConsumerGroupInstallAssignmentResponse._ENCODERS = {0: _encode_v0}
