# Generated from schemas/internal/InstanceLetGoResponse.json by `python -m schemas.generator`. Do not edit.
"""InstanceLetGoResponse, a response between instances, versions 0."""

from __future__ import annotations

import attrs

from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import Malformed, read_tagged, read_uvarint, write_tagged

new = object.__new__


@attrs.define(slots=True, weakref_slot=False)
class InstanceLetGoResponse(Response):
    """Never sent."""

    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceLetGoResponse:
    message = new(InstanceLetGoResponse)
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


def _encode_v0(m: InstanceLetGoResponse) -> bytes:
    return write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0"


InstanceLetGoResponse.FIELDS = (
)
InstanceLetGoResponse.NAME = "InstanceLetGoResponse"
InstanceLetGoResponse.API_KEY = 32123
InstanceLetGoResponse.MIN_VERSION = 0
InstanceLetGoResponse.MAX_VERSION = 0
InstanceLetGoResponse.FLEXIBLE_FROM = 0
InstanceLetGoResponse._DECODERS = {0: _decode_v0}
InstanceLetGoResponse._ENCODERS = {0: _encode_v0}
