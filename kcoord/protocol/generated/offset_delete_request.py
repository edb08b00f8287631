# Generated from schemas/message/OffsetDeleteRequest.json by `python -m schemas.generator`. Do not edit.
"""OffsetDeleteRequest, a request, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
iterate_i = Format(">i").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetDeleteRequestPartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetDeleteRequestTopic(Struct):
    name: str = ""
    """The topic's name."""
    partitions: list[OffsetDeleteRequestPartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetDeleteRequest(Request):
    """Deletes committed offsets of topics that the group no longer subscribes to."""

    group_id: str = ""
    """The group's id."""
    topics: list[OffsetDeleteRequestTopic] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> OffsetDeleteRequest:
    end = len(data)
    message = new(OffsetDeleteRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetDeleteRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetDeleteRequestTopic)
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
        if n * 4 > end - pos:
            raise Malformed
        partitions: list[OffsetDeleteRequestPartition] = []
        for row in iterate_i(memoryview(data)[pos : pos + n * 4]):
            partition = new(OffsetDeleteRequestPartition)
            partition.partition_index, = row
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 4
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: OffsetDeleteRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1)
    n3 = len(m.topics)
    out += (pack_h(n2), b1, pack_i(n3))
    for e4 in m.topics:
        b5 = e4.name.encode()
        n6 = len(b5)
        n7 = len(e4.partitions)
        out += (pack_h(n6), b5, pack_i(n7))
        for e8 in e4.partitions:
            out.append(pack_i(e8.partition_index))
    return b"".join(out)


OffsetDeleteRequestPartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (0, 0)),
)
OffsetDeleteRequestTopic.FIELDS = (
    Field("name", "Name", "string", (0, 0), entity="topicName"),
    Field("partitions", "Partitions", "struct", (0, 0), is_array=True, struct=OffsetDeleteRequestPartition),
)
OffsetDeleteRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("topics", "Topics", "struct", (0, 0), is_array=True, struct=OffsetDeleteRequestTopic),
)
OffsetDeleteRequest.NAME = "OffsetDeleteRequest"
OffsetDeleteRequest.API_KEY = 47
OffsetDeleteRequest.MIN_VERSION = 0
OffsetDeleteRequest.MAX_VERSION = 0
OffsetDeleteRequest.FLEXIBLE_FROM = 1
OffsetDeleteRequest._DECODERS = {0: _decode_v0}
OffsetDeleteRequest._ENCODERS = {0: _encode_v0}
