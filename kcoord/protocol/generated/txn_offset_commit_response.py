# Generated from schemas/message/TxnOffsetCommitResponse.json by `python -m schemas.generator`. Do not edit.
"""TxnOffsetCommitResponse, a response, versions 0-5."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
class TxnOffsetCommitResponsePartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TxnOffsetCommitResponseTopic(Struct):
    name: str = ""
    """The topic's name."""
    partitions: list[TxnOffsetCommitResponsePartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TxnOffsetCommitResponse(Response):
    """What came of each offset in the transaction."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    topics: list[TxnOffsetCommitResponseTopic] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> TxnOffsetCommitResponse:
    end = len(data)
    message = new(TxnOffsetCommitResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[TxnOffsetCommitResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(TxnOffsetCommitResponseTopic)
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
        if n * 6 > end - pos:
            raise Malformed
        partitions: list[TxnOffsetCommitResponsePartition] = []
        for row in iterate_ih(memoryview(data)[pos : pos + n * 6]):
            partition = new(TxnOffsetCommitResponsePartition)
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


def _decode_v3(data: bytes, pos: int) -> TxnOffsetCommitResponse:
    end = len(data)
    message = new(TxnOffsetCommitResponse)
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
    topics: list[TxnOffsetCommitResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(TxnOffsetCommitResponseTopic)
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
        if n * 7 > end - pos:
            raise Malformed
        partitions: list[TxnOffsetCommitResponsePartition] = []
        partitions_count = n
        for row in iterate_ihn(memoryview(data)[pos : pos + n * 7]):
            partition = new(TxnOffsetCommitResponsePartition)
            partition.partition_index, partition.error_code, n = row
            if n:
                break
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 7
        for _ in range(partitions_count - len(partitions)):
            partition = new(TxnOffsetCommitResponsePartition)
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


def _encode_v0(m: TxnOffsetCommitResponse) -> bytes:
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


def _encode_v3(m: TxnOffsetCommitResponse) -> bytes:
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


TxnOffsetCommitResponsePartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (0, 5)),
    Field("error_code", "ErrorCode", "int16", (0, 5)),
)
TxnOffsetCommitResponseTopic.FIELDS = (
    Field("name", "Name", "string", (0, 5), entity="topicName"),
    Field("partitions", "Partitions", "struct", (0, 5), is_array=True, struct=TxnOffsetCommitResponsePartition),
)
TxnOffsetCommitResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 5)),
    Field("topics", "Topics", "struct", (0, 5), is_array=True, struct=TxnOffsetCommitResponseTopic),
)
TxnOffsetCommitResponse.NAME = "TxnOffsetCommitResponse"
TxnOffsetCommitResponse.API_KEY = 28
TxnOffsetCommitResponse.MIN_VERSION = 0
TxnOffsetCommitResponse.MAX_VERSION = 5
TxnOffsetCommitResponse.FLEXIBLE_FROM = 3
TxnOffsetCommitResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v0,
    2: _decode_v0,
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v3,
}
TxnOffsetCommitResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v0,
    2: _encode_v0,
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v3,
}
