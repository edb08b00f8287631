# Generated from schemas/message/OffsetCommitResponse.json by `python -m schemas.generator`. Do not edit.
"""OffsetCommitResponse, a response, versions 2-10."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
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
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ii = Format(">ii").unpack_from
iterate_ih = Format(">ih").iter_unpack
iterate_ihn = Format(">ihB").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitResponsePartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitResponseTopic(Struct):
    name: str = ""
    """The topic's name. Until version 9."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 10."""
    partitions: list[OffsetCommitResponsePartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitResponse(Response):
    """What came of each committed offset."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 3."""
    topics: list[OffsetCommitResponseTopic] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v2(data: bytes, pos: int) -> OffsetCommitResponse:
    end = len(data)
    message = new(OffsetCommitResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetCommitResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitResponseTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 6 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitResponsePartition] = []
        for row in iterate_ih(memoryview(data)[pos : pos + n * 6]):
            partition = new(OffsetCommitResponsePartition)
            partition.partition_index, partition.error_code = row
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 6
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> OffsetCommitResponse:
    end = len(data)
    message = new(OffsetCommitResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetCommitResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitResponseTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 6 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitResponsePartition] = []
        for row in iterate_ih(memoryview(data)[pos : pos + n * 6]):
            partition = new(OffsetCommitResponsePartition)
            partition.partition_index, partition.error_code = row
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 6
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v8(data: bytes, pos: int) -> OffsetCommitResponse:
    end = len(data)
    message = new(OffsetCommitResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topics: list[OffsetCommitResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitResponseTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
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
        partitions: list[OffsetCommitResponsePartition] = []
        partitions_count = n
        for row in iterate_ihn(memoryview(data)[pos : pos + n * 7]):
            partition = new(OffsetCommitResponsePartition)
            partition.partition_index, partition.error_code, n = row
            if n:
                break
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 7
        for _ in range(partitions_count - len(partitions)):
            partition = new(OffsetCommitResponsePartition)
            partition.partition_index, partition.error_code, n = unpack_ihn(data, pos)
            pos += 6
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
        topic.partitions = partitions
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
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


def _decode_v10(data: bytes, pos: int) -> OffsetCommitResponse:
    end = len(data)
    message = new(OffsetCommitResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[OffsetCommitResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitResponseTopic)
        topic.name = ""
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 7 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitResponsePartition] = []
        partitions_count = n
        for row in iterate_ihn(memoryview(data)[pos : pos + n * 7]):
            partition = new(OffsetCommitResponsePartition)
            partition.partition_index, partition.error_code, n = row
            if n:
                break
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 7
        for _ in range(partitions_count - len(partitions)):
            partition = new(OffsetCommitResponsePartition)
            partition.partition_index, partition.error_code, n = unpack_ihn(data, pos)
            pos += 6
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
        topic.partitions = partitions
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
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


def _encode_v2(m: OffsetCommitResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_i(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_ih(e6.partition_index, e6.error_code))
    return b"".join(out)


def _encode_v3(m: OffsetCommitResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_ih(e6.partition_index, e6.error_code))
    return b"".join(out)


def _encode_v8(m: OffsetCommitResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        n5 = len(e2.partitions) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.partitions:
            out += (
                pack_ih(e6.partition_index, e6.error_code),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v10(m: OffsetCommitResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            out += (
                pack_ih(e4.partition_index, e4.error_code),
                write_tagged(e4.unknown_tagged_fields) if e4.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


OffsetCommitResponsePartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (2, 10)),
    Field("error_code", "ErrorCode", "int16", (2, 10)),
)
OffsetCommitResponseTopic.FIELDS = (
    Field("name", "Name", "string", (2, 9), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (10, 10), ignorable=True),
    Field("partitions", "Partitions", "struct", (2, 10), is_array=True, struct=OffsetCommitResponsePartition),
)
OffsetCommitResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (3, 10), ignorable=True),
    Field("topics", "Topics", "struct", (2, 10), is_array=True, struct=OffsetCommitResponseTopic),
)
OffsetCommitResponse.NAME = "OffsetCommitResponse"
OffsetCommitResponse.API_KEY = 8
OffsetCommitResponse.MIN_VERSION = 2
OffsetCommitResponse.MAX_VERSION = 10
OffsetCommitResponse.FLEXIBLE_FROM = 8
OffsetCommitResponse._DECODERS = {
    2: _decode_v2,
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v3,
    6: _decode_v3,
    7: _decode_v3,
    8: _decode_v8,
    9: _decode_v8,
    10: _decode_v10,
}
OffsetCommitResponse._ENCODERS = {
    2: _encode_v2,
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v3,
    6: _encode_v3,
    7: _encode_v3,
    8: _encode_v8,
    9: _encode_v8,
    10: _encode_v10,
}
