# Generated from schemas/internal/InstancePingResponse.json by `python -m schemas.generator`. Do not edit.
"""InstancePingResponse, a response between instances, versions 0."""

from __future__ import annotations

import attrs

from kcoord.protocol.message import Response
from kcoord.protocol.primitives import Malformed, read_tagged, read_uvarint, write_tagged

new = object.__new__


@attrs.define(slots=True, weakref_slot=False)
class InstancePingResponse(Response):
    """There is."""

    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstancePingResponse:
    message = new(InstancePingResponse)
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


def _encode_v0(m: InstancePingResponse) -> bytes:
    return write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0"


InstancePingResponse.FIELDS = (
)
InstancePingResponse.NAME = "InstancePingResponse"
InstancePingResponse.API_KEY = 32128
InstancePingResponse.MIN_VERSION = 0
InstancePingResponse.MAX_VERSION = 0
InstancePingResponse.FLEXIBLE_FROM = 0
InstancePingResponse._DECODERS = {0: _decode_v0}
InstancePingResponse._ENCODERS = {0: _encode_v0}
