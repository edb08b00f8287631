# Generated from schemas/record/ConsumerGroupCurrentMemberAssignmentKey.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupCurrentMemberAssignmentKey, a record key, versions 0."""

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
class ConsumerGroupCurrentMemberAssignmentKey(Message):
    """Which member of a consumer group the record is about."""

    group_id: str = ""
    """The group."""
    member_id: str = ""
    """The member."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupCurrentMemberAssignmentKey:
    message = new(ConsumerGroupCurrentMemberAssignmentKey)
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
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupCurrentMemberAssignmentKey) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    return b"".join((pack_h(n2), b1, pack_h(n4), b3))


ConsumerGroupCurrentMemberAssignmentKey.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
    Field("member_id", "MemberId", "string", (0, 0)),
)
ConsumerGroupCurrentMemberAssignmentKey.NAME = "ConsumerGroupCurrentMemberAssignmentKey"
ConsumerGroupCurrentMemberAssignmentKey.API_KEY = 25
ConsumerGroupCurrentMemberAssignmentKey.MIN_VERSION = 0
ConsumerGroupCurrentMemberAssignmentKey.MAX_VERSION = 0
ConsumerGroupCurrentMemberAssignmentKey.FLEXIBLE_FROM = 1
ConsumerGroupCurrentMemberAssignmentKey._DECODERS = {0: _decode_v0}
ConsumerGroupCurrentMemberAssignmentKey._ENCODERS = {0: _encode_v0}
