# Generated from schemas/message/ConsumerGroupPrepareAssignmentResponse.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupPrepareAssignmentResponse, a response, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_hbn = Format(">hbB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
pack_hb = Format(">hb").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class Assignor(Struct):
    version: int = 0
    """The version that Metadata is written in."""
    reason: int = 0
    """Why the metadata changed, in the assignor's own numbers; 0: no reason."""
    metadata: bytes = b""
    """Opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TopicPartitions(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Member(Struct):
    member_id: str = ""
    """The member's id."""
    member_epoch: int = 0
    """The member's epoch."""
    instance_id: str | None = None
    """The member's static name, or null."""
    rack_id: str | None = None
    """Where the member runs, or null."""
    subscribed_topic_ids: list[bytes] = attrs.Factory(list)
    """The existing topics that it subscribes to, by name or by regular expression."""
    assignor: Assignor = attrs.Factory(Assignor)
    """What the member says for this assignor."""
    topic_partitions: list[TopicPartitions] = attrs.Factory(list)
    """The member's target until now."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Topic(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    topic_name: str = ""
    """The topic's name."""
    num_partitions: int = 0
    """How many partitions it has."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupPrepareAssignmentResponse(Response):
    """All that an assignor may look at, as of one moment."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    group_epoch: int = 0
    """The group's epoch, which the install must name."""
    assignor_name: str = ""
    """The assignor that is to compute."""
    members: list[Member] = attrs.Factory(list)
    """The group's members."""
    topics: list[Topic] = attrs.Factory(list)
    """The existing topics that members subscribe to."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_topic_partitions_v0(data: bytes, pos: int) -> tuple[TopicPartitions, int]:
    result = new(TopicPartitions)
    result.topic_id, n = unpack_un(data, pos)
    pos += 16
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n < 17:
        result.partitions = list(READ_INT32S[n](data, pos))
    else:
        result.partitions = list(unpack_from(f">{n}i", data, pos))
    pos += n * 4
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupPrepareAssignmentResponse:
    end = len(data)
    message = new(ConsumerGroupPrepareAssignmentResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    message.group_epoch, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.assignor_name = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 15 > end - pos:
        raise Malformed
    members: list[Member] = []
    members_count = n
    for _ in range(members_count):
        member = new(Member)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        member.member_id = data[pos + 1 : stop].decode()
        pos = stop
        member.member_epoch, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            member.instance_id = None
            pos += 1
        elif n == 1:
            member.instance_id = ""
            pos += 1
        else:
            stop = pos + n
            member.instance_id = data[pos + 1 : stop].decode()
            pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            member.rack_id = None
            pos += 1
        elif n == 1:
            member.rack_id = ""
            pos += 1
        else:
            stop = pos + n
            member.rack_id = data[pos + 1 : stop].decode()
            pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 16 > end - pos:
            raise Malformed
        member.subscribed_topic_ids = [data[i : i + 16] for i in range(pos, pos + n * 16, 16)]
        pos += n * 16
        assignor = new(Assignor)
        assignor.version, assignor.reason, n = unpack_hbn(data, pos)
        pos += 3
        if n > 127:
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignor.metadata = data[pos + 1 : stop]
        pos = stop
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignor.unknown_tagged_fields = ()
            pos += 1
        member.assignor = assignor
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
        topic_partitions: list[TopicPartitions] = []
        topic_partitions_count = n
        for _ in range(topic_partitions_count):
            topic_partition, pos = _decode_topic_partitions_v0(data, pos)
            topic_partitions.append(topic_partition)
        member.topic_partitions = topic_partitions
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            member.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            member.unknown_tagged_fields = ()
            pos += 1
        members.append(member)
    message.members = members
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
    topics: list[Topic] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(Topic)
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.topic_name = data[pos + 1 : stop].decode()
        pos = stop
        topic_name_end = pos
        topic_name_n = n
        topic.num_partitions, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
        topics_left -= 1
        if topics_tries and topics_left >= 12:
            topic_name_size = topic_name_n - 1
            same = data[topics_start + 16 : topic_name_end - topic_name_size]
            same_2 = data[topic_name_end + 4 : pos]
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">16s{len(same)}s{topic_name_size}si{len(same_2)}s", memoryview(data)[pos:stop]):
                topic_id, gap, topic_name, num_partitions, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                topic = new(Topic)
                topic.topic_id = topic_id
                topic.topic_name = topic_name.decode() if topic_name else ""
                topic.num_partitions = num_partitions
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


def _encode_topic_partitions_v0(out: list[bytes | memoryview], m: TopicPartitions) -> None:
    if len(m.topic_id) != 16:
        raise EncodeError("TopicId is not 16 bytes long")
    n1 = len(m.partitions) + 1
    out += (
        m.topic_id,
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_v0(m: ConsumerGroupPrepareAssignmentResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.assignor_name.encode()
    n5 = len(b4) + 1
    n6 = len(m.members) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.group_epoch),
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e7 in m.members:
        b8 = e7.member_id.encode()
        n9 = len(b8) + 1
        v12 = e7.instance_id
        if v12 is None:
            b10 = b""
            n11 = 0
        else:
            b10 = v12.encode()
            n11 = len(b10) + 1
        v15 = e7.rack_id
        if v15 is None:
            b13 = b""
            n14 = 0
        else:
            b13 = v15.encode()
            n14 = len(b13) + 1
        n16 = len(e7.subscribed_topic_ids) + 1
        out += (
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_i(e7.member_epoch),
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
            b13,
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e7.subscribed_topic_ids:
            if len(e17) != 16:
                raise EncodeError("SubscribedTopicIds is not 16 bytes long")
            out.append(e17)
        s18 = e7.assignor
        b19 = s18.metadata
        n20 = len(b19) + 1
        n21 = len(e7.topic_partitions) + 1
        out += (
            pack_hb(s18.version, s18.reason),
            ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20),
            b19,
            write_tagged(s18.unknown_tagged_fields) if s18.unknown_tagged_fields else b"\0",
            ONE_BYTE[n21] if n21 < 128 else write_uvarint(n21),
        )
        for e22 in e7.topic_partitions:
            _encode_topic_partitions_v0(out, e22)
        out.append(write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0")
    n23 = len(m.topics) + 1
    out.append(ONE_BYTE[n23] if n23 < 128 else write_uvarint(n23))
    for e24 in m.topics:
        if len(e24.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        b25 = e24.topic_name.encode()
        n26 = len(b25) + 1
        out += (
            e24.topic_id,
            ONE_BYTE[n26] if n26 < 128 else write_string_length(n26),
            b25,
            pack_i(e24.num_partitions),
            write_tagged(e24.unknown_tagged_fields) if e24.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


Assignor.FIELDS = (
    Field("version", "Version", "int16", (0, 0)),
    Field("reason", "Reason", "int8", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
Member.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("rack_id", "RackId", "string", (0, 0), nullable=(0, 0)),
    Field("subscribed_topic_ids", "SubscribedTopicIds", "uuid", (0, 0), is_array=True),
    Field("assignor", "Assignor", "struct", (0, 0), struct=Assignor),
    Field("topic_partitions", "TopicPartitions", "struct", (0, 0), is_array=True, struct=TopicPartitions),
)
Topic.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("topic_name", "TopicName", "string", (0, 0)),
    Field("num_partitions", "NumPartitions", "int32", (0, 0)),
)
ConsumerGroupPrepareAssignmentResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("assignor_name", "AssignorName", "string", (0, 0)),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=Member),
    Field("topics", "Topics", "struct", (0, 0), is_array=True, struct=Topic),
)
ConsumerGroupPrepareAssignmentResponse.NAME = "ConsumerGroupPrepareAssignmentResponse"
ConsumerGroupPrepareAssignmentResponse.API_KEY = 32110
ConsumerGroupPrepareAssignmentResponse.MIN_VERSION = 0
ConsumerGroupPrepareAssignmentResponse.MAX_VERSION = 0
ConsumerGroupPrepareAssignmentResponse.FLEXIBLE_FROM = 0
ConsumerGroupPrepareAssignmentResponse._DECODERS = {0: _decode_v0}
ConsumerGroupPrepareAssignmentResponse._ENCODERS = {0: _encode_v0}
