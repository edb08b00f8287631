# Generated from schemas/message/SaslHandshakeResponse.json by `python -m schemas.generator`. Do not edit.
"""SaslHandshakeResponse, a response, versions 0-1."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_hi = Format(">hi").unpack_from
pack_h = Format(">h").pack
pack_hi = Format(">hi").pack


@attrs.define(slots=True, weakref_slot=False)
class SaslHandshakeResponse(Response):
    """Whether that mechanism is possible, and which ones are."""

    error_code: int = 0
    """The error, or 0."""
    mechanisms: list[str] = attrs.Factory(list)
    """The mechanisms that the server offers."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> SaslHandshakeResponse:
    end = len(data)
    message = new(SaslHandshakeResponse)
    message.error_code, n = unpack_hi(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    if n * 2 > end - pos:
        raise Malformed
    mechanisms: list[str] = []
    mechanisms_count = n
    for _ in range(mechanisms_count):
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        mechanism = data[pos:stop].decode()
        pos = stop
        mechanisms.append(mechanism)
    message.mechanisms = mechanisms
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: SaslHandshakeResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.mechanisms)
    out.append(pack_hi(m.error_code, n1))
    for e2 in m.mechanisms:
        b3 = e2.encode()
        n4 = len(b3)
        out += (pack_h(n4), b3)
    return b"".join(out)


SaslHandshakeResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 1)),
    Field("mechanisms", "Mechanisms", "string", (0, 1), is_array=True),
)
SaslHandshakeResponse.NAME = "SaslHandshakeResponse"
SaslHandshakeResponse.API_KEY = 17
SaslHandshakeResponse.MIN_VERSION = 0
SaslHandshakeResponse.MAX_VERSION = 1
SaslHandshakeResponse.FLEXIBLE_FROM = 2
SaslHandshakeResponse._DECODERS = {0: _decode_v0, 1: _decode_v0}
SaslHandshakeResponse._ENCODERS = {0: _encode_v0, 1: _encode_v0}
