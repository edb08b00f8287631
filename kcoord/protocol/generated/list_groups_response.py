# Generated from schemas/message/ListGroupsResponse.json by `python -m schemas.generator`. Do not edit.
"""ListGroupsResponse, a response, versions 0-5."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_hi = Format(">hi").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ihi = Format(">ihi").unpack_from
pack_h = Format(">h").pack
pack_hi = Format(">hi").pack
pack_ih = Format(">ih").pack
pack_ihi = Format(">ihi").pack


@attrs.define(slots=True, weakref_slot=False)
class ListedGroup(Struct):
    group_id: str = ""
    """The group's id."""
    protocol_type: str = ""
    """What kind of group it is, e.g. consumer or connect."""
    group_state: str = ""
    """The state as a word, e.g. Stable or Empty. Since version 4."""
    group_type: str = ""
    """classic, consumer, share or streams. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ListGroupsResponse(Response):
    """The groups that this broker coordinates."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    error_code: int = 0
    """The error, or 0."""
    groups: list[ListedGroup] = attrs.Factory(list)
    """The groups that pass the filters."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ListGroupsResponse:
    end = len(data)
    message = new(ListGroupsResponse)
    message.throttle_time_ms = 0
    message.error_code, n = unpack_hi(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    if n * 4 > end - pos:
        raise Malformed
    groups: list[ListedGroup] = []
    groups_left = n
    groups_tries = 4
    while groups_left:
        groups_start = pos
        group = new(ListedGroup)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos:stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos:stop].decode()
        pos = stop
        protocol_type_end = pos
        protocol_type_n = n
        group.group_state = ""
        group.group_type = ""
        group.unknown_tagged_fields = ()
        groups.append(group)
        groups_left -= 1
        if groups_tries and groups_left >= 12:
            group_id_size = group_id_n
            same = data[groups_start : group_id_end - group_id_size]
            protocol_type_size = protocol_type_n
            same_2 = data[group_id_end : protocol_type_end - protocol_type_size]
            groups_unknown = group.unknown_tagged_fields
            groups_done = len(groups)
            groups_size = pos - groups_start
            stop = pos + min(groups_left, (end - pos) // groups_size) * groups_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}s{len(same_2)}s{protocol_type_size}s", memoryview(data)[pos:stop]):
                gap, group_id, gap_2, protocol_type = row
                if gap != same or gap_2 != same_2:
                    break
                group = new(ListedGroup)
                group.group_id = group_id.decode() if group_id else ""
                group.protocol_type = protocol_type.decode() if protocol_type else ""
                group.group_state = ""
                group.group_type = ""
                group.unknown_tagged_fields = groups_unknown
                groups.append(group)
            groups_done = len(groups) - groups_done
            pos += groups_done * groups_size
            groups_left -= groups_done
            if not groups_done:
                groups_tries -= 1
    message.groups = groups
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> ListGroupsResponse:
    end = len(data)
    message = new(ListGroupsResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihi(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    if n * 4 > end - pos:
        raise Malformed
    groups: list[ListedGroup] = []
    groups_left = n
    groups_tries = 4
    while groups_left:
        groups_start = pos
        group = new(ListedGroup)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos:stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos:stop].decode()
        pos = stop
        protocol_type_end = pos
        protocol_type_n = n
        group.group_state = ""
        group.group_type = ""
        group.unknown_tagged_fields = ()
        groups.append(group)
        groups_left -= 1
        if groups_tries and groups_left >= 12:
            group_id_size = group_id_n
            same = data[groups_start : group_id_end - group_id_size]
            protocol_type_size = protocol_type_n
            same_2 = data[group_id_end : protocol_type_end - protocol_type_size]
            groups_unknown = group.unknown_tagged_fields
            groups_done = len(groups)
            groups_size = pos - groups_start
            stop = pos + min(groups_left, (end - pos) // groups_size) * groups_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}s{len(same_2)}s{protocol_type_size}s", memoryview(data)[pos:stop]):
                gap, group_id, gap_2, protocol_type = row
                if gap != same or gap_2 != same_2:
                    break
                group = new(ListedGroup)
                group.group_id = group_id.decode() if group_id else ""
                group.protocol_type = protocol_type.decode() if protocol_type else ""
                group.group_state = ""
                group.group_type = ""
                group.unknown_tagged_fields = groups_unknown
                groups.append(group)
            groups_done = len(groups) - groups_done
            pos += groups_done * groups_size
            groups_left -= groups_done
            if not groups_done:
                groups_tries -= 1
    message.groups = groups
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> ListGroupsResponse:
    end = len(data)
    message = new(ListGroupsResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    groups: list[ListedGroup] = []
    groups_left = n
    groups_tries = 4
    while groups_left:
        groups_start = pos
        group = new(ListedGroup)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
        protocol_type_end = pos
        protocol_type_n = n
        group.group_state = ""
        group.group_type = ""
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
        groups_left -= 1
        if groups_tries and groups_left >= 12:
            group_id_size = group_id_n - 1
            same = data[groups_start : group_id_end - group_id_size]
            protocol_type_size = protocol_type_n - 1
            same_2 = data[group_id_end : protocol_type_end - protocol_type_size]
            same_3 = data[protocol_type_end : pos]
            groups_unknown = group.unknown_tagged_fields
            groups_done = len(groups)
            groups_size = pos - groups_start
            stop = pos + min(groups_left, (end - pos) // groups_size) * groups_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}s{len(same_2)}s{protocol_type_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, group_id, gap_2, protocol_type, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                group = new(ListedGroup)
                group.group_id = group_id.decode() if group_id else ""
                group.protocol_type = protocol_type.decode() if protocol_type else ""
                group.group_state = ""
                group.group_type = ""
                group.unknown_tagged_fields = groups_unknown
                groups.append(group)
            groups_done = len(groups) - groups_done
            pos += groups_done * groups_size
            groups_left -= groups_done
            if not groups_done:
                groups_tries -= 1
    message.groups = groups
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


def _decode_v4(data: bytes, pos: int) -> ListGroupsResponse:
    end = len(data)
    message = new(ListGroupsResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 4 > end - pos:
        raise Malformed
    groups: list[ListedGroup] = []
    groups_left = n
    groups_tries = 4
    while groups_left:
        groups_start = pos
        group = new(ListedGroup)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
        protocol_type_end = pos
        protocol_type_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos + 1 : stop].decode()
        pos = stop
        group_state_end = pos
        group_state_n = n
        group.group_type = ""
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
        groups_left -= 1
        if groups_tries and groups_left >= 12:
            group_id_size = group_id_n - 1
            same = data[groups_start : group_id_end - group_id_size]
            protocol_type_size = protocol_type_n - 1
            same_2 = data[group_id_end : protocol_type_end - protocol_type_size]
            group_state_size = group_state_n - 1
            same_3 = data[protocol_type_end : group_state_end - group_state_size]
            same_4 = data[group_state_end : pos]
            groups_unknown = group.unknown_tagged_fields
            groups_done = len(groups)
            groups_size = pos - groups_start
            stop = pos + min(groups_left, (end - pos) // groups_size) * groups_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}s{len(same_2)}s{protocol_type_size}s{len(same_3)}s{group_state_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                gap, group_id, gap_2, protocol_type, gap_3, group_state, gap_4 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                    break
                group = new(ListedGroup)
                group.group_id = group_id.decode() if group_id else ""
                group.protocol_type = protocol_type.decode() if protocol_type else ""
                group.group_state = group_state.decode() if group_state else ""
                group.group_type = ""
                group.unknown_tagged_fields = groups_unknown
                groups.append(group)
            groups_done = len(groups) - groups_done
            pos += groups_done * groups_size
            groups_left -= groups_done
            if not groups_done:
                groups_tries -= 1
    message.groups = groups
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


def _decode_v5(data: bytes, pos: int) -> ListGroupsResponse:
    end = len(data)
    message = new(ListGroupsResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 5 > end - pos:
        raise Malformed
    groups: list[ListedGroup] = []
    groups_left = n
    groups_tries = 4
    while groups_left:
        groups_start = pos
        group = new(ListedGroup)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
        protocol_type_end = pos
        protocol_type_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos + 1 : stop].decode()
        pos = stop
        group_state_end = pos
        group_state_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_type = data[pos + 1 : stop].decode()
        pos = stop
        group_type_end = pos
        group_type_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
        groups_left -= 1
        if groups_tries and groups_left >= 12:
            group_id_size = group_id_n - 1
            same = data[groups_start : group_id_end - group_id_size]
            protocol_type_size = protocol_type_n - 1
            same_2 = data[group_id_end : protocol_type_end - protocol_type_size]
            group_state_size = group_state_n - 1
            same_3 = data[protocol_type_end : group_state_end - group_state_size]
            group_type_size = group_type_n - 1
            same_4 = data[group_state_end : group_type_end - group_type_size]
            same_5 = data[group_type_end : pos]
            groups_unknown = group.unknown_tagged_fields
            groups_done = len(groups)
            groups_size = pos - groups_start
            stop = pos + min(groups_left, (end - pos) // groups_size) * groups_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}s{len(same_2)}s{protocol_type_size}s{len(same_3)}s{group_state_size}s{len(same_4)}s{group_type_size}s{len(same_5)}s", memoryview(data)[pos:stop]):
                gap, group_id, gap_2, protocol_type, gap_3, group_state, gap_4, group_type, gap_5 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                    break
                group = new(ListedGroup)
                group.group_id = group_id.decode() if group_id else ""
                group.protocol_type = protocol_type.decode() if protocol_type else ""
                group.group_state = group_state.decode() if group_state else ""
                group.group_type = group_type.decode() if group_type else ""
                group.unknown_tagged_fields = groups_unknown
                groups.append(group)
            groups_done = len(groups) - groups_done
            pos += groups_done * groups_size
            groups_left -= groups_done
            if not groups_done:
                groups_tries -= 1
    message.groups = groups
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


def _encode_v0(m: ListGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_hi(m.error_code, n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3)
        b5 = e2.protocol_type.encode()
        n6 = len(b5)
        out += (pack_h(n4), b3, pack_h(n6), b5)
    return b"".join(out)


def _encode_v1(m: ListGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_ihi(m.throttle_time_ms, m.error_code, n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3)
        b5 = e2.protocol_type.encode()
        n6 = len(b5)
        out += (pack_h(n4), b3, pack_h(n6), b5)
    return b"".join(out)


def _encode_v3(m: ListGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_ih(m.throttle_time_ms, m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        b5 = e2.protocol_type.encode()
        n6 = len(b5) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v4(m: ListGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_ih(m.throttle_time_ms, m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        b5 = e2.protocol_type.encode()
        n6 = len(b5) + 1
        b7 = e2.group_state.encode()
        n8 = len(b7) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v5(m: ListGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_ih(m.throttle_time_ms, m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        b5 = e2.protocol_type.encode()
        n6 = len(b5) + 1
        b7 = e2.group_state.encode()
        n8 = len(b7) + 1
        b9 = e2.group_type.encode()
        n10 = len(b9) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
            b9,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


ListedGroup.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 5), entity="groupId"),
    Field("protocol_type", "ProtocolType", "string", (0, 5)),
    Field("group_state", "GroupState", "string", (4, 5), ignorable=True),
    Field("group_type", "GroupType", "string", (5, 5), ignorable=True),
)
ListGroupsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 5), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (0, 5)),
    Field("groups", "Groups", "struct", (0, 5), is_array=True, struct=ListedGroup),
)
ListGroupsResponse.NAME = "ListGroupsResponse"
ListGroupsResponse.API_KEY = 16
ListGroupsResponse.MIN_VERSION = 0
ListGroupsResponse.MAX_VERSION = 5
ListGroupsResponse.FLEXIBLE_FROM = 3
ListGroupsResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v3,
    4: _decode_v4,
    5: _decode_v5,
}
ListGroupsResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v3,
    4: _encode_v4,
    5: _encode_v5,
}
