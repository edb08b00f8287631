# Generated from schemas/message/FetchRequest.json by `python -m schemas.generator`. Do not edit.
"""FetchRequest, a request, versions 4-18."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

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
    integers,
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
unpack_iiibiin = Format(">iiibiiB").unpack_from
unpack_iiiibi = Format(">iiiibi").unpack_from
unpack_iiiibiin = Format(">iiiibiiB").unpack_from
unpack_iiiibiii = Format(">iiiibiii").unpack_from
unpack_iiqiqin = Format(">iiqiqiB").unpack_from
unpack_iqn = Format(">iqB").unpack_from
unpack_q = Format(">q").unpack_from
iterate_iiqiqin = Format(">iiqiqiB").iter_unpack
iterate_iiqqi = Format(">iiqqi").iter_unpack
iterate_iqi = Format(">iqi").iter_unpack
iterate_iqqi = Format(">iqqi").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_iiibii = Format(">iiibii").pack
pack_iiiibi = Format(">iiiibi").pack
pack_iiiibii = Format(">iiiibii").pack
pack_iiiibiii = Format(">iiiibiii").pack
pack_iiqiqi = Format(">iiqiqi").pack
pack_iiqqi = Format(">iiqqi").pack
pack_iq = Format(">iq").pack
pack_iqi = Format(">iqi").pack
pack_iqqi = Format(">iqqi").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class ReplicaState(Struct):
    replica_id: int = -1
    """The follower's broker id, or -1 for a consumer. Since version 15."""
    replica_epoch: int = -1
    """The follower's broker epoch, or -1. Since version 15."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchPartition(Struct):
    partition: int = 0
    """The partition's number."""
    current_leader_epoch: int = -1
    """The leader epoch that the client believes in, or -1. Since version 9."""
    fetch_offset: int = 0
    """The first offset wanted."""
    last_fetched_epoch: int = -1
    """The leader epoch of the follower's last record, or -1. Since version 12."""
    log_start_offset: int = -1
    """The first offset that the log still has, or -1. Since version 5."""
    partition_max_bytes: int = 0
    """The most bytes for this partition."""
    replica_directory_id: bytes = ZERO_UUID
    """The directory that the follower keeps the replica in. Since version 17."""
    high_watermark: int = 9223372036854775807
    """The high watermark that the follower knows; the largest int64 when it does not say. Since version 18."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchTopic(Struct):
    topic: str = ""
    """The topic's name. Until version 12."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 13."""
    partitions: list[FetchPartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ForgottenTopic(Struct):
    topic: str = ""
    """The topic's name. Since version 7. Until version 12."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 13."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions. Since version 7."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchRequest(Request):
    """Asks for records of partitions from given offsets on."""

    cluster_id: str | None = None
    """The cluster that a follower believes to be in, or null from consumers. Since version 12."""
    replica_id: int = -1
    """The follower's broker id, or -1 for a consumer. Until version 14."""
    replica_state: ReplicaState = attrs.Factory(ReplicaState)
    """Who the follower is; left out by consumers. Since version 15."""
    max_wait_ms: int = 0
    """How long to wait for MinBytes, in ms."""
    min_bytes: int = 0
    """The fewest bytes worth an answer before MaxWaitMs is over."""
    max_bytes: int = 2147483647
    """The most bytes that the answer should have."""
    isolation_level: int = 0
    """0 read_uncommitted, 1 read_committed."""
    session_id: int = 0
    """The fetch session, or 0. Since version 7."""
    session_epoch: int = -1
    """Which request of the fetch session this is; -1 without a session. Since version 7."""
    topics: list[FetchTopic] = attrs.Factory(list)
    """One entry for each topic."""
    forgotten_topics_data: list[ForgottenTopic] = attrs.Factory(list)
    """Partitions that leave the fetch session. Since version 7."""
    rack_id: str = ""
    """The consumer's rack, or empty. Since version 11."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v4(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.cluster_id = None
    message.replica_state = ReplicaState()
    message.session_id = 0
    message.session_epoch = -1
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, n = unpack_iiiibi(data, pos)
    pos += 21
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.topic = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 16 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        for row in iterate_iqi(memoryview(data)[pos : pos + n * 16]):
            partition = new(FetchPartition)
            partition.partition, partition.fetch_offset, partition.partition_max_bytes = row
            partition.current_leader_epoch = -1
            partition.last_fetched_epoch = -1
            partition.log_start_offset = -1
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 16
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.forgotten_topics_data = []
    message.rack_id = ""
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.cluster_id = None
    message.replica_state = ReplicaState()
    message.session_id = 0
    message.session_epoch = -1
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, n = unpack_iiiibi(data, pos)
    pos += 21
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.topic = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 24 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        for row in iterate_iqqi(memoryview(data)[pos : pos + n * 24]):
            partition = new(FetchPartition)
            partition.partition, partition.fetch_offset, partition.log_start_offset, partition.partition_max_bytes = row
            partition.current_leader_epoch = -1
            partition.last_fetched_epoch = -1
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 24
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.forgotten_topics_data = []
    message.rack_id = ""
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v7(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.cluster_id = None
    message.replica_state = ReplicaState()
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiiibiii(data, pos)
    pos += 29
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.topic = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 24 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        for row in iterate_iqqi(memoryview(data)[pos : pos + n * 24]):
            partition = new(FetchPartition)
            partition.partition, partition.fetch_offset, partition.log_start_offset, partition.partition_max_bytes = row
            partition.current_leader_epoch = -1
            partition.last_fetched_epoch = -1
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 24
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        forgotten_topics_data_item.topic = data[pos:stop].decode()
        pos = stop
        topic_2_end = pos
        topic_2_n = n
        forgotten_topics_data_item.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        forgotten_topics_data_item.unknown_tagged_fields = ()
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            topic_2_size = topic_2_n
            same = data[forgotten_topics_data_start : topic_2_end - topic_2_size]
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same_2 = data[topic_2_end : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">{len(same)}s{topic_2_size}s{len(same_2)}s{partitions_2_size}s", memoryview(data)[pos:stop]):
                gap, topic_2, gap_2, partitions_2 = row_2
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic = topic_2.decode() if topic_2 else ""
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic_id = ZERO_UUID
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    message.rack_id = ""
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v9(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.cluster_id = None
    message.replica_state = ReplicaState()
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiiibiii(data, pos)
    pos += 29
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.topic = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 28 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        for row in iterate_iiqqi(memoryview(data)[pos : pos + n * 28]):
            partition = new(FetchPartition)
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.log_start_offset, partition.partition_max_bytes = row
            partition.last_fetched_epoch = -1
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 28
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        forgotten_topics_data_item.topic = data[pos:stop].decode()
        pos = stop
        topic_2_end = pos
        topic_2_n = n
        forgotten_topics_data_item.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        forgotten_topics_data_item.unknown_tagged_fields = ()
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            topic_2_size = topic_2_n
            same = data[forgotten_topics_data_start : topic_2_end - topic_2_size]
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same_2 = data[topic_2_end : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">{len(same)}s{topic_2_size}s{len(same_2)}s{partitions_2_size}s", memoryview(data)[pos:stop]):
                gap, topic_2, gap_2, partitions_2 = row_2
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic = topic_2.decode() if topic_2 else ""
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic_id = ZERO_UUID
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    message.rack_id = ""
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v11(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.cluster_id = None
    message.replica_state = ReplicaState()
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiiibiii(data, pos)
    pos += 29
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.topic = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 28 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        for row in iterate_iiqqi(memoryview(data)[pos : pos + n * 28]):
            partition = new(FetchPartition)
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.log_start_offset, partition.partition_max_bytes = row
            partition.last_fetched_epoch = -1
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += n * 28
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        forgotten_topics_data_item.topic = data[pos:stop].decode()
        pos = stop
        topic_2_end = pos
        topic_2_n = n
        forgotten_topics_data_item.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        forgotten_topics_data_item.unknown_tagged_fields = ()
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            topic_2_size = topic_2_n
            same = data[forgotten_topics_data_start : topic_2_end - topic_2_size]
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same_2 = data[topic_2_end : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">{len(same)}s{topic_2_size}s{len(same_2)}s{partitions_2_size}s", memoryview(data)[pos:stop]):
                gap, topic_2, gap_2, partitions_2 = row_2
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic = topic_2.decode() if topic_2 else ""
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic_id = ZERO_UUID
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.rack_id = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v12(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.replica_state = ReplicaState()
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiiibiin(data, pos)
    pos += 25
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.topic = data[pos + 1 : stop].decode()
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
        if n * 33 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for row in iterate_iiqiqin(memoryview(data)[pos : pos + n * 33]):
            partition = new(FetchPartition)
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = row
            if n:
                break
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 33
        for _ in range(partitions_count - len(partitions)):
            partition = new(FetchPartition)
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = unpack_iiqiqin(data, pos)
            pos += 32
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        forgotten_topics_data_item.topic = data[pos + 1 : stop].decode()
        pos = stop
        topic_2_end = pos
        topic_2_n = n
        forgotten_topics_data_item.topic_id = ZERO_UUID
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            topic_2_size = topic_2_n - 1
            same = data[forgotten_topics_data_start : topic_2_end - topic_2_size]
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same_2 = data[topic_2_end : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_3 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">{len(same)}s{topic_2_size}s{len(same_2)}s{partitions_2_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, topic_2, gap_2, partitions_2, gap_3 = row_2
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic = topic_2.decode() if topic_2 else ""
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic_id = ZERO_UUID
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.rack_id = data[pos + 1 : stop].decode()
    pos = stop
    message.cluster_id = None
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
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.cluster_id = None
                    pos += 1
                elif n == 1:
                    message.cluster_id = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.cluster_id = data[pos + 1 : stop].decode()
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


def _decode_v13(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.replica_state = ReplicaState()
    message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiiibiin(data, pos)
    pos += 25
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        topic.topic = ""
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for row in iterate_iiqiqin(memoryview(data)[pos : pos + n * 33]):
            partition = new(FetchPartition)
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = row
            if n:
                break
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 33
        for _ in range(partitions_count - len(partitions)):
            partition = new(FetchPartition)
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = unpack_iiqiqin(data, pos)
            pos += 32
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        forgotten_topics_data_item.topic = ""
        forgotten_topics_data_item.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same = data[forgotten_topics_data_start + 16 : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_2 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">16s{len(same)}s{partitions_2_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                topic_id, gap, partitions_2, gap_2 = row_2
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic_id = topic_id
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic = ""
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.rack_id = data[pos + 1 : stop].decode()
    pos = stop
    message.cluster_id = None
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
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.cluster_id = None
                    pos += 1
                elif n == 1:
                    message.cluster_id = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.cluster_id = data[pos + 1 : stop].decode()
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


def _decode_v15(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.replica_id = -1
    message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiibiin(data, pos)
    pos += 21
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        topic.topic = ""
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for row in iterate_iiqiqin(memoryview(data)[pos : pos + n * 33]):
            partition = new(FetchPartition)
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = row
            if n:
                break
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
        pos += len(partitions) * 33
        for _ in range(partitions_count - len(partitions)):
            partition = new(FetchPartition)
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = unpack_iiqiqin(data, pos)
            pos += 32
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        forgotten_topics_data_item.topic = ""
        forgotten_topics_data_item.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same = data[forgotten_topics_data_start + 16 : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_2 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">16s{len(same)}s{partitions_2_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                topic_id, gap, partitions_2, gap_2 = row_2
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic_id = topic_id
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic = ""
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.rack_id = data[pos + 1 : stop].decode()
    pos = stop
    message.cluster_id = None
    message.replica_state = ReplicaState()
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
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.cluster_id = None
                    pos += 1
                elif n == 1:
                    message.cluster_id = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.cluster_id = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                replica_state = new(ReplicaState)
                replica_state.replica_id, replica_state.replica_epoch, n = unpack_iqn(data, pos)
                pos += 12
                if n:
                    n, pos = read_uvarint(data, pos)
                    replica_state.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    replica_state.unknown_tagged_fields = ()
                    pos += 1
                message.replica_state = replica_state
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


def _decode_v17(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.replica_id = -1
    message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiibiin(data, pos)
    pos += 21
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        topic.topic = ""
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(FetchPartition)
            partition.high_watermark = 9223372036854775807
            partition.replica_directory_id = ZERO_UUID
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = unpack_iiqiqin(data, pos)
            pos += 32
            if n:
                n, pos = read_uvarint(data, pos)
                partition_others = []
                partition_tag_count = n
                for _ in range(partition_tag_count):
                    partition_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_stop = pos + n
                    if partition_stop > len(data):
                        raise Malformed
                    if partition_tag == 0:
                        partition.replica_directory_id = data[pos : pos + 16]
                        pos += 16
                    else:
                        partition_others.append((partition_tag, data[pos:partition_stop]))
                        pos = partition_stop
                    if pos != partition_stop:
                        raise Malformed
                partition.unknown_tagged_fields = tuple(partition_others)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        forgotten_topics_data_item.topic = ""
        forgotten_topics_data_item.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same = data[forgotten_topics_data_start + 16 : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_2 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row in iter_unpack(f">16s{len(same)}s{partitions_2_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                topic_id, gap, partitions_2, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic_id = topic_id
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic = ""
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.rack_id = data[pos + 1 : stop].decode()
    pos = stop
    message.cluster_id = None
    message.replica_state = ReplicaState()
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
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.cluster_id = None
                    pos += 1
                elif n == 1:
                    message.cluster_id = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.cluster_id = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                replica_state = new(ReplicaState)
                replica_state.replica_id, replica_state.replica_epoch, n = unpack_iqn(data, pos)
                pos += 12
                if n:
                    n, pos = read_uvarint(data, pos)
                    replica_state.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    replica_state.unknown_tagged_fields = ()
                    pos += 1
                message.replica_state = replica_state
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


def _decode_v18(data: bytes, pos: int) -> FetchRequest:
    end = len(data)
    message = new(FetchRequest)
    message.replica_id = -1
    message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id, message.session_epoch, n = unpack_iiibiin(data, pos)
    pos += 21
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        topic.topic = ""
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 33 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(FetchPartition)
            partition.replica_directory_id = ZERO_UUID
            partition.high_watermark = 9223372036854775807
            partition.partition, partition.current_leader_epoch, partition.fetch_offset, partition.last_fetched_epoch, partition.log_start_offset, partition.partition_max_bytes, n = unpack_iiqiqin(data, pos)
            pos += 32
            if n:
                n, pos = read_uvarint(data, pos)
                partition_others = []
                partition_tag_count = n
                for _ in range(partition_tag_count):
                    partition_tag, pos = read_uvarint(data, pos)
                    n, pos = read_uvarint(data, pos)
                    partition_stop = pos + n
                    if partition_stop > len(data):
                        raise Malformed
                    if partition_tag == 0:
                        partition.replica_directory_id = data[pos : pos + 16]
                        pos += 16
                    elif partition_tag == 1:
                        (partition.high_watermark,) = unpack_q(data, pos)
                        pos += 8
                    else:
                        partition_others.append((partition_tag, data[pos:partition_stop]))
                        pos = partition_stop
                    if pos != partition_stop:
                        raise Malformed
                partition.unknown_tagged_fields = tuple(partition_others)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        forgotten_topics_data_item.topic = ""
        forgotten_topics_data_item.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same = data[forgotten_topics_data_start + 16 : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_2 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row in iter_unpack(f">16s{len(same)}s{partitions_2_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                topic_id, gap, partitions_2, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic_id = topic_id
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.topic = ""
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.rack_id = data[pos + 1 : stop].decode()
    pos = stop
    message.cluster_id = None
    message.replica_state = ReplicaState()
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
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.cluster_id = None
                    pos += 1
                elif n == 1:
                    message.cluster_id = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.cluster_id = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                replica_state = new(ReplicaState)
                replica_state.replica_id, replica_state.replica_epoch, n = unpack_iqn(data, pos)
                pos += 12
                if n:
                    n, pos = read_uvarint(data, pos)
                    replica_state.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    replica_state.unknown_tagged_fields = ()
                    pos += 1
                message.replica_state = replica_state
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


def _encode_v4(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    if m.forgotten_topics_data != []:
        raise EncodeError("ForgottenTopicsData is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_iiiibi(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, n1))
    for e2 in m.topics:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.last_fetched_epoch != -1:
                raise EncodeError("LastFetchedEpoch is set, which this version lacks")
            out.append(pack_iqi(e6.partition, e6.fetch_offset, e6.partition_max_bytes))
    return b"".join(out)


def _encode_v5(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    if m.forgotten_topics_data != []:
        raise EncodeError("ForgottenTopicsData is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_iiiibi(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, n1))
    for e2 in m.topics:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.last_fetched_epoch != -1:
                raise EncodeError("LastFetchedEpoch is set, which this version lacks")
            out.append(pack_iqqi(e6.partition, e6.fetch_offset, e6.log_start_offset, e6.partition_max_bytes))
    return b"".join(out)


def _encode_v7(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_iiiibiii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n1))
    for e2 in m.topics:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.last_fetched_epoch != -1:
                raise EncodeError("LastFetchedEpoch is set, which this version lacks")
            out.append(pack_iqqi(e6.partition, e6.fetch_offset, e6.log_start_offset, e6.partition_max_bytes))
    n7 = len(m.forgotten_topics_data)
    out.append(pack_i(n7))
    for e8 in m.forgotten_topics_data:
        b9 = e8.topic.encode()
        n10 = len(b9)
        n11 = len(e8.partitions)
        out += (
            pack_h(n10),
            b9,
            pack_i(n11),
            WRITE_INT32S[len(e8.partitions)](*e8.partitions) if len(e8.partitions) < 17 else pack(f">{len(e8.partitions)}i", *e8.partitions),
        )
    return b"".join(out)


def _encode_v9(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_iiiibiii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n1))
    for e2 in m.topics:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.last_fetched_epoch != -1:
                raise EncodeError("LastFetchedEpoch is set, which this version lacks")
            out.append(pack_iiqqi(e6.partition, e6.current_leader_epoch, e6.fetch_offset, e6.log_start_offset, e6.partition_max_bytes))
    n7 = len(m.forgotten_topics_data)
    out.append(pack_i(n7))
    for e8 in m.forgotten_topics_data:
        b9 = e8.topic.encode()
        n10 = len(b9)
        n11 = len(e8.partitions)
        out += (
            pack_h(n10),
            b9,
            pack_i(n11),
            WRITE_INT32S[len(e8.partitions)](*e8.partitions) if len(e8.partitions) < 17 else pack(f">{len(e8.partitions)}i", *e8.partitions),
        )
    return b"".join(out)


def _encode_v11(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    n1 = len(m.topics)
    out.append(pack_iiiibiii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n1))
    for e2 in m.topics:
        b3 = e2.topic.encode()
        n4 = len(b3)
        n5 = len(e2.partitions)
        out += (pack_h(n4), b3, pack_i(n5))
        for e6 in e2.partitions:
            if e6.last_fetched_epoch != -1:
                raise EncodeError("LastFetchedEpoch is set, which this version lacks")
            out.append(pack_iiqqi(e6.partition, e6.current_leader_epoch, e6.fetch_offset, e6.log_start_offset, e6.partition_max_bytes))
    n7 = len(m.forgotten_topics_data)
    out.append(pack_i(n7))
    for e8 in m.forgotten_topics_data:
        b9 = e8.topic.encode()
        n10 = len(b9)
        n11 = len(e8.partitions)
        out += (
            pack_h(n10),
            b9,
            pack_i(n11),
            WRITE_INT32S[len(e8.partitions)](*e8.partitions) if len(e8.partitions) < 17 else pack(f">{len(e8.partitions)}i", *e8.partitions),
        )
    b12 = m.rack_id.encode()
    n13 = len(b12)
    out += (pack_h(n13), b12)
    return b"".join(out)


def _encode_v12(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    n1 = len(m.topics) + 1
    out += (
        pack_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch),
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
    )
    for e2 in m.topics:
        b3 = e2.topic.encode()
        n4 = len(b3) + 1
        n5 = len(e2.partitions) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.partitions:
            out += (
                pack_iiqiqi(e6.partition, e6.current_leader_epoch, e6.fetch_offset, e6.last_fetched_epoch, e6.log_start_offset, e6.partition_max_bytes),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    n7 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7))
    for e8 in m.forgotten_topics_data:
        b9 = e8.topic.encode()
        n10 = len(b9) + 1
        n11 = len(e8.partitions) + 1
        out += (
            ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
            b9,
            ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
            WRITE_INT32S[len(e8.partitions)](*e8.partitions) if len(e8.partitions) < 17 else pack(f">{len(e8.partitions)}i", *e8.partitions),
            write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0",
        )
    b12 = m.rack_id.encode()
    n13 = len(b12) + 1
    out += (ONE_BYTE[n13] if n13 < 128 else write_string_length(n13), b12)
    tagged14: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.cluster_id is not None:
        b16 = m.cluster_id.encode()
        n17 = len(b16) + 1
        tagged14.append((0, b"".join((ONE_BYTE[n17] if n17 < 128 else write_string_length(n17), b16))))
    out.append(write_tagged(tagged14) if tagged14 else b"\0")
    return b"".join(out)


def _encode_v13(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_state != ReplicaState():
        raise EncodeError("ReplicaState is set, which this version lacks")
    n1 = len(m.topics) + 1
    out += (
        pack_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch),
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
    )
    for e2 in m.topics:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            out += (
                pack_iiqiqi(e4.partition, e4.current_leader_epoch, e4.fetch_offset, e4.last_fetched_epoch, e4.log_start_offset, e4.partition_max_bytes),
                write_tagged(e4.unknown_tagged_fields) if e4.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    n5 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
    for e6 in m.forgotten_topics_data:
        if len(e6.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n7 = len(e6.partitions) + 1
        out += (
            e6.topic_id,
            ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
            WRITE_INT32S[len(e6.partitions)](*e6.partitions) if len(e6.partitions) < 17 else pack(f">{len(e6.partitions)}i", *e6.partitions),
            write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
        )
    b8 = m.rack_id.encode()
    n9 = len(b8) + 1
    out += (ONE_BYTE[n9] if n9 < 128 else write_string_length(n9), b8)
    tagged10: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.cluster_id is not None:
        b12 = m.cluster_id.encode()
        n13 = len(b12) + 1
        tagged10.append((0, b"".join((ONE_BYTE[n13] if n13 < 128 else write_string_length(n13), b12))))
    out.append(write_tagged(tagged10) if tagged10 else b"\0")
    return b"".join(out)


def _encode_v15(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_id != -1:
        raise EncodeError("ReplicaId is set, which this version lacks")
    n1 = len(m.topics) + 1
    out += (
        pack_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch),
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
    )
    for e2 in m.topics:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            out += (
                pack_iiqiqi(e4.partition, e4.current_leader_epoch, e4.fetch_offset, e4.last_fetched_epoch, e4.log_start_offset, e4.partition_max_bytes),
                write_tagged(e4.unknown_tagged_fields) if e4.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    n5 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
    for e6 in m.forgotten_topics_data:
        if len(e6.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n7 = len(e6.partitions) + 1
        out += (
            e6.topic_id,
            ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
            WRITE_INT32S[len(e6.partitions)](*e6.partitions) if len(e6.partitions) < 17 else pack(f">{len(e6.partitions)}i", *e6.partitions),
            write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
        )
    b8 = m.rack_id.encode()
    n9 = len(b8) + 1
    out += (ONE_BYTE[n9] if n9 < 128 else write_string_length(n9), b8)
    tagged10: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.cluster_id is not None:
        b12 = m.cluster_id.encode()
        n13 = len(b12) + 1
        tagged10.append((0, b"".join((ONE_BYTE[n13] if n13 < 128 else write_string_length(n13), b12))))
    if m.replica_state != ReplicaState():
        s15 = m.replica_state
        tagged10.append((
            1,
            b"".join((pack_iq(s15.replica_id, s15.replica_epoch), write_tagged(s15.unknown_tagged_fields) if s15.unknown_tagged_fields else b"\0")),
        ))
    out.append(write_tagged(tagged10) if tagged10 else b"\0")
    return b"".join(out)


def _encode_v17(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_id != -1:
        raise EncodeError("ReplicaId is set, which this version lacks")
    n1 = len(m.topics) + 1
    out += (
        pack_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch),
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
    )
    for e2 in m.topics:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            out.append(pack_iiqiqi(e4.partition, e4.current_leader_epoch, e4.fetch_offset, e4.last_fetched_epoch, e4.log_start_offset, e4.partition_max_bytes))
            tagged5: list[tuple[int, bytes]] = [*e4.unknown_tagged_fields]
            if e4.replica_directory_id != ZERO_UUID:
                if len(e4.replica_directory_id) != 16:
                    raise EncodeError("ReplicaDirectoryId is not 16 bytes long")
                tagged5.append((0, e4.replica_directory_id))
            out.append(write_tagged(tagged5) if tagged5 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    n7 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7))
    for e8 in m.forgotten_topics_data:
        if len(e8.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n9 = len(e8.partitions) + 1
        out += (
            e8.topic_id,
            ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
            WRITE_INT32S[len(e8.partitions)](*e8.partitions) if len(e8.partitions) < 17 else pack(f">{len(e8.partitions)}i", *e8.partitions),
            write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0",
        )
    b10 = m.rack_id.encode()
    n11 = len(b10) + 1
    out += (ONE_BYTE[n11] if n11 < 128 else write_string_length(n11), b10)
    tagged12: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.cluster_id is not None:
        b14 = m.cluster_id.encode()
        n15 = len(b14) + 1
        tagged12.append((0, b"".join((ONE_BYTE[n15] if n15 < 128 else write_string_length(n15), b14))))
    if m.replica_state != ReplicaState():
        s17 = m.replica_state
        tagged12.append((
            1,
            b"".join((pack_iq(s17.replica_id, s17.replica_epoch), write_tagged(s17.unknown_tagged_fields) if s17.unknown_tagged_fields else b"\0")),
        ))
    out.append(write_tagged(tagged12) if tagged12 else b"\0")
    return b"".join(out)


def _encode_v18(m: FetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.replica_id != -1:
        raise EncodeError("ReplicaId is set, which this version lacks")
    n1 = len(m.topics) + 1
    out += (
        pack_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch),
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
    )
    for e2 in m.topics:
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n3 = len(e2.partitions) + 1
        out += (e2.topic_id, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.partitions:
            out.append(pack_iiqiqi(e4.partition, e4.current_leader_epoch, e4.fetch_offset, e4.last_fetched_epoch, e4.log_start_offset, e4.partition_max_bytes))
            tagged5: list[tuple[int, bytes]] = [*e4.unknown_tagged_fields]
            if e4.replica_directory_id != ZERO_UUID:
                if len(e4.replica_directory_id) != 16:
                    raise EncodeError("ReplicaDirectoryId is not 16 bytes long")
                tagged5.append((0, e4.replica_directory_id))
            if e4.high_watermark != 9223372036854775807:
                tagged5.append((1, pack_q(e4.high_watermark)))
            out.append(write_tagged(tagged5) if tagged5 else b"\0")
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    n8 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8))
    for e9 in m.forgotten_topics_data:
        if len(e9.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n10 = len(e9.partitions) + 1
        out += (
            e9.topic_id,
            ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
            WRITE_INT32S[len(e9.partitions)](*e9.partitions) if len(e9.partitions) < 17 else pack(f">{len(e9.partitions)}i", *e9.partitions),
            write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
        )
    b11 = m.rack_id.encode()
    n12 = len(b11) + 1
    out += (ONE_BYTE[n12] if n12 < 128 else write_string_length(n12), b11)
    tagged13: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.cluster_id is not None:
        b15 = m.cluster_id.encode()
        n16 = len(b15) + 1
        tagged13.append((0, b"".join((ONE_BYTE[n16] if n16 < 128 else write_string_length(n16), b15))))
    if m.replica_state != ReplicaState():
        s18 = m.replica_state
        tagged13.append((
            1,
            b"".join((pack_iq(s18.replica_id, s18.replica_epoch), write_tagged(s18.unknown_tagged_fields) if s18.unknown_tagged_fields else b"\0")),
        ))
    out.append(write_tagged(tagged13) if tagged13 else b"\0")
    return b"".join(out)


ReplicaState.FIELDS = (
    Field("replica_id", "ReplicaId", "int32", (15, 18), entity="brokerId"),
    Field("replica_epoch", "ReplicaEpoch", "int64", (15, 18)),
)
FetchPartition.FIELDS = (
    Field("partition", "Partition", "int32", (4, 18)),
    Field("current_leader_epoch", "CurrentLeaderEpoch", "int32", (9, 18), ignorable=True),
    Field("fetch_offset", "FetchOffset", "int64", (4, 18)),
    Field("last_fetched_epoch", "LastFetchedEpoch", "int32", (12, 18)),
    Field("log_start_offset", "LogStartOffset", "int64", (5, 18), ignorable=True),
    Field("partition_max_bytes", "PartitionMaxBytes", "int32", (4, 18)),
    Field("replica_directory_id", "ReplicaDirectoryId", "uuid", (17, 18), tag=0, tagged=(17, 18), ignorable=True),
    Field("high_watermark", "HighWatermark", "int64", (18, 18), tag=1, tagged=(18, 18), ignorable=True),
)
FetchTopic.FIELDS = (
    Field("topic", "Topic", "string", (4, 12), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (13, 18), ignorable=True),
    Field("partitions", "Partitions", "struct", (4, 18), is_array=True, struct=FetchPartition),
)
ForgottenTopic.FIELDS = (
    Field("topic", "Topic", "string", (7, 12), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (13, 18), ignorable=True),
    Field("partitions", "Partitions", "int32", (7, 18), is_array=True),
)
FetchRequest.FIELDS = (
    Field("cluster_id", "ClusterId", "string", (12, 18), nullable=(12, 18), tag=0, tagged=(12, 18), ignorable=True),
    Field("replica_id", "ReplicaId", "int32", (4, 14), entity="brokerId"),
    Field("replica_state", "ReplicaState", "struct", (15, 18), tag=1, tagged=(15, 18), struct=ReplicaState),
    Field("max_wait_ms", "MaxWaitMs", "int32", (4, 18)),
    Field("min_bytes", "MinBytes", "int32", (4, 18)),
    Field("max_bytes", "MaxBytes", "int32", (4, 18), ignorable=True),
    Field("isolation_level", "IsolationLevel", "int8", (4, 18), ignorable=True),
    Field("session_id", "SessionId", "int32", (7, 18), ignorable=True),
    Field("session_epoch", "SessionEpoch", "int32", (7, 18), ignorable=True),
    Field("topics", "Topics", "struct", (4, 18), is_array=True, struct=FetchTopic),
    Field("forgotten_topics_data", "ForgottenTopicsData", "struct", (7, 18), is_array=True, struct=ForgottenTopic),
    Field("rack_id", "RackId", "string", (11, 18), ignorable=True),
)
FetchRequest.NAME = "FetchRequest"
FetchRequest.API_KEY = 1
FetchRequest.MIN_VERSION = 4
FetchRequest.MAX_VERSION = 18
FetchRequest.FLEXIBLE_FROM = 12
FetchRequest._DECODERS = {
    4: _decode_v4,
    5: _decode_v5,
    6: _decode_v5,
    7: _decode_v7,
    8: _decode_v7,
    9: _decode_v9,
    10: _decode_v9,
    11: _decode_v11,
    12: _decode_v12,
    13: _decode_v13,
    14: _decode_v13,
    15: _decode_v15,
    16: _decode_v15,
    17: _decode_v17,
    18: _decode_v18,
}
FetchRequest._ENCODERS = {
    4: _encode_v4,
    5: _encode_v5,
    6: _encode_v5,
    7: _encode_v7,
    8: _encode_v7,
    9: _encode_v9,
    10: _encode_v9,
    11: _encode_v11,
    12: _encode_v12,
    13: _encode_v13,
    14: _encode_v13,
    15: _encode_v15,
    16: _encode_v15,
    17: _encode_v17,
    18: _encode_v18,
}
