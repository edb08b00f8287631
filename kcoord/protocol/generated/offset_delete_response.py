# Generated from schemas/message/OffsetDeleteResponse.json by `python -m schemas.generator`. Do not edit.
"""OffsetDeleteResponse, a response, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_hii = Format(">hii").unpack_from
unpack_i = Format(">i").unpack_from
iterate_ih = Format(">ih").iter_unpack
pack_h = Format(">h").pack
pack_hii = Format(">hii").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetDeleteResponsePartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    error_code: int = 0
    """The error, or 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetDeleteResponseTopic(Struct):
    name: str = ""
    """The topic's name."""
    partitions: list[OffsetDeleteResponsePartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetDeleteResponse(Response):
    """What came of each deleted offset."""

    error_code: int = 0
    """The error, or 0."""
    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    topics: list[OffsetDeleteResponseTopic] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> OffsetDeleteResponse:
    end = len(data)
    message = new(OffsetDeleteResponse)
    message.error_code, message.throttle_time_ms, n = unpack_hii(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetDeleteResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetDeleteResponseTopic)
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
        partitions: list[OffsetDeleteResponsePartition] = []
        for row in iterate_ih(memoryview(data)[pos : pos + n * 6]):
            partition = new(OffsetDeleteResponsePartition)
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


def _encode_v0(m: OffsetDeleteResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_hii(m.error_code, m.throttle_time_ms, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            out.append(pack_ih(e6.partition_index, e6.error_code))
    return b"".join(out)


OffsetDeleteResponsePartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (0, 0)),
    Field("error_code", "ErrorCode", "int16", (0, 0)),
)
OffsetDeleteResponseTopic.FIELDS = (
    Field("name", "Name", "string", (0, 0), entity="topicName"),
    Field("partitions", "Partitions", "struct", (0, 0), is_array=True, struct=OffsetDeleteResponsePartition),
)
OffsetDeleteResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0), ignorable=True),
    Field("topics", "Topics", "struct", (0, 0), is_array=True, struct=OffsetDeleteResponseTopic),
)
OffsetDeleteResponse.NAME = "OffsetDeleteResponse"
OffsetDeleteResponse.API_KEY = 47
OffsetDeleteResponse.MIN_VERSION = 0
OffsetDeleteResponse.MAX_VERSION = 0
OffsetDeleteResponse.FLEXIBLE_FROM = 1
OffsetDeleteResponse._DECODERS = {0: _decode_v0}
OffsetDeleteResponse._ENCODERS = {0: _encode_v0}
