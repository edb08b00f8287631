# Generated from schemas/message/DescribeGroupsResponse.json by `python -m schemas.generator`. Do not edit.
"""DescribeGroupsResponse, a response, versions 0-6."""

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
unpack_hh = Format(">hh").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribedGroupMember(Struct):
    member_id: str = ""
    """The member's id."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 4."""
    client_id: str = ""
    """The client id that the member gave in its request headers."""
    client_host: str = ""
    """The address that the member connects from, with a leading slash."""
    member_metadata: bytes = b""
    """What it sent for the chosen protocol, opaque."""
    member_assignment: bytes = b""
    """What the leader assigned to it, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribedGroup(Struct):
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null. Since version 6."""
    group_id: str = ""
    """The group's id."""
    group_state: str = ""
    """The state as a word, e.g. Stable or Empty."""
    protocol_type: str = ""
    """What kind of group it is, e.g. consumer or connect."""
    protocol_data: str = ""
    """The protocol that was chosen; empty where there is none."""
    members: list[DescribedGroupMember] = attrs.Factory(list)
    """The members."""
    authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the group; the lowest int32 when not asked for. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeGroupsResponse(Response):
    """The state and the members of classic groups."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    groups: list[DescribedGroup] = attrs.Factory(list)
    """One entry for each group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DescribeGroupsResponse:
    end = len(data)
    message = new(DescribeGroupsResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 14 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_message = None
        group.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_data = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        members: list[DescribedGroupMember] = []
        members_left = n
        members_tries = 4
        while members_left:
            members_start = pos
            member = new(DescribedGroupMember)
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
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_id = data[pos:stop].decode()
            pos = stop
            client_id_end = pos
            client_id_n = n
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos:stop].decode()
            pos = stop
            client_host_end = pos
            client_host_n = n
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_metadata = data[pos:stop]
            pos = stop
            member_metadata_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_assignment = data[pos:stop]
            pos = stop
            member_assignment_end = pos
            member.unknown_tagged_fields = ()
            members.append(member)
            members_left -= 1
            if members_tries and members_left >= 12:
                member_id_size = member_id_n
                same = data[members_start : member_id_end - member_id_size]
                client_id_size = client_id_n
                same_2 = data[member_id_end : client_id_end - client_id_size]
                client_host_size = client_host_n
                same_3 = data[client_id_end : client_host_end - client_host_size]
                member_metadata_size = len(member.member_metadata)
                same_4 = data[client_host_end : member_metadata_end - member_metadata_size]
                member_assignment_size = len(member.member_assignment)
                same_5 = data[member_metadata_end : member_assignment_end - member_assignment_size]
                members_unknown = member.unknown_tagged_fields
                members_done = len(members)
                members_size = pos - members_start
                stop = pos + min(members_left, (end - pos) // members_size) * members_size
                for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{client_id_size}s{len(same_3)}s{client_host_size}s{len(same_4)}s{member_metadata_size}s{len(same_5)}s{member_assignment_size}s", memoryview(data)[pos:stop]):
                    (
                        gap,
                        member_id,
                        gap_2,
                        client_id,
                        gap_3,
                        client_host,
                        gap_4,
                        member_metadata,
                        gap_5,
                        member_assignment,
                    ) = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    member = new(DescribedGroupMember)
                    member.member_id = member_id.decode() if member_id else ""
                    member.client_id = client_id.decode() if client_id else ""
                    member.client_host = client_host.decode() if client_host else ""
                    member.member_metadata = member_metadata
                    member.member_assignment = member_assignment
                    member.group_instance_id = None
                    member.unknown_tagged_fields = members_unknown
                    members.append(member)
                members_done = len(members) - members_done
                pos += members_done * members_size
                members_left -= members_done
                if not members_done:
                    members_tries -= 1
        group.members = members
        group.authorized_operations = -2147483648
        group.unknown_tagged_fields = ()
        groups.append(group)
    message.groups = groups
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> DescribeGroupsResponse:
    end = len(data)
    message = new(DescribeGroupsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 14 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_message = None
        group.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_data = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        members: list[DescribedGroupMember] = []
        members_left = n
        members_tries = 4
        while members_left:
            members_start = pos
            member = new(DescribedGroupMember)
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
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_id = data[pos:stop].decode()
            pos = stop
            client_id_end = pos
            client_id_n = n
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos:stop].decode()
            pos = stop
            client_host_end = pos
            client_host_n = n
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_metadata = data[pos:stop]
            pos = stop
            member_metadata_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_assignment = data[pos:stop]
            pos = stop
            member_assignment_end = pos
            member.unknown_tagged_fields = ()
            members.append(member)
            members_left -= 1
            if members_tries and members_left >= 12:
                member_id_size = member_id_n
                same = data[members_start : member_id_end - member_id_size]
                client_id_size = client_id_n
                same_2 = data[member_id_end : client_id_end - client_id_size]
                client_host_size = client_host_n
                same_3 = data[client_id_end : client_host_end - client_host_size]
                member_metadata_size = len(member.member_metadata)
                same_4 = data[client_host_end : member_metadata_end - member_metadata_size]
                member_assignment_size = len(member.member_assignment)
                same_5 = data[member_metadata_end : member_assignment_end - member_assignment_size]
                members_unknown = member.unknown_tagged_fields
                members_done = len(members)
                members_size = pos - members_start
                stop = pos + min(members_left, (end - pos) // members_size) * members_size
                for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{client_id_size}s{len(same_3)}s{client_host_size}s{len(same_4)}s{member_metadata_size}s{len(same_5)}s{member_assignment_size}s", memoryview(data)[pos:stop]):
                    (
                        gap,
                        member_id,
                        gap_2,
                        client_id,
                        gap_3,
                        client_host,
                        gap_4,
                        member_metadata,
                        gap_5,
                        member_assignment,
                    ) = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    member = new(DescribedGroupMember)
                    member.member_id = member_id.decode() if member_id else ""
                    member.client_id = client_id.decode() if client_id else ""
                    member.client_host = client_host.decode() if client_host else ""
                    member.member_metadata = member_metadata
                    member.member_assignment = member_assignment
                    member.group_instance_id = None
                    member.unknown_tagged_fields = members_unknown
                    members.append(member)
                members_done = len(members) - members_done
                pos += members_done * members_size
                members_left -= members_done
                if not members_done:
                    members_tries -= 1
        group.members = members
        group.authorized_operations = -2147483648
        group.unknown_tagged_fields = ()
        groups.append(group)
    message.groups = groups
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> DescribeGroupsResponse:
    end = len(data)
    message = new(DescribeGroupsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 18 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_message = None
        group.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_data = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        members: list[DescribedGroupMember] = []
        members_left = n
        members_tries = 4
        while members_left:
            members_start = pos
            member = new(DescribedGroupMember)
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
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_id = data[pos:stop].decode()
            pos = stop
            client_id_end = pos
            client_id_n = n
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos:stop].decode()
            pos = stop
            client_host_end = pos
            client_host_n = n
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_metadata = data[pos:stop]
            pos = stop
            member_metadata_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_assignment = data[pos:stop]
            pos = stop
            member_assignment_end = pos
            member.unknown_tagged_fields = ()
            members.append(member)
            members_left -= 1
            if members_tries and members_left >= 12:
                member_id_size = member_id_n
                same = data[members_start : member_id_end - member_id_size]
                client_id_size = client_id_n
                same_2 = data[member_id_end : client_id_end - client_id_size]
                client_host_size = client_host_n
                same_3 = data[client_id_end : client_host_end - client_host_size]
                member_metadata_size = len(member.member_metadata)
                same_4 = data[client_host_end : member_metadata_end - member_metadata_size]
                member_assignment_size = len(member.member_assignment)
                same_5 = data[member_metadata_end : member_assignment_end - member_assignment_size]
                members_unknown = member.unknown_tagged_fields
                members_done = len(members)
                members_size = pos - members_start
                stop = pos + min(members_left, (end - pos) // members_size) * members_size
                for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{client_id_size}s{len(same_3)}s{client_host_size}s{len(same_4)}s{member_metadata_size}s{len(same_5)}s{member_assignment_size}s", memoryview(data)[pos:stop]):
                    (
                        gap,
                        member_id,
                        gap_2,
                        client_id,
                        gap_3,
                        client_host,
                        gap_4,
                        member_metadata,
                        gap_5,
                        member_assignment,
                    ) = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    member = new(DescribedGroupMember)
                    member.member_id = member_id.decode() if member_id else ""
                    member.client_id = client_id.decode() if client_id else ""
                    member.client_host = client_host.decode() if client_host else ""
                    member.member_metadata = member_metadata
                    member.member_assignment = member_assignment
                    member.group_instance_id = None
                    member.unknown_tagged_fields = members_unknown
                    members.append(member)
                members_done = len(members) - members_done
                pos += members_done * members_size
                members_left -= members_done
                if not members_done:
                    members_tries -= 1
        group.members = members
        (group.authorized_operations,) = unpack_i(data, pos)
        pos += 4
        group.unknown_tagged_fields = ()
        groups.append(group)
    message.groups = groups
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> DescribeGroupsResponse:
    end = len(data)
    message = new(DescribeGroupsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 18 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_message = None
        group.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        group.protocol_data = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 16 > end - pos:
            raise Malformed
        members: list[DescribedGroupMember] = []
        members_left = n
        members_tries = 4
        while members_left:
            members_start = pos
            member = new(DescribedGroupMember)
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
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_id = data[pos:stop].decode()
            pos = stop
            client_id_end = pos
            client_id_n = n
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos:stop].decode()
            pos = stop
            client_host_end = pos
            client_host_n = n
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_metadata = data[pos:stop]
            pos = stop
            member_metadata_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            stop = pos + n
            member.member_assignment = data[pos:stop]
            pos = stop
            member_assignment_end = pos
            member.unknown_tagged_fields = ()
            members.append(member)
            members_left -= 1
            if members_tries and members_left >= 12:
                member_id_size = member_id_n
                same = data[members_start : member_id_end - member_id_size]
                group_instance_id_null = member.group_instance_id is None
                group_instance_id_size = 0 if member.group_instance_id is None else group_instance_id_n
                same_2 = data[member_id_end : group_instance_id_end - group_instance_id_size]
                client_id_size = client_id_n
                same_3 = data[group_instance_id_end : client_id_end - client_id_size]
                client_host_size = client_host_n
                same_4 = data[client_id_end : client_host_end - client_host_size]
                member_metadata_size = len(member.member_metadata)
                same_5 = data[client_host_end : member_metadata_end - member_metadata_size]
                member_assignment_size = len(member.member_assignment)
                same_6 = data[member_metadata_end : member_assignment_end - member_assignment_size]
                members_unknown = member.unknown_tagged_fields
                members_done = len(members)
                members_size = pos - members_start
                stop = pos + min(members_left, (end - pos) // members_size) * members_size
                for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{client_id_size}s{len(same_4)}s{client_host_size}s{len(same_5)}s{member_metadata_size}s{len(same_6)}s{member_assignment_size}s", memoryview(data)[pos:stop]):
                    (
                        gap,
                        member_id,
                        gap_2,
                        group_instance_id,
                        gap_3,
                        client_id,
                        gap_4,
                        client_host,
                        gap_5,
                        member_metadata,
                        gap_6,
                        member_assignment,
                    ) = row
                    if (
                        gap != same
                        or gap_2 != same_2
                        or gap_3 != same_3
                        or gap_4 != same_4
                        or gap_5 != same_5
                        or gap_6 != same_6
                    ):
                        break
                    member = new(DescribedGroupMember)
                    member.member_id = member_id.decode() if member_id else ""
                    member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                    member.client_id = client_id.decode() if client_id else ""
                    member.client_host = client_host.decode() if client_host else ""
                    member.member_metadata = member_metadata
                    member.member_assignment = member_assignment
                    member.unknown_tagged_fields = members_unknown
                    members.append(member)
                members_done = len(members) - members_done
                pos += members_done * members_size
                members_left -= members_done
                if not members_done:
                    members_tries -= 1
        group.members = members
        (group.authorized_operations,) = unpack_i(data, pos)
        pos += 4
        group.unknown_tagged_fields = ()
        groups.append(group)
    message.groups = groups
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> DescribeGroupsResponse:
    end = len(data)
    message = new(DescribeGroupsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 12 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_message = None
        group.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_data = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 7 > end - pos:
            raise Malformed
        members: list[DescribedGroupMember] = []
        members_left = n
        members_tries = 4
        while members_left:
            members_start = pos
            member = new(DescribedGroupMember)
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
                raise Malformed
            stop = pos + n
            member.client_id = data[pos + 1 : stop].decode()
            pos = stop
            client_id_end = pos
            client_id_n = n
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos + 1 : stop].decode()
            pos = stop
            client_host_end = pos
            client_host_n = n
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
            member.member_metadata = data[pos + 1 : stop]
            pos = stop
            member_metadata_end = pos
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
            member.member_assignment = data[pos + 1 : stop]
            pos = stop
            member_assignment_end = pos
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
                client_id_size = client_id_n - 1
                same_3 = data[group_instance_id_end : client_id_end - client_id_size]
                client_host_size = client_host_n - 1
                same_4 = data[client_id_end : client_host_end - client_host_size]
                member_metadata_size = len(member.member_metadata)
                same_5 = data[client_host_end : member_metadata_end - member_metadata_size]
                member_assignment_size = len(member.member_assignment)
                same_6 = data[member_metadata_end : member_assignment_end - member_assignment_size]
                same_7 = data[member_assignment_end : pos]
                members_unknown = member.unknown_tagged_fields
                members_done = len(members)
                members_size = pos - members_start
                stop = pos + min(members_left, (end - pos) // members_size) * members_size
                for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{client_id_size}s{len(same_4)}s{client_host_size}s{len(same_5)}s{member_metadata_size}s{len(same_6)}s{member_assignment_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        gap,
                        member_id,
                        gap_2,
                        group_instance_id,
                        gap_3,
                        client_id,
                        gap_4,
                        client_host,
                        gap_5,
                        member_metadata,
                        gap_6,
                        member_assignment,
                        gap_7,
                    ) = row
                    if (
                        gap != same
                        or gap_2 != same_2
                        or gap_3 != same_3
                        or gap_4 != same_4
                        or gap_5 != same_5
                        or gap_6 != same_6
                        or gap_7 != same_7
                    ):
                        break
                    member = new(DescribedGroupMember)
                    member.member_id = member_id.decode() if member_id else ""
                    member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                    member.client_id = client_id.decode() if client_id else ""
                    member.client_host = client_host.decode() if client_host else ""
                    member.member_metadata = member_metadata
                    member.member_assignment = member_assignment
                    member.unknown_tagged_fields = members_unknown
                    members.append(member)
                members_done = len(members) - members_done
                pos += members_done * members_size
                members_left -= members_done
                if not members_done:
                    members_tries -= 1
        group.members = members
        group.authorized_operations, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
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


def _decode_v6(data: bytes, pos: int) -> DescribeGroupsResponse:
    end = len(data)
    message = new(DescribeGroupsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 13 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            group.error_message = None
            pos += 1
        elif n == 1:
            group.error_message = ""
            pos += 1
        else:
            stop = pos + n
            group.error_message = data[pos + 1 : stop].decode()
            pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.protocol_data = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 7 > end - pos:
            raise Malformed
        members: list[DescribedGroupMember] = []
        members_left = n
        members_tries = 4
        while members_left:
            members_start = pos
            member = new(DescribedGroupMember)
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
                raise Malformed
            stop = pos + n
            member.client_id = data[pos + 1 : stop].decode()
            pos = stop
            client_id_end = pos
            client_id_n = n
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos + 1 : stop].decode()
            pos = stop
            client_host_end = pos
            client_host_n = n
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
            member.member_metadata = data[pos + 1 : stop]
            pos = stop
            member_metadata_end = pos
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
            member.member_assignment = data[pos + 1 : stop]
            pos = stop
            member_assignment_end = pos
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
                client_id_size = client_id_n - 1
                same_3 = data[group_instance_id_end : client_id_end - client_id_size]
                client_host_size = client_host_n - 1
                same_4 = data[client_id_end : client_host_end - client_host_size]
                member_metadata_size = len(member.member_metadata)
                same_5 = data[client_host_end : member_metadata_end - member_metadata_size]
                member_assignment_size = len(member.member_assignment)
                same_6 = data[member_metadata_end : member_assignment_end - member_assignment_size]
                same_7 = data[member_assignment_end : pos]
                members_unknown = member.unknown_tagged_fields
                members_done = len(members)
                members_size = pos - members_start
                stop = pos + min(members_left, (end - pos) // members_size) * members_size
                for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{client_id_size}s{len(same_4)}s{client_host_size}s{len(same_5)}s{member_metadata_size}s{len(same_6)}s{member_assignment_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        gap,
                        member_id,
                        gap_2,
                        group_instance_id,
                        gap_3,
                        client_id,
                        gap_4,
                        client_host,
                        gap_5,
                        member_metadata,
                        gap_6,
                        member_assignment,
                        gap_7,
                    ) = row
                    if (
                        gap != same
                        or gap_2 != same_2
                        or gap_3 != same_3
                        or gap_4 != same_4
                        or gap_5 != same_5
                        or gap_6 != same_6
                        or gap_7 != same_7
                    ):
                        break
                    member = new(DescribedGroupMember)
                    member.member_id = member_id.decode() if member_id else ""
                    member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                    member.client_id = client_id.decode() if client_id else ""
                    member.client_host = client_host.decode() if client_host else ""
                    member.member_metadata = member_metadata
                    member.member_assignment = member_assignment
                    member.unknown_tagged_fields = members_unknown
                    members.append(member)
                members_done = len(members) - members_done
                pos += members_done * members_size
                members_left -= members_done
                if not members_done:
                    members_tries -= 1
        group.members = members
        group.authorized_operations, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
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


def _encode_v0(m: DescribeGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_i(n1))
    for e2 in m.groups:
        if e2.error_message is not None:
            raise EncodeError("ErrorMessage is set, which this version lacks")
        if e2.authorized_operations != -2147483648:
            raise EncodeError("AuthorizedOperations is set, which this version lacks")
        b3 = e2.group_id.encode()
        n4 = len(b3)
        b5 = e2.group_state.encode()
        n6 = len(b5)
        b7 = e2.protocol_type.encode()
        n8 = len(b7)
        b9 = e2.protocol_data.encode()
        n10 = len(b9)
        n11 = len(e2.members)
        out += (pack_hh(e2.error_code, n4), b3, pack_h(n6), b5, pack_h(n8), b7, pack_h(n10), b9, pack_i(n11))
        for e12 in e2.members:
            b13 = e12.member_id.encode()
            n14 = len(b13)
            b15 = e12.client_id.encode()
            n16 = len(b15)
            b17 = e12.client_host.encode()
            n18 = len(b17)
            b19 = e12.member_metadata
            n20 = len(b19)
            b21 = e12.member_assignment
            n22 = len(b21)
            out += (pack_h(n14), b13, pack_h(n16), b15, pack_h(n18), b17, pack_i(n20), b19, pack_i(n22), b21)
    return b"".join(out)


def _encode_v1(m: DescribeGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.groups:
        if e2.error_message is not None:
            raise EncodeError("ErrorMessage is set, which this version lacks")
        if e2.authorized_operations != -2147483648:
            raise EncodeError("AuthorizedOperations is set, which this version lacks")
        b3 = e2.group_id.encode()
        n4 = len(b3)
        b5 = e2.group_state.encode()
        n6 = len(b5)
        b7 = e2.protocol_type.encode()
        n8 = len(b7)
        b9 = e2.protocol_data.encode()
        n10 = len(b9)
        n11 = len(e2.members)
        out += (pack_hh(e2.error_code, n4), b3, pack_h(n6), b5, pack_h(n8), b7, pack_h(n10), b9, pack_i(n11))
        for e12 in e2.members:
            b13 = e12.member_id.encode()
            n14 = len(b13)
            b15 = e12.client_id.encode()
            n16 = len(b15)
            b17 = e12.client_host.encode()
            n18 = len(b17)
            b19 = e12.member_metadata
            n20 = len(b19)
            b21 = e12.member_assignment
            n22 = len(b21)
            out += (pack_h(n14), b13, pack_h(n16), b15, pack_h(n18), b17, pack_i(n20), b19, pack_i(n22), b21)
    return b"".join(out)


def _encode_v3(m: DescribeGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.groups:
        if e2.error_message is not None:
            raise EncodeError("ErrorMessage is set, which this version lacks")
        b3 = e2.group_id.encode()
        n4 = len(b3)
        b5 = e2.group_state.encode()
        n6 = len(b5)
        b7 = e2.protocol_type.encode()
        n8 = len(b7)
        b9 = e2.protocol_data.encode()
        n10 = len(b9)
        n11 = len(e2.members)
        out += (pack_hh(e2.error_code, n4), b3, pack_h(n6), b5, pack_h(n8), b7, pack_h(n10), b9, pack_i(n11))
        for e12 in e2.members:
            b13 = e12.member_id.encode()
            n14 = len(b13)
            b15 = e12.client_id.encode()
            n16 = len(b15)
            b17 = e12.client_host.encode()
            n18 = len(b17)
            b19 = e12.member_metadata
            n20 = len(b19)
            b21 = e12.member_assignment
            n22 = len(b21)
            out += (pack_h(n14), b13, pack_h(n16), b15, pack_h(n18), b17, pack_i(n20), b19, pack_i(n22), b21)
        out.append(pack_i(e2.authorized_operations))
    return b"".join(out)


def _encode_v4(m: DescribeGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.groups:
        if e2.error_message is not None:
            raise EncodeError("ErrorMessage is set, which this version lacks")
        b3 = e2.group_id.encode()
        n4 = len(b3)
        b5 = e2.group_state.encode()
        n6 = len(b5)
        b7 = e2.protocol_type.encode()
        n8 = len(b7)
        b9 = e2.protocol_data.encode()
        n10 = len(b9)
        n11 = len(e2.members)
        out += (pack_hh(e2.error_code, n4), b3, pack_h(n6), b5, pack_h(n8), b7, pack_h(n10), b9, pack_i(n11))
        for e12 in e2.members:
            b13 = e12.member_id.encode()
            n14 = len(b13)
            v17 = e12.group_instance_id
            if v17 is None:
                b15 = b""
                n16 = -1
            else:
                b15 = v17.encode()
                n16 = len(b15)
            b18 = e12.client_id.encode()
            n19 = len(b18)
            b20 = e12.client_host.encode()
            n21 = len(b20)
            b22 = e12.member_metadata
            n23 = len(b22)
            b24 = e12.member_assignment
            n25 = len(b24)
            out += (
                pack_h(n14),
                b13,
                pack_h(n16),
                b15,
                pack_h(n19),
                b18,
                pack_h(n21),
                b20,
                pack_i(n23),
                b22,
                pack_i(n25),
                b24,
            )
        out.append(pack_i(e2.authorized_operations))
    return b"".join(out)


def _encode_v5(m: DescribeGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        if e2.error_message is not None:
            raise EncodeError("ErrorMessage is set, which this version lacks")
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        b5 = e2.group_state.encode()
        n6 = len(b5) + 1
        b7 = e2.protocol_type.encode()
        n8 = len(b7) + 1
        b9 = e2.protocol_data.encode()
        n10 = len(b9) + 1
        n11 = len(e2.members) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
            b9,
            ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
        )
        for e12 in e2.members:
            b13 = e12.member_id.encode()
            n14 = len(b13) + 1
            v17 = e12.group_instance_id
            if v17 is None:
                b15 = b""
                n16 = 0
            else:
                b15 = v17.encode()
                n16 = len(b15) + 1
            b18 = e12.client_id.encode()
            n19 = len(b18) + 1
            b20 = e12.client_host.encode()
            n21 = len(b20) + 1
            b22 = e12.member_metadata
            n23 = len(b22) + 1
            b24 = e12.member_assignment
            n25 = len(b24) + 1
            out += (
                ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
                b13,
                ONE_BYTE[n16] if n16 < 128 else write_string_length(n16),
                b15,
                ONE_BYTE[n19] if n19 < 128 else write_string_length(n19),
                b18,
                ONE_BYTE[n21] if n21 < 128 else write_string_length(n21),
                b20,
                ONE_BYTE[n23] if n23 < 128 else write_uvarint(n23),
                b22,
                ONE_BYTE[n25] if n25 < 128 else write_uvarint(n25),
                b24,
                write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e2.authorized_operations),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v6(m: DescribeGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        b6 = e2.group_id.encode()
        n7 = len(b6) + 1
        b8 = e2.group_state.encode()
        n9 = len(b8) + 1
        b10 = e2.protocol_type.encode()
        n11 = len(b10) + 1
        b12 = e2.protocol_data.encode()
        n13 = len(b12) + 1
        n14 = len(e2.members) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
            b12,
            ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14),
        )
        for e15 in e2.members:
            b16 = e15.member_id.encode()
            n17 = len(b16) + 1
            v20 = e15.group_instance_id
            if v20 is None:
                b18 = b""
                n19 = 0
            else:
                b18 = v20.encode()
                n19 = len(b18) + 1
            b21 = e15.client_id.encode()
            n22 = len(b21) + 1
            b23 = e15.client_host.encode()
            n24 = len(b23) + 1
            b25 = e15.member_metadata
            n26 = len(b25) + 1
            b27 = e15.member_assignment
            n28 = len(b27) + 1
            out += (
                ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
                b16,
                ONE_BYTE[n19] if n19 < 128 else write_string_length(n19),
                b18,
                ONE_BYTE[n22] if n22 < 128 else write_string_length(n22),
                b21,
                ONE_BYTE[n24] if n24 < 128 else write_string_length(n24),
                b23,
                ONE_BYTE[n26] if n26 < 128 else write_uvarint(n26),
                b25,
                ONE_BYTE[n28] if n28 < 128 else write_uvarint(n28),
                b27,
                write_tagged(e15.unknown_tagged_fields) if e15.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e2.authorized_operations),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DescribedGroupMember.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 6)),
    Field("group_instance_id", "GroupInstanceId", "string", (4, 6), nullable=(4, 6), ignorable=True),
    Field("client_id", "ClientId", "string", (0, 6)),
    Field("client_host", "ClientHost", "string", (0, 6)),
    Field("member_metadata", "MemberMetadata", "bytes", (0, 6)),
    Field("member_assignment", "MemberAssignment", "bytes", (0, 6)),
)
DescribedGroup.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 6)),
    Field("error_message", "ErrorMessage", "string", (6, 6), nullable=(6, 6)),
    Field("group_id", "GroupId", "string", (0, 6), entity="groupId"),
    Field("group_state", "GroupState", "string", (0, 6)),
    Field("protocol_type", "ProtocolType", "string", (0, 6)),
    Field("protocol_data", "ProtocolData", "string", (0, 6)),
    Field("members", "Members", "struct", (0, 6), is_array=True, struct=DescribedGroupMember),
    Field("authorized_operations", "AuthorizedOperations", "int32", (3, 6)),
)
DescribeGroupsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 6), ignorable=True),
    Field("groups", "Groups", "struct", (0, 6), is_array=True, struct=DescribedGroup),
)
DescribeGroupsResponse.NAME = "DescribeGroupsResponse"
DescribeGroupsResponse.API_KEY = 15
DescribeGroupsResponse.MIN_VERSION = 0
DescribeGroupsResponse.MAX_VERSION = 6
DescribeGroupsResponse.FLEXIBLE_FROM = 5
DescribeGroupsResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v3,
    4: _decode_v4,
    5: _decode_v5,
    6: _decode_v6,
}
DescribeGroupsResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v3,
    4: _encode_v4,
    5: _encode_v5,
    6: _encode_v6,
}
