# Generated from schemas/internal/InstanceCheckCommitRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceCheckCommitRequest, a request between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
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
unpack_ixhn = Format(">i?hB").unpack_from
pack_ixh = Format(">i?h").pack


@attrs.define(slots=True, weakref_slot=False)
class CommittedTopic(Struct):
    name: str = ""
    """The topic, or empty: its id says which."""
    topic_id: bytes = ZERO_UUID
    """The topic's id, where the request has no name."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class InstanceCheckCommitRequest(Request):
    """May this member commit offsets now?"""

    group_id: str = ""
    """The group."""
    member_id: str = ""
    """The member."""
    group_instance_id: str | None = ""
    """Its static name, if it has one."""
    generation: int = 0
    """The generation that it knows."""
    transactional: bool = False
    """Whether it commits in a transaction."""
    api_version: int = 0
    """The version of its request."""
    topics: list[CommittedTopic] = attrs.Factory(list)
    """What it commits. Only the owner of a consumer group needs it."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceCheckCommitRequest:
    end = len(data)
    message = new(InstanceCheckCommitRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_instance_id = None
        pos += 1
    elif n == 1:
        message.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_instance_id = data[pos + 1 : stop].decode()
        pos = stop
    message.topics = []
    message.generation, message.transactional, message.api_version, n = unpack_ixhn(data, pos)
    pos += 7
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 0:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n * 19 > end - pos:
                    raise Malformed
                topics: list[CommittedTopic] = []
                topics_count = n
                for _ in range(topics_count):
                    topic = new(CommittedTopic)
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    topic.name = data[pos + 1 : stop].decode()
                    pos = stop
                    topic.topic_id, n = unpack_un(data, pos)
                    pos += 16
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n < 17:
                        topic.partitions = list(READ_INT32S[n](data, pos))
                    else:
                        topic.partitions = list(unpack_from(f">{n}i", data, pos))
                    pos += n * 4
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                        pos += 1
                    topics.append(topic)
                message.topics = topics
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: InstanceCheckCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        pack_ixh(m.generation, m.transactional, m.api_version),
    )
    tagged8: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.topics != []:
        parts9: list[bytes | memoryview] = []
        n10 = len(m.topics) + 1
        parts9.append(ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10))
        for e11 in m.topics:
            b12 = e11.name.encode()
            n13 = len(b12) + 1
            if len(e11.topic_id) != 16:
                raise EncodeError("TopicId is not 16 bytes long")
            n14 = len(e11.partitions) + 1
            parts9 += (
                ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
                b12,
                e11.topic_id,
                ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14),
                WRITE_INT32S[len(e11.partitions)](*e11.partitions) if len(e11.partitions) < 17 else pack(f">{len(e11.partitions)}i", *e11.partitions),
                write_tagged(e11.unknown_tagged_fields) if e11.unknown_tagged_fields else b"\0",
            )
        tagged8.append((0, b"".join(parts9)))
    out.append(write_tagged(tagged8) if tagged8 else b"\0")
    return b"".join(out)


CommittedTopic.FIELDS = (
    Field("name", "Name", "string", (0, 0), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
InstanceCheckCommitRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("group_instance_id", "GroupInstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("generation", "Generation", "int32", (0, 0)),
    Field("transactional", "Transactional", "bool", (0, 0)),
    Field("api_version", "ApiVersion", "int16", (0, 0)),
    Field("topics", "Topics", "struct", (0, 0), is_array=True, tag=0, tagged=(0, 0), struct=CommittedTopic),
)
InstanceCheckCommitRequest.NAME = "InstanceCheckCommitRequest"
InstanceCheckCommitRequest.API_KEY = 32124
InstanceCheckCommitRequest.MIN_VERSION = 0
InstanceCheckCommitRequest.MAX_VERSION = 0
InstanceCheckCommitRequest.FLEXIBLE_FROM = 0
InstanceCheckCommitRequest._DECODERS = {0: _decode_v0}
InstanceCheckCommitRequest._ENCODERS = {0: _encode_v0}
