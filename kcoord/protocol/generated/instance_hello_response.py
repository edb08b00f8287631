# Generated from schemas/internal/InstanceHelloResponse.json by `python -m schemas.generator`. Do not edit.
"""InstanceHelloResponse, a response between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import ONE_BYTE, Malformed, read_tagged, read_uvarint, write_tagged, write_uvarint

new = object.__new__
unpack_hn = Format(">hB").unpack_from
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceHelloResponse(Response):
    """What the caller's proof must be made from."""

    error_code: int = 0
    """The error code, or 0."""
    nonce: bytes = b""
    """Random bytes."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceHelloResponse:
    message = new(InstanceHelloResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.nonce = data[pos + 1 : stop]
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


def _encode_v0(m: InstanceHelloResponse) -> bytes:
    b1 = m.nonce
    n2 = len(b1) + 1
    return b"".join((
        pack_h(m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_uvarint(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceHelloResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("nonce", "Nonce", "bytes", (0, 0)),
)
InstanceHelloResponse.NAME = "InstanceHelloResponse"
InstanceHelloResponse.API_KEY = 32120
InstanceHelloResponse.MIN_VERSION = 0
InstanceHelloResponse.MAX_VERSION = 0
InstanceHelloResponse.FLEXIBLE_FROM = 0
InstanceHelloResponse._DECODERS = {0: _decode_v0}
InstanceHelloResponse._ENCODERS = {0: _encode_v0}
