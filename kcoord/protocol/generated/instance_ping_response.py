# Generated from schemas/internal/InstancePingResponse.json by `python -m schemas.generator`. Do not edit.
"""InstancePingResponse, a response between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import Malformed, read_uvarint, write_tagged

new = object.__new__
unpack_q = Format(">q").unpack_from
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class InstancePingResponse(Response):
    """There is."""

    now_ms: int = -1
    """What the monotonic clock of the instance that answers showed, in ms; -1: it does not say."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstancePingResponse:
    message = new(InstancePingResponse)
    message.now_ms = -1
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 0:
                (message.now_ms,) = unpack_q(data, pos)
                pos += 8
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: InstancePingResponse) -> bytes:
    tagged1: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.now_ms != -1:
        tagged1.append((0, pack_q(m.now_ms)))
    return write_tagged(tagged1) if tagged1 else b"\0"


InstancePingResponse.FIELDS = (
    Field("now_ms", "NowMs", "int64", (0, 0), tag=0, tagged=(0, 0)),
)
InstancePingResponse.NAME = "InstancePingResponse"
InstancePingResponse.API_KEY = 32128
InstancePingResponse.MIN_VERSION = 0
InstancePingResponse.MAX_VERSION = 0
InstancePingResponse.FLEXIBLE_FROM = 0
InstancePingResponse._DECODERS = {0: _decode_v0}
InstancePingResponse._ENCODERS = {0: _encode_v0}
