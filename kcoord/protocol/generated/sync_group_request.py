# Generated from schemas/message/SyncGroupRequest.json by `python -m schemas.generator`. Do not edit.
"""SyncGroupRequest, a request, versions 0-5."""

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
unpack_in = Format(">iB").unpack_from
unpack_ih = Format(">ih").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class SyncGroupRequestAssignment(Struct):
    member_id: str = ""
    """The member's id."""
    assignment: bytes = b""
    """That member's assignment, opaque to the coordinator."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class SyncGroupRequest(Request):
    """A member asks for its assignment; the leader hands in everybody's."""

    group_id: str = ""
    """The group's id."""
    generation_id: int = 0
    """The generation of the group that the member knows."""
    member_id: str = ""
    """The member's id."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 3."""
    protocol_type: str | None = None
    """What kind of group it is, e.g. consumer or connect. Since version 5."""
    protocol_name: str | None = None
    """The protocol that was chosen. Since version 5."""
    assignments: list[SyncGroupRequestAssignment] = attrs.Factory(list)
    """Everybody's assignment, from the leader; empty from others."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> SyncGroupRequest:
    end = len(data)
    message = new(SyncGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    message.protocol_type = None
    message.protocol_name = None
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    assignments: list[SyncGroupRequestAssignment] = []
    assignments_left = n
    assignments_tries = 4
    while assignments_left:
        assignments_start = pos
        assignment = new(SyncGroupRequestAssignment)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        assignment.member_id = data[pos:stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        assignment.assignment = data[pos:stop]
        pos = stop
        assignment_2_end = pos
        assignment.unknown_tagged_fields = ()
        assignments.append(assignment)
        assignments_left -= 1
        if assignments_tries and assignments_left >= 12:
            member_id_size = member_id_n
            same = data[assignments_start : member_id_end - member_id_size]
            assignment_2_size = len(assignment.assignment)
            same_2 = data[member_id_end : assignment_2_end - assignment_2_size]
            assignments_unknown = assignment.unknown_tagged_fields
            assignments_done = len(assignments)
            assignments_size = pos - assignments_start
            stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{assignment_2_size}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, assignment_2 = row
                if gap != same or gap_2 != same_2:
                    break
                assignment = new(SyncGroupRequestAssignment)
                assignment.member_id = member_id.decode() if member_id else ""
                assignment.assignment = assignment_2
                assignment.unknown_tagged_fields = assignments_unknown
                assignments.append(assignment)
            assignments_done = len(assignments) - assignments_done
            pos += assignments_done * assignments_size
            assignments_left -= assignments_done
            if not assignments_done:
                assignments_tries -= 1
    message.assignments = assignments
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> SyncGroupRequest:
    end = len(data)
    message = new(SyncGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.group_instance_id = None
    elif n == 0:
        message.group_instance_id = ""
    else:
        stop = pos + n
        message.group_instance_id = data[pos:stop].decode()
        pos = stop
    message.protocol_type = None
    message.protocol_name = None
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    assignments: list[SyncGroupRequestAssignment] = []
    assignments_left = n
    assignments_tries = 4
    while assignments_left:
        assignments_start = pos
        assignment = new(SyncGroupRequestAssignment)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        assignment.member_id = data[pos:stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        assignment.assignment = data[pos:stop]
        pos = stop
        assignment_2_end = pos
        assignment.unknown_tagged_fields = ()
        assignments.append(assignment)
        assignments_left -= 1
        if assignments_tries and assignments_left >= 12:
            member_id_size = member_id_n
            same = data[assignments_start : member_id_end - member_id_size]
            assignment_2_size = len(assignment.assignment)
            same_2 = data[member_id_end : assignment_2_end - assignment_2_size]
            assignments_unknown = assignment.unknown_tagged_fields
            assignments_done = len(assignments)
            assignments_size = pos - assignments_start
            stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{assignment_2_size}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, assignment_2 = row
                if gap != same or gap_2 != same_2:
                    break
                assignment = new(SyncGroupRequestAssignment)
                assignment.member_id = member_id.decode() if member_id else ""
                assignment.assignment = assignment_2
                assignment.unknown_tagged_fields = assignments_unknown
                assignments.append(assignment)
            assignments_done = len(assignments) - assignments_done
            pos += assignments_done * assignments_size
            assignments_left -= assignments_done
            if not assignments_done:
                assignments_tries -= 1
    message.assignments = assignments
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> SyncGroupRequest:
    end = len(data)
    message = new(SyncGroupRequest)
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
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_instance_id = None
        pos += 1
    elif n == 1:
        message.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_instance_id = data[pos + 1 : stop].decode()
        pos = stop
    message.protocol_type = None
    message.protocol_name = None
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
    assignments: list[SyncGroupRequestAssignment] = []
    assignments_left = n
    assignments_tries = 4
    while assignments_left:
        assignments_start = pos
        assignment = new(SyncGroupRequestAssignment)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignment.member_id = data[pos + 1 : stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
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
        assignment.assignment = data[pos + 1 : stop]
        pos = stop
        assignment_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignment.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignment.unknown_tagged_fields = ()
            pos += 1
        assignments.append(assignment)
        assignments_left -= 1
        if assignments_tries and assignments_left >= 12:
            member_id_size = member_id_n - 1
            same = data[assignments_start : member_id_end - member_id_size]
            assignment_2_size = len(assignment.assignment)
            same_2 = data[member_id_end : assignment_2_end - assignment_2_size]
            same_3 = data[assignment_2_end : pos]
            assignments_unknown = assignment.unknown_tagged_fields
            assignments_done = len(assignments)
            assignments_size = pos - assignments_start
            stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{assignment_2_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, assignment_2, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                assignment = new(SyncGroupRequestAssignment)
                assignment.member_id = member_id.decode() if member_id else ""
                assignment.assignment = assignment_2
                assignment.unknown_tagged_fields = assignments_unknown
                assignments.append(assignment)
            assignments_done = len(assignments) - assignments_done
            pos += assignments_done * assignments_size
            assignments_left -= assignments_done
            if not assignments_done:
                assignments_tries -= 1
    message.assignments = assignments
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


def _decode_v5(data: bytes, pos: int) -> SyncGroupRequest:
    end = len(data)
    message = new(SyncGroupRequest)
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
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_instance_id = None
        pos += 1
    elif n == 1:
        message.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_instance_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    assignments: list[SyncGroupRequestAssignment] = []
    assignments_left = n
    assignments_tries = 4
    while assignments_left:
        assignments_start = pos
        assignment = new(SyncGroupRequestAssignment)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignment.member_id = data[pos + 1 : stop].decode()
        pos = stop
        member_id_end = pos
        member_id_n = n
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
        assignment.assignment = data[pos + 1 : stop]
        pos = stop
        assignment_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignment.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignment.unknown_tagged_fields = ()
            pos += 1
        assignments.append(assignment)
        assignments_left -= 1
        if assignments_tries and assignments_left >= 12:
            member_id_size = member_id_n - 1
            same = data[assignments_start : member_id_end - member_id_size]
            assignment_2_size = len(assignment.assignment)
            same_2 = data[member_id_end : assignment_2_end - assignment_2_size]
            same_3 = data[assignment_2_end : pos]
            assignments_unknown = assignment.unknown_tagged_fields
            assignments_done = len(assignments)
            assignments_size = pos - assignments_start
            stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
            for row in iter_unpack(f">{len(same)}s{member_id_size}s{len(same_2)}s{assignment_2_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, member_id, gap_2, assignment_2, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                assignment = new(SyncGroupRequestAssignment)
                assignment.member_id = member_id.decode() if member_id else ""
                assignment.assignment = assignment_2
                assignment.unknown_tagged_fields = assignments_unknown
                assignments.append(assignment)
            assignments_done = len(assignments) - assignments_done
            pos += assignments_done * assignments_size
            assignments_left -= assignments_done
            if not assignments_done:
                assignments_tries -= 1
    message.assignments = assignments
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


def _encode_v0(m: SyncGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    n5 = len(m.assignments)
    out += (pack_h(n2), b1, pack_ih(m.generation_id, n4), b3, pack_i(n5))
    for e6 in m.assignments:
        b7 = e6.member_id.encode()
        n8 = len(b7)
        b9 = e6.assignment
        n10 = len(b9)
        out += (pack_h(n8), b7, pack_i(n10), b9)
    return b"".join(out)


def _encode_v3(m: SyncGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = -1
    else:
        b5 = v7.encode()
        n6 = len(b5)
    n8 = len(m.assignments)
    out += (pack_h(n2), b1, pack_ih(m.generation_id, n4), b3, pack_h(n6), b5, pack_i(n8))
    for e9 in m.assignments:
        b10 = e9.member_id.encode()
        n11 = len(b10)
        b12 = e9.assignment
        n13 = len(b12)
        out += (pack_h(n11), b10, pack_i(n13), b12)
    return b"".join(out)


def _encode_v4(m: SyncGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    n8 = len(m.assignments) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation_id),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
    )
    for e9 in m.assignments:
        b10 = e9.member_id.encode()
        n11 = len(b10) + 1
        b12 = e9.assignment
        n13 = len(b12) + 1
        out += (
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            ONE_BYTE[n13] if n13 < 128 else write_uvarint(n13),
            b12,
            write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v5(m: SyncGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    v10 = m.protocol_type
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    v13 = m.protocol_name
    if v13 is None:
        b11 = b""
        n12 = 0
    else:
        b11 = v13.encode()
        n12 = len(b11) + 1
    n14 = len(m.assignments) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation_id),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        ONE_BYTE[n12] if n12 < 128 else write_string_length(n12),
        b11,
        ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14),
    )
    for e15 in m.assignments:
        b16 = e15.member_id.encode()
        n17 = len(b16) + 1
        b18 = e15.assignment
        n19 = len(b18) + 1
        out += (
            ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
            b16,
            ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
            b18,
            write_tagged(e15.unknown_tagged_fields) if e15.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


SyncGroupRequestAssignment.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 5)),
    Field("assignment", "Assignment", "bytes", (0, 5)),
)
SyncGroupRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 5), entity="groupId"),
    Field("generation_id", "GenerationId", "int32", (0, 5)),
    Field("member_id", "MemberId", "string", (0, 5)),
    Field("group_instance_id", "GroupInstanceId", "string", (3, 5), nullable=(3, 5)),
    Field("protocol_type", "ProtocolType", "string", (5, 5), nullable=(5, 5), ignorable=True),
    Field("protocol_name", "ProtocolName", "string", (5, 5), nullable=(5, 5), ignorable=True),
    Field("assignments", "Assignments", "struct", (0, 5), is_array=True, struct=SyncGroupRequestAssignment),
)
SyncGroupRequest.NAME = "SyncGroupRequest"
SyncGroupRequest.API_KEY = 14
SyncGroupRequest.MIN_VERSION = 0
SyncGroupRequest.MAX_VERSION = 5
SyncGroupRequest.FLEXIBLE_FROM = 4
SyncGroupRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v0, 3: _decode_v3, 4: _decode_v4, 5: _decode_v5}
SyncGroupRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v0, 3: _encode_v3, 4: _encode_v4, 5: _encode_v5}
