# Generated from schemas/message/DeleteTopicsRequest.json by `python -m schemas.generator`. Do not edit.
"""DeleteTopicsRequest, a request, versions 1-6."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
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
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class DeleteTopicState(Struct):
    name: str | None = None
    """The topic's name, or null. Since version 6."""
    topic_id: bytes = ZERO_UUID
    """Its id, where there is no name. Since version 6."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DeleteTopicsRequest(Request):
    """Deletes topics."""

    topics: list[DeleteTopicState] = attrs.Factory(list)
    """The topics, by name or by id. Since version 6."""
    topic_names: list[str] = attrs.Factory(list)
    """The names of the topics. Until version 5."""
    timeout_ms: int = 0
    """How long the answer may take, in ms."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> DeleteTopicsRequest:
    end = len(data)
    message = new(DeleteTopicsRequest)
    message.topics = []
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 2 > end - pos:
        raise Malformed
    topic_names: list[str] = []
    topic_names_count = n
    for _ in range(topic_names_count):
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic_name = data[pos:stop].decode()
        pos = stop
        topic_names.append(topic_name)
    message.topic_names = topic_names
    (message.timeout_ms,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> DeleteTopicsRequest:
    end = len(data)
    message = new(DeleteTopicsRequest)
    message.topics = []
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n > end - pos:
        raise Malformed
    topic_names: list[str] = []
    topic_names_count = n
    for _ in range(topic_names_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic_name = data[pos + 1 : stop].decode()
        pos = stop
        topic_names.append(topic_name)
    message.topic_names = topic_names
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


def _decode_v6(data: bytes, pos: int) -> DeleteTopicsRequest:
    end = len(data)
    message = new(DeleteTopicsRequest)
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
    topics: list[DeleteTopicState] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(DeleteTopicState)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            topic.name = None
            pos += 1
        elif n == 1:
            topic.name = ""
            pos += 1
        else:
            stop = pos + n
            topic.name = data[pos + 1 : stop].decode()
            pos = stop
        name_end = pos
        name_n = n
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
        topics_left -= 1
        if topics_tries and topics_left >= 12:
            name_null = topic.name is None
            name_size = 0 if topic.name is None else name_n - 1
            same = data[topics_start : name_end - name_size]
            same_2 = data[name_end + 16 : pos]
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">{len(same)}s{name_size}s16s{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, name, topic_id, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                topic = new(DeleteTopicState)
                topic.name = None if name_null else name.decode() if name else ""
                topic.topic_id = topic_id
                topic.unknown_tagged_fields = topics_unknown
                topics.append(topic)
            topics_done = len(topics) - topics_done
            pos += topics_done * topics_size
            topics_left -= topics_done
            if not topics_done:
                topics_tries -= 1
    message.topics = topics
    message.topic_names = []
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


def _encode_v1(m: DeleteTopicsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.topic_names)
    out.append(pack_i(n1))
    for e2 in m.topic_names:
        b3 = e2.encode()
        n4 = len(b3)
        out += (pack_h(n4), b3)
    out.append(pack_i(m.timeout_ms))
    return b"".join(out)


def _encode_v4(m: DeleteTopicsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.topic_names) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topic_names:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out += (pack_i(m.timeout_ms), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v6(m: DeleteTopicsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        v5 = e2.name
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            e2.topic_id,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out += (pack_i(m.timeout_ms), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DeleteTopicState.FIELDS = (
    Field("name", "Name", "string", (6, 6), nullable=(6, 6), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (6, 6)),
)
DeleteTopicsRequest.FIELDS = (
    Field("topics", "Topics", "struct", (6, 6), is_array=True, struct=DeleteTopicState),
    Field("topic_names", "TopicNames", "string", (1, 5), is_array=True, entity="topicName", ignorable=True),
    Field("timeout_ms", "TimeoutMs", "int32", (1, 6)),
)
DeleteTopicsRequest.NAME = "DeleteTopicsRequest"
DeleteTopicsRequest.API_KEY = 20
DeleteTopicsRequest.MIN_VERSION = 1
DeleteTopicsRequest.MAX_VERSION = 6
DeleteTopicsRequest.FLEXIBLE_FROM = 4
DeleteTopicsRequest._DECODERS = {
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v1,
    4: _decode_v4,
    5: _decode_v4,
    6: _decode_v6,
}
DeleteTopicsRequest._ENCODERS = {
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v1,
    4: _encode_v4,
    5: _encode_v4,
    6: _encode_v6,
}
