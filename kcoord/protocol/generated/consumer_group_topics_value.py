# Generated from schemas/record/ConsumerGroupTopicsValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupTopicsValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
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
from kcoord.protocol.skipping import alike, skip_string, skip_tagged

new = object.__new__
unpack_uin = Format(">16siB").unpack_from
pack_ui = Format(">16si").pack


@attrs.define(slots=True, weakref_slot=False)
class SeenTopic(Struct):
    name: str = ""
    """The topic's name."""
    topic_id: bytes = ZERO_UUID
    """Its id."""
    partitions: int = 0
    """How many partitions it has."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupTopicsValue(RecordValue):
    """The topics that the members of a consumer group subscribe to, as they were seen last."""

    topics: list[SeenTopic] = attrs.Factory(list)
    """The topics that exist."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupTopicsValue:
    end = len(data)
    message = new(ConsumerGroupTopicsValue)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 22 > end - pos:
        raise Malformed
    topics: list[SeenTopic] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(SeenTopic)
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
        topic.topic_id, topic.partitions, n = unpack_uin(data, pos)
        pos += 20
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
            same_2 = data[name_end + 20 : pos]
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">{len(same)}s{name_size}s16si{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, name, topic_id, partitions, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                topic = new(SeenTopic)
                topic.name = name.decode() if name else ""
                topic.topic_id = topic_id
                topic.partitions = partitions
                topic.unknown_tagged_fields = topics_unknown
                topics.append(topic)
            topics_done = len(topics) - topics_done
            pos += topics_done * topics_size
            topics_left -= topics_done
            if not topics_done:
                topics_tries -= 1
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


def _encode_v0(m: ConsumerGroupTopicsValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_ui(e2.topic_id, e2.partitions),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    topic_left = n - 1
    topic_tries = 4
    while topic_left:
        topic_start = pos
        n = data[pos]
        place = pos
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos + 20]
        place_2 = pos + 20
        if n:
            pos = skip_tagged(data, pos + 20)
        else:
            pos += 21
        topic_left -= 1
        if topic_tries and topic_left >= 5 and not n:
            topic_same = alike(data, topic_start, pos, topic_left, (place, place_2))
            pos += topic_same * (pos - topic_start)
            topic_left -= topic_same
            if not topic_same:
                topic_tries -= 1
    n = data[pos]
    if n:
        pos = skip_tagged(data, pos)
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return None


SeenTopic.FIELDS = (
    Field("name", "Name", "string", (0, 0)),
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0)),
)
ConsumerGroupTopicsValue.FIELDS = (
    Field("topics", "Topics", "struct", (0, 0), is_array=True, struct=SeenTopic),
)
ConsumerGroupTopicsValue.NAME = "ConsumerGroupTopicsValue"
ConsumerGroupTopicsValue.API_KEY = 21
ConsumerGroupTopicsValue.MIN_VERSION = 0
ConsumerGroupTopicsValue.MAX_VERSION = 0
ConsumerGroupTopicsValue.FLEXIBLE_FROM = 0
ConsumerGroupTopicsValue._DECODERS = {0: _decode_v0}
ConsumerGroupTopicsValue._ENCODERS = {0: _encode_v0}
ConsumerGroupTopicsValue.EPOCH = None
ConsumerGroupTopicsValue._CHECKS = {0: _check_v0}
