# Generated from schemas/internal/InstanceSessionRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceSessionRequest, a request between instances, versions 0."""

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
)

new = object.__new__
unpack_qn = Format(">qB").unpack_from
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceSessionRequest(Request):
    """A member's session shall stand still for a while, or begin afresh. It has no answer."""

    group_id: str = ""
    """The group."""
    member_id: str = ""
    """The member."""
    pause_ms: int = 0
    """For how long it stands still, in ms; -1: it begins afresh."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceSessionRequest:
    message = new(InstanceSessionRequest)
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
    message.pause_ms, n = unpack_qn(data, pos)
    pos += 8
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: InstanceSessionRequest) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_q(m.pause_ms),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceSessionRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("pause_ms", "PauseMs", "int64", (0, 0)),
)
InstanceSessionRequest.NAME = "InstanceSessionRequest"
InstanceSessionRequest.API_KEY = 32127
InstanceSessionRequest.MIN_VERSION = 0
InstanceSessionRequest.MAX_VERSION = 0
InstanceSessionRequest.FLEXIBLE_FROM = 0
InstanceSessionRequest._DECODERS = {0: _decode_v0}
InstanceSessionRequest._ENCODERS = {0: _encode_v0}
