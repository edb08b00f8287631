# Generated from schemas/message/ListOffsetsResponse.json by `python -m schemas.generator`. Do not edit.
"""ListOffsetsResponse, a response, versions 1-11."""

from __future__ import annotations

from struct import Struct as Format

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
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihqqin = Format(">ihqqiB").unpack_from
unpack_ii = Format(">ii").unpack_from
iterate_ihqq = Format(">ihqq").iter_unpack
iterate_ihqqi = Format(">ihqqi").iter_unpack
iterate_ihqqin = Format(">ihqqiB").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ihqq = Format(">ihqq").pack
pack_ihqqi = Format(">ihqqi").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class ListOffsetsPartitionResponse(Struct):
    partition_index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    timestamp: int = -1
    """The time of the record at that offset, or -1."""
    offset: int = -1
    """The offset; -1: the partition has no such record."""
    leader_epoch: int = -1
    """The leader epoch of that record, or -1. Since version 4."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ListOffsetsTopicResponse(Struct):
    name: str = ""
    """The topic's name."""
    partitions: list[ListOffsetsPartitionResponse] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ListOffsetsResponse(Response):
    """Offsets of partitions."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 2."""
    topics: list[ListOffsetsTopicResponse] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> ListOffsetsResponse:
    end = len(data)
    message = new(ListOffsetsResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopicResponse] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 22 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartitionResponse] = []
        for row in iterate_ihqq(memoryview(data)[pos : pos + n * 22]):
            partition = new(ListOffsetsPartitionResponse)
            partition.partition_index, partition.error_code, partition.timestamp, partition.offset = row
            partition.leader_epoch = -1
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 22
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> ListOffsetsResponse:
    end = len(data)
    message = new(ListOffsetsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopicResponse] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 22 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartitionResponse] = []
        for row in iterate_ihqq(memoryview(data)[pos : pos + n * 22]):
            partition = new(ListOffsetsPartitionResponse)
            partition.partition_index, partition.error_code, partition.timestamp, partition.offset = row
            partition.leader_epoch = -1
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 22
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> ListOffsetsResponse:
    end = len(data)
    message = new(ListOffsetsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopicResponse] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopicResponse)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 26 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartitionResponse] = []
        for row in iterate_ihqqi(memoryview(data)[pos : pos + n * 26]):
            partition = new(ListOffsetsPartitionResponse)
            partition.partition_index, partition.error_code, partition.timestamp, partition.offset, partition.leader_epoch = row
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 26
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v6(data: bytes, pos: int) -> ListOffsetsResponse:
    end = len(data)
    message = new(ListOffsetsResponse)
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
    topics: list[ListOffsetsTopicResponse] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopicResponse)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 27 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartitionResponse] = []
        partitions_count = n
        for row in iterate_ihqqin(memoryview(data)[pos : pos + n * 27]):
            partition = new(ListOffsetsPartitionResponse)
            partition.partition_index, partition.error_code, partition.timestamp, partition.offset, partition.leader_epoch, n = row
            if n:
                break
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 27
        for _ in range(partitions_count - len(partitions)):
            partition = new(ListOffsetsPartitionResponse)
            partition.partition_index, partition.error_code, partition.timestamp, partition.offset, partition.leader_epoch, n = unpack_ihqqin(data, pos)
            pos += 26
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


def _encode_v1(m: ListOffsetsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_i(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.leader_epoch != -1:
                raise EncodeError("LeaderEpoch is set, which this version lacks")
            out.append(pack_ihqq(e6.partition_index, e6.error_code, e6.timestamp, e6.offset))
    return b"".join(out)


def _encode_v2(m: ListOffsetsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.leader_epoch != -1:
                raise EncodeError("LeaderEpoch is set, which this version lacks")
            out.append(pack_ihqq(e6.partition_index, e6.error_code, e6.timestamp, e6.offset))
    return b"".join(out)


def _encode_v4(m: ListOffsetsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_ihqqi(e6.partition_index, e6.error_code, e6.timestamp, e6.offset, e6.leader_epoch))
    return b"".join(out)


def _encode_v6(m: ListOffsetsResponse) -> bytes:
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
                pack_ihqqi(e6.partition_index, e6.error_code, e6.timestamp, e6.offset, e6.leader_epoch),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


ListOffsetsPartitionResponse.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (1, 11)),
    Field("error_code", "ErrorCode", "int16", (1, 11)),
    Field("timestamp", "Timestamp", "int64", (1, 11)),
    Field("offset", "Offset", "int64", (1, 11)),
    Field("leader_epoch", "LeaderEpoch", "int32", (4, 11)),
)
ListOffsetsTopicResponse.FIELDS = (
    Field("name", "Name", "string", (1, 11), entity="topicName"),
    Field("partitions", "Partitions", "struct", (1, 11), is_array=True, struct=ListOffsetsPartitionResponse),
)
ListOffsetsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (2, 11), ignorable=True),
    Field("topics", "Topics", "struct", (1, 11), is_array=True, struct=ListOffsetsTopicResponse),
)
ListOffsetsResponse.NAME = "ListOffsetsResponse"
ListOffsetsResponse.API_KEY = 2
ListOffsetsResponse.MIN_VERSION = 1
ListOffsetsResponse.MAX_VERSION = 11
ListOffsetsResponse.FLEXIBLE_FROM = 6
ListOffsetsResponse._DECODERS = {
    1: _decode_v1,
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v4,
    5: _decode_v4,
    6: _decode_v6,
    7: _decode_v6,
    8: _decode_v6,
    9: _decode_v6,
    10: _decode_v6,
    11: _decode_v6,
}
ListOffsetsResponse._ENCODERS = {
    1: _encode_v1,
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v4,
    5: _encode_v4,
    6: _encode_v6,
    7: _encode_v6,
    8: _encode_v6,
    9: _encode_v6,
    10: _encode_v6,
    11: _encode_v6,
}
