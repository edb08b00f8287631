# Generated from schemas/message/JoinGroupResponse.json by `python -m schemas.generator`. Do not edit.
"""JoinGroupResponse, a response, versions 0-9."""

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
unpack_xn = Format(">?B").unpack_from
unpack_h = Format(">h").unpack_from
unpack_hih = Format(">hih").unpack_from
unpack_i = Format(">i").unpack_from
unpack_ihin = Format(">ihiB").unpack_from
unpack_ihih = Format(">ihih").unpack_from
pack_h = Format(">h").pack
pack_hih = Format(">hih").pack
pack_i = Format(">i").pack
pack_ihi = Format(">ihi").pack
pack_ihih = Format(">ihih").pack


@attrs.define(slots=True, weakref_slot=False)
class JoinGroupResponseMember(Struct):
    member_id: str = ""
    """The member's id: the asker's own, or in Members each one's."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 5."""
    metadata: bytes = b""
    """What the member said in the chosen protocol."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class JoinGroupResponse(Response):
    """The new generation: its protocol, its leader, and for the leader every member."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 2."""
    error_code: int = 0
    """The error, or 0."""
    generation_id: int = -1
    """The group's new generation, or -1 with an error."""
    protocol_type: str | None = None
    """What kind of group it is, e.g. consumer or connect. Since version 7."""
    protocol_name: str | None = ""
    """The protocol that was chosen, or null with an error."""
    leader: str = ""
    """The member id of the leader."""
    skip_assignment: bool = False
    """Whether the leader shall not compute an assignment (KIP-814). Since version 9."""
    member_id: str = ""
    """The member's id: the asker's own, or in Members each one's."""
    members: list[JoinGroupResponseMember] = attrs.Factory(list)
    """Every member, for the leader; empty for others."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> JoinGroupResponse:
    end = len(data)
    message = new(JoinGroupResponse)
    message.throttle_time_ms = 0
    message.protocol_type = None
    message.error_code, message.generation_id, n = unpack_hih(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_name = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.leader = data[pos:stop].decode()
    pos = stop
    message.skip_assignment = False
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    members: list[JoinGroupResponseMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(JoinGroupResponseMember)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        member.member_id = data[pos:stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
        member.group_instance_id = None
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        member.metadata = data[pos:stop]
        pos = stop
        metadata_end = pos
        member.unknown_tagged_fields = ()
        members.append(member)
        members_left -= 1
        if members_tries and members_left >= 12:
            member_id_size = member_id_n
            same = data[members_start : member_id_end - member_id_size]
            metadata_size = len(member.metadata)
            same_2 = data[member_id_end : metadata_end - metadata_size]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{metadata_size}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, metadata = row
                if gap != same or gap_2 != same_2:
                    break
                member = new(JoinGroupResponseMember)
                member.member_id = member_id.decode() if member_id else ""
                member.metadata = metadata
                member.group_instance_id = None
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


def _decode_v2(data: bytes, pos: int) -> JoinGroupResponse:
    end = len(data)
    message = new(JoinGroupResponse)
    message.protocol_type = None
    message.throttle_time_ms, message.error_code, message.generation_id, n = unpack_ihih(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_name = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.leader = data[pos:stop].decode()
    pos = stop
    message.skip_assignment = False
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    members: list[JoinGroupResponseMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(JoinGroupResponseMember)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        member.member_id = data[pos:stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
        member.group_instance_id = None
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        member.metadata = data[pos:stop]
        pos = stop
        metadata_end = pos
        member.unknown_tagged_fields = ()
        members.append(member)
        members_left -= 1
        if members_tries and members_left >= 12:
            member_id_size = member_id_n
            same = data[members_start : member_id_end - member_id_size]
            metadata_size = len(member.metadata)
            same_2 = data[member_id_end : metadata_end - metadata_size]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{metadata_size}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, metadata = row
                if gap != same or gap_2 != same_2:
                    break
                member = new(JoinGroupResponseMember)
                member.member_id = member_id.decode() if member_id else ""
                member.metadata = metadata
                member.group_instance_id = None
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


def _decode_v5(data: bytes, pos: int) -> JoinGroupResponse:
    end = len(data)
    message = new(JoinGroupResponse)
    message.protocol_type = None
    message.throttle_time_ms, message.error_code, message.generation_id, n = unpack_ihih(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_name = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.leader = data[pos:stop].decode()
    pos = stop
    message.skip_assignment = False
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 8 > end - pos:
        raise Malformed
    members: list[JoinGroupResponseMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(JoinGroupResponseMember)
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
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        member.metadata = data[pos:stop]
        pos = stop
        metadata_end = pos
        member.unknown_tagged_fields = ()
        members.append(member)
        members_left -= 1
        if members_tries and members_left >= 12:
            member_id_size = member_id_n
            same = data[members_start : member_id_end - member_id_size]
            group_instance_id_null = member.group_instance_id is None
            group_instance_id_size = 0 if member.group_instance_id is None else group_instance_id_n
            same_2 = data[member_id_end : group_instance_id_end - group_instance_id_size]
            metadata_size = len(member.metadata)
            same_3 = data[group_instance_id_end : metadata_end - metadata_size]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{metadata_size}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, gap_3, metadata = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                member = new(JoinGroupResponseMember)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.metadata = metadata
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


def _decode_v6(data: bytes, pos: int) -> JoinGroupResponse:
    end = len(data)
    message = new(JoinGroupResponse)
    message.protocol_type = None
    message.throttle_time_ms, message.error_code, message.generation_id, n = unpack_ihin(data, pos)
    pos += 10
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.protocol_name = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.leader = data[pos + 1 : stop].decode()
    pos = stop
    message.skip_assignment = False
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
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
    members: list[JoinGroupResponseMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(JoinGroupResponseMember)
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
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.metadata = data[pos + 1 : stop]
        pos = stop
        metadata_end = pos
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
            metadata_size = len(member.metadata)
            same_3 = data[group_instance_id_end : metadata_end - metadata_size]
            same_4 = data[metadata_end : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{metadata_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, gap_3, metadata, gap_4 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                    break
                member = new(JoinGroupResponseMember)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.metadata = metadata
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


def _decode_v7(data: bytes, pos: int) -> JoinGroupResponse:
    end = len(data)
    message = new(JoinGroupResponse)
    message.throttle_time_ms, message.error_code, message.generation_id, n = unpack_ihin(data, pos)
    pos += 10
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol_type = None
        pos += 1
    elif n == 1:
        message.protocol_type = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol_name = None
        pos += 1
    elif n == 1:
        message.protocol_name = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol_name = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.leader = data[pos + 1 : stop].decode()
    pos = stop
    message.skip_assignment = False
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
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
    members: list[JoinGroupResponseMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(JoinGroupResponseMember)
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
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.metadata = data[pos + 1 : stop]
        pos = stop
        metadata_end = pos
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
            metadata_size = len(member.metadata)
            same_3 = data[group_instance_id_end : metadata_end - metadata_size]
            same_4 = data[metadata_end : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{metadata_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, gap_3, metadata, gap_4 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                    break
                member = new(JoinGroupResponseMember)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.metadata = metadata
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


def _decode_v9(data: bytes, pos: int) -> JoinGroupResponse:
    end = len(data)
    message = new(JoinGroupResponse)
    message.throttle_time_ms, message.error_code, message.generation_id, n = unpack_ihin(data, pos)
    pos += 10
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol_type = None
        pos += 1
    elif n == 1:
        message.protocol_type = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol_name = None
        pos += 1
    elif n == 1:
        message.protocol_name = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol_name = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.leader = data[pos + 1 : stop].decode()
    pos = stop
    message.skip_assignment, n = unpack_xn(data, pos)
    pos += 1
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
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
    members: list[JoinGroupResponseMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(JoinGroupResponseMember)
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
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.metadata = data[pos + 1 : stop]
        pos = stop
        metadata_end = pos
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
            metadata_size = len(member.metadata)
            same_3 = data[group_instance_id_end : metadata_end - metadata_size]
            same_4 = data[metadata_end : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{metadata_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, group_instance_id, gap_3, metadata, gap_4 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                    break
                member = new(JoinGroupResponseMember)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.metadata = metadata
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


def _encode_v0(m: JoinGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.skip_assignment:
        raise EncodeError("SkipAssignment is set, which this version lacks")
    v1 = m.protocol_name
    if v1 is None:
        raise EncodeError("ProtocolName is null, which is not allowed in this version")
    b2 = v1.encode()
    n3 = len(b2)
    b4 = m.leader.encode()
    n5 = len(b4)
    b6 = m.member_id.encode()
    n7 = len(b6)
    n8 = len(m.members)
    out += (pack_hih(m.error_code, m.generation_id, n3), b2, pack_h(n5), b4, pack_h(n7), b6, pack_i(n8))
    for e9 in m.members:
        b10 = e9.member_id.encode()
        n11 = len(b10)
        b12 = e9.metadata
        n13 = len(b12)
        out += (pack_h(n11), b10, pack_i(n13), b12)
    return b"".join(out)


def _encode_v2(m: JoinGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.skip_assignment:
        raise EncodeError("SkipAssignment is set, which this version lacks")
    v1 = m.protocol_name
    if v1 is None:
        raise EncodeError("ProtocolName is null, which is not allowed in this version")
    b2 = v1.encode()
    n3 = len(b2)
    b4 = m.leader.encode()
    n5 = len(b4)
    b6 = m.member_id.encode()
    n7 = len(b6)
    n8 = len(m.members)
    out += (
        pack_ihih(m.throttle_time_ms, m.error_code, m.generation_id, n3),
        b2,
        pack_h(n5),
        b4,
        pack_h(n7),
        b6,
        pack_i(n8),
    )
    for e9 in m.members:
        b10 = e9.member_id.encode()
        n11 = len(b10)
        b12 = e9.metadata
        n13 = len(b12)
        out += (pack_h(n11), b10, pack_i(n13), b12)
    return b"".join(out)


def _encode_v5(m: JoinGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.skip_assignment:
        raise EncodeError("SkipAssignment is set, which this version lacks")
    v1 = m.protocol_name
    if v1 is None:
        raise EncodeError("ProtocolName is null, which is not allowed in this version")
    b2 = v1.encode()
    n3 = len(b2)
    b4 = m.leader.encode()
    n5 = len(b4)
    b6 = m.member_id.encode()
    n7 = len(b6)
    n8 = len(m.members)
    out += (
        pack_ihih(m.throttle_time_ms, m.error_code, m.generation_id, n3),
        b2,
        pack_h(n5),
        b4,
        pack_h(n7),
        b6,
        pack_i(n8),
    )
    for e9 in m.members:
        b10 = e9.member_id.encode()
        n11 = len(b10)
        v14 = e9.group_instance_id
        if v14 is None:
            b12 = b""
            n13 = -1
        else:
            b12 = v14.encode()
            n13 = len(b12)
        b15 = e9.metadata
        n16 = len(b15)
        out += (pack_h(n11), b10, pack_h(n13), b12, pack_i(n16), b15)
    return b"".join(out)


def _encode_v6(m: JoinGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.skip_assignment:
        raise EncodeError("SkipAssignment is set, which this version lacks")
    v1 = m.protocol_name
    if v1 is None:
        raise EncodeError("ProtocolName is null, which is not allowed in this version")
    b2 = v1.encode()
    n3 = len(b2) + 1
    b4 = m.leader.encode()
    n5 = len(b4) + 1
    b6 = m.member_id.encode()
    n7 = len(b6) + 1
    n8 = len(m.members) + 1
    out += (
        pack_ihi(m.throttle_time_ms, m.error_code, m.generation_id),
        ONE_BYTE[n3] if n3 < 128 else write_string_length(n3),
        b2,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
        b6,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
    )
    for e9 in m.members:
        b10 = e9.member_id.encode()
        n11 = len(b10) + 1
        v14 = e9.group_instance_id
        if v14 is None:
            b12 = b""
            n13 = 0
        else:
            b12 = v14.encode()
            n13 = len(b12) + 1
        b15 = e9.metadata
        n16 = len(b15) + 1
        out += (
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
            b12,
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
            b15,
            write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v7(m: JoinGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.skip_assignment:
        raise EncodeError("SkipAssignment is set, which this version lacks")
    v3 = m.protocol_type
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.protocol_name
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    b7 = m.leader.encode()
    n8 = len(b7) + 1
    b9 = m.member_id.encode()
    n10 = len(b9) + 1
    n11 = len(m.members) + 1
    out += (
        pack_ihi(m.throttle_time_ms, m.error_code, m.generation_id),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
        b7,
        ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
        b9,
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.members:
        b13 = e12.member_id.encode()
        n14 = len(b13) + 1
        v17 = e12.group_instance_id
        if v17 is None:
            b15 = b""
            n16 = 0
        else:
            b15 = v17.encode()
            n16 = len(b15) + 1
        b18 = e12.metadata
        n19 = len(b18) + 1
        out += (
            ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
            b13,
            ONE_BYTE[n16] if n16 < 128 else write_string_length(n16),
            b15,
            ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
            b18,
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v9(m: JoinGroupResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.protocol_type
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.protocol_name
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    b7 = m.leader.encode()
    n8 = len(b7) + 1
    b9 = m.member_id.encode()
    n10 = len(b9) + 1
    n11 = len(m.members) + 1
    out += (
        pack_ihi(m.throttle_time_ms, m.error_code, m.generation_id),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
        b7,
        b"\1" if m.skip_assignment else b"\0",
        ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
        b9,
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.members:
        b13 = e12.member_id.encode()
        n14 = len(b13) + 1
        v17 = e12.group_instance_id
        if v17 is None:
            b15 = b""
            n16 = 0
        else:
            b15 = v17.encode()
            n16 = len(b15) + 1
        b18 = e12.metadata
        n19 = len(b18) + 1
        out += (
            ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
            b13,
            ONE_BYTE[n16] if n16 < 128 else write_string_length(n16),
            b15,
            ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
            b18,
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


JoinGroupResponseMember.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 9)),
    Field("group_instance_id", "GroupInstanceId", "string", (5, 9), nullable=(5, 9), ignorable=True),
    Field("metadata", "Metadata", "bytes", (0, 9)),
)
JoinGroupResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (2, 9), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (0, 9)),
    Field("generation_id", "GenerationId", "int32", (0, 9)),
    Field("protocol_type", "ProtocolType", "string", (7, 9), nullable=(7, 9), ignorable=True),
    Field("protocol_name", "ProtocolName", "string", (0, 9), nullable=(7, 9)),
    Field("leader", "Leader", "string", (0, 9)),
    Field("skip_assignment", "SkipAssignment", "bool", (9, 9)),
    Field("member_id", "MemberId", "string", (0, 9)),
    Field("members", "Members", "struct", (0, 9), is_array=True, struct=JoinGroupResponseMember),
)
JoinGroupResponse.NAME = "JoinGroupResponse"
JoinGroupResponse.API_KEY = 11
JoinGroupResponse.MIN_VERSION = 0
JoinGroupResponse.MAX_VERSION = 9
JoinGroupResponse.FLEXIBLE_FROM = 6
JoinGroupResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v0,
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v2,
    5: _decode_v5,
    6: _decode_v6,
    7: _decode_v7,
    8: _decode_v7,
    9: _decode_v9,
}
JoinGroupResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v0,
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v2,
    5: _encode_v5,
    6: _encode_v6,
    7: _encode_v7,
    8: _encode_v7,
    9: _encode_v9,
}
