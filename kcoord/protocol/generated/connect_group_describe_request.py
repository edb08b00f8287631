# Generated from schemas/message/ConnectGroupDescribeRequest.json by `python -m schemas.generator`. Do not edit.
"""ConnectGroupDescribeRequest, a request, versions 0."""

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
unpack_xn = Format(">?B").unpack_from


@attrs.define(slots=True, weakref_slot=False)
class ConnectGroupDescribeRequest(Request):
    """Asks for the state, the members and the history of connect groups."""

    group_ids: list[str] = attrs.Factory(list)
    """The groups' ids."""
    include_authorized_operations: bool = False
    """Whether AuthorizedOperations is wanted."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectGroupDescribeRequest:
    end = len(data)
    message = new(ConnectGroupDescribeRequest)
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
    message.include_authorized_operations, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConnectGroupDescribeRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.group_ids) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.group_ids:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out += (
        b"\1" if m.include_authorized_operations else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


ConnectGroupDescribeRequest.FIELDS = (
    Field("group_ids", "GroupIds", "string", (0, 0), is_array=True, entity="groupId"),
    Field("include_authorized_operations", "IncludeAuthorizedOperations", "bool", (0, 0)),
)
ConnectGroupDescribeRequest.NAME = "ConnectGroupDescribeRequest"
ConnectGroupDescribeRequest.API_KEY = 32103
ConnectGroupDescribeRequest.MIN_VERSION = 0
ConnectGroupDescribeRequest.MAX_VERSION = 0
ConnectGroupDescribeRequest.FLEXIBLE_FROM = 0
ConnectGroupDescribeRequest._DECODERS = {0: _decode_v0}
ConnectGroupDescribeRequest._ENCODERS = {0: _encode_v0}
