# Generated from schemas/record/ConsumerGroupHistoryKey.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupHistoryKey, a record key, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupHistoryKey(Message):
    """Which epoch of which consumer group the record is about."""

    group_id: str = ""
    """The group."""
    epoch: int = 0
    """The group epoch."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupHistoryKey:
    message = new(ConsumerGroupHistoryKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (message.epoch,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupHistoryKey) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1, pack_i(m.epoch)))


ConsumerGroupHistoryKey.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
    Field("epoch", "Epoch", "int32", (0, 0)),
)
ConsumerGroupHistoryKey.NAME = "ConsumerGroupHistoryKey"
ConsumerGroupHistoryKey.API_KEY = 27
ConsumerGroupHistoryKey.MIN_VERSION = 0
ConsumerGroupHistoryKey.MAX_VERSION = 0
ConsumerGroupHistoryKey.FLEXIBLE_FROM = 1
ConsumerGroupHistoryKey._DECODERS = {0: _decode_v0}
ConsumerGroupHistoryKey._ENCODERS = {0: _encode_v0}
