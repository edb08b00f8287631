# Generated from schemas/record/GroupMetadataKey.json by `python -m schemas.generator`. Do not edit.
"""GroupMetadataKey, a record key, versions 0."""

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
class GroupMetadataKey(Message):
    """Names the classic group that the record is about."""

    group: str = ""
    """The group's id."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> GroupMetadataKey:
    message = new(GroupMetadataKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: GroupMetadataKey) -> bytes:
    b1 = m.group.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1))


GroupMetadataKey.FIELDS = (
    Field("group", "group", "string", (0, 0)),
)
GroupMetadataKey.NAME = "GroupMetadataKey"
GroupMetadataKey.API_KEY = 2
GroupMetadataKey.MIN_VERSION = 0
GroupMetadataKey.MAX_VERSION = 0
GroupMetadataKey.FLEXIBLE_FROM = 1
GroupMetadataKey._DECODERS = {0: _decode_v0}
GroupMetadataKey._ENCODERS = {0: _encode_v0}
