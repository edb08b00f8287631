# Generated from schemas/message/OffsetFetchResponse.json by `python -m schemas.generator`. Do not edit.
"""OffsetFetchResponse, a response, versions 1-10."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_hn = Format(">hB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
unpack_iqh = Format(">iqh").unpack_from
unpack_iqin = Format(">iqiB").unpack_from
unpack_iqih = Format(">iqih").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack
pack_iqh = Format(">iqh").pack
pack_iqi = Format(">iqi").pack
pack_iqih = Format(">iqih").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchResponsePartition(Struct):
    partition_index: int = 0
    """The partition's number. Until version 7."""
    committed_offset: int = 0
    """The next offset to be read, or -1 when none is stored. Until version 7."""
    committed_leader_epoch: int = -1
    """The leader epoch of the last record read, or -1. Since version 5. Until version 7."""
    metadata: str | None = ""
    """A note of the client to the offset. Until version 7."""
    error_code: int = 0
    """The error, or 0. Until version 7."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchResponseTopic(Struct):
    name: str = ""
    """The topic's name. Until version 7."""
    partitions: list[OffsetFetchResponsePartition] = attrs.Factory(list)
    """The partitions. Until version 7."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchResponsePartitions(Struct):
    partition_index: int = 0
    """The partition's number. Since version 8."""
    committed_offset: int = 0
    """The next offset to be read, or -1 when none is stored. Since version 8."""
    committed_leader_epoch: int = -1
    """The leader epoch of the last record read, or -1. Since version 8."""
    metadata: str | None = ""
    """A note of the client to the offset. Since version 8."""
    error_code: int = 0
    """The error, or 0. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchResponseTopics(Struct):
    name: str = ""
    """The topic's name. Since version 8. Until version 9."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 10."""
    partitions: list[OffsetFetchResponsePartitions] = attrs.Factory(list)
    """The partitions. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchResponseGroup(Struct):
    group_id: str = ""
    """The group's id. Since version 8."""
    topics: list[OffsetFetchResponseTopics] = attrs.Factory(list)
    """One entry for each topic. Since version 8."""
    error_code: int = 0
    """The error, or 0. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchResponse(Response):
    """The committed offsets of groups."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 3."""
    topics: list[OffsetFetchResponseTopic] = attrs.Factory(list)
    """One entry for each topic. Until version 7."""
    error_code: int = 0
    """The error, or 0. Since version 2. Until version 7."""
    groups: list[OffsetFetchResponseGroup] = attrs.Factory(list)
    """One entry for each group. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetFetchResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetFetchResponseTopic)
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
        if n * 16 > end - pos:
            raise Malformed
        partitions: list[OffsetFetchResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetFetchResponsePartition)
            partition.committed_leader_epoch = -1
            partition.partition_index, partition.committed_offset, n = unpack_iqh(data, pos)
            pos += 14
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.metadata = None
            elif n == 0:
                partition.metadata = ""
            else:
                stop = pos + n
                partition.metadata = data[pos:stop].decode()
                pos = stop
            metadata_end = pos
            metadata_n = n
            (partition.error_code,) = unpack_h(data, pos)
            pos += 2
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                metadata_null = partition.metadata is None
                metadata_size = 0 if partition.metadata is None else metadata_n
                same = data[partitions_start + 12 : metadata_end - metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iq{len(same)}s{metadata_size}sh", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, gap, metadata, error_code = row
                    if gap != same:
                        break
                    partition = new(OffsetFetchResponsePartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                    partition.error_code = error_code
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
    message.error_code = 0
    message.groups = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetFetchResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetFetchResponseTopic)
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
        if n * 16 > end - pos:
            raise Malformed
        partitions: list[OffsetFetchResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetFetchResponsePartition)
            partition.committed_leader_epoch = -1
            partition.partition_index, partition.committed_offset, n = unpack_iqh(data, pos)
            pos += 14
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.metadata = None
            elif n == 0:
                partition.metadata = ""
            else:
                stop = pos + n
                partition.metadata = data[pos:stop].decode()
                pos = stop
            metadata_end = pos
            metadata_n = n
            (partition.error_code,) = unpack_h(data, pos)
            pos += 2
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                metadata_null = partition.metadata is None
                metadata_size = 0 if partition.metadata is None else metadata_n
                same = data[partitions_start + 12 : metadata_end - metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iq{len(same)}s{metadata_size}sh", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, gap, metadata, error_code = row
                    if gap != same:
                        break
                    partition = new(OffsetFetchResponsePartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                    partition.error_code = error_code
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
    message.groups = []
    (message.error_code,) = unpack_h(data, pos)
    pos += 2
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetFetchResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetFetchResponseTopic)
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
        if n * 16 > end - pos:
            raise Malformed
        partitions: list[OffsetFetchResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetFetchResponsePartition)
            partition.committed_leader_epoch = -1
            partition.partition_index, partition.committed_offset, n = unpack_iqh(data, pos)
            pos += 14
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.metadata = None
            elif n == 0:
                partition.metadata = ""
            else:
                stop = pos + n
                partition.metadata = data[pos:stop].decode()
                pos = stop
            metadata_end = pos
            metadata_n = n
            (partition.error_code,) = unpack_h(data, pos)
            pos += 2
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                metadata_null = partition.metadata is None
                metadata_size = 0 if partition.metadata is None else metadata_n
                same = data[partitions_start + 12 : metadata_end - metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iq{len(same)}s{metadata_size}sh", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, gap, metadata, error_code = row
                    if gap != same:
                        break
                    partition = new(OffsetFetchResponsePartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                    partition.error_code = error_code
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
    message.groups = []
    (message.error_code,) = unpack_h(data, pos)
    pos += 2
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetFetchResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetFetchResponseTopic)
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
        if n * 20 > end - pos:
            raise Malformed
        partitions: list[OffsetFetchResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetFetchResponsePartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqih(data, pos)
            pos += 18
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.metadata = None
            elif n == 0:
                partition.metadata = ""
            else:
                stop = pos + n
                partition.metadata = data[pos:stop].decode()
                pos = stop
            metadata_end = pos
            metadata_n = n
            (partition.error_code,) = unpack_h(data, pos)
            pos += 2
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                metadata_null = partition.metadata is None
                metadata_size = 0 if partition.metadata is None else metadata_n
                same = data[partitions_start + 16 : metadata_end - metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{metadata_size}sh", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, metadata, error_code = row
                    if gap != same:
                        break
                    partition = new(OffsetFetchResponsePartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                    partition.error_code = error_code
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
    message.groups = []
    (message.error_code,) = unpack_h(data, pos)
    pos += 2
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v6(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topics: list[OffsetFetchResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(OffsetFetchResponseTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 20 > end - pos:
            raise Malformed
        partitions: list[OffsetFetchResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(OffsetFetchResponsePartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqin(data, pos)
            pos += 16
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition.metadata = None
                pos += 1
            elif n == 1:
                partition.metadata = ""
                pos += 1
            else:
                stop = pos + n
                partition.metadata = data[pos + 1 : stop].decode()
                pos = stop
            metadata_end = pos
            metadata_n = n
            partition.error_code, n = unpack_hn(data, pos)
            pos += 2
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                metadata_null = partition.metadata is None
                metadata_size = 0 if partition.metadata is None else metadata_n - 1
                same = data[partitions_start + 16 : metadata_end - metadata_size]
                same_2 = data[metadata_end + 2 : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{metadata_size}sh{len(same_2)}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, metadata, error_code, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    partition = new(OffsetFetchResponsePartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                    partition.error_code = error_code
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
    message.groups = []
    message.error_code, n = unpack_hn(data, pos)
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


def _decode_v8(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.topics = []
    message.error_code = 0
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 5 > end - pos:
        raise Malformed
    groups: list[OffsetFetchResponseGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(OffsetFetchResponseGroup)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
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
        topics: list[OffsetFetchResponseTopics] = []
        topics_count = n
        for _ in range(topics_count):
            topic = new(OffsetFetchResponseTopics)
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
            if n * 20 > end - pos:
                raise Malformed
            partitions: list[OffsetFetchResponsePartitions] = []
            partitions_left = n
            partitions_tries = 4
            while partitions_left:
                partitions_start = pos
                partition = new(OffsetFetchResponsePartitions)
                partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqin(data, pos)
                pos += 16
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    partition.metadata = None
                    pos += 1
                elif n == 1:
                    partition.metadata = ""
                    pos += 1
                else:
                    stop = pos + n
                    partition.metadata = data[pos + 1 : stop].decode()
                    pos = stop
                metadata_end = pos
                metadata_n = n
                partition.error_code, n = unpack_hn(data, pos)
                pos += 2
                if n:
                    n, pos = read_uvarint(data, pos)
                    partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    partition.unknown_tagged_fields = ()
                    pos += 1
                partitions.append(partition)
                partitions_left -= 1
                if partitions_tries and partitions_left >= 12:
                    metadata_null = partition.metadata is None
                    metadata_size = 0 if partition.metadata is None else metadata_n - 1
                    same = data[partitions_start + 16 : metadata_end - metadata_size]
                    same_2 = data[metadata_end + 2 : pos]
                    partitions_unknown = partition.unknown_tagged_fields
                    partitions_done = len(partitions)
                    partitions_size = pos - partitions_start
                    stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                    for row in iter_unpack(f">iqi{len(same)}s{metadata_size}sh{len(same_2)}s", memoryview(data)[pos:stop]):
                        (
                            partition_index,
                            committed_offset,
                            committed_leader_epoch,
                            gap,
                            metadata,
                            error_code,
                            gap_2,
                        ) = row
                        if gap != same or gap_2 != same_2:
                            break
                        partition = new(OffsetFetchResponsePartitions)
                        partition.partition_index = partition_index
                        partition.committed_offset = committed_offset
                        partition.committed_leader_epoch = committed_leader_epoch
                        partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                        partition.error_code = error_code
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
        group.topics = topics
        group.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
    message.groups = groups
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


def _decode_v10(data: bytes, pos: int) -> OffsetFetchResponse:
    end = len(data)
    message = new(OffsetFetchResponse)
    message.topics = []
    message.error_code = 0
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 5 > end - pos:
        raise Malformed
    groups: list[OffsetFetchResponseGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(OffsetFetchResponseGroup)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
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
        topics: list[OffsetFetchResponseTopics] = []
        topics_count = n
        for _ in range(topics_count):
            topic = new(OffsetFetchResponseTopics)
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
            if n * 20 > end - pos:
                raise Malformed
            partitions: list[OffsetFetchResponsePartitions] = []
            partitions_left = n
            partitions_tries = 4
            while partitions_left:
                partitions_start = pos
                partition = new(OffsetFetchResponsePartitions)
                partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqin(data, pos)
                pos += 16
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    partition.metadata = None
                    pos += 1
                elif n == 1:
                    partition.metadata = ""
                    pos += 1
                else:
                    stop = pos + n
                    partition.metadata = data[pos + 1 : stop].decode()
                    pos = stop
                metadata_end = pos
                metadata_n = n
                partition.error_code, n = unpack_hn(data, pos)
                pos += 2
                if n:
                    n, pos = read_uvarint(data, pos)
                    partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    partition.unknown_tagged_fields = ()
                    pos += 1
                partitions.append(partition)
                partitions_left -= 1
                if partitions_tries and partitions_left >= 12:
                    metadata_null = partition.metadata is None
                    metadata_size = 0 if partition.metadata is None else metadata_n - 1
                    same = data[partitions_start + 16 : metadata_end - metadata_size]
                    same_2 = data[metadata_end + 2 : pos]
                    partitions_unknown = partition.unknown_tagged_fields
                    partitions_done = len(partitions)
                    partitions_size = pos - partitions_start
                    stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                    for row in iter_unpack(f">iqi{len(same)}s{metadata_size}sh{len(same_2)}s", memoryview(data)[pos:stop]):
                        (
                            partition_index,
                            committed_offset,
                            committed_leader_epoch,
                            gap,
                            metadata,
                            error_code,
                            gap_2,
                        ) = row
                        if gap != same or gap_2 != same_2:
                            break
                        partition = new(OffsetFetchResponsePartitions)
                        partition.partition_index = partition_index
                        partition.committed_offset = committed_offset
                        partition.committed_leader_epoch = committed_leader_epoch
                        partition.metadata = None if metadata_null else metadata.decode() if metadata else ""
                        partition.error_code = error_code
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
        group.topics = topics
        group.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
    message.groups = groups
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


def _encode_v1(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_i(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            v9 = e6.metadata
            if v9 is None:
                b7 = b""
                n8 = -1
            else:
                b7 = v9.encode()
                n8 = len(b7)
            out += (pack_iqh(e6.partition_index, e6.committed_offset, n8), b7, pack_h(e6.error_code))
    return b"".join(out)


def _encode_v2(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_i(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            v9 = e6.metadata
            if v9 is None:
                b7 = b""
                n8 = -1
            else:
                b7 = v9.encode()
                n8 = len(b7)
            out += (pack_iqh(e6.partition_index, e6.committed_offset, n8), b7, pack_h(e6.error_code))
    out.append(pack_h(m.error_code))
    return b"".join(out)


def _encode_v3(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            v9 = e6.metadata
            if v9 is None:
                b7 = b""
                n8 = -1
            else:
                b7 = v9.encode()
                n8 = len(b7)
            out += (pack_iqh(e6.partition_index, e6.committed_offset, n8), b7, pack_h(e6.error_code))
    out.append(pack_h(m.error_code))
    return b"".join(out)


def _encode_v5(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            v9 = e6.metadata
            if v9 is None:
                b7 = b""
                n8 = -1
            else:
                b7 = v9.encode()
                n8 = len(b7)
            out += (
                pack_iqih(e6.partition_index, e6.committed_offset, e6.committed_leader_epoch, n8),
                b7,
                pack_h(e6.error_code),
            )
    out.append(pack_h(m.error_code))
    return b"".join(out)


def _encode_v6(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    n1 = len(m.topics) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        n5 = len(e2.partitions) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.partitions:
            v9 = e6.metadata
            if v9 is None:
                b7 = b""
                n8 = 0
            else:
                b7 = v9.encode()
                n8 = len(b7) + 1
            out += (
                pack_iqi(e6.partition_index, e6.committed_offset, e6.committed_leader_epoch),
                ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
                b7,
                pack_h(e6.error_code),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (pack_h(m.error_code), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v8(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.groups) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        n5 = len(e2.topics) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.topics:
            b7 = e6.name.encode()
            n8 = len(b7) + 1
            n9 = len(e6.partitions) + 1
            out += (
                ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
                b7,
                ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
            )
            for e10 in e6.partitions:
                v13 = e10.metadata
                if v13 is None:
                    b11 = b""
                    n12 = 0
                else:
                    b11 = v13.encode()
                    n12 = len(b11) + 1
                out += (
                    pack_iqi(e10.partition_index, e10.committed_offset, e10.committed_leader_epoch),
                    ONE_BYTE[n12] if n12 < 128 else write_string_length(n12),
                    b11,
                    pack_h(e10.error_code),
                    write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0")
        out += (pack_h(e2.error_code), write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v10(m: OffsetFetchResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.groups) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        n5 = len(e2.topics) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.topics:
            if len(e6.topic_id) != 16:
                raise EncodeError("TopicId is not 16 bytes long")
            n7 = len(e6.partitions) + 1
            out += (e6.topic_id, ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7))
            for e8 in e6.partitions:
                v11 = e8.metadata
                if v11 is None:
                    b9 = b""
                    n10 = 0
                else:
                    b9 = v11.encode()
                    n10 = len(b9) + 1
                out += (
                    pack_iqi(e8.partition_index, e8.committed_offset, e8.committed_leader_epoch),
                    ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
                    b9,
                    pack_h(e8.error_code),
                    write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0")
        out += (pack_h(e2.error_code), write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


OffsetFetchResponsePartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (1, 7)),
    Field("committed_offset", "CommittedOffset", "int64", (1, 7)),
    Field("committed_leader_epoch", "CommittedLeaderEpoch", "int32", (5, 7), ignorable=True),
    Field("metadata", "Metadata", "string", (1, 7), nullable=(1, 7)),
    Field("error_code", "ErrorCode", "int16", (1, 7)),
)
OffsetFetchResponseTopic.FIELDS = (
    Field("name", "Name", "string", (1, 7), entity="topicName"),
    Field("partitions", "Partitions", "struct", (1, 7), is_array=True, struct=OffsetFetchResponsePartition),
)
OffsetFetchResponsePartitions.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (8, 10)),
    Field("committed_offset", "CommittedOffset", "int64", (8, 10)),
    Field("committed_leader_epoch", "CommittedLeaderEpoch", "int32", (8, 10), ignorable=True),
    Field("metadata", "Metadata", "string", (8, 10), nullable=(8, 10)),
    Field("error_code", "ErrorCode", "int16", (8, 10)),
)
OffsetFetchResponseTopics.FIELDS = (
    Field("name", "Name", "string", (8, 9), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (10, 10), ignorable=True),
    Field("partitions", "Partitions", "struct", (8, 10), is_array=True, struct=OffsetFetchResponsePartitions),
)
OffsetFetchResponseGroup.FIELDS = (
    Field("group_id", "GroupId", "string", (8, 10), entity="groupId"),
    Field("topics", "Topics", "struct", (8, 10), is_array=True, struct=OffsetFetchResponseTopics),
    Field("error_code", "ErrorCode", "int16", (8, 10)),
)
OffsetFetchResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (3, 10), ignorable=True),
    Field("topics", "Topics", "struct", (1, 7), is_array=True, struct=OffsetFetchResponseTopic),
    Field("error_code", "ErrorCode", "int16", (2, 7), ignorable=True),
    Field("groups", "Groups", "struct", (8, 10), is_array=True, struct=OffsetFetchResponseGroup),
)
OffsetFetchResponse.NAME = "OffsetFetchResponse"
OffsetFetchResponse.API_KEY = 9
OffsetFetchResponse.MIN_VERSION = 1
OffsetFetchResponse.MAX_VERSION = 10
OffsetFetchResponse.FLEXIBLE_FROM = 6
OffsetFetchResponse._DECODERS = {
    1: _decode_v1,
    2: _decode_v2,
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v5,
    6: _decode_v6,
    7: _decode_v6,
    8: _decode_v8,
    9: _decode_v8,
    10: _decode_v10,
}
OffsetFetchResponse._ENCODERS = {
    1: _encode_v1,
    2: _encode_v2,
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v5,
    6: _encode_v6,
    7: _encode_v6,
    8: _encode_v8,
    9: _encode_v8,
    10: _encode_v10,
}
