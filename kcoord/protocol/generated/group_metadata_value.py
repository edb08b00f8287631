# Generated from schemas/record/GroupMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""GroupMetadataValue, a record value, versions 0-4."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
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
from kcoord.protocol.skipping import skip_bytes, skip_int16_string, skip_int32_bytes, skip_string, skip_tagged

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ih = Format(">ih").unpack_from
unpack_ii = Format(">ii").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_iii = Format(">iii").unpack_from
unpack_q = Format(">q").unpack_from
unpack_qn = Format(">qB").unpack_from
unpack_qi = Format(">qi").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack
pack_iii = Format(">iii").pack
pack_q = Format(">q").pack
pack_qi = Format(">qi").pack


@attrs.define(slots=True, weakref_slot=False)
class MemberMetadata(Struct):
    member_id: str = ""
    """The member's id."""
    group_instance_id: str | None = None
    """Its static name, or null. Since version 3."""
    client_id: str = ""
    """The client id that it gave."""
    client_host: str = ""
    """The address that it connects from, with a leading slash."""
    rebalance_timeout: int = -1
    """How long the others wait for it in a rebalance, in ms, or -1. Since version 1."""
    session_timeout: int = 0
    """It is lost after this time without a heartbeat, in ms."""
    subscription: bytes = b""
    """What it said in the chosen protocol, opaque."""
    assignment: bytes = b""
    """Its assignment, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class GroupMetadataValue(RecordValue):
    """A generation of a classic group with its members and their assignments."""

    protocol_type: str = ""
    """What kind of group it is, e.g. consumer or connect."""
    generation: int = 0
    """The generation."""
    protocol: str | None = ""
    """The chosen protocol's name, or null."""
    leader: str | None = ""
    """The leader's member id, or null."""
    current_state_timestamp: int = -1
    """Since when the group is in its state, in ms since 1970, or -1. Since version 2."""
    members: list[MemberMetadata] = attrs.Factory(list)
    """The members."""
    state: str = ""
    """kcoord's own: Empty, CompletingRebalance or Stable. Since version 4."""
    joined_members: list[str] = attrs.Factory(list)
    """kcoord's own: ids of the members that are in this generation. Since version 4."""
    synced_members: list[str] = attrs.Factory(list)
    """kcoord's own: ids of the members that have asked for their assignment in this generation. Since version 4."""
    reason: str = ""
    """kcoord's own: why this generation began. Since version 4."""
    reason_timestamp: int = -1
    """kcoord's own: when it began, in ms since 1970, or -1. Since version 4."""
    lowest_generation: int = -1
    """kcoord's own: the lowest generation that a member may know or say still, if each has one of its own; -1: any. Since version 4."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_member_metadata_v0(data: bytes, pos: int) -> tuple[MemberMetadata, int]:
    result = new(MemberMetadata)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.member_id = data[pos:stop].decode()
    pos = stop
    result.group_instance_id = None
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.client_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.client_host = data[pos:stop].decode()
    pos = stop
    result.rebalance_timeout = -1
    result.session_timeout, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    stop = pos + n
    result.subscription = data[pos:stop]
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    stop = pos + n
    result.assignment = data[pos:stop]
    pos = stop
    result.unknown_tagged_fields = ()
    return result, pos


def _decode_v0(data: bytes, pos: int) -> GroupMetadataValue:
    end = len(data)
    message = new(GroupMetadataValue)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    message.generation, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        if n != -1:
            raise Malformed
        message.protocol = None
    elif n == 0:
        message.protocol = ""
    else:
        stop = pos + n
        message.protocol = data[pos:stop].decode()
        pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.leader = None
    elif n == 0:
        message.leader = ""
    else:
        stop = pos + n
        message.leader = data[pos:stop].decode()
        pos = stop
    message.current_state_timestamp = -1
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 18 > end - pos:
        raise Malformed
    members: list[MemberMetadata] = []
    members_count = n
    for _ in range(members_count):
        member, pos = _decode_member_metadata_v0(data, pos)
        members.append(member)
    message.members = members
    message.state = ""
    message.joined_members = []
    message.synced_members = []
    message.reason = ""
    message.reason_timestamp = -1
    message.lowest_generation = -1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_member_metadata_v1(data: bytes, pos: int) -> tuple[MemberMetadata, int]:
    result = new(MemberMetadata)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.member_id = data[pos:stop].decode()
    pos = stop
    result.group_instance_id = None
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.client_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.client_host = data[pos:stop].decode()
    pos = stop
    result.rebalance_timeout, result.session_timeout, n = unpack_iii(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    stop = pos + n
    result.subscription = data[pos:stop]
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    stop = pos + n
    result.assignment = data[pos:stop]
    pos = stop
    result.unknown_tagged_fields = ()
    return result, pos


def _decode_v1(data: bytes, pos: int) -> GroupMetadataValue:
    end = len(data)
    message = new(GroupMetadataValue)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    message.generation, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        if n != -1:
            raise Malformed
        message.protocol = None
    elif n == 0:
        message.protocol = ""
    else:
        stop = pos + n
        message.protocol = data[pos:stop].decode()
        pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.leader = None
    elif n == 0:
        message.leader = ""
    else:
        stop = pos + n
        message.leader = data[pos:stop].decode()
        pos = stop
    message.current_state_timestamp = -1
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 22 > end - pos:
        raise Malformed
    members: list[MemberMetadata] = []
    members_count = n
    for _ in range(members_count):
        member, pos = _decode_member_metadata_v1(data, pos)
        members.append(member)
    message.members = members
    message.state = ""
    message.joined_members = []
    message.synced_members = []
    message.reason = ""
    message.reason_timestamp = -1
    message.lowest_generation = -1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> GroupMetadataValue:
    end = len(data)
    message = new(GroupMetadataValue)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    message.generation, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        if n != -1:
            raise Malformed
        message.protocol = None
    elif n == 0:
        message.protocol = ""
    else:
        stop = pos + n
        message.protocol = data[pos:stop].decode()
        pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.leader = None
    elif n == 0:
        message.leader = ""
    else:
        stop = pos + n
        message.leader = data[pos:stop].decode()
        pos = stop
    message.current_state_timestamp, n = unpack_qi(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    if n * 22 > end - pos:
        raise Malformed
    members: list[MemberMetadata] = []
    members_count = n
    for _ in range(members_count):
        member, pos = _decode_member_metadata_v1(data, pos)
        members.append(member)
    message.members = members
    message.state = ""
    message.joined_members = []
    message.synced_members = []
    message.reason = ""
    message.reason_timestamp = -1
    message.lowest_generation = -1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_member_metadata_v3(data: bytes, pos: int) -> tuple[MemberMetadata, int]:
    result = new(MemberMetadata)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        result.group_instance_id = None
    elif n == 0:
        result.group_instance_id = ""
    else:
        stop = pos + n
        result.group_instance_id = data[pos:stop].decode()
        pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.client_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    result.client_host = data[pos:stop].decode()
    pos = stop
    result.rebalance_timeout, result.session_timeout, n = unpack_iii(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    stop = pos + n
    result.subscription = data[pos:stop]
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    stop = pos + n
    result.assignment = data[pos:stop]
    pos = stop
    result.unknown_tagged_fields = ()
    return result, pos


def _decode_v3(data: bytes, pos: int) -> GroupMetadataValue:
    end = len(data)
    message = new(GroupMetadataValue)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    message.generation, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        if n != -1:
            raise Malformed
        message.protocol = None
    elif n == 0:
        message.protocol = ""
    else:
        stop = pos + n
        message.protocol = data[pos:stop].decode()
        pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.leader = None
    elif n == 0:
        message.leader = ""
    else:
        stop = pos + n
        message.leader = data[pos:stop].decode()
        pos = stop
    message.current_state_timestamp, n = unpack_qi(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    if n * 24 > end - pos:
        raise Malformed
    members: list[MemberMetadata] = []
    members_count = n
    for _ in range(members_count):
        member, pos = _decode_member_metadata_v3(data, pos)
        members.append(member)
    message.members = members
    message.state = ""
    message.joined_members = []
    message.synced_members = []
    message.reason = ""
    message.reason_timestamp = -1
    message.lowest_generation = -1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_member_metadata_v4(data: bytes, pos: int) -> tuple[MemberMetadata, int]:
    result = new(MemberMetadata)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        result.group_instance_id = None
        pos += 1
    elif n == 1:
        result.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        result.group_instance_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.client_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.client_host = data[pos + 1 : stop].decode()
    pos = stop
    result.rebalance_timeout, result.session_timeout, n = unpack_iin(data, pos)
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
    result.subscription = data[pos + 1 : stop]
    pos = stop
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
    result.assignment = data[pos + 1 : stop]
    pos = stop
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v4(data: bytes, pos: int) -> GroupMetadataValue:
    end = len(data)
    message = new(GroupMetadataValue)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos + 1 : stop].decode()
    pos = stop
    message.generation, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol = None
        pos += 1
    elif n == 1:
        message.protocol = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol = data[pos + 1 : stop].decode()
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
    message.current_state_timestamp, n = unpack_qn(data, pos)
    pos += 8
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 15 > end - pos:
        raise Malformed
    members: list[MemberMetadata] = []
    members_count = n
    for _ in range(members_count):
        member, pos = _decode_member_metadata_v4(data, pos)
        members.append(member)
    message.members = members
    message.state = ""
    message.joined_members = []
    message.synced_members = []
    message.reason = ""
    message.reason_timestamp = -1
    message.lowest_generation = -1
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 1000:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.state = data[pos + 1 : stop].decode()
                pos = stop
            elif message_tag == 1001:
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
                joined_members: list[str] = []
                joined_members_count = n
                for _ in range(joined_members_count):
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    joined_member = data[pos + 1 : stop].decode()
                    pos = stop
                    joined_members.append(joined_member)
                message.joined_members = joined_members
            elif message_tag == 1002:
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
                synced_members: list[str] = []
                synced_members_count = n
                for _ in range(synced_members_count):
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    synced_member = data[pos + 1 : stop].decode()
                    pos = stop
                    synced_members.append(synced_member)
                message.synced_members = synced_members
            elif message_tag == 1003:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.reason = data[pos + 1 : stop].decode()
                pos = stop
            elif message_tag == 1004:
                (message.reason_timestamp,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 1005:
                (message.lowest_generation,) = unpack_i(data, pos)
                pos += 4
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_member_metadata_v0(out: list[bytes | memoryview], m: MemberMetadata) -> None:
    b1 = m.member_id.encode()
    n2 = len(b1)
    b3 = m.client_id.encode()
    n4 = len(b3)
    b5 = m.client_host.encode()
    n6 = len(b5)
    b7 = m.subscription
    n8 = len(b7)
    b9 = m.assignment
    n10 = len(b9)
    out += (pack_h(n2), b1, pack_h(n4), b3, pack_h(n6), b5, pack_ii(m.session_timeout, n8), b7, pack_i(n10), b9)


def _encode_v0(m: GroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.protocol_type.encode()
    n2 = len(b1)
    v5 = m.protocol
    if v5 is None:
        b3 = b""
        n4 = -1
    else:
        b3 = v5.encode()
        n4 = len(b3)
    v8 = m.leader
    if v8 is None:
        b6 = b""
        n7 = -1
    else:
        b6 = v8.encode()
        n7 = len(b6)
    n9 = len(m.members)
    out += (pack_h(n2), b1, pack_ih(m.generation, n4), b3, pack_h(n7), b6, pack_i(n9))
    for e10 in m.members:
        _encode_member_metadata_v0(out, e10)
    return b"".join(out)


def _encode_member_metadata_v1(out: list[bytes | memoryview], m: MemberMetadata) -> None:
    b1 = m.member_id.encode()
    n2 = len(b1)
    b3 = m.client_id.encode()
    n4 = len(b3)
    b5 = m.client_host.encode()
    n6 = len(b5)
    b7 = m.subscription
    n8 = len(b7)
    b9 = m.assignment
    n10 = len(b9)
    out += (
        pack_h(n2),
        b1,
        pack_h(n4),
        b3,
        pack_h(n6),
        b5,
        pack_iii(m.rebalance_timeout, m.session_timeout, n8),
        b7,
        pack_i(n10),
        b9,
    )


def _encode_v1(m: GroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.protocol_type.encode()
    n2 = len(b1)
    v5 = m.protocol
    if v5 is None:
        b3 = b""
        n4 = -1
    else:
        b3 = v5.encode()
        n4 = len(b3)
    v8 = m.leader
    if v8 is None:
        b6 = b""
        n7 = -1
    else:
        b6 = v8.encode()
        n7 = len(b6)
    n9 = len(m.members)
    out += (pack_h(n2), b1, pack_ih(m.generation, n4), b3, pack_h(n7), b6, pack_i(n9))
    for e10 in m.members:
        _encode_member_metadata_v1(out, e10)
    return b"".join(out)


def _encode_v2(m: GroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.protocol_type.encode()
    n2 = len(b1)
    v5 = m.protocol
    if v5 is None:
        b3 = b""
        n4 = -1
    else:
        b3 = v5.encode()
        n4 = len(b3)
    v8 = m.leader
    if v8 is None:
        b6 = b""
        n7 = -1
    else:
        b6 = v8.encode()
        n7 = len(b6)
    n9 = len(m.members)
    out += (pack_h(n2), b1, pack_ih(m.generation, n4), b3, pack_h(n7), b6, pack_qi(m.current_state_timestamp, n9))
    for e10 in m.members:
        _encode_member_metadata_v1(out, e10)
    return b"".join(out)


def _encode_member_metadata_v3(out: list[bytes | memoryview], m: MemberMetadata) -> None:
    b1 = m.member_id.encode()
    n2 = len(b1)
    v5 = m.group_instance_id
    if v5 is None:
        b3 = b""
        n4 = -1
    else:
        b3 = v5.encode()
        n4 = len(b3)
    b6 = m.client_id.encode()
    n7 = len(b6)
    b8 = m.client_host.encode()
    n9 = len(b8)
    b10 = m.subscription
    n11 = len(b10)
    b12 = m.assignment
    n13 = len(b12)
    out += (
        pack_h(n2),
        b1,
        pack_h(n4),
        b3,
        pack_h(n7),
        b6,
        pack_h(n9),
        b8,
        pack_iii(m.rebalance_timeout, m.session_timeout, n11),
        b10,
        pack_i(n13),
        b12,
    )


def _encode_v3(m: GroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.protocol_type.encode()
    n2 = len(b1)
    v5 = m.protocol
    if v5 is None:
        b3 = b""
        n4 = -1
    else:
        b3 = v5.encode()
        n4 = len(b3)
    v8 = m.leader
    if v8 is None:
        b6 = b""
        n7 = -1
    else:
        b6 = v8.encode()
        n7 = len(b6)
    n9 = len(m.members)
    out += (pack_h(n2), b1, pack_ih(m.generation, n4), b3, pack_h(n7), b6, pack_qi(m.current_state_timestamp, n9))
    for e10 in m.members:
        _encode_member_metadata_v3(out, e10)
    return b"".join(out)


def _encode_member_metadata_v4(out: list[bytes | memoryview], m: MemberMetadata) -> None:
    b1 = m.member_id.encode()
    n2 = len(b1) + 1
    v5 = m.group_instance_id
    if v5 is None:
        b3 = b""
        n4 = 0
    else:
        b3 = v5.encode()
        n4 = len(b3) + 1
    b6 = m.client_id.encode()
    n7 = len(b6) + 1
    b8 = m.client_host.encode()
    n9 = len(b8) + 1
    b10 = m.subscription
    n11 = len(b10) + 1
    b12 = m.assignment
    n13 = len(b12) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
        b6,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_ii(m.rebalance_timeout, m.session_timeout),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
        b10,
        ONE_BYTE[n13] if n13 < 128 else write_uvarint(n13),
        b12,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_v4(m: GroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.protocol_type.encode()
    n2 = len(b1) + 1
    v5 = m.protocol
    if v5 is None:
        b3 = b""
        n4 = 0
    else:
        b3 = v5.encode()
        n4 = len(b3) + 1
    v8 = m.leader
    if v8 is None:
        b6 = b""
        n7 = 0
    else:
        b6 = v8.encode()
        n7 = len(b6) + 1
    n9 = len(m.members) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
        b6,
        pack_q(m.current_state_timestamp),
        ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
    )
    for e10 in m.members:
        _encode_member_metadata_v4(out, e10)
    tagged11: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.state != "":
        b13 = m.state.encode()
        n14 = len(b13) + 1
        tagged11.append((1000, b"".join((ONE_BYTE[n14] if n14 < 128 else write_string_length(n14), b13))))
    if m.joined_members != []:
        parts15: list[bytes | memoryview] = []
        n16 = len(m.joined_members) + 1
        parts15.append(ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16))
        for e17 in m.joined_members:
            b18 = e17.encode()
            n19 = len(b18) + 1
            parts15 += (ONE_BYTE[n19] if n19 < 128 else write_string_length(n19), b18)
        tagged11.append((1001, b"".join(parts15)))
    if m.synced_members != []:
        parts20: list[bytes | memoryview] = []
        n21 = len(m.synced_members) + 1
        parts20.append(ONE_BYTE[n21] if n21 < 128 else write_uvarint(n21))
        for e22 in m.synced_members:
            b23 = e22.encode()
            n24 = len(b23) + 1
            parts20 += (ONE_BYTE[n24] if n24 < 128 else write_string_length(n24), b23)
        tagged11.append((1002, b"".join(parts20)))
    if m.reason != "":
        b26 = m.reason.encode()
        n27 = len(b26) + 1
        tagged11.append((1003, b"".join((ONE_BYTE[n27] if n27 < 128 else write_string_length(n27), b26))))
    if m.reason_timestamp != -1:
        tagged11.append((1004, pack_q(m.reason_timestamp)))
    if m.lowest_generation != -1:
        tagged11.append((1005, pack_i(m.lowest_generation)))
    out.append(write_tagged(tagged11) if tagged11 else b"\0")
    return b"".join(out)


def _check_member_metadata_v0(data: bytes, pos: int) -> int:
    pos = skip_int16_string(data, pos, False)
    pos = skip_int16_string(data, pos, False)
    pos = skip_int16_string(data, pos, False)
    pos += 4
    pos = skip_int32_bytes(data, pos, False)
    pos = skip_int32_bytes(data, pos, False)
    return pos


def _check_v0(data: bytes, pos: int) -> int | None:
    epoch: int
    pos = skip_int16_string(data, pos, False)
    (epoch,) = unpack_i(data, pos)
    pos += 4
    pos = skip_int16_string(data, pos, True)
    pos = skip_int16_string(data, pos, True)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    members_count = n
    for _ in range(members_count):
        pos = _check_member_metadata_v0(data, pos)
    if pos != len(data):
        raise Malformed
    return epoch


def _check_member_metadata_v1(data: bytes, pos: int) -> int:
    pos = skip_int16_string(data, pos, False)
    pos = skip_int16_string(data, pos, False)
    pos = skip_int16_string(data, pos, False)
    pos += 8
    pos = skip_int32_bytes(data, pos, False)
    pos = skip_int32_bytes(data, pos, False)
    return pos


def _check_v1(data: bytes, pos: int) -> int | None:
    epoch: int
    pos = skip_int16_string(data, pos, False)
    (epoch,) = unpack_i(data, pos)
    pos += 4
    pos = skip_int16_string(data, pos, True)
    pos = skip_int16_string(data, pos, True)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    members_count = n
    for _ in range(members_count):
        pos = _check_member_metadata_v1(data, pos)
    if pos != len(data):
        raise Malformed
    return epoch


def _check_v2(data: bytes, pos: int) -> int | None:
    epoch: int
    pos = skip_int16_string(data, pos, False)
    (epoch,) = unpack_i(data, pos)
    pos += 4
    pos = skip_int16_string(data, pos, True)
    pos = skip_int16_string(data, pos, True)
    pos += 8
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    members_count = n
    for _ in range(members_count):
        pos = _check_member_metadata_v1(data, pos)
    if pos != len(data):
        raise Malformed
    return epoch


def _check_member_metadata_v3(data: bytes, pos: int) -> int:
    pos = skip_int16_string(data, pos, False)
    pos = skip_int16_string(data, pos, True)
    pos = skip_int16_string(data, pos, False)
    pos = skip_int16_string(data, pos, False)
    pos += 8
    pos = skip_int32_bytes(data, pos, False)
    pos = skip_int32_bytes(data, pos, False)
    return pos


def _check_v3(data: bytes, pos: int) -> int | None:
    epoch: int
    pos = skip_int16_string(data, pos, False)
    (epoch,) = unpack_i(data, pos)
    pos += 4
    pos = skip_int16_string(data, pos, True)
    pos = skip_int16_string(data, pos, True)
    pos += 8
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    members_count = n
    for _ in range(members_count):
        pos = _check_member_metadata_v3(data, pos)
    if pos != len(data):
        raise Malformed
    return epoch


def _check_member_metadata_v4(data: bytes, pos: int) -> int:
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos + 8]
    pos = pos + 8 + n if 0 < n < 128 else skip_bytes(data, pos + 8, False)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_bytes(data, pos, False)
    n = data[pos]
    if n:
        pos = skip_tagged(data, pos)
    else:
        pos += 1
    return pos


def _check_v4(data: bytes, pos: int) -> int | None:
    epoch: int
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    epoch, n = unpack_in(data, pos)
    pos = pos + 4 + (n or 1) if n < 128 else skip_string(data, pos + 4, True)
    n = data[pos]
    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
    n = data[pos + 8]
    if n < 128:
        pos += 9
    else:
        n, pos = read_uvarint(data, pos + 8)
    if n == 0:
        raise Malformed
    members_count = n - 1
    for _ in range(members_count):
        pos = _check_member_metadata_v4(data, pos)
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 1000:
                n = data[pos]
                pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 1001:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                joined_members_count = n - 1
                for _ in range(joined_members_count):
                    n = data[pos]
                    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 1002:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                synced_members_count = n - 1
                for _ in range(synced_members_count):
                    n = data[pos]
                    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 1003:
                n = data[pos]
                pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 1004:
                pos += 8
            elif tag == 1005:
                pos += 4
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return epoch


MemberMetadata.FIELDS = (
    Field("member_id", "memberId", "string", (0, 4)),
    Field("group_instance_id", "groupInstanceId", "string", (3, 4), nullable=(3, 4), ignorable=True),
    Field("client_id", "clientId", "string", (0, 4)),
    Field("client_host", "clientHost", "string", (0, 4)),
    Field("rebalance_timeout", "rebalanceTimeout", "int32", (1, 4), ignorable=True),
    Field("session_timeout", "sessionTimeout", "int32", (0, 4)),
    Field("subscription", "subscription", "bytes", (0, 4)),
    Field("assignment", "assignment", "bytes", (0, 4)),
)
GroupMetadataValue.FIELDS = (
    Field("protocol_type", "protocolType", "string", (0, 4)),
    Field("generation", "generation", "int32", (0, 4)),
    Field("protocol", "protocol", "string", (0, 4), nullable=(0, 4)),
    Field("leader", "leader", "string", (0, 4), nullable=(0, 4)),
    Field("current_state_timestamp", "currentStateTimestamp", "int64", (2, 4), ignorable=True),
    Field("members", "members", "struct", (0, 4), is_array=True, struct=MemberMetadata),
    Field("state", "state", "string", (4, 4), tag=1000, tagged=(4, 4), ignorable=True),
    Field("joined_members", "joinedMembers", "string", (4, 4), is_array=True, tag=1001, tagged=(4, 4), ignorable=True),
    Field("synced_members", "syncedMembers", "string", (4, 4), is_array=True, tag=1002, tagged=(4, 4), ignorable=True),
    Field("reason", "reason", "string", (4, 4), tag=1003, tagged=(4, 4), ignorable=True),
    Field("reason_timestamp", "reasonTimestamp", "int64", (4, 4), tag=1004, tagged=(4, 4), ignorable=True),
    Field("lowest_generation", "lowestGeneration", "int32", (4, 4), tag=1005, tagged=(4, 4), ignorable=True),
)
GroupMetadataValue.NAME = "GroupMetadataValue"
GroupMetadataValue.API_KEY = 2
GroupMetadataValue.MIN_VERSION = 0
GroupMetadataValue.MAX_VERSION = 4
GroupMetadataValue.FLEXIBLE_FROM = 4
GroupMetadataValue._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v2, 3: _decode_v3, 4: _decode_v4}
GroupMetadataValue._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v2, 3: _encode_v3, 4: _encode_v4}
GroupMetadataValue.EPOCH = "generation"
GroupMetadataValue._CHECKS = {0: _check_v0, 1: _check_v1, 2: _check_v2, 3: _check_v3, 4: _check_v4}
