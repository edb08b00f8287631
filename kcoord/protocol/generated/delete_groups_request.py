# Generated from schemas/message/DeleteGroupsRequest.json by `python -m schemas.generator`. Do not edit.
"""DeleteGroupsRequest, a request, versions 0-2."""

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
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class DeleteGroupsRequest(Request):
    """Deletes groups that have no members, offsets included."""

    groups_names: list[str] = attrs.Factory(list)
    """The groups' ids."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DeleteGroupsRequest:
    end = len(data)
    message = new(DeleteGroupsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 2 > end - pos:
        raise Malformed
    groups_names: list[str] = []
    groups_names_count = n
    for _ in range(groups_names_count):
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        groups_name = data[pos:stop].decode()
        pos = stop
        groups_names.append(groups_name)
    message.groups_names = groups_names
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> DeleteGroupsRequest:
    end = len(data)
    message = new(DeleteGroupsRequest)
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
    groups_names: list[str] = []
    groups_names_count = n
    for _ in range(groups_names_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        groups_name = data[pos + 1 : stop].decode()
        pos = stop
        groups_names.append(groups_name)
    message.groups_names = groups_names
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


def _encode_v0(m: DeleteGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups_names)
    out.append(pack_i(n1))
    for e2 in m.groups_names:
        b3 = e2.encode()
        n4 = len(b3)
        out += (pack_h(n4), b3)
    return b"".join(out)


def _encode_v2(m: DeleteGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups_names) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups_names:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DeleteGroupsRequest.FIELDS = (
    Field("groups_names", "GroupsNames", "string", (0, 2), is_array=True, entity="groupId"),
)
DeleteGroupsRequest.NAME = "DeleteGroupsRequest"
DeleteGroupsRequest.API_KEY = 42
DeleteGroupsRequest.MIN_VERSION = 0
DeleteGroupsRequest.MAX_VERSION = 2
DeleteGroupsRequest.FLEXIBLE_FROM = 2
DeleteGroupsRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v2}
DeleteGroupsRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v2}
