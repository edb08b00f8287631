# Generated from schemas/message/HeartbeatRequest.json by `python -m schemas.generator`. Do not edit.
"""HeartbeatRequest, a request, versions 0-4."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import (
    ONE_BYTE,
    EncodeError,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
)

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ih = Format(">ih").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class HeartbeatRequest(Request):
    """A member of a classic group says that it is alive."""

    group_id: str = ""
    """The group's id."""
    generation_id: int = 0
    """The generation of the group that the member knows."""
    member_id: str = ""
    """The member's id."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> HeartbeatRequest:
    message = new(HeartbeatRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> HeartbeatRequest:
    message = new(HeartbeatRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.group_instance_id = None
    elif n == 0:
        message.group_instance_id = ""
    else:
        stop = pos + n
        message.group_instance_id = data[pos:stop].decode()
        pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> HeartbeatRequest:
    message = new(HeartbeatRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.generation_id, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_instance_id = None
        pos += 1
    elif n == 1:
        message.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_instance_id = data[pos + 1 : stop].decode()
        pos = stop
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


def _encode_v0(m: HeartbeatRequest) -> bytes:
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    return b"".join((pack_h(n2), b1, pack_ih(m.generation_id, n4), b3))


def _encode_v3(m: HeartbeatRequest) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = -1
    else:
        b5 = v7.encode()
        n6 = len(b5)
    return b"".join((pack_h(n2), b1, pack_ih(m.generation_id, n4), b3, pack_h(n6), b5))


def _encode_v4(m: HeartbeatRequest) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation_id),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


HeartbeatRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 4), entity="groupId"),
    Field("generation_id", "GenerationId", "int32", (0, 4)),
    Field("member_id", "MemberId", "string", (0, 4)),
    Field("group_instance_id", "GroupInstanceId", "string", (3, 4), nullable=(3, 4)),
)
HeartbeatRequest.NAME = "HeartbeatRequest"
HeartbeatRequest.API_KEY = 12
HeartbeatRequest.MIN_VERSION = 0
HeartbeatRequest.MAX_VERSION = 4
HeartbeatRequest.FLEXIBLE_FROM = 4
HeartbeatRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v0, 3: _decode_v3, 4: _decode_v4}
HeartbeatRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v0, 3: _encode_v3, 4: _encode_v4}
