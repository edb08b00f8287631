# Generated from schemas/record/ConsumerGroupTopicsKey.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupTopicsKey, a record key, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupTopicsKey(Message):
    """Which consumer group the record is about."""

    group_id: str = ""
    """The group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupTopicsKey:
    message = new(ConsumerGroupTopicsKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupTopicsKey) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1))


ConsumerGroupTopicsKey.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
)
ConsumerGroupTopicsKey.NAME = "ConsumerGroupTopicsKey"
ConsumerGroupTopicsKey.API_KEY = 21
ConsumerGroupTopicsKey.MIN_VERSION = 0
ConsumerGroupTopicsKey.MAX_VERSION = 0
ConsumerGroupTopicsKey.FLEXIBLE_FROM = 1
ConsumerGroupTopicsKey._DECODERS = {0: _decode_v0}
ConsumerGroupTopicsKey._ENCODERS = {0: _encode_v0}
