# Generated from schemas/internal/InstancePingRequest.json by `python -m schemas.generator`. Do not edit.
"""InstancePingRequest, a request between instances, versions 0."""

from __future__ import annotations

import attrs

from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import Malformed, read_tagged, read_uvarint, write_tagged

new = object.__new__


@attrs.define(slots=True, weakref_slot=False)
class InstancePingRequest(Request):
    """Is there still somebody?"""

    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstancePingRequest:
    message = new(InstancePingRequest)
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


def _encode_v0(m: InstancePingRequest) -> bytes:
    return write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0"


InstancePingRequest.FIELDS = (
)
InstancePingRequest.NAME = "InstancePingRequest"
InstancePingRequest.API_KEY = 32128
InstancePingRequest.MIN_VERSION = 0
InstancePingRequest.MAX_VERSION = 0
InstancePingRequest.FLEXIBLE_FROM = 0
InstancePingRequest._DECODERS = {0: _decode_v0}
InstancePingRequest._ENCODERS = {0: _encode_v0}
