# Generated from schemas/message/ConsumerGroupPrepareAssignmentRequest.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupPrepareAssignmentRequest, a request, versions 0."""

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
unpack_in = Format(">iB").unpack_from
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupPrepareAssignmentRequest(Request):
    """The consumer that was asked to compute asks for the input."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The id of the chosen member."""
    member_epoch: int = 0
    """The epoch that the member was told last."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupPrepareAssignmentRequest:
    message = new(ConsumerGroupPrepareAssignmentRequest)
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
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupPrepareAssignmentRequest) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_i(m.member_epoch),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


ConsumerGroupPrepareAssignmentRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
)
ConsumerGroupPrepareAssignmentRequest.NAME = "ConsumerGroupPrepareAssignmentRequest"
ConsumerGroupPrepareAssignmentRequest.API_KEY = 32110
ConsumerGroupPrepareAssignmentRequest.MIN_VERSION = 0
ConsumerGroupPrepareAssignmentRequest.MAX_VERSION = 0
ConsumerGroupPrepareAssignmentRequest.FLEXIBLE_FROM = 0
ConsumerGroupPrepareAssignmentRequest._DECODERS = {0: _decode_v0}
ConsumerGroupPrepareAssignmentRequest._ENCODERS = {0: _encode_v0}
