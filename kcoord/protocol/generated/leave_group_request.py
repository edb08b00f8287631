# Generated from schemas/message/LeaveGroupRequest.json by `python -m schemas.generator`. Do not edit.
"""LeaveGroupRequest, a request, versions 0-5."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
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
unpack_i = Format(">i").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class MemberIdentity(Struct):
    member_id: str = ""
    """The member's id. Since version 3."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 3."""
    reason: str | None = None
    """Why, in the client's words (KIP-800), or null. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class LeaveGroupRequest(Request):
    """Members leave a classic group, or are removed from it by an administrator."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The member's id. Until version 2."""
    members: list[MemberIdentity] = attrs.Factory(list)
    """The members that leave. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> LeaveGroupRequest:
    message = new(LeaveGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.members = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> LeaveGroupRequest:
    end = len(data)
    message = new(LeaveGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.member_id = ""
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 4 > end - pos:
        raise Malformed
    members: list[MemberIdentity] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(MemberIdentity)
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
        member.reason = None
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
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id = row
                if gap != same or gap_2 != same_2:
                    break
                member = new(MemberIdentity)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.reason = None
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


def _decode_v4(data: bytes, pos: int) -> LeaveGroupRequest:
    end = len(data)
    message = new(LeaveGroupRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.member_id = ""
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    members: list[MemberIdentity] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(MemberIdentity)
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
        member.reason = None
        n = data[pos]
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
            same_3 = data[group_instance_id_end : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                member = new(MemberIdentity)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.reason = None
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


def _decode_v5(data: bytes, pos: int) -> LeaveGroupRequest:
    end = len(data)
    message = new(LeaveGroupRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.member_id = ""
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 4 > end - pos:
        raise Malformed
    members: list[MemberIdentity] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(MemberIdentity)
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
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            member.reason = None
            pos += 1
        elif n == 1:
            member.reason = ""
            pos += 1
        else:
            stop = pos + n
            member.reason = data[pos + 1 : stop].decode()
            pos = stop
        reason_end = pos
        reason_n = n
        n = data[pos]
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
            reason_null = member.reason is None
            reason_size = 0 if member.reason is None else reason_n - 1
            same_3 = data[group_instance_id_end : reason_end - reason_size]
            same_4 = data[reason_end : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{reason_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, gap_3, reason, gap_4 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                    break
                member = new(MemberIdentity)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.reason = None if reason_null else reason.decode() if reason else ""
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


def _encode_v0(m: LeaveGroupRequest) -> bytes:
    if m.members != []:
        raise EncodeError("Members is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    return b"".join((pack_h(n2), b1, pack_h(n4), b3))


def _encode_v3(m: LeaveGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.member_id != "":
        raise EncodeError("MemberId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    n3 = len(m.members)
    out += (pack_h(n2), b1, pack_i(n3))
    for e4 in m.members:
        b5 = e4.member_id.encode()
        n6 = len(b5)
        v9 = e4.group_instance_id
        if v9 is None:
            b7 = b""
            n8 = -1
        else:
            b7 = v9.encode()
            n8 = len(b7)
        out += (pack_h(n6), b5, pack_h(n8), b7)
    return b"".join(out)


def _encode_v4(m: LeaveGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.member_id != "":
        raise EncodeError("MemberId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    n3 = len(m.members) + 1
    out += (ONE_BYTE[n2] if n2 < 128 else write_string_length(n2), b1, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
    for e4 in m.members:
        b5 = e4.member_id.encode()
        n6 = len(b5) + 1
        v9 = e4.group_instance_id
        if v9 is None:
            b7 = b""
            n8 = 0
        else:
            b7 = v9.encode()
            n8 = len(b7) + 1
        out += (
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            write_tagged(e4.unknown_tagged_fields) if e4.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v5(m: LeaveGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.member_id != "":
        raise EncodeError("MemberId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    n3 = len(m.members) + 1
    out += (ONE_BYTE[n2] if n2 < 128 else write_string_length(n2), b1, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
    for e4 in m.members:
        b5 = e4.member_id.encode()
        n6 = len(b5) + 1
        v9 = e4.group_instance_id
        if v9 is None:
            b7 = b""
            n8 = 0
        else:
            b7 = v9.encode()
            n8 = len(b7) + 1
        v12 = e4.reason
        if v12 is None:
            b10 = b""
            n11 = 0
        else:
            b10 = v12.encode()
            n11 = len(b10) + 1
        out += (
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            write_tagged(e4.unknown_tagged_fields) if e4.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


MemberIdentity.FIELDS = (
    Field("member_id", "MemberId", "string", (3, 5)),
    Field("group_instance_id", "GroupInstanceId", "string", (3, 5), nullable=(3, 5)),
    Field("reason", "Reason", "string", (5, 5), nullable=(5, 5), ignorable=True),
)
LeaveGroupRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 5), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 2)),
    Field("members", "Members", "struct", (3, 5), is_array=True, struct=MemberIdentity),
)
LeaveGroupRequest.NAME = "LeaveGroupRequest"
LeaveGroupRequest.API_KEY = 13
LeaveGroupRequest.MIN_VERSION = 0
LeaveGroupRequest.MAX_VERSION = 5
LeaveGroupRequest.FLEXIBLE_FROM = 4
LeaveGroupRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v0, 3: _decode_v3, 4: _decode_v4, 5: _decode_v5}
LeaveGroupRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v0, 3: _encode_v3, 4: _encode_v4, 5: _encode_v5}
