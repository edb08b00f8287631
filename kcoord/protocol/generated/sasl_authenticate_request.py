# Generated from schemas/message/SaslAuthenticateRequest.json by `python -m schemas.generator`. Do not edit.
"""SaslAuthenticateRequest, a request, versions 0-2."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import ONE_BYTE, Malformed, read_tagged, read_uvarint, write_tagged, write_uvarint

new = object.__new__
unpack_i = Format(">i").unpack_from
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class SaslAuthenticateRequest(Request):
    """One step of a SASL exchange, from the client."""

    auth_bytes: bytes = b""
    """What the mechanism's client or server has to say."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> SaslAuthenticateRequest:
    message = new(SaslAuthenticateRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    stop = pos + n
    message.auth_bytes = data[pos:stop]
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> SaslAuthenticateRequest:
    message = new(SaslAuthenticateRequest)
    n = data[pos]
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.auth_bytes = data[pos + 1 : stop]
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


def _encode_v0(m: SaslAuthenticateRequest) -> bytes:
    b1 = m.auth_bytes
    n2 = len(b1)
    return b"".join((pack_i(n2), b1))


def _encode_v2(m: SaslAuthenticateRequest) -> bytes:
    b1 = m.auth_bytes
    n2 = len(b1) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_uvarint(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


SaslAuthenticateRequest.FIELDS = (
    Field("auth_bytes", "AuthBytes", "bytes", (0, 2)),
)
SaslAuthenticateRequest.NAME = "SaslAuthenticateRequest"
SaslAuthenticateRequest.API_KEY = 36
SaslAuthenticateRequest.MIN_VERSION = 0
SaslAuthenticateRequest.MAX_VERSION = 2
SaslAuthenticateRequest.FLEXIBLE_FROM = 2
SaslAuthenticateRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v2}
SaslAuthenticateRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v2}
