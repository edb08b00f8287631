# Generated from schemas/message/ConsumerGroupHeartbeatResponse.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupHeartbeatResponse, a response, versions 0-1."""

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
unpack_x = Format(">?").unpack_from
unpack_h = Format(">h").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_iin = Format(">iiB").unpack_from
pack_b = Format(">b").pack
pack_h = Format(">h").pack
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
    version: int = 0
    """kcoord's own field: the version that Metadata is written in."""
    metadata: bytes = b""
    """kcoord's own field: what a client-side assignor tells this member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupHeartbeatResponse(Response):
    """The member's epoch, and its assignment when that has changed."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    member_id: str | None = None
    """The member's id, or null with an error."""
    member_epoch: int = 0
    """The member's epoch from now on."""
    heartbeat_interval_ms: int = 0
    """The time to the member's next heartbeat, in ms."""
    assignment: Assignment | None = None
    """What the member has been assigned; null: as before."""
    should_compute_assignment: bool = False
    """kcoord's own field: whether this member is to compute the group's assignment."""
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


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupHeartbeatResponse:
    end = len(data)
    message = new(ConsumerGroupHeartbeatResponse)
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
            topic_partition, pos = _decode_topic_partitions_v0(data, pos)
            topic_partitions.append(topic_partition)
        assignment.topic_partitions = topic_partitions
        assignment.version = 0
        assignment.metadata = b""
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignment_others = []
            assignment_tag_count = n
            for _ in range(assignment_tag_count):
                assignment_tag, pos = read_uvarint(data, pos)
                n, pos = read_uvarint(data, pos)
                assignment_stop = pos + n
                if assignment_stop > len(data):
                    raise Malformed
                if assignment_tag == 1000:
                    (assignment.version,) = unpack_h(data, pos)
                    pos += 2
                elif assignment_tag == 1001:
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
                    assignment.metadata = data[pos + 1 : stop]
                    pos = stop
                else:
                    assignment_others.append((assignment_tag, data[pos:assignment_stop]))
                    pos = assignment_stop
                if pos != assignment_stop:
                    raise Malformed
            assignment.unknown_tagged_fields = tuple(assignment_others)
        else:
            assignment.unknown_tagged_fields = ()
            pos += 1
        message.assignment = assignment
    message.should_compute_assignment = False
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
                (message.should_compute_assignment,) = unpack_x(data, pos)
                pos += 1
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


def _encode_v0(m: ConsumerGroupHeartbeatResponse) -> bytes:
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
            _encode_topic_partitions_v0(out, e9)
        tagged10: list[tuple[int, bytes]] = [*s7.unknown_tagged_fields]
        if s7.version != 0:
            tagged10.append((1000, pack_h(s7.version)))
        if s7.metadata != b"":
            b13 = s7.metadata
            n14 = len(b13) + 1
            tagged10.append((1001, b"".join((ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14), b13))))
        out.append(write_tagged(tagged10) if tagged10 else b"\0")
    tagged15: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.should_compute_assignment:
        tagged15.append((1000, b"\1"))
    out.append(write_tagged(tagged15) if tagged15 else b"\0")
    return b"".join(out)


TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 1)),
    Field("partitions", "Partitions", "int32", (0, 1), is_array=True),
)
Assignment.FIELDS = (
    Field("topic_partitions", "TopicPartitions", "struct", (0, 1), is_array=True, struct=TopicPartitions),
    Field("version", "Version", "int16", (0, 1), tag=1000, tagged=(0, 1), ignorable=True),
    Field("metadata", "Metadata", "bytes", (0, 1), tag=1001, tagged=(0, 1), ignorable=True),
)
ConsumerGroupHeartbeatResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 1)),
    Field("error_code", "ErrorCode", "int16", (0, 1)),
    Field("error_message", "ErrorMessage", "string", (0, 1), nullable=(0, 1)),
    Field("member_id", "MemberId", "string", (0, 1), nullable=(0, 1)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 1)),
    Field("heartbeat_interval_ms", "HeartbeatIntervalMs", "int32", (0, 1)),
    Field("assignment", "Assignment", "struct", (0, 1), nullable=(0, 1), struct=Assignment),
    Field(
        "should_compute_assignment",
        "ShouldComputeAssignment",
        "bool",
        (0, 1),
        tag=1000,
        tagged=(0, 1),
        ignorable=True,
    ),
)
ConsumerGroupHeartbeatResponse.NAME = "ConsumerGroupHeartbeatResponse"
ConsumerGroupHeartbeatResponse.API_KEY = 68
ConsumerGroupHeartbeatResponse.MIN_VERSION = 0
ConsumerGroupHeartbeatResponse.MAX_VERSION = 1
ConsumerGroupHeartbeatResponse.FLEXIBLE_FROM = 0
ConsumerGroupHeartbeatResponse._DECODERS = {0: _decode_v0, 1: _decode_v0}
ConsumerGroupHeartbeatResponse._ENCODERS = {0: _encode_v0, 1: _encode_v0}
