# Generated from schemas/message/ListOffsetsRequest.json by `python -m schemas.generator`. Do not edit.
"""ListOffsetsRequest, a request, versions 1-11."""

from __future__ import annotations

from struct import Struct as Format

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
unpack_ibn = Format(">ibB").unpack_from
unpack_ibi = Format(">ibi").unpack_from
unpack_ii = Format(">ii").unpack_from
unpack_iiqn = Format(">iiqB").unpack_from
iterate_iiq = Format(">iiq").iter_unpack
iterate_iiqn = Format(">iiqB").iter_unpack
iterate_iq = Format(">iq").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ib = Format(">ib").pack
pack_ibi = Format(">ibi").pack
pack_ii = Format(">ii").pack
pack_iiq = Format(">iiq").pack
pack_iq = Format(">iq").pack


@attrs.define(slots=True, weakref_slot=False)
class ListOffsetsPartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    current_leader_epoch: int = -1
    """The leader epoch that the client believes in, or -1. Since version 4."""
    timestamp: int = 0
    """The time in Unix ms; or -1: the end, -2: the beginning, -3: the record with the latest time, -4 and -5: where the broker's own copy begins and the tiered one ends."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ListOffsetsTopic(Struct):
    name: str = ""
    """The topic's name."""
    partitions: list[ListOffsetsPartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ListOffsetsRequest(Request):
    """Asks for the offsets of partitions at given times."""

    replica_id: int = 0
    """The follower's broker id, or -1 for a client."""
    isolation_level: int = 0
    """0 read_uncommitted, 1 read_committed. Since version 2."""
    topics: list[ListOffsetsTopic] = attrs.Factory(list)
    """One entry for each topic."""
    timeout_ms: int = 0
    """How long the answer may take where it is read from afar, in ms. Since version 10."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> ListOffsetsRequest:
    end = len(data)
    message = new(ListOffsetsRequest)
    message.isolation_level = 0
    message.replica_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopic)
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
        if n * 12 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartition] = []
        for row in iterate_iq(memoryview(data)[pos : pos + n * 12]):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.timestamp = row
            partition.current_leader_epoch = -1
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 12
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.timeout_ms = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> ListOffsetsRequest:
    end = len(data)
    message = new(ListOffsetsRequest)
    message.replica_id, message.isolation_level, n = unpack_ibi(data, pos)
    pos += 9
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopic)
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
        if n * 12 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartition] = []
        for row in iterate_iq(memoryview(data)[pos : pos + n * 12]):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.timestamp = row
            partition.current_leader_epoch = -1
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 12
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.timeout_ms = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> ListOffsetsRequest:
    end = len(data)
    message = new(ListOffsetsRequest)
    message.replica_id, message.isolation_level, n = unpack_ibi(data, pos)
    pos += 9
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopic)
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
        if n * 16 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartition] = []
        for row in iterate_iiq(memoryview(data)[pos : pos + n * 16]):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.current_leader_epoch, partition.timestamp = row
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 16
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.timeout_ms = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v6(data: bytes, pos: int) -> ListOffsetsRequest:
    end = len(data)
    message = new(ListOffsetsRequest)
    message.replica_id, message.isolation_level, n = unpack_ibn(data, pos)
    pos += 5
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopic)
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
        if n * 17 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartition] = []
        partitions_count = n
        for row in iterate_iiqn(memoryview(data)[pos : pos + n * 17]):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.current_leader_epoch, partition.timestamp, n = row
            if n:
                break
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 17
        for _ in range(partitions_count - len(partitions)):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.current_leader_epoch, partition.timestamp, n = unpack_iiqn(data, pos)
            pos += 16
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
    message.timeout_ms = 0
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


def _decode_v10(data: bytes, pos: int) -> ListOffsetsRequest:
    end = len(data)
    message = new(ListOffsetsRequest)
    message.replica_id, message.isolation_level, n = unpack_ibn(data, pos)
    pos += 5
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topics: list[ListOffsetsTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(ListOffsetsTopic)
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
        if n * 17 > end - pos:
            raise Malformed
        partitions: list[ListOffsetsPartition] = []
        partitions_count = n
        for row in iterate_iiqn(memoryview(data)[pos : pos + n * 17]):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.current_leader_epoch, partition.timestamp, n = row
            if n:
                break
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 17
        for _ in range(partitions_count - len(partitions)):
            partition = new(ListOffsetsPartition)
            partition.partition_index, partition.current_leader_epoch, partition.timestamp, n = unpack_iiqn(data, pos)
            pos += 16
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
    message.timeout_ms, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v1(m: ListOffsetsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.isolation_level != 0:
        raise EncodeError("IsolationLevel is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_ii(m.replica_id, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_iq(e6.partition_index, e6.timestamp))
    return b"".join(out)


def _encode_v2(m: ListOffsetsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_ibi(m.replica_id, m.isolation_level, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_iq(e6.partition_index, e6.timestamp))
    return b"".join(out)


def _encode_v4(m: ListOffsetsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_ibi(m.replica_id, m.isolation_level, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_iiq(e6.partition_index, e6.current_leader_epoch, e6.timestamp))
    return b"".join(out)


def _encode_v6(m: ListOffsetsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_ib(m.replica_id, m.isolation_level), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
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
                pack_iiq(e6.partition_index, e6.current_leader_epoch, e6.timestamp),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v10(m: ListOffsetsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_ib(m.replica_id, m.isolation_level), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
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
                pack_iiq(e6.partition_index, e6.current_leader_epoch, e6.timestamp),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (pack_i(m.timeout_ms), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


ListOffsetsPartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (1, 11)),
    Field("current_leader_epoch", "CurrentLeaderEpoch", "int32", (4, 11), ignorable=True),
    Field("timestamp", "Timestamp", "int64", (1, 11)),
)
ListOffsetsTopic.FIELDS = (
    Field("name", "Name", "string", (1, 11), entity="topicName"),
    Field("partitions", "Partitions", "struct", (1, 11), is_array=True, struct=ListOffsetsPartition),
)
ListOffsetsRequest.FIELDS = (
    Field("replica_id", "ReplicaId", "int32", (1, 11), entity="brokerId"),
    Field("isolation_level", "IsolationLevel", "int8", (2, 11)),
    Field("topics", "Topics", "struct", (1, 11), is_array=True, struct=ListOffsetsTopic),
    Field("timeout_ms", "TimeoutMs", "int32", (10, 11), ignorable=True),
)
ListOffsetsRequest.NAME = "ListOffsetsRequest"
ListOffsetsRequest.API_KEY = 2
ListOffsetsRequest.MIN_VERSION = 1
ListOffsetsRequest.MAX_VERSION = 11
ListOffsetsRequest.FLEXIBLE_FROM = 6
ListOffsetsRequest._DECODERS = {
    1: _decode_v1,
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v4,
    5: _decode_v4,
    6: _decode_v6,
    7: _decode_v6,
    8: _decode_v6,
    9: _decode_v6,
    10: _decode_v10,
    11: _decode_v10,
}
ListOffsetsRequest._ENCODERS = {
    1: _encode_v1,
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v4,
    5: _encode_v4,
    6: _encode_v6,
    7: _encode_v6,
    8: _encode_v6,
    9: _encode_v6,
    10: _encode_v10,
    11: _encode_v10,
}
