# Generated from schemas/message/OffsetCommitRequest.json by `python -m schemas.generator`. Do not edit.
"""OffsetCommitRequest, a request, versions 2-10."""

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
unpack_ih = Format(">ih").unpack_from
unpack_iqh = Format(">iqh").unpack_from
unpack_iqin = Format(">iqiB").unpack_from
unpack_iqih = Format(">iqih").unpack_from
unpack_qi = Format(">qi").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_iqh = Format(">iqh").pack
pack_iqi = Format(">iqi").pack
pack_iqih = Format(">iqih").pack
pack_qi = Format(">qi").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitRequestPartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    committed_offset: int = 0
    """The next offset to be read."""
    committed_leader_epoch: int = -1
    """The leader epoch of the last record read, or -1. Since version 6."""
    committed_metadata: str | None = ""
    """A note of the client to the offset."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitRequestTopic(Struct):
    name: str = ""
    """The topic's name. Until version 9."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 10."""
    partitions: list[OffsetCommitRequestPartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitRequest(Request):
    """Stores how far a group has read in some partitions."""

    group_id: str = ""
    """The group's id."""
    generation_id_or_member_epoch: int = -1
    """The generation (classic) or member epoch (KIP-848) that the member knows, or -1 from none."""
    member_id: str = ""
    """The member's id."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 7."""
    retention_time_ms: int = -1
    """How long to keep the offset, in ms; -1: as the broker is set. Until version 4."""
    topics: list[OffsetCommitRequestTopic] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v2(data: bytes, pos: int) -> OffsetCommitRequest:
    end = len(data)
    message = new(OffsetCommitRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id_or_member_epoch, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    message.retention_time_ms, n = unpack_qi(data, pos)
    pos += 12
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetCommitRequestPartition)
            partition.committed_leader_epoch = -1
            partition.partition_index, partition.committed_offset, n = unpack_iqh(data, pos)
            pos += 14
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.committed_metadata = None
            elif n == 0:
                partition.committed_metadata = ""
            else:
                stop = pos + n
                partition.committed_metadata = data[pos:stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n
                same = data[partitions_start + 12 : committed_metadata_end - committed_metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iq{len(same)}s{committed_metadata_size}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, gap, committed_metadata = row
                    if gap != same:
                        break
                    partition = new(OffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.committed_leader_epoch = -1
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> OffsetCommitRequest:
    end = len(data)
    message = new(OffsetCommitRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id_or_member_epoch, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    message.retention_time_ms = -1
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetCommitRequestPartition)
            partition.committed_leader_epoch = -1
            partition.partition_index, partition.committed_offset, n = unpack_iqh(data, pos)
            pos += 14
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.committed_metadata = None
            elif n == 0:
                partition.committed_metadata = ""
            else:
                stop = pos + n
                partition.committed_metadata = data[pos:stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n
                same = data[partitions_start + 12 : committed_metadata_end - committed_metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iq{len(same)}s{committed_metadata_size}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, gap, committed_metadata = row
                    if gap != same:
                        break
                    partition = new(OffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.committed_leader_epoch = -1
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v6(data: bytes, pos: int) -> OffsetCommitRequest:
    end = len(data)
    message = new(OffsetCommitRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id_or_member_epoch, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    message.retention_time_ms = -1
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetCommitRequestPartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqih(data, pos)
            pos += 18
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.committed_metadata = None
            elif n == 0:
                partition.committed_metadata = ""
            else:
                stop = pos + n
                partition.committed_metadata = data[pos:stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n
                same = data[partitions_start + 16 : committed_metadata_end - committed_metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{committed_metadata_size}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, committed_metadata = row
                    if gap != same:
                        break
                    partition = new(OffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v7(data: bytes, pos: int) -> OffsetCommitRequest:
    end = len(data)
    message = new(OffsetCommitRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id_or_member_epoch, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.group_instance_id = None
    elif n == 0:
        message.group_instance_id = ""
    else:
        stop = pos + n
        message.group_instance_id = data[pos:stop].decode()
        pos = stop
    message.retention_time_ms = -1
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetCommitRequestPartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqih(data, pos)
            pos += 18
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.committed_metadata = None
            elif n == 0:
                partition.committed_metadata = ""
            else:
                stop = pos + n
                partition.committed_metadata = data[pos:stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n
                same = data[partitions_start + 16 : committed_metadata_end - committed_metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{committed_metadata_size}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, committed_metadata = row
                    if gap != same:
                        break
                    partition = new(OffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v8(data: bytes, pos: int) -> OffsetCommitRequest:
    end = len(data)
    message = new(OffsetCommitRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.generation_id_or_member_epoch, n = unpack_in(data, pos)
    pos += 4
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
    message.retention_time_ms = -1
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topics: list[OffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitRequestTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
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
        partitions: list[OffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetCommitRequestPartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqin(data, pos)
            pos += 16
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition.committed_metadata = None
                pos += 1
            elif n == 1:
                partition.committed_metadata = ""
                pos += 1
            else:
                stop = pos + n
                partition.committed_metadata = data[pos + 1 : stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n - 1
                same = data[partitions_start + 16 : committed_metadata_end - committed_metadata_size]
                same_2 = data[committed_metadata_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{committed_metadata_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, committed_metadata, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    partition = new(OffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
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


def _decode_v10(data: bytes, pos: int) -> OffsetCommitRequest:
    end = len(data)
    message = new(OffsetCommitRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.generation_id_or_member_epoch, n = unpack_in(data, pos)
    pos += 4
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
    message.retention_time_ms = -1
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
    topics: list[OffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetCommitRequestTopic)
        topic.name = ""
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[OffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetCommitRequestPartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqin(data, pos)
            pos += 16
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition.committed_metadata = None
                pos += 1
            elif n == 1:
                partition.committed_metadata = ""
                pos += 1
            else:
                stop = pos + n
                partition.committed_metadata = data[pos + 1 : stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n - 1
                same = data[partitions_start + 16 : committed_metadata_end - committed_metadata_size]
                same_2 = data[committed_metadata_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{committed_metadata_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, committed_metadata, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    partition = new(OffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
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


def _encode_v2(m: OffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    n5 = len(m.topics)
    out += (pack_h(n2), b1, pack_ih(m.generation_id_or_member_epoch, n4), b3, pack_qi(m.retention_time_ms, n5))
    for e6 in m.topics:
        b7 = e6.name.encode()
        n8 = len(b7)
        n9 = len(e6.partitions)
        out += (pack_h(n8), b7, pack_i(n9))
        for e10 in e6.partitions:
            v13 = e10.committed_metadata
            if v13 is None:
                b11 = b""
                n12 = -1
            else:
                b11 = v13.encode()
                n12 = len(b11)
            out += (pack_iqh(e10.partition_index, e10.committed_offset, n12), b11)
    return b"".join(out)


def _encode_v5(m: OffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    n5 = len(m.topics)
    out += (pack_h(n2), b1, pack_ih(m.generation_id_or_member_epoch, n4), b3, pack_i(n5))
    for e6 in m.topics:
        b7 = e6.name.encode()
        n8 = len(b7)
        n9 = len(e6.partitions)
        out += (pack_h(n8), b7, pack_i(n9))
        for e10 in e6.partitions:
            v13 = e10.committed_metadata
            if v13 is None:
                b11 = b""
                n12 = -1
            else:
                b11 = v13.encode()
                n12 = len(b11)
            out += (pack_iqh(e10.partition_index, e10.committed_offset, n12), b11)
    return b"".join(out)


def _encode_v6(m: OffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    n5 = len(m.topics)
    out += (pack_h(n2), b1, pack_ih(m.generation_id_or_member_epoch, n4), b3, pack_i(n5))
    for e6 in m.topics:
        b7 = e6.name.encode()
        n8 = len(b7)
        n9 = len(e6.partitions)
        out += (pack_h(n8), b7, pack_i(n9))
        for e10 in e6.partitions:
            v13 = e10.committed_metadata
            if v13 is None:
                b11 = b""
                n12 = -1
            else:
                b11 = v13.encode()
                n12 = len(b11)
            out += (pack_iqih(e10.partition_index, e10.committed_offset, e10.committed_leader_epoch, n12), b11)
    return b"".join(out)


def _encode_v7(m: OffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = -1
    else:
        b5 = v7.encode()
        n6 = len(b5)
    n8 = len(m.topics)
    out += (pack_h(n2), b1, pack_ih(m.generation_id_or_member_epoch, n4), b3, pack_h(n6), b5, pack_i(n8))
    for e9 in m.topics:
        b10 = e9.name.encode()
        n11 = len(b10)
        n12 = len(e9.partitions)
        out += (pack_h(n11), b10, pack_i(n12))
        for e13 in e9.partitions:
            v16 = e13.committed_metadata
            if v16 is None:
                b14 = b""
                n15 = -1
            else:
                b14 = v16.encode()
                n15 = len(b14)
            out += (pack_iqih(e13.partition_index, e13.committed_offset, e13.committed_leader_epoch, n15), b14)
    return b"".join(out)


def _encode_v8(m: OffsetCommitRequest) -> bytes:
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
    n8 = len(m.topics) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation_id_or_member_epoch),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
    )
    for e9 in m.topics:
        b10 = e9.name.encode()
        n11 = len(b10) + 1
        n12 = len(e9.partitions) + 1
        out += (
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12),
        )
        for e13 in e9.partitions:
            v16 = e13.committed_metadata
            if v16 is None:
                b14 = b""
                n15 = 0
            else:
                b14 = v16.encode()
                n15 = len(b14) + 1
            out += (
                pack_iqi(e13.partition_index, e13.committed_offset, e13.committed_leader_epoch),
                ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
                b14,
                write_tagged(e13.unknown_tagged_fields) if e13.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v10(m: OffsetCommitRequest) -> bytes:
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
    n8 = len(m.topics) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.generation_id_or_member_epoch),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
    )
    for e9 in m.topics:
        if len(e9.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n10 = len(e9.partitions) + 1
        out += (e9.topic_id, ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10))
        for e11 in e9.partitions:
            v14 = e11.committed_metadata
            if v14 is None:
                b12 = b""
                n13 = 0
            else:
                b12 = v14.encode()
                n13 = len(b12) + 1
            out += (
                pack_iqi(e11.partition_index, e11.committed_offset, e11.committed_leader_epoch),
                ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
                b12,
                write_tagged(e11.unknown_tagged_fields) if e11.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


OffsetCommitRequestPartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (2, 10)),
    Field("committed_offset", "CommittedOffset", "int64", (2, 10)),
    Field("committed_leader_epoch", "CommittedLeaderEpoch", "int32", (6, 10), ignorable=True),
    Field("committed_metadata", "CommittedMetadata", "string", (2, 10), nullable=(2, 10)),
)
OffsetCommitRequestTopic.FIELDS = (
    Field("name", "Name", "string", (2, 9), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (10, 10), ignorable=True),
    Field("partitions", "Partitions", "struct", (2, 10), is_array=True, struct=OffsetCommitRequestPartition),
)
OffsetCommitRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (2, 10), entity="groupId"),
    Field("generation_id_or_member_epoch", "GenerationIdOrMemberEpoch", "int32", (2, 10), ignorable=True),
    Field("member_id", "MemberId", "string", (2, 10), ignorable=True),
    Field("group_instance_id", "GroupInstanceId", "string", (7, 10), nullable=(7, 10)),
    Field("retention_time_ms", "RetentionTimeMs", "int64", (2, 4), ignorable=True),
    Field("topics", "Topics", "struct", (2, 10), is_array=True, struct=OffsetCommitRequestTopic),
)
OffsetCommitRequest.NAME = "OffsetCommitRequest"
OffsetCommitRequest.API_KEY = 8
OffsetCommitRequest.MIN_VERSION = 2
OffsetCommitRequest.MAX_VERSION = 10
OffsetCommitRequest.FLEXIBLE_FROM = 8
OffsetCommitRequest._DECODERS = {
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v2,
    5: _decode_v5,
    6: _decode_v6,
    7: _decode_v7,
    8: _decode_v8,
    9: _decode_v8,
    10: _decode_v10,
}
OffsetCommitRequest._ENCODERS = {
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v2,
    5: _encode_v5,
    6: _encode_v6,
    7: _encode_v7,
    8: _encode_v8,
    9: _encode_v8,
    10: _encode_v10,
}
