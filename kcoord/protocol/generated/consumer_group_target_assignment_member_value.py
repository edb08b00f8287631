# Generated from schemas/record/ConsumerGroupTargetAssignmentMemberValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupTargetAssignmentMemberValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    ZERO_UUID,
    EncodeError,
    Malformed,
    integers,
    read_tagged,
    read_uvarint,
    write_tagged,
    write_uvarint,
)
from kcoord.protocol.skipping import alike, skip_bytes, skip_tagged

new = object.__new__
unpack_un = Format(">16sB").unpack_from
unpack_h = Format(">h").unpack_from
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartition(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupTargetAssignmentMemberValue(RecordValue):
    """What a member of a consumer group is to consume in the end."""

    topic_partitions: list[TopicPartition] = attrs.Factory(list)
    """The partitions, by topic."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What a client-side assignor tells the member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupTargetAssignmentMemberValue:
    end = len(data)
    message = new(ConsumerGroupTargetAssignmentMemberValue)
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
    topic_partitions: list[TopicPartition] = []
    topic_partitions_left = n
    topic_partitions_tries = 4
    while topic_partitions_left:
        topic_partitions_start = pos
        topic_partition = new(TopicPartition)
        topic_partition.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            topic_partition.partitions = list(READ_INT32S[n](data, pos))
        else:
            topic_partition.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic_partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic_partition.unknown_tagged_fields = ()
            pos += 1
        topic_partitions.append(topic_partition)
        topic_partitions_left -= 1
        if topic_partitions_tries and topic_partitions_left >= 12:
            partitions_size = len(topic_partition.partitions) * 4
            same = data[topic_partitions_start + 16 : partitions_end - partitions_size]
            partitions_list = integers("i", len(topic_partition.partitions))
            same_2 = data[partitions_end : pos]
            topic_partitions_unknown = topic_partition.unknown_tagged_fields
            topic_partitions_done = len(topic_partitions)
            topic_partitions_size = pos - topic_partitions_start
            stop = pos + min(topic_partitions_left, (end - pos) // topic_partitions_size) * topic_partitions_size
            for row in iter_unpack(f">16s{len(same)}s{partitions_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                topic_id, gap, partitions, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                topic_partition = new(TopicPartition)
                topic_partition.topic_id = topic_id
                topic_partition.partitions = list(partitions_list(partitions))
                topic_partition.unknown_tagged_fields = topic_partitions_unknown
                topic_partitions.append(topic_partition)
            topic_partitions_done = len(topic_partitions) - topic_partitions_done
            pos += topic_partitions_done * topic_partitions_size
            topic_partitions_left -= topic_partitions_done
            if not topic_partitions_done:
                topic_partitions_tries -= 1
    message.topic_partitions = topic_partitions
    message.version = 0
    message.metadata = b""
    n = data[pos]
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
            if message_tag == 1000:
                (message.version,) = unpack_h(data, pos)
                pos += 2
            elif message_tag == 1001:
                n = data[pos]
                if n > 127:
                    pos += 1
                    n += (data[pos] << 7) - 128
                    if n > 16383:
                        n, pos = read_uvarint(data, pos - 1)
                        pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.metadata = data[pos + 1 : stop]
                pos = stop
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


def _encode_v0(m: ConsumerGroupTargetAssignmentMemberValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topic_partitions) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topic_partitions:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (
            e2.topic_id,
            ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
            WRITE_INT32S[len(e2.partitions)](*e2.partitions) if len(e2.partitions) < 17 else pack(f">{len(e2.partitions)}i", *e2.partitions),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    tagged4: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.version != 0:
        tagged4.append((1000, pack_h(m.version)))
    if m.metadata != b"":
        b7 = m.metadata
        n8 = len(b7) + 1
        tagged4.append((1001, b"".join((ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8), b7))))
    out.append(write_tagged(tagged4) if tagged4 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    topic_partition_left = n - 1
    topic_partition_tries = 4
    while topic_partition_left:
        topic_partition_start = pos
        n = data[pos + 16]
        place = pos + 16
        if n < 128:
            pos += 17
        else:
            n, pos = read_uvarint(data, pos + 16)
        if n == 0:
            raise Malformed
        pos += (n - 1) * 4
        n = data[pos]
        place_2 = pos
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
        topic_partition_left -= 1
        if topic_partition_tries and topic_partition_left >= 5 and not n:
            topic_partition_same = alike(data, topic_partition_start, pos, topic_partition_left, (place, place_2))
            pos += topic_partition_same * (pos - topic_partition_start)
            topic_partition_left -= topic_partition_same
            if not topic_partition_same:
                topic_partition_tries -= 1
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 1000:
                pos += 2
            elif tag == 1001:
                n = data[pos]
                pos = pos + n if 0 < n < 128 else skip_bytes(data, pos, False)
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return None


def _find_v0(data: bytes, pos: int) -> tuple[int, int]:
    start = pos
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    topic_partition_left = n - 1
    topic_partition_tries = 4
    while topic_partition_left:
        topic_partition_start = pos
        n = data[pos + 16]
        place = pos + 16
        if n < 128:
            pos += 17
        else:
            n, pos = read_uvarint(data, pos + 16)
        if n == 0:
            raise Malformed
        pos += (n - 1) * 4
        n = data[pos]
        place_2 = pos
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
        topic_partition_left -= 1
        if topic_partition_tries and topic_partition_left >= 5 and not n:
            topic_partition_same = alike(data, topic_partition_start, pos, topic_partition_left, (place, place_2))
            pos += topic_partition_same * (pos - topic_partition_start)
            topic_partition_left -= topic_partition_same
            if not topic_partition_same:
                topic_partition_tries -= 1
    return start, pos


TopicPartition.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
ConsumerGroupTargetAssignmentMemberValue.FIELDS = (
    Field("topic_partitions", "TopicPartitions", "struct", (0, 0), is_array=True, struct=TopicPartition),
    Field("version", "Version", "int16", (0, 0), tag=1000, tagged=(0, 0), ignorable=True),
    Field("metadata", "Metadata", "bytes", (0, 0), tag=1001, tagged=(0, 0), ignorable=True),
)
ConsumerGroupTargetAssignmentMemberValue.NAME = "ConsumerGroupTargetAssignmentMemberValue"
ConsumerGroupTargetAssignmentMemberValue.API_KEY = 24
ConsumerGroupTargetAssignmentMemberValue.MIN_VERSION = 0
ConsumerGroupTargetAssignmentMemberValue.MAX_VERSION = 0
ConsumerGroupTargetAssignmentMemberValue.FLEXIBLE_FROM = 0
ConsumerGroupTargetAssignmentMemberValue._DECODERS = {0: _decode_v0}
ConsumerGroupTargetAssignmentMemberValue._ENCODERS = {0: _encode_v0}
ConsumerGroupTargetAssignmentMemberValue.EPOCH = None
ConsumerGroupTargetAssignmentMemberValue._CHECKS = {0: _check_v0}
ConsumerGroupTargetAssignmentMemberValue.LISTS = 1
ConsumerGroupTargetAssignmentMemberValue._FINDERS = {0: _find_v0}
