# Generated from schemas/message/AdoptGroupRequest.json by `python -m schemas.generator`. Do not edit.
"""AdoptGroupRequest, a request, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
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
unpack_in = Format(">iB").unpack_from
unpack_iin = Format(">iiB").unpack_from
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class AdoptedMember(Struct):
    member_id: str = ""
    """The member's id."""
    group_instance_id: str | None = None
    """Its static name, or null."""
    client_id: str = ""
    """The client id that it gave."""
    client_host: str = ""
    """The address that it connects from, with a leading slash."""
    session_timeout_ms: int = 0
    """It is lost after this time without a heartbeat, in ms."""
    rebalance_timeout_ms: int = 0
    """How long the others wait for it in a rebalance, in ms."""
    metadata: bytes = b""
    """What it said in the protocol, opaque."""
    assignment: bytes = b""
    """Its assignment, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class AdoptGroupRequest(Request):
    """kcoord takes a classic group over from the cluster as it stands: its members go on as if nothing had happened. Sent from gateway to coordinator, never by clients."""

    group_id: str = ""
    """The group's id."""
    generation_id: int = 0
    """The generation that the members are in."""
    protocol_type: str = ""
    """What kind of group it is, e.g. consumer or connect."""
    protocol_name: str = ""
    """The protocol that the members speak."""
    leader: str | None = None
    """The leader's member id; null where it is not known."""
    members: list[AdoptedMember] = attrs.Factory(list)
    """All members of the group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> AdoptGroupRequest:
    end = len(data)
    message = new(AdoptGroupRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.generation_id, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
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
        message.leader = None
        pos += 1
    elif n == 1:
        message.leader = ""
        pos += 1
    else:
        stop = pos + n
        message.leader = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 15 > end - pos:
        raise Malformed
    members: list[AdoptedMember] = []
    members_left = n
    members_tries = 4
    while members_left:
        members_start = pos
        member = new(AdoptedMember)
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
        member.session_timeout_ms, member.rebalance_timeout_ms, n = unpack_iin(data, pos)
        pos += 8
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
        if n > 127:
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.assignment = data[pos + 1 : stop]
        pos = stop
        assignment_end = pos
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
            metadata_size = len(member.metadata)
            same_5 = data[client_host_end + 8 : metadata_end - metadata_size]
            assignment_size = len(member.assignment)
            same_6 = data[metadata_end : assignment_end - assignment_size]
            same_7 = data[assignment_end : pos]
            members_unknown = member.unknown_tagged_fields
            members_done = len(members)
            members_size = pos - members_start
            stop = pos + min(members_left, (end - pos) // members_size) * members_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{group_instance_id_size}s{len(same_3)}s{client_id_size}s{len(same_4)}s{client_host_size}sii{len(same_5)}s{metadata_size}s{len(same_6)}s{assignment_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                (
                    gap,
                    member_id,
                    gap_2,
                    group_instance_id,
                    gap_3,
                    client_id,
                    gap_4,
                    client_host,
                    session_timeout_ms,
                    rebalance_timeout_ms,
                    gap_5,
                    metadata,
                    gap_6,
                    assignment,
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
                member = new(AdoptedMember)
                member.member_id = member_id.decode() if member_id else ""
                member.group_instance_id = None if group_instance_id_null else group_instance_id.decode() if group_instance_id else ""
                member.client_id = client_id.decode() if client_id else ""
                member.client_host = client_host.decode() if client_host else ""
                member.session_timeout_ms = session_timeout_ms
                member.rebalance_timeout_ms = rebalance_timeout_ms
                member.metadata = metadata
                member.assignment = assignment
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


def _encode_v0(m: AdoptGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.protocol_type.encode()
    n4 = len(b3) + 1
    b5 = m.protocol_name.encode()
    n6 = len(b5) + 1
    v9 = m.leader
    if v9 is None:
        b7 = b""
        n8 = 0
    else:
        b7 = v9.encode()
        n8 = len(b7) + 1
    n10 = len(m.members) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation_id),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
        b7,
        ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
    )
    for e11 in m.members:
        b12 = e11.member_id.encode()
        n13 = len(b12) + 1
        v16 = e11.group_instance_id
        if v16 is None:
            b14 = b""
            n15 = 0
        else:
            b14 = v16.encode()
            n15 = len(b14) + 1
        b17 = e11.client_id.encode()
        n18 = len(b17) + 1
        b19 = e11.client_host.encode()
        n20 = len(b19) + 1
        b21 = e11.metadata
        n22 = len(b21) + 1
        b23 = e11.assignment
        n24 = len(b23) + 1
        out += (
            ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
            b12,
            ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
            b14,
            ONE_BYTE[n18] if n18 < 128 else write_string_length(n18),
            b17,
            ONE_BYTE[n20] if n20 < 128 else write_string_length(n20),
            b19,
            pack_ii(e11.session_timeout_ms, e11.rebalance_timeout_ms),
            ONE_BYTE[n22] if n22 < 128 else write_uvarint(n22),
            b21,
            ONE_BYTE[n24] if n24 < 128 else write_uvarint(n24),
            b23,
            write_tagged(e11.unknown_tagged_fields) if e11.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


AdoptedMember.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("group_instance_id", "GroupInstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("client_id", "ClientId", "string", (0, 0)),
    Field("client_host", "ClientHost", "string", (0, 0)),
    Field("session_timeout_ms", "SessionTimeoutMs", "int32", (0, 0)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
    Field("assignment", "Assignment", "bytes", (0, 0)),
)
AdoptGroupRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("generation_id", "GenerationId", "int32", (0, 0)),
    Field("protocol_type", "ProtocolType", "string", (0, 0)),
    Field("protocol_name", "ProtocolName", "string", (0, 0)),
    Field("leader", "Leader", "string", (0, 0), nullable=(0, 0)),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=AdoptedMember),
)
AdoptGroupRequest.NAME = "AdoptGroupRequest"
AdoptGroupRequest.API_KEY = 32104
AdoptGroupRequest.MIN_VERSION = 0
AdoptGroupRequest.MAX_VERSION = 0
AdoptGroupRequest.FLEXIBLE_FROM = 0
AdoptGroupRequest._DECODERS = {0: _decode_v0}
AdoptGroupRequest._ENCODERS = {0: _encode_v0}
