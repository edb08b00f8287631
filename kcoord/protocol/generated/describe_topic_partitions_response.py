# Generated from schemas/message/DescribeTopicPartitionsResponse.json by `python -m schemas.generator`. Do not edit.
"""DescribeTopicPartitionsResponse, a response, versions 0."""

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
    integers,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_uxn = Format(">16s?B").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hiiin = Format(">hiiiB").unpack_from
unpack_in = Format(">iB").unpack_from
pack_ux = Format(">16s?").pack
pack_b = Format(">b").pack
pack_h = Format(">h").pack
pack_hiii = Format(">hiii").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: int = 0
    """The error, or 0."""
    partition_index: int = 0
    """The partition's number."""
    leader_id: int = 0
    """The broker that leads the partition, or -1."""
    leader_epoch: int = -1
    """The leader epoch, or -1."""
    replica_nodes: list[int] = attrs.Factory(list)
    """All replicas."""
    isr_nodes: list[int] = attrs.Factory(list)
    """The in-sync replicas."""
    eligible_leader_replicas: list[int] | None = None
    """Replicas outside the in-sync set that may still be elected without loss (KIP-966), or null."""
    last_known_elr: list[int] | None = None
    """The last known eligible leader replicas, or null."""
    offline_replicas: list[int] = attrs.Factory(list)
    """Replicas that are not running."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: int = 0
    """The error, or 0."""
    name: str | None = ""
    """The topic's name, or null."""
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    is_internal: bool = False
    """Whether the topic is one of Kafka's own."""
    partitions: list[DescribeTopicPartitionsResponsePartition] = attrs.Factory(list)
    """The partitions."""
    topic_authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the topic; the lowest int32 when not asked for."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Cursor(Struct):
    topic_name: str = ""
    """The topic's name."""
    partition_index: int = 0
    """The partition's number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeTopicPartitionsResponse(Response):
    """One page of partitions."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    topics: list[DescribeTopicPartitionsResponseTopic] = attrs.Factory(list)
    """One entry for each topic."""
    next_cursor: Cursor | None = None
    """Where the next page begins, or null at the end."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DescribeTopicPartitionsResponse:
    end = len(data)
    message = new(DescribeTopicPartitionsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 26 > end - pos:
        raise Malformed
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(DescribeTopicPartitionsResponseTopic)
        topic.error_code, n = unpack_hn(data, pos)
        pos += 2
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
        topic.topic_id, topic.is_internal, n = unpack_uxn(data, pos)
        pos += 17
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 20 > end - pos:
            raise Malformed
        partitions: list[DescribeTopicPartitionsResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(DescribeTopicPartitionsResponsePartition)
            partition.error_code, partition.partition_index, partition.leader_id, partition.leader_epoch, n = unpack_hiiin(data, pos)
            pos += 14
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                partition.eligible_leader_replicas = None
            else:
                n -= 1
                if n < 17:
                    partition.eligible_leader_replicas = list(READ_INT32S[n](data, pos))
                else:
                    partition.eligible_leader_replicas = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
            eligible_leader_replicas_end = pos
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                partition.last_known_elr = None
            else:
                n -= 1
                if n < 17:
                    partition.last_known_elr = list(READ_INT32S[n](data, pos))
                else:
                    partition.last_known_elr = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
            last_known_elr_end = pos
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                partition.offline_replicas = list(READ_INT32S[n](data, pos))
            else:
                partition.offline_replicas = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            offline_replicas_end = pos
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
                replica_nodes_size = len(partition.replica_nodes) * 4
                same = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_2 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                eligible_leader_replicas_null = partition.eligible_leader_replicas is None
                eligible_leader_replicas_size = 0 if partition.eligible_leader_replicas is None else len(partition.eligible_leader_replicas) * 4
                same_3 = data[isr_nodes_end : eligible_leader_replicas_end - eligible_leader_replicas_size]
                eligible_leader_replicas_list = integers("i", len(partition.eligible_leader_replicas or ()))
                last_known_elr_null = partition.last_known_elr is None
                last_known_elr_size = 0 if partition.last_known_elr is None else len(partition.last_known_elr) * 4
                same_4 = data[eligible_leader_replicas_end : last_known_elr_end - last_known_elr_size]
                last_known_elr_list = integers("i", len(partition.last_known_elr or ()))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_5 = data[last_known_elr_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                same_6 = data[offline_replicas_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">hiii{len(same)}s{replica_nodes_size}s{len(same_2)}s{isr_nodes_size}s{len(same_3)}s{eligible_leader_replicas_size}s{len(same_4)}s{last_known_elr_size}s{len(same_5)}s{offline_replicas_size}s{len(same_6)}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap,
                        replica_nodes,
                        gap_2,
                        isr_nodes,
                        gap_3,
                        eligible_leader_replicas,
                        gap_4,
                        last_known_elr,
                        gap_5,
                        offline_replicas,
                        gap_6,
                    ) = row
                    if (
                        gap != same
                        or gap_2 != same_2
                        or gap_3 != same_3
                        or gap_4 != same_4
                        or gap_5 != same_5
                        or gap_6 != same_6
                    ):
                        break
                    partition = new(DescribeTopicPartitionsResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.eligible_leader_replicas = None if eligible_leader_replicas_null else list(eligible_leader_replicas_list(eligible_leader_replicas))
                    partition.last_known_elr = None if last_known_elr_null else list(last_known_elr_list(last_known_elr))
                    partition.offline_replicas = list(offline_replicas_list(offline_replicas))
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
    n = data[pos]
    pos += 1
    if n > 127:
        message.next_cursor = None
    else:
        next_cursor = new(Cursor)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        next_cursor.topic_name = data[pos + 1 : stop].decode()
        pos = stop
        next_cursor.partition_index, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            next_cursor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            next_cursor.unknown_tagged_fields = ()
            pos += 1
        message.next_cursor = next_cursor
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


def _encode_v0(m: DescribeTopicPartitionsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
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
        n6 = len(e2.partitions) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_ux(e2.topic_id, e2.is_internal),
            ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
        )
        for e7 in e2.partitions:
            n8 = len(e7.replica_nodes) + 1
            n9 = len(e7.isr_nodes) + 1
            a11 = e7.eligible_leader_replicas
            n10 = 0 if a11 is None else len(a11) + 1
            a13 = e7.last_known_elr
            n12 = 0 if a13 is None else len(a13) + 1
            n14 = len(e7.offline_replicas) + 1
            out += (
                pack_hiii(e7.error_code, e7.partition_index, e7.leader_id, e7.leader_epoch),
                ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
                WRITE_INT32S[len(e7.replica_nodes)](*e7.replica_nodes) if len(e7.replica_nodes) < 17 else pack(f">{len(e7.replica_nodes)}i", *e7.replica_nodes),
                ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
                WRITE_INT32S[len(e7.isr_nodes)](*e7.isr_nodes) if len(e7.isr_nodes) < 17 else pack(f">{len(e7.isr_nodes)}i", *e7.isr_nodes),
                ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
                b"" if not a11 else WRITE_INT32S[len(a11)](*a11) if len(a11) < 17 else pack(f">{len(a11)}i", *a11),
                ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12),
                b"" if not a13 else WRITE_INT32S[len(a13)](*a13) if len(a13) < 17 else pack(f">{len(a13)}i", *a13),
                ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14),
                WRITE_INT32S[len(e7.offline_replicas)](*e7.offline_replicas) if len(e7.offline_replicas) < 17 else pack(f">{len(e7.offline_replicas)}i", *e7.offline_replicas),
                write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e2.topic_authorized_operations),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    s15 = m.next_cursor
    if s15 is None:
        out.append(b"\xff")
    else:
        b16 = s15.topic_name.encode()
        n17 = len(b16) + 1
        out += (
            pack_b(1),
            ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
            b16,
            pack_i(s15.partition_index),
            write_tagged(s15.unknown_tagged_fields) if s15.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DescribeTopicPartitionsResponsePartition.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("partition_index", "PartitionIndex", "int32", (0, 0)),
    Field("leader_id", "LeaderId", "int32", (0, 0), entity="brokerId"),
    Field("leader_epoch", "LeaderEpoch", "int32", (0, 0), ignorable=True),
    Field("replica_nodes", "ReplicaNodes", "int32", (0, 0), is_array=True, entity="brokerId"),
    Field("isr_nodes", "IsrNodes", "int32", (0, 0), is_array=True, entity="brokerId"),
    Field(
        "eligible_leader_replicas",
        "EligibleLeaderReplicas",
        "int32",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        entity="brokerId",
    ),
    Field("last_known_elr", "LastKnownElr", "int32", (0, 0), is_array=True, nullable=(0, 0), entity="brokerId"),
    Field("offline_replicas", "OfflineReplicas", "int32", (0, 0), is_array=True, entity="brokerId", ignorable=True),
)
DescribeTopicPartitionsResponseTopic.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("name", "Name", "string", (0, 0), nullable=(0, 0), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (0, 0), ignorable=True),
    Field("is_internal", "IsInternal", "bool", (0, 0), ignorable=True),
    Field("partitions", "Partitions", "struct", (0, 0), is_array=True, struct=DescribeTopicPartitionsResponsePartition),
    Field("topic_authorized_operations", "TopicAuthorizedOperations", "int32", (0, 0)),
)
Cursor.FIELDS = (
    Field("topic_name", "TopicName", "string", (0, 0), entity="topicName"),
    Field("partition_index", "PartitionIndex", "int32", (0, 0)),
)
DescribeTopicPartitionsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0), ignorable=True),
    Field("topics", "Topics", "struct", (0, 0), is_array=True, struct=DescribeTopicPartitionsResponseTopic),
    Field("next_cursor", "NextCursor", "struct", (0, 0), nullable=(0, 0), struct=Cursor),
)
DescribeTopicPartitionsResponse.NAME = "DescribeTopicPartitionsResponse"
DescribeTopicPartitionsResponse.API_KEY = 75
DescribeTopicPartitionsResponse.MIN_VERSION = 0
DescribeTopicPartitionsResponse.MAX_VERSION = 0
DescribeTopicPartitionsResponse.FLEXIBLE_FROM = 0
DescribeTopicPartitionsResponse._DECODERS = {0: _decode_v0}
DescribeTopicPartitionsResponse._ENCODERS = {0: _encode_v0}
