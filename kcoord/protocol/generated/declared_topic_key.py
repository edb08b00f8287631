# Generated from schemas/record/DeclaredTopicKey.json by `python -m schemas.generator`. Do not edit.
"""DeclaredTopicKey, a record key, versions 0."""

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
class DeclaredTopicKey(Message):
    """Which topic the record is about."""

    group_id: str = ""
    """The name that says which partition of the log has the topics, as a group's name does."""
    name: str = ""
    """The topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DeclaredTopicKey:
    message = new(DeclaredTopicKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.name = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: DeclaredTopicKey) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.name.encode()
    n4 = len(b3)
    return b"".join((pack_h(n2), b1, pack_h(n4), b3))


DeclaredTopicKey.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
    Field("name", "Name", "string", (0, 0)),
)
DeclaredTopicKey.NAME = "DeclaredTopicKey"
DeclaredTopicKey.API_KEY = 28
DeclaredTopicKey.MIN_VERSION = 0
DeclaredTopicKey.MAX_VERSION = 0
DeclaredTopicKey.FLEXIBLE_FROM = 1
DeclaredTopicKey._DECODERS = {0: _decode_v0}
DeclaredTopicKey._ENCODERS = {0: _encode_v0}
