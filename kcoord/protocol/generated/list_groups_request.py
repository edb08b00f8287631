# Generated from schemas/message/ListGroupsRequest.json by `python -m schemas.generator`. Do not edit.
"""ListGroupsRequest, a request, versions 0-5."""

from __future__ import annotations

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


@attrs.define(slots=True, weakref_slot=False)
class ListGroupsRequest(Request):
    """Asks for the groups that this broker coordinates."""

    states_filter: list[str] = attrs.Factory(list)
    """Only groups in these states; empty: all. Since version 4."""
    types_filter: list[str] = attrs.Factory(list)
    """Only groups of these types; empty: all. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ListGroupsRequest:
    message = new(ListGroupsRequest)
    message.states_filter = []
    message.types_filter = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> ListGroupsRequest:
    message = new(ListGroupsRequest)
    message.states_filter = []
    message.types_filter = []
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


def _decode_v4(data: bytes, pos: int) -> ListGroupsRequest:
    end = len(data)
    message = new(ListGroupsRequest)
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
    states_filter: list[str] = []
    states_filter_count = n
    for _ in range(states_filter_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        states_filter_item = data[pos + 1 : stop].decode()
        pos = stop
        states_filter.append(states_filter_item)
    message.states_filter = states_filter
    message.types_filter = []
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


def _decode_v5(data: bytes, pos: int) -> ListGroupsRequest:
    end = len(data)
    message = new(ListGroupsRequest)
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
    states_filter: list[str] = []
    states_filter_count = n
    for _ in range(states_filter_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        states_filter_item = data[pos + 1 : stop].decode()
        pos = stop
        states_filter.append(states_filter_item)
    message.states_filter = states_filter
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
    types_filter: list[str] = []
    types_filter_count = n
    for _ in range(types_filter_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        types_filter_item = data[pos + 1 : stop].decode()
        pos = stop
        types_filter.append(types_filter_item)
    message.types_filter = types_filter
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


def _encode_v0(m: ListGroupsRequest) -> bytes:
    if m.states_filter != []:
        raise EncodeError("StatesFilter is set, which this version lacks")
    if m.types_filter != []:
        raise EncodeError("TypesFilter is set, which this version lacks")
    return b""


def _encode_v3(m: ListGroupsRequest) -> bytes:
    if m.states_filter != []:
        raise EncodeError("StatesFilter is set, which this version lacks")
    if m.types_filter != []:
        raise EncodeError("TypesFilter is set, which this version lacks")
    return write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0"


def _encode_v4(m: ListGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.types_filter != []:
        raise EncodeError("TypesFilter is set, which this version lacks")
    n1 = len(m.states_filter) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.states_filter:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v5(m: ListGroupsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.states_filter) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.states_filter:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    n5 = len(m.types_filter) + 1
    out.append(ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
    for e6 in m.types_filter:
        b7 = e6.encode()
        n8 = len(b7) + 1
        out += (ONE_BYTE[n8] if n8 < 128 else write_string_length(n8), b7)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


ListGroupsRequest.FIELDS = (
    Field("states_filter", "StatesFilter", "string", (4, 5), is_array=True),
    Field("types_filter", "TypesFilter", "string", (5, 5), is_array=True),
)
ListGroupsRequest.NAME = "ListGroupsRequest"
ListGroupsRequest.API_KEY = 16
ListGroupsRequest.MIN_VERSION = 0
ListGroupsRequest.MAX_VERSION = 5
ListGroupsRequest.FLEXIBLE_FROM = 3
ListGroupsRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v0, 3: _decode_v3, 4: _decode_v4, 5: _decode_v5}
ListGroupsRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v0, 3: _encode_v3, 4: _encode_v4, 5: _encode_v5}
