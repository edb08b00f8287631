# Generated from schemas/message/ShareGroupHeartbeatRequest.json by `python -m schemas.generator`. Do not edit.
"""ShareGroupHeartbeatRequest, a request, versions 1."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_in = Format(">iB").unpack_from
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class ShareGroupHeartbeatRequest(Request):
    """A member of a share group says that it is alive and what it subscribes to."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The member's id."""
    member_epoch: int = 0
    """The member's epoch: 0 joins, -1 leaves."""
    rack_id: str | None = None
    """The client's rack, or null."""
    subscribed_topic_names: list[str] | None = None
    """Topics that the member subscribes to by name; null: as before."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> ShareGroupHeartbeatRequest:
    end = len(data)
    message = new(ShareGroupHeartbeatRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    message.member_epoch, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.rack_id = None
        pos += 1
    elif n == 1:
        message.rack_id = ""
        pos += 1
    else:
        stop = pos + n
        message.rack_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.subscribed_topic_names = None
    else:
        n -= 1
        if n > end - pos:
            raise Malformed
        subscribed_topic_names: list[str] = []
        subscribed_topic_names_count = n
        for _ in range(subscribed_topic_names_count):
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            subscribed_topic_name = data[pos + 1 : stop].decode()
            pos = stop
            subscribed_topic_names.append(subscribed_topic_name)
        message.subscribed_topic_names = subscribed_topic_names
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


def _encode_v1(m: ShareGroupHeartbeatRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.rack_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    a9 = m.subscribed_topic_names
    n8 = 0 if a9 is None else len(a9) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_i(m.member_epoch),
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
    )
    for e10 in a9 or ():
        b11 = e10.encode()
        n12 = len(b11) + 1
        out += (ONE_BYTE[n12] if n12 < 128 else write_string_length(n12), b11)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


ShareGroupHeartbeatRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (1, 1), entity="groupId"),
    Field("member_id", "MemberId", "string", (1, 1)),
    Field("member_epoch", "MemberEpoch", "int32", (1, 1)),
    Field("rack_id", "RackId", "string", (1, 1), nullable=(1, 1)),
    Field(
        "subscribed_topic_names",
        "SubscribedTopicNames",
        "string",
        (1, 1),
        is_array=True,
        nullable=(1, 1),
        entity="topicName",
    ),
)
ShareGroupHeartbeatRequest.NAME = "ShareGroupHeartbeatRequest"
ShareGroupHeartbeatRequest.API_KEY = 76
ShareGroupHeartbeatRequest.MIN_VERSION = 1
ShareGroupHeartbeatRequest.MAX_VERSION = 1
ShareGroupHeartbeatRequest.FLEXIBLE_FROM = 0
ShareGroupHeartbeatRequest._DECODERS = {1: _decode_v1}
ShareGroupHeartbeatRequest._ENCODERS = {1: _encode_v1}
