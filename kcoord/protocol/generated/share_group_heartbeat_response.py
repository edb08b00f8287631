# Generated from schemas/message/ShareGroupHeartbeatResponse.json by `python -m schemas.generator`. Do not edit.
"""ShareGroupHeartbeatResponse, a response, versions 1."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_ihn = Format(">ihB").unpack_from
unpack_iin = Format(">iiB").unpack_from
pack_b = Format(">b").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartitions(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = attrs.Factory(list)
    """Topics with their partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ShareGroupHeartbeatResponse(Response):
    """The member's epoch, and its assignment when that has changed."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    member_id: str | None = None
    """The member's id."""
    member_epoch: int = 0
    """The member's epoch from now on."""
    heartbeat_interval_ms: int = 0
    """The time to the member's next heartbeat, in ms."""
    assignment: Assignment | None = None
    """What the member has been assigned; null: as before."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_topic_partitions_v1(data: bytes, pos: int) -> tuple[TopicPartitions, int]:
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


def _decode_v1(data: bytes, pos: int) -> ShareGroupHeartbeatResponse:
    end = len(data)
    message = new(ShareGroupHeartbeatResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.member_id = None
        pos += 1
    elif n == 1:
        message.member_id = ""
        pos += 1
    else:
        stop = pos + n
        message.member_id = data[pos + 1 : stop].decode()
        pos = stop
    message.member_epoch, message.heartbeat_interval_ms, n = unpack_iin(data, pos)
    pos += 8
    pos += 1
    if n > 127:
        message.assignment = None
    else:
        assignment = new(Assignment)
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
            topic_partition, pos = _decode_topic_partitions_v1(data, pos)
            topic_partitions.append(topic_partition)
        assignment.topic_partitions = topic_partitions
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignment.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignment.unknown_tagged_fields = ()
            pos += 1
        message.assignment = assignment
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


def _encode_topic_partitions_v1(out: list[bytes | memoryview], m: TopicPartitions) -> None:
    if len(m.topic_id) != 16:
        raise EncodeError("TopicId is not 16 bytes long")
    n1 = len(m.partitions) + 1
    out += (
        m.topic_id,
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_v1(m: ShareGroupHeartbeatResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.member_id
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_ii(m.member_epoch, m.heartbeat_interval_ms),
    )
    s7 = m.assignment
    if s7 is None:
        out.append(b"\xff")
    else:
        n8 = len(s7.topic_partitions) + 1
        out += (pack_b(1), ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8))
        for e9 in s7.topic_partitions:
            _encode_topic_partitions_v1(out, e9)
        out.append(write_tagged(s7.unknown_tagged_fields) if s7.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (1, 1)),
    Field("partitions", "Partitions", "int32", (1, 1), is_array=True),
)
Assignment.FIELDS = (
    Field("topic_partitions", "TopicPartitions", "struct", (1, 1), is_array=True, struct=TopicPartitions),
)
ShareGroupHeartbeatResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 1)),
    Field("error_code", "ErrorCode", "int16", (1, 1)),
    Field("error_message", "ErrorMessage", "string", (1, 1), nullable=(1, 1)),
    Field("member_id", "MemberId", "string", (1, 1), nullable=(1, 1)),
    Field("member_epoch", "MemberEpoch", "int32", (1, 1)),
    Field("heartbeat_interval_ms", "HeartbeatIntervalMs", "int32", (1, 1)),
    Field("assignment", "Assignment", "struct", (1, 1), nullable=(1, 1), struct=Assignment),
)
ShareGroupHeartbeatResponse.NAME = "ShareGroupHeartbeatResponse"
ShareGroupHeartbeatResponse.API_KEY = 76
ShareGroupHeartbeatResponse.MIN_VERSION = 1
ShareGroupHeartbeatResponse.MAX_VERSION = 1
ShareGroupHeartbeatResponse.FLEXIBLE_FROM = 0
ShareGroupHeartbeatResponse._DECODERS = {1: _decode_v1}
ShareGroupHeartbeatResponse._ENCODERS = {1: _encode_v1}
