# Generated from schemas/message/DescribeGroupsRequest.json by `python -m schemas.generator`. Do not edit.
"""DescribeGroupsRequest, a request, versions 0-6."""

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
    write_uvarint,
)

new = object.__new__
unpack_x = Format(">?").unpack_from
unpack_xn = Format(">?B").unpack_from
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribeGroupsRequest(Request):
    """Asks for the state and the members of classic groups."""

    groups: list[str] = attrs.Factory(list)
    """The groups' ids."""
    include_authorized_operations: bool = False
    """Whether AuthorizedOperations is wanted. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DescribeGroupsRequest:
    end = len(data)
    message = new(DescribeGroupsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 2 > end - pos:
        raise Malformed
    groups: list[str] = []
    groups_count = n
    for _ in range(groups_count):
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group = data[pos:stop].decode()
        pos = stop
        groups.append(group)
    message.groups = groups
    message.include_authorized_operations = False
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> DescribeGroupsRequest:
    end = len(data)
    message = new(DescribeGroupsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 2 > end - pos:
        raise Malformed
    groups: list[str] = []
    groups_count = n
    for _ in range(groups_count):
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group = data[pos:stop].decode()
        pos = stop
        groups.append(group)
    message.groups = groups
    (message.include_authorized_operations,) = unpack_x(data, pos)
    pos += 1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> DescribeGroupsRequest:
    end = len(data)
    message = new(DescribeGroupsRequest)
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
    groups: list[str] = []
    groups_count = n
    for _ in range(groups_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group = data[pos + 1 : stop].decode()
        pos = stop
        groups.append(group)
    message.groups = groups
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


def _encode_v0(m: DescribeGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.include_authorized_operations:
        raise EncodeError("IncludeAuthorizedOperations is set, which this version lacks")
    n1 = len(m.groups)
    out.append(pack_i(n1))
    for e2 in m.groups:
        b3 = e2.encode()
        n4 = len(b3)
        out += (pack_h(n4), b3)
    return b"".join(out)


def _encode_v3(m: DescribeGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_i(n1))
    for e2 in m.groups:
        b3 = e2.encode()
        n4 = len(b3)
        out += (pack_h(n4), b3)
    out.append(b"\1" if m.include_authorized_operations else b"\0")
    return b"".join(out)


def _encode_v5(m: DescribeGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out += (
        b"\1" if m.include_authorized_operations else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


DescribeGroupsRequest.FIELDS = (
    Field("groups", "Groups", "string", (0, 6), is_array=True, entity="groupId"),
    Field("include_authorized_operations", "IncludeAuthorizedOperations", "bool", (3, 6)),
)
DescribeGroupsRequest.NAME = "DescribeGroupsRequest"
DescribeGroupsRequest.API_KEY = 15
DescribeGroupsRequest.MIN_VERSION = 0
DescribeGroupsRequest.MAX_VERSION = 6
DescribeGroupsRequest.FLEXIBLE_FROM = 5
DescribeGroupsRequest._DECODERS = {
    0: _decode_v0,
    1: _decode_v0,
    2: _decode_v0,
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v5,
    6: _decode_v5,
}
DescribeGroupsRequest._ENCODERS = {
    0: _encode_v0,
    1: _encode_v0,
    2: _encode_v0,
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v5,
    6: _encode_v5,
}
