# Generated from schemas/message/DescribeTopicPartitionsRequest.json by `python -m schemas.generator`. Do not edit.
"""DescribeTopicPartitionsRequest, a request, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
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
unpack_in = Format(">iB").unpack_from
pack_b = Format(">b").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicRequest(Struct):
    name: str = ""
    """The topic's name."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Cursor(Struct):
    topic_name: str = ""
    """The topic's name."""
    partition_index: int = 0
    """The partition's number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeTopicPartitionsRequest(Request):
    """Asks for the partitions of topics, page by page."""

    topics: list[TopicRequest] = attrs.Factory(list)
    """One entry for each topic."""
    response_partition_limit: int = 2000
    """The most partitions in the answer."""
    cursor: Cursor | None = None
    """Where to begin, from the last answer's NextCursor; null: at the start."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DescribeTopicPartitionsRequest:
    end = len(data)
    message = new(DescribeTopicPartitionsRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 2 > end - pos:
        raise Malformed
    topics: list[TopicRequest] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(TopicRequest)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
        topics_left -= 1
        if topics_tries and topics_left >= 12:
            name_size = name_n - 1
            same = data[topics_start : name_end - name_size]
            same_2 = data[name_end : pos]
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, name, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                topic = new(TopicRequest)
                topic.name = name.decode() if name else ""
                topic.unknown_tagged_fields = topics_unknown
                topics.append(topic)
            topics_done = len(topics) - topics_done
            pos += topics_done * topics_size
            topics_left -= topics_done
            if not topics_done:
                topics_tries -= 1
    message.topics = topics
    message.response_partition_limit, n = unpack_in(data, pos)
    pos += 4
    pos += 1
    if n > 127:
        message.cursor = None
    else:
        cursor = new(Cursor)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        cursor.topic_name = data[pos + 1 : stop].decode()
        pos = stop
        cursor.partition_index, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            cursor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            cursor.unknown_tagged_fields = ()
            pos += 1
        message.cursor = cursor
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


def _encode_v0(m: DescribeTopicPartitionsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(pack_i(m.response_partition_limit))
    s5 = m.cursor
    if s5 is None:
        out.append(b"\xff")
    else:
        b6 = s5.topic_name.encode()
        n7 = len(b6) + 1
        out += (
            pack_b(1),
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            pack_i(s5.partition_index),
            write_tagged(s5.unknown_tagged_fields) if s5.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


TopicRequest.FIELDS = (
    Field("name", "Name", "string", (0, 0), entity="topicName"),
)
Cursor.FIELDS = (
    Field("topic_name", "TopicName", "string", (0, 0), entity="topicName"),
    Field("partition_index", "PartitionIndex", "int32", (0, 0)),
)
DescribeTopicPartitionsRequest.FIELDS = (
    Field("topics", "Topics", "struct", (0, 0), is_array=True, struct=TopicRequest),
    Field("response_partition_limit", "ResponsePartitionLimit", "int32", (0, 0)),
    Field("cursor", "Cursor", "struct", (0, 0), nullable=(0, 0), struct=Cursor),
)
DescribeTopicPartitionsRequest.NAME = "DescribeTopicPartitionsRequest"
DescribeTopicPartitionsRequest.API_KEY = 75
DescribeTopicPartitionsRequest.MIN_VERSION = 0
DescribeTopicPartitionsRequest.MAX_VERSION = 0
DescribeTopicPartitionsRequest.FLEXIBLE_FROM = 0
DescribeTopicPartitionsRequest._DECODERS = {0: _decode_v0}
DescribeTopicPartitionsRequest._ENCODERS = {0: _encode_v0}
