# Generated from schemas/message/ConsumerGroupInstallAssignmentRequest.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupInstallAssignmentRequest, a request, versions 0."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    ZERO_UUID,
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
unpack_un = Format(">16sB").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_iibn = Format(">iibB").unpack_from
pack_h = Format(">h").pack
pack_iib = Format(">iib").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartitions(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Member(Struct):
    member_id: str = ""
    """The member's id."""
    topic_partitions: list[TopicPartitions] = attrs.Factory(list)
    """Its new target."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor tells this member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupInstallAssignmentRequest(Request):
    """The chosen consumer hands in what it computed."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The id of the chosen member."""
    member_epoch: int = 0
    """The epoch that the member was told last."""
    group_epoch: int = 0
    """The group's epoch as the preparation named it."""
    error: int = 0
    """Why there is no assignment, in the assignor's own numbers; 0: there is one."""
    members: list[Member] = attrs.Factory(list)
    """What each member shall come to consume; who is not named gets nothing."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_topic_partitions_v0(data: bytes, pos: int) -> tuple[TopicPartitions, int]:
    result = new(TopicPartitions)
    result.topic_id, n = unpack_un(data, pos)
    pos += 16
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n < 17:
        result.partitions = list(READ_INT32S[n](data, pos))
    else:
        result.partitions = list(unpack_from(f">{n}i", data, pos))
    pos += n * 4
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupInstallAssignmentRequest:
    end = len(data)
    message = new(ConsumerGroupInstallAssignmentRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    message.member_epoch, message.group_epoch, message.error, n = unpack_iibn(data, pos)
    pos += 9
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 6 > end - pos:
        raise Malformed
    members: list[Member] = []
    members_count = n
    for _ in range(members_count):
        member = new(Member)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.member_id = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        topic_partitions: list[TopicPartitions] = []
        topic_partitions_count = n
        for _ in range(topic_partitions_count):
            topic_partition, pos = _decode_topic_partitions_v0(data, pos)
            topic_partitions.append(topic_partition)
        member.topic_partitions = topic_partitions
        member.version, n = unpack_hn(data, pos)
        pos += 2
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
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            member.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            member.unknown_tagged_fields = ()
            pos += 1
        members.append(member)
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


def _encode_topic_partitions_v0(out: list[bytes | memoryview], m: TopicPartitions) -> None:
    if len(m.topic_id) != 16:
        raise EncodeError("TopicId is not 16 bytes long")
    n1 = len(m.partitions) + 1
    out += (
        m.topic_id,
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_v0(m: ConsumerGroupInstallAssignmentRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    n5 = len(m.members) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_iib(m.member_epoch, m.group_epoch, m.error),
        ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
    )
    for e6 in m.members:
        b7 = e6.member_id.encode()
        n8 = len(b7) + 1
        n9 = len(e6.topic_partitions) + 1
        out += (
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
        )
        for e10 in e6.topic_partitions:
            _encode_topic_partitions_v0(out, e10)
        b11 = e6.metadata
        n12 = len(b11) + 1
        out += (
            pack_h(e6.version),
            ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12),
            b11,
            write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
Member.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("topic_partitions", "TopicPartitions", "struct", (0, 0), is_array=True, struct=TopicPartitions),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
ConsumerGroupInstallAssignmentRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("error", "Error", "int8", (0, 0)),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=Member),
)
ConsumerGroupInstallAssignmentRequest.NAME = "ConsumerGroupInstallAssignmentRequest"
ConsumerGroupInstallAssignmentRequest.API_KEY = 32111
ConsumerGroupInstallAssignmentRequest.MIN_VERSION = 0
ConsumerGroupInstallAssignmentRequest.MAX_VERSION = 0
ConsumerGroupInstallAssignmentRequest.FLEXIBLE_FROM = 0
ConsumerGroupInstallAssignmentRequest._DECODERS = {0: _decode_v0}
ConsumerGroupInstallAssignmentRequest._ENCODERS = {0: _encode_v0}
