# Generated from schemas/message/MetadataRequest.json by `python -m schemas.generator`. Do not edit.
"""MetadataRequest, a request, versions 0-13."""

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
unpack_x = Format(">?").unpack_from
unpack_xxx = Format(">???").unpack_from
unpack_xxxn = Format(">???B").unpack_from
unpack_xxn = Format(">??B").unpack_from
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_xx = Format(">??").pack
pack_xxx = Format(">???").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class MetadataRequestTopic(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 10."""
    name: str | None = ""
    """The topic's name, or null to ask by id."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class MetadataRequest(Request):
    """Asks for the brokers of the cluster and for topics with their partitions."""

    topics: list[MetadataRequestTopic] | None = attrs.Factory(list)
    """The topics wanted; null: all (in version 0 an empty list: all)."""
    allow_auto_topic_creation: bool = True
    """Whether topics that do not exist may be created, if the broker's settings allow it. Since version 4."""
    include_cluster_authorized_operations: bool = False
    """Whether ClusterAuthorizedOperations is wanted. Since version 8. Until version 10."""
    include_topic_authorized_operations: bool = False
    """Whether TopicAuthorizedOperations is wanted. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 2 > end - pos:
        raise Malformed
    topics: list[MetadataRequestTopic] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(MetadataRequestTopic)
        topic.topic_id = ZERO_UUID
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        topic.unknown_tagged_fields = ()
        topics.append(topic)
        topics_left -= 1
        if topics_tries and topics_left >= 12:
            name_size = name_n
            same = data[topics_start : name_end - name_size]
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">{len(same)}s{name_size}s", memoryview(data)[pos:stop]):
                gap, name = row
                if gap != same:
                    break
                topic = new(MetadataRequestTopic)
                topic.name = name.decode() if name else ""
                topic.topic_id = ZERO_UUID
                topic.unknown_tagged_fields = topics_unknown
                topics.append(topic)
            topics_done = len(topics) - topics_done
            pos += topics_done * topics_size
            topics_left -= topics_done
            if not topics_done:
                topics_tries -= 1
    message.topics = topics
    message.allow_auto_topic_creation = True
    message.include_cluster_authorized_operations = False
    message.include_topic_authorized_operations = False
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        if n != -1:
            raise Malformed
        message.topics = None
    else:
        if n * 2 > end - pos:
            raise Malformed
        topics: list[MetadataRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(MetadataRequestTopic)
            topic.topic_id = ZERO_UUID
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            topic.name = data[pos:stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            topic.unknown_tagged_fields = ()
            topics.append(topic)
            topics_left -= 1
            if topics_tries and topics_left >= 12:
                name_size = name_n
                same = data[topics_start : name_end - name_size]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">{len(same)}s{name_size}s", memoryview(data)[pos:stop]):
                    gap, name = row
                    if gap != same:
                        break
                    topic = new(MetadataRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.topic_id = ZERO_UUID
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.allow_auto_topic_creation = True
    message.include_cluster_authorized_operations = False
    message.include_topic_authorized_operations = False
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        if n != -1:
            raise Malformed
        message.topics = None
    else:
        if n * 2 > end - pos:
            raise Malformed
        topics: list[MetadataRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(MetadataRequestTopic)
            topic.topic_id = ZERO_UUID
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            topic.name = data[pos:stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            topic.unknown_tagged_fields = ()
            topics.append(topic)
            topics_left -= 1
            if topics_tries and topics_left >= 12:
                name_size = name_n
                same = data[topics_start : name_end - name_size]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">{len(same)}s{name_size}s", memoryview(data)[pos:stop]):
                    gap, name = row
                    if gap != same:
                        break
                    topic = new(MetadataRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.topic_id = ZERO_UUID
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.include_cluster_authorized_operations = False
    message.include_topic_authorized_operations = False
    (message.allow_auto_topic_creation,) = unpack_x(data, pos)
    pos += 1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v8(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        if n != -1:
            raise Malformed
        message.topics = None
    else:
        if n * 2 > end - pos:
            raise Malformed
        topics: list[MetadataRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(MetadataRequestTopic)
            topic.topic_id = ZERO_UUID
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            topic.name = data[pos:stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            topic.unknown_tagged_fields = ()
            topics.append(topic)
            topics_left -= 1
            if topics_tries and topics_left >= 12:
                name_size = name_n
                same = data[topics_start : name_end - name_size]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">{len(same)}s{name_size}s", memoryview(data)[pos:stop]):
                    gap, name = row
                    if gap != same:
                        break
                    topic = new(MetadataRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.topic_id = ZERO_UUID
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.allow_auto_topic_creation, message.include_cluster_authorized_operations, message.include_topic_authorized_operations = unpack_xxx(data, pos)
    pos += 3
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v9(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.topics = None
    else:
        n -= 1
        if n * 2 > end - pos:
            raise Malformed
        topics: list[MetadataRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(MetadataRequestTopic)
            topic.topic_id = ZERO_UUID
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
                    topic = new(MetadataRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.topic_id = ZERO_UUID
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.allow_auto_topic_creation, message.include_cluster_authorized_operations, message.include_topic_authorized_operations, n = unpack_xxxn(data, pos)
    pos += 3
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v10(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.topics = None
    else:
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        topics: list[MetadataRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(MetadataRequestTopic)
            topic.topic_id, n = unpack_un(data, pos)
            pos += 16
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
                name_null = topic.name is None
                name_size = 0 if topic.name is None else name_n - 1
                same = data[topics_start + 16 : name_end - name_size]
                same_2 = data[name_end : pos]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">16s{len(same)}s{name_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    topic_id, gap, name, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    topic = new(MetadataRequestTopic)
                    topic.topic_id = topic_id
                    topic.name = None if name_null else name.decode() if name else ""
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.allow_auto_topic_creation, message.include_cluster_authorized_operations, message.include_topic_authorized_operations, n = unpack_xxxn(data, pos)
    pos += 3
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v11(data: bytes, pos: int) -> MetadataRequest:
    end = len(data)
    message = new(MetadataRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.topics = None
    else:
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        topics: list[MetadataRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(MetadataRequestTopic)
            topic.topic_id, n = unpack_un(data, pos)
            pos += 16
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
                name_null = topic.name is None
                name_size = 0 if topic.name is None else name_n - 1
                same = data[topics_start + 16 : name_end - name_size]
                same_2 = data[name_end : pos]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">16s{len(same)}s{name_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    topic_id, gap, name, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    topic = new(MetadataRequestTopic)
                    topic.topic_id = topic_id
                    topic.name = None if name_null else name.decode() if name else ""
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.include_cluster_authorized_operations = False
    message.allow_auto_topic_creation, message.include_topic_authorized_operations, n = unpack_xxn(data, pos)
    pos += 2
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if not m.allow_auto_topic_creation:
        raise EncodeError("AllowAutoTopicCreation is set, which this version lacks")
    if m.include_cluster_authorized_operations:
        raise EncodeError("IncludeClusterAuthorizedOperations is set, which this version lacks")
    if m.include_topic_authorized_operations:
        raise EncodeError("IncludeTopicAuthorizedOperations is set, which this version lacks")
    v1 = m.topics
    if v1 is None:
        raise EncodeError("Topics is null, which is not allowed in this version")
    n2 = len(v1)
    out.append(pack_i(n2))
    for e3 in v1:
        v4 = e3.name
        if v4 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b5 = v4.encode()
        n6 = len(b5)
        out += (pack_h(n6), b5)
    return b"".join(out)


def _encode_v1(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if not m.allow_auto_topic_creation:
        raise EncodeError("AllowAutoTopicCreation is set, which this version lacks")
    if m.include_cluster_authorized_operations:
        raise EncodeError("IncludeClusterAuthorizedOperations is set, which this version lacks")
    if m.include_topic_authorized_operations:
        raise EncodeError("IncludeTopicAuthorizedOperations is set, which this version lacks")
    a2 = m.topics
    n1 = -1 if a2 is None else len(a2)
    out.append(pack_i(n1))
    for e3 in a2 or ():
        v4 = e3.name
        if v4 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b5 = v4.encode()
        n6 = len(b5)
        out += (pack_h(n6), b5)
    return b"".join(out)


def _encode_v4(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.include_cluster_authorized_operations:
        raise EncodeError("IncludeClusterAuthorizedOperations is set, which this version lacks")
    if m.include_topic_authorized_operations:
        raise EncodeError("IncludeTopicAuthorizedOperations is set, which this version lacks")
    a2 = m.topics
    n1 = -1 if a2 is None else len(a2)
    out.append(pack_i(n1))
    for e3 in a2 or ():
        v4 = e3.name
        if v4 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b5 = v4.encode()
        n6 = len(b5)
        out += (pack_h(n6), b5)
    out.append(b"\1" if m.allow_auto_topic_creation else b"\0")
    return b"".join(out)


def _encode_v8(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    a2 = m.topics
    n1 = -1 if a2 is None else len(a2)
    out.append(pack_i(n1))
    for e3 in a2 or ():
        v4 = e3.name
        if v4 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b5 = v4.encode()
        n6 = len(b5)
        out += (pack_h(n6), b5)
    out.append(pack_xxx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations))
    return b"".join(out)


def _encode_v9(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    a2 = m.topics
    n1 = 0 if a2 is None else len(a2) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e3 in a2 or ():
        v4 = e3.name
        if v4 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b5 = v4.encode()
        n6 = len(b5) + 1
        out += (
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e3.unknown_tagged_fields) if e3.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_xxx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v10(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    a2 = m.topics
    n1 = 0 if a2 is None else len(a2) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e3 in a2 or ():
        if len(e3.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        v6 = e3.name
        if v6 is None:
            b4 = b""
            n5 = 0
        else:
            b4 = v6.encode()
            n5 = len(b4) + 1
        out += (
            e3.topic_id,
            ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
            b4,
            write_tagged(e3.unknown_tagged_fields) if e3.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_xxx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v11(m: MetadataRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.include_cluster_authorized_operations:
        raise EncodeError("IncludeClusterAuthorizedOperations is set, which this version lacks")
    a2 = m.topics
    n1 = 0 if a2 is None else len(a2) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e3 in a2 or ():
        if len(e3.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        v6 = e3.name
        if v6 is None:
            b4 = b""
            n5 = 0
        else:
            b4 = v6.encode()
            n5 = len(b4) + 1
        out += (
            e3.topic_id,
            ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
            b4,
            write_tagged(e3.unknown_tagged_fields) if e3.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_xx(m.allow_auto_topic_creation, m.include_topic_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


MetadataRequestTopic.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (10, 13), ignorable=True),
    Field("name", "Name", "string", (0, 13), nullable=(10, 13), entity="topicName"),
)
MetadataRequest.FIELDS = (
    Field("topics", "Topics", "struct", (0, 13), is_array=True, nullable=(1, 13), struct=MetadataRequestTopic),
    Field("allow_auto_topic_creation", "AllowAutoTopicCreation", "bool", (4, 13)),
    Field("include_cluster_authorized_operations", "IncludeClusterAuthorizedOperations", "bool", (8, 10)),
    Field("include_topic_authorized_operations", "IncludeTopicAuthorizedOperations", "bool", (8, 13)),
)
MetadataRequest.NAME = "MetadataRequest"
MetadataRequest.API_KEY = 3
MetadataRequest.MIN_VERSION = 0
MetadataRequest.MAX_VERSION = 13
MetadataRequest.FLEXIBLE_FROM = 9
MetadataRequest._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v1,
    4: _decode_v4,
    5: _decode_v4,
    6: _decode_v4,
    7: _decode_v4,
    8: _decode_v8,
    9: _decode_v9,
    10: _decode_v10,
    11: _decode_v11,
    12: _decode_v11,
    13: _decode_v11,
}
MetadataRequest._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v1,
    4: _encode_v4,
    5: _encode_v4,
    6: _encode_v4,
    7: _encode_v4,
    8: _encode_v8,
    9: _encode_v9,
    10: _encode_v10,
    11: _encode_v11,
    12: _encode_v11,
    13: _encode_v11,
}
