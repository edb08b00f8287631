# Generated from schemas/message/SaslHandshakeRequest.json by `python -m schemas.generator`. Do not edit.
"""SaslHandshakeRequest, a request, versions 0-1."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class SaslHandshakeRequest(Request):
    """Chooses the SASL mechanism for what follows."""

    mechanism: str = ""
    """The mechanism's name, e.g. SCRAM-SHA-512."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> SaslHandshakeRequest:
    message = new(SaslHandshakeRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.mechanism = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: SaslHandshakeRequest) -> bytes:
    b1 = m.mechanism.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1))


SaslHandshakeRequest.FIELDS = (
    Field("mechanism", "Mechanism", "string", (0, 1)),
)
SaslHandshakeRequest.NAME = "SaslHandshakeRequest"
SaslHandshakeRequest.API_KEY = 17
SaslHandshakeRequest.MIN_VERSION = 0
SaslHandshakeRequest.MAX_VERSION = 1
SaslHandshakeRequest.FLEXIBLE_FROM = 2
SaslHandshakeRequest._DECODERS = {0: _decode_v0, 1: _decode_v0}
SaslHandshakeRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0}
