# Generated from schemas/record/LegacyOffsetCommitKey.json by `python -m schemas.generator`. Do not edit.
"""LegacyOffsetCommitKey, a record key, versions 0."""

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
class LegacyOffsetCommitKey(Message):
    """Names the group and the partition whose offset is stored, in the oldest form."""

    group: str = ""
    """The group's id."""
    topic: str = ""
    """The topic's name."""
    partition: int = 0
    """The partition's number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> LegacyOffsetCommitKey:
    message = new(LegacyOffsetCommitKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.topic = data[pos:stop].decode()
    pos = stop
    (message.partition,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: LegacyOffsetCommitKey) -> bytes:
    b1 = m.group.encode()
    n2 = len(b1)
    b3 = m.topic.encode()
    n4 = len(b3)
    return b"".join((pack_h(n2), b1, pack_h(n4), b3, pack_i(m.partition)))


LegacyOffsetCommitKey.FIELDS = (
    Field("group", "group", "string", (0, 0)),
    Field("topic", "topic", "string", (0, 0)),
    Field("partition", "partition", "int32", (0, 0)),
)
LegacyOffsetCommitKey.NAME = "LegacyOffsetCommitKey"
LegacyOffsetCommitKey.API_KEY = 0
LegacyOffsetCommitKey.MIN_VERSION = 0
LegacyOffsetCommitKey.MAX_VERSION = 0
LegacyOffsetCommitKey.FLEXIBLE_FROM = 1
LegacyOffsetCommitKey._DECODERS = {0: _decode_v0}
LegacyOffsetCommitKey._ENCODERS = {0: _encode_v0}
