# Generated from schemas/message/ConsumerGroupDescribeRequest.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupDescribeRequest, a request, versions 0-1."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_x = Format(">?").unpack_from
unpack_xn = Format(">?B").unpack_from


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupDescribeRequest(Request):
    """Asks for the state and the members of KIP-848 consumer groups."""

    group_ids: list[str] = attrs.Factory(list)
    """The groups' ids."""
    include_authorized_operations: bool = False
    """Whether AuthorizedOperations is wanted."""
    include_history: bool = False
    """kcoord's own: whether Pending, History and word of a quarantine are wanted."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupDescribeRequest:
    end = len(data)
    message = new(ConsumerGroupDescribeRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n > end - pos:
        raise Malformed
    group_ids: list[str] = []
    group_ids_count = n
    for _ in range(group_ids_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group_id = data[pos + 1 : stop].decode()
        pos = stop
        group_ids.append(group_id)
    message.group_ids = group_ids
    message.include_history = False
    message.include_authorized_operations, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 1000:
                (message.include_history,) = unpack_x(data, pos)
                pos += 1
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupDescribeRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.group_ids) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.group_ids:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out.append(b"\1" if m.include_authorized_operations else b"\0")
    tagged5: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.include_history:
        tagged5.append((1000, b"\1"))
    out.append(write_tagged(tagged5) if tagged5 else b"\0")
    return b"".join(out)


ConsumerGroupDescribeRequest.FIELDS = (
    Field("group_ids", "GroupIds", "string", (0, 1), is_array=True, entity="groupId"),
    Field("include_authorized_operations", "IncludeAuthorizedOperations", "bool", (0, 1)),
    Field("include_history", "IncludeHistory", "bool", (0, 1), tag=1000, tagged=(0, 1), ignorable=True),
)
ConsumerGroupDescribeRequest.NAME = "ConsumerGroupDescribeRequest"
ConsumerGroupDescribeRequest.API_KEY = 69
ConsumerGroupDescribeRequest.MIN_VERSION = 0
ConsumerGroupDescribeRequest.MAX_VERSION = 1
ConsumerGroupDescribeRequest.FLEXIBLE_FROM = 0
ConsumerGroupDescribeRequest._DECODERS = {0: _decode_v0, 1: _decode_v0}
ConsumerGroupDescribeRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0}
