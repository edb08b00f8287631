# Generated from schemas/message/LeaveGroupResponse.json by `python -m schemas.generator`. Do not edit.
"""LeaveGroupResponse, a response, versions 0-5."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_h = Format(">h").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_ih = Format(">ih").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ihi = Format(">ihi").unpack_from
pack_h = Format(">h").pack
pack_ih = Format(">ih").pack
pack_ihi = Format(">ihi").pack


@attrs.define(slots=True, weakref_slot=False)
class MemberResponse(Struct):
    member_id: str = ""
    """The member's id. Since version 3."""
    group_instance_id: str | None = ""
    """The member's static name (KIP-345), or null for a dynamic member. Since version 3."""
    error_code: int = 0
    """The error, or 0. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class LeaveGroupResponse(Response):
    """What came of each removal."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    error_code: int = 0
    """The error, or 0."""
    members: list[MemberResponse] = attrs.Factory(list)
    """One entry for each member. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> LeaveGroupResponse:
    message = new(LeaveGroupResponse)
    message.throttle_time_ms = 0
    message.members = []
    (message.error_code,) = unpack_h(data, pos)
    pos += 2
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> LeaveGroupResponse:
    message = new(LeaveGroupResponse)
    message.members = []
    message.throttle_time_ms, message.error_code = unpack_ih(data, pos)
    pos += 6
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> LeaveGroupResponse:
    end = len(data)
    message = new(LeaveGroupResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihi(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    members: list[MemberResponse] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(MemberResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        member.member_id = data[pos:stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            if n != -1:
                raise Malformed
            member.group_instance_id = None
        elif n == 0:
            member.group_instance_id = ""
        else:
            stop = pos + n
            member.group_instance_id = data[pos:stop].decode()
            pos = stop
        group_instance_id_end = pos
        group_instance_id_n = n
        (member.error_code,) = unpack_h(data, pos)
        pos += 2
        member.unknown_tagged_fields = ()
        members.append(member)
        members_left -= 1
        if members_tries and members_left >= 12:
            member_id_size = member_id_n
            same = data[members_start : member_id_end - member_id_size]
            group_instance_id_null = member.group_instance_id is None
            group_instance_id_size = 0 if member.group_instance_id is None else group_instance_id_n
            same_2 = data[member_id_end : group_instance_id_end - group_instance_id_size]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}sh", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, error_code = row
                if gap != same or gap_2 != same_2:
                    break
                member = new(MemberResponse)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.error_code = error_code
                member.unknown_tagged_fields = members_unknown
                members.append(member)
            members_done = len(members) - members_done
            pos += members_done * members_size
            members_left -= members_done
            if not members_done:
                members_tries -= 1
    message.members = members
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> LeaveGroupResponse:
    end = len(data)
    message = new(LeaveGroupResponse)
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
    members: list[MemberResponse] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(MemberResponse)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.member_id = data[pos + 1 : stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            member.group_instance_id = None
            pos += 1
        elif n == 1:
            member.group_instance_id = ""
            pos += 1
        else:
            stop = pos + n
            member.group_instance_id = data[pos + 1 : stop].decode()
            pos = stop
        group_instance_id_end = pos
        group_instance_id_n = n
        member.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n:
            n, pos = read_uvarint(data, pos)
            member.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            member.unknown_tagged_fields = ()
            pos += 1
        members.append(member)
        members_left -= 1
        if members_tries and members_left >= 12:
            member_id_size = member_id_n - 1
            same = data[members_start : member_id_end - member_id_size]
            group_instance_id_null = member.group_instance_id is None
            group_instance_id_size = 0 if member.group_instance_id is None else group_instance_id_n - 1
            same_2 = data[member_id_end : group_instance_id_end - group_instance_id_size]
            same_3 = data[group_instance_id_end + 2 : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}sh{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, error_code, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                member = new(MemberResponse)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.error_code = error_code
                member.unknown_tagged_fields = members_unknown
                members.append(member)
            members_done = len(members) - members_done
            pos += members_done * members_size
            members_left -= members_done
            if not members_done:
                members_tries -= 1
    message.members = members
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


def _encode_v0(m: LeaveGroupResponse) -> bytes:
    if m.members != []:
        raise EncodeError("Members is set, which this version lacks")
    return pack_h(m.error_code)


def _encode_v1(m: LeaveGroupResponse) -> bytes:
    if m.members != []:
        raise EncodeError("Members is set, which this version lacks")
    return pack_ih(m.throttle_time_ms, m.error_code)


def _encode_v3(m: LeaveGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.members)
    out.append(pack_ihi(m.throttle_time_ms, m.error_code, n1))
    for e2 in m.members:
        b3 = e2.member_id.encode()
        n4 = len(b3)
        v7 = e2.group_instance_id
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_h(n4), b3, pack_h(n6), b5, pack_h(e2.error_code))
    return b"".join(out)


def _encode_v4(m: LeaveGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.members) + 1
    out += (pack_ih(m.throttle_time_ms, m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.members:
        b3 = e2.member_id.encode()
        n4 = len(b3) + 1
        v7 = e2.group_instance_id
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            pack_h(e2.error_code),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


MemberResponse.FIELDS = (
    Field("member_id", "MemberId", "string", (3, 5)),
    Field("group_instance_id", "GroupInstanceId", "string", (3, 5), nullable=(3, 5)),
    Field("error_code", "ErrorCode", "int16", (3, 5)),
)
LeaveGroupResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 5), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (0, 5)),
    Field("members", "Members", "struct", (3, 5), is_array=True, struct=MemberResponse),
)
LeaveGroupResponse.NAME = "LeaveGroupResponse"
LeaveGroupResponse.API_KEY = 13
LeaveGroupResponse.MIN_VERSION = 0
LeaveGroupResponse.MAX_VERSION = 5
LeaveGroupResponse.FLEXIBLE_FROM = 4
LeaveGroupResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v3,
    4: _decode_v4,
    5: _decode_v4,
}
LeaveGroupResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v3,
    4: _encode_v4,
    5: _encode_v4,
}
