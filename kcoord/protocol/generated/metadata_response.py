# Generated from schemas/message/MetadataResponse.json by `python -m schemas.generator`. Do not edit.
"""MetadataResponse, a response, versions 0-13."""

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
unpack_xn = Format(">?B").unpack_from
unpack_xi = Format(">?i").unpack_from
unpack_h = Format(">h").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hh = Format(">hh").unpack_from
unpack_hiii = Format(">hiii").unpack_from
unpack_hiiin = Format(">hiiiB").unpack_from
unpack_hiiii = Format(">hiiii").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ih = Format(">ih").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_ux = Format(">16s?").pack
pack_xi = Format(">?i").pack
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_hiii = Format(">hiii").pack
pack_hiiii = Format(">hiiii").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class MetadataResponseBroker(Struct):
    node_id: int = 0
    """The broker's id."""
    host: str = ""
    """The host name or address to connect to."""
    port: int = 0
    """The port to connect to."""
    rack: str | None = None
    """The broker's rack, or null. Since version 1."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class MetadataResponsePartition(Struct):
    error_code: int = 0
    """The error, or 0."""
    partition_index: int = 0
    """The partition's number."""
    leader_id: int = 0
    """The broker that leads the partition, or -1."""
    leader_epoch: int = -1
    """The leader epoch, or -1. Since version 7."""
    replica_nodes: list[int] = attrs.Factory(list)
    """All replicas."""
    isr_nodes: list[int] = attrs.Factory(list)
    """The in-sync replicas."""
    offline_replicas: list[int] = attrs.Factory(list)
    """Replicas that are not running. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class MetadataResponseTopic(Struct):
    error_code: int = 0
    """The error, or 0."""
    name: str | None = ""
    """The topic's name, or null for an unknown id."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 10."""
    is_internal: bool = False
    """Whether the topic is one of Kafka's own. Since version 1."""
    partitions: list[MetadataResponsePartition] = attrs.Factory(list)
    """The partitions."""
    topic_authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the topic; the lowest int32 when not asked for. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class MetadataResponse(Response):
    """The brokers of the cluster, and who leads the partitions of the topics asked for."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 3."""
    brokers: list[MetadataResponseBroker] = attrs.Factory(list)
    """The live brokers."""
    cluster_id: str | None = None
    """The cluster's id, or null while it has none. Since version 2."""
    controller_id: int = -1
    """The controller as clients should see it, or -1. Since version 1."""
    topics: list[MetadataResponseTopic] = attrs.Factory(list)
    """One entry for each topic."""
    cluster_authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the cluster; the lowest int32 when not asked for. Since version 8. Until version 10."""
    error_code: int = 0
    """The error, or 0. Since version 13."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 10 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.rack = None
        (broker.port,) = unpack_i(data, pos)
        pos += 4
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si", memoryview(data)[pos:stop]):
                node_id, gap, host, port = row
                if gap != same:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    message.cluster_id = None
    message.controller_id = -1
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 8 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal = False
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.leader_epoch = -1
            partition.error_code, partition.partition_index, partition.leader_id, n = unpack_hiii(data, pos)
            pos += 14
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            partition.offline_replicas = []
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_2 = data[partitions_start + 10 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_3 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hii{len(same_2)}s{replica_nodes_size}s{len(same_3)}s{isr_nodes_size}s", memoryview(data)[pos:stop]):
                    error_code, partition_index, leader_id, gap_2, replica_nodes, gap_3, isr_nodes = row_2
                    if gap_2 != same_2 or gap_3 != same_3:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.leader_epoch = -1
                    partition.offline_replicas = []
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations = -2147483648
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            if n != -1:
                raise Malformed
            broker.rack = None
        elif n == 0:
            broker.rack = ""
        else:
            stop = pos + n
            broker.rack = data[pos:stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n
            same_2 = data[host_end + 4 : rack_end - rack_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack = row
                if gap != same or gap_2 != same_2:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    message.cluster_id = None
    message.controller_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 9 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xi(data, pos)
        pos += 5
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.leader_epoch = -1
            partition.error_code, partition.partition_index, partition.leader_id, n = unpack_hiii(data, pos)
            pos += 14
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            partition.offline_replicas = []
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_3 = data[partitions_start + 10 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_4 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hii{len(same_3)}s{replica_nodes_size}s{len(same_4)}s{isr_nodes_size}s", memoryview(data)[pos:stop]):
                    error_code, partition_index, leader_id, gap_3, replica_nodes, gap_4, isr_nodes = row_2
                    if gap_3 != same_3 or gap_4 != same_4:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.leader_epoch = -1
                    partition.offline_replicas = []
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations = -2147483648
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms = 0
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            if n != -1:
                raise Malformed
            broker.rack = None
        elif n == 0:
            broker.rack = ""
        else:
            stop = pos + n
            broker.rack = data[pos:stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n
            same_2 = data[host_end + 4 : rack_end - rack_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack = row
                if gap != same or gap_2 != same_2:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.cluster_id = None
    elif n == 0:
        message.cluster_id = ""
    else:
        stop = pos + n
        message.cluster_id = data[pos:stop].decode()
        pos = stop
    message.controller_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 9 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xi(data, pos)
        pos += 5
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.leader_epoch = -1
            partition.error_code, partition.partition_index, partition.leader_id, n = unpack_hiii(data, pos)
            pos += 14
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            partition.offline_replicas = []
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_3 = data[partitions_start + 10 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_4 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hii{len(same_3)}s{replica_nodes_size}s{len(same_4)}s{isr_nodes_size}s", memoryview(data)[pos:stop]):
                    error_code, partition_index, leader_id, gap_3, replica_nodes, gap_4, isr_nodes = row_2
                    if gap_3 != same_3 or gap_4 != same_4:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.leader_epoch = -1
                    partition.offline_replicas = []
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations = -2147483648
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            if n != -1:
                raise Malformed
            broker.rack = None
        elif n == 0:
            broker.rack = ""
        else:
            stop = pos + n
            broker.rack = data[pos:stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n
            same_2 = data[host_end + 4 : rack_end - rack_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack = row
                if gap != same or gap_2 != same_2:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.cluster_id = None
    elif n == 0:
        message.cluster_id = ""
    else:
        stop = pos + n
        message.cluster_id = data[pos:stop].decode()
        pos = stop
    message.controller_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 9 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xi(data, pos)
        pos += 5
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.leader_epoch = -1
            partition.error_code, partition.partition_index, partition.leader_id, n = unpack_hiii(data, pos)
            pos += 14
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            partition.offline_replicas = []
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_3 = data[partitions_start + 10 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_4 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hii{len(same_3)}s{replica_nodes_size}s{len(same_4)}s{isr_nodes_size}s", memoryview(data)[pos:stop]):
                    error_code, partition_index, leader_id, gap_3, replica_nodes, gap_4, isr_nodes = row_2
                    if gap_3 != same_3 or gap_4 != same_4:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.leader_epoch = -1
                    partition.offline_replicas = []
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations = -2147483648
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            if n != -1:
                raise Malformed
            broker.rack = None
        elif n == 0:
            broker.rack = ""
        else:
            stop = pos + n
            broker.rack = data[pos:stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n
            same_2 = data[host_end + 4 : rack_end - rack_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack = row
                if gap != same or gap_2 != same_2:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.cluster_id = None
    elif n == 0:
        message.cluster_id = ""
    else:
        stop = pos + n
        message.cluster_id = data[pos:stop].decode()
        pos = stop
    message.controller_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 9 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xi(data, pos)
        pos += 5
        if n < 0:
            raise Malformed
        if n * 22 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.leader_epoch = -1
            partition.error_code, partition.partition_index, partition.leader_id, n = unpack_hiii(data, pos)
            pos += 14
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.offline_replicas = list(READ_INT32S[n](data, pos))
            else:
                partition.offline_replicas = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            offline_replicas_end = pos
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_3 = data[partitions_start + 10 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_4 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_5 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hii{len(same_3)}s{replica_nodes_size}s{len(same_4)}s{isr_nodes_size}s{len(same_5)}s{offline_replicas_size}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        gap_3,
                        replica_nodes,
                        gap_4,
                        isr_nodes,
                        gap_5,
                        offline_replicas,
                    ) = row_2
                    if gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.offline_replicas = list(offline_replicas_list(offline_replicas))
                    partition.leader_epoch = -1
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations = -2147483648
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v7(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            if n != -1:
                raise Malformed
            broker.rack = None
        elif n == 0:
            broker.rack = ""
        else:
            stop = pos + n
            broker.rack = data[pos:stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n
            same_2 = data[host_end + 4 : rack_end - rack_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack = row
                if gap != same or gap_2 != same_2:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.cluster_id = None
    elif n == 0:
        message.cluster_id = ""
    else:
        stop = pos + n
        message.cluster_id = data[pos:stop].decode()
        pos = stop
    message.controller_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 9 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xi(data, pos)
        pos += 5
        if n < 0:
            raise Malformed
        if n * 26 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.error_code, partition.partition_index, partition.leader_id, partition.leader_epoch, n = unpack_hiiii(data, pos)
            pos += 18
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.offline_replicas = list(READ_INT32S[n](data, pos))
            else:
                partition.offline_replicas = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            offline_replicas_end = pos
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_3 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_4 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_5 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_3)}s{replica_nodes_size}s{len(same_4)}s{isr_nodes_size}s{len(same_5)}s{offline_replicas_size}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_3,
                        replica_nodes,
                        gap_4,
                        isr_nodes,
                        gap_5,
                        offline_replicas,
                    ) = row_2
                    if gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.offline_replicas = list(offline_replicas_list(offline_replicas))
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.topic_authorized_operations = -2147483648
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v8(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos:stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_ih(data, pos)
        pos += 6
        if n < 0:
            if n != -1:
                raise Malformed
            broker.rack = None
        elif n == 0:
            broker.rack = ""
        else:
            stop = pos + n
            broker.rack = data[pos:stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n
            same_2 = data[host_end + 4 : rack_end - rack_size]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack = row
                if gap != same or gap_2 != same_2:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.cluster_id = None
    elif n == 0:
        message.cluster_id = ""
    else:
        stop = pos + n
        message.cluster_id = data[pos:stop].decode()
        pos = stop
    message.controller_id, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 13 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xi(data, pos)
        pos += 5
        if n < 0:
            raise Malformed
        if n * 26 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
            partition.error_code, partition.partition_index, partition.leader_id, partition.leader_epoch, n = unpack_hiiii(data, pos)
            pos += 18
            if n < 0:
                raise Malformed
            if n < 17:
                partition.replica_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.replica_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            replica_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.isr_nodes = list(READ_INT32S[n](data, pos))
            else:
                partition.isr_nodes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            isr_nodes_end = pos
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                partition.offline_replicas = list(READ_INT32S[n](data, pos))
            else:
                partition.offline_replicas = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            offline_replicas_end = pos
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                replica_nodes_size = len(partition.replica_nodes) * 4
                same_3 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_4 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_5 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_3)}s{replica_nodes_size}s{len(same_4)}s{isr_nodes_size}s{len(same_5)}s{offline_replicas_size}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_3,
                        replica_nodes,
                        gap_4,
                        isr_nodes,
                        gap_5,
                        offline_replicas,
                    ) = row_2
                    if gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
                    partition.offline_replicas = list(offline_replicas_list(offline_replicas))
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        (topic.topic_authorized_operations,) = unpack_i(data, pos)
        pos += 4
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.error_code = 0
    (message.cluster_authorized_operations,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v9(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
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
    message.controller_id, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 10 > end - pos:
        raise Malformed
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.is_internal, n = unpack_xn(data, pos)
        pos += 1
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
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
                same_4 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_5 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_6 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                same_7 = data[offline_replicas_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_4)}s{replica_nodes_size}s{len(same_5)}s{isr_nodes_size}s{len(same_6)}s{offline_replicas_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_4,
                        replica_nodes,
                        gap_5,
                        isr_nodes,
                        gap_6,
                        offline_replicas,
                        gap_7,
                    ) = row_2
                    if gap_4 != same_4 or gap_5 != same_5 or gap_6 != same_6 or gap_7 != same_7:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
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
    message.error_code = 0
    message.cluster_authorized_operations, n = unpack_in(data, pos)
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


def _decode_v10(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
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
    message.controller_id, n = unpack_in(data, pos)
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
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
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
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
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
                same_4 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_5 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_6 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                same_7 = data[offline_replicas_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_4)}s{replica_nodes_size}s{len(same_5)}s{isr_nodes_size}s{len(same_6)}s{offline_replicas_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_4,
                        replica_nodes,
                        gap_5,
                        isr_nodes,
                        gap_6,
                        offline_replicas,
                        gap_7,
                    ) = row_2
                    if gap_4 != same_4 or gap_5 != same_5 or gap_6 != same_6 or gap_7 != same_7:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
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
    message.error_code = 0
    message.cluster_authorized_operations, n = unpack_in(data, pos)
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


def _decode_v11(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
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
    message.controller_id, n = unpack_in(data, pos)
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
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
        topic.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
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
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
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
                same_4 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_5 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_6 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                same_7 = data[offline_replicas_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_4)}s{replica_nodes_size}s{len(same_5)}s{isr_nodes_size}s{len(same_6)}s{offline_replicas_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_4,
                        replica_nodes,
                        gap_5,
                        isr_nodes,
                        gap_6,
                        offline_replicas,
                        gap_7,
                    ) = row_2
                    if gap_4 != same_4 or gap_5 != same_5 or gap_6 != same_6 or gap_7 != same_7:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
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
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
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


def _decode_v12(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
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
    message.controller_id, n = unpack_in(data, pos)
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
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
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
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
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
                same_4 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_5 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_6 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                same_7 = data[offline_replicas_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_4)}s{replica_nodes_size}s{len(same_5)}s{isr_nodes_size}s{len(same_6)}s{offline_replicas_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_4,
                        replica_nodes,
                        gap_5,
                        isr_nodes,
                        gap_6,
                        offline_replicas,
                        gap_7,
                    ) = row_2
                    if gap_4 != same_4 or gap_5 != same_5 or gap_6 != same_6 or gap_7 != same_7:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
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
    message.cluster_authorized_operations = -2147483648
    message.error_code = 0
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


def _decode_v13(data: bytes, pos: int) -> MetadataResponse:
    end = len(data)
    message = new(MetadataResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[MetadataResponseBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(MetadataResponseBroker)
        broker.node_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                node_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(MetadataResponseBroker)
                broker.node_id = node_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
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
    message.controller_id, n = unpack_in(data, pos)
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
    topics: list[MetadataResponseTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(MetadataResponseTopic)
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
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[MetadataResponsePartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(MetadataResponsePartition)
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
                same_4 = data[partitions_start + 14 : replica_nodes_end - replica_nodes_size]
                replica_nodes_list = integers("i", len(partition.replica_nodes))
                isr_nodes_size = len(partition.isr_nodes) * 4
                same_5 = data[replica_nodes_end : isr_nodes_end - isr_nodes_size]
                isr_nodes_list = integers("i", len(partition.isr_nodes))
                offline_replicas_size = len(partition.offline_replicas) * 4
                same_6 = data[isr_nodes_end : offline_replicas_end - offline_replicas_size]
                offline_replicas_list = integers("i", len(partition.offline_replicas))
                same_7 = data[offline_replicas_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row_2 in iter_unpack(f">hiii{len(same_4)}s{replica_nodes_size}s{len(same_5)}s{isr_nodes_size}s{len(same_6)}s{offline_replicas_size}s{len(same_7)}s", memoryview(data)[pos:stop]):
                    (
                        error_code,
                        partition_index,
                        leader_id,
                        leader_epoch,
                        gap_4,
                        replica_nodes,
                        gap_5,
                        isr_nodes,
                        gap_6,
                        offline_replicas,
                        gap_7,
                    ) = row_2
                    if gap_4 != same_4 or gap_5 != same_5 or gap_6 != same_6 or gap_7 != same_7:
                        break
                    partition = new(MetadataResponsePartition)
                    partition.error_code = error_code
                    partition.partition_index = partition_index
                    partition.leader_id = leader_id
                    partition.leader_epoch = leader_epoch
                    partition.replica_nodes = list(replica_nodes_list(replica_nodes))
                    partition.isr_nodes = list(isr_nodes_list(isr_nodes))
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
    message.cluster_authorized_operations = -2147483648
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


def _encode_v0(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers)
    out.append(pack_i(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        out += (pack_ih(e2.node_id, n4), b3, pack_i(e2.port))
    n5 = len(m.topics)
    out.append(pack_i(n5))
    for e6 in m.topics:
        if e6.topic_authorized_operations != -2147483648:
            raise EncodeError("TopicAuthorizedOperations is set, which this version lacks")
        v7 = e6.name
        if v7 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b8 = v7.encode()
        n9 = len(b8)
        n10 = len(e6.partitions)
        out += (pack_hh(e6.error_code, n9), b8, pack_i(n10))
        for e11 in e6.partitions:
            n12 = len(e11.replica_nodes)
            n13 = len(e11.isr_nodes)
            out += (
                pack_hiii(e11.error_code, e11.partition_index, e11.leader_id, n12),
                WRITE_INT32S[len(e11.replica_nodes)](*e11.replica_nodes) if len(e11.replica_nodes) < 17 else pack(f">{len(e11.replica_nodes)}i", *e11.replica_nodes),
                pack_i(n13),
                WRITE_INT32S[len(e11.isr_nodes)](*e11.isr_nodes) if len(e11.isr_nodes) < 17 else pack(f">{len(e11.isr_nodes)}i", *e11.isr_nodes),
            )
    return b"".join(out)


def _encode_v1(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers)
    out.append(pack_i(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_ih(e2.node_id, n4), b3, pack_ih(e2.port, n6), b5)
    n8 = len(m.topics)
    out.append(pack_ii(m.controller_id, n8))
    for e9 in m.topics:
        if e9.topic_authorized_operations != -2147483648:
            raise EncodeError("TopicAuthorizedOperations is set, which this version lacks")
        v10 = e9.name
        if v10 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b11 = v10.encode()
        n12 = len(b11)
        n13 = len(e9.partitions)
        out += (pack_hh(e9.error_code, n12), b11, pack_xi(e9.is_internal, n13))
        for e14 in e9.partitions:
            n15 = len(e14.replica_nodes)
            n16 = len(e14.isr_nodes)
            out += (
                pack_hiii(e14.error_code, e14.partition_index, e14.leader_id, n15),
                WRITE_INT32S[len(e14.replica_nodes)](*e14.replica_nodes) if len(e14.replica_nodes) < 17 else pack(f">{len(e14.replica_nodes)}i", *e14.replica_nodes),
                pack_i(n16),
                WRITE_INT32S[len(e14.isr_nodes)](*e14.isr_nodes) if len(e14.isr_nodes) < 17 else pack(f">{len(e14.isr_nodes)}i", *e14.isr_nodes),
            )
    return b"".join(out)


def _encode_v2(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers)
    out.append(pack_i(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_ih(e2.node_id, n4), b3, pack_ih(e2.port, n6), b5)
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = -1
    else:
        b8 = v10.encode()
        n9 = len(b8)
    n11 = len(m.topics)
    out += (pack_h(n9), b8, pack_ii(m.controller_id, n11))
    for e12 in m.topics:
        if e12.topic_authorized_operations != -2147483648:
            raise EncodeError("TopicAuthorizedOperations is set, which this version lacks")
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14)
        n16 = len(e12.partitions)
        out += (pack_hh(e12.error_code, n15), b14, pack_xi(e12.is_internal, n16))
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes)
            n19 = len(e17.isr_nodes)
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                pack_i(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
            )
    return b"".join(out)


def _encode_v3(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_ih(e2.node_id, n4), b3, pack_ih(e2.port, n6), b5)
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = -1
    else:
        b8 = v10.encode()
        n9 = len(b8)
    n11 = len(m.topics)
    out += (pack_h(n9), b8, pack_ii(m.controller_id, n11))
    for e12 in m.topics:
        if e12.topic_authorized_operations != -2147483648:
            raise EncodeError("TopicAuthorizedOperations is set, which this version lacks")
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14)
        n16 = len(e12.partitions)
        out += (pack_hh(e12.error_code, n15), b14, pack_xi(e12.is_internal, n16))
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes)
            n19 = len(e17.isr_nodes)
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                pack_i(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
            )
    return b"".join(out)


def _encode_v5(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_ih(e2.node_id, n4), b3, pack_ih(e2.port, n6), b5)
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = -1
    else:
        b8 = v10.encode()
        n9 = len(b8)
    n11 = len(m.topics)
    out += (pack_h(n9), b8, pack_ii(m.controller_id, n11))
    for e12 in m.topics:
        if e12.topic_authorized_operations != -2147483648:
            raise EncodeError("TopicAuthorizedOperations is set, which this version lacks")
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14)
        n16 = len(e12.partitions)
        out += (pack_hh(e12.error_code, n15), b14, pack_xi(e12.is_internal, n16))
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes)
            n19 = len(e17.isr_nodes)
            n20 = len(e17.offline_replicas)
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                pack_i(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                pack_i(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
            )
    return b"".join(out)


def _encode_v7(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_ih(e2.node_id, n4), b3, pack_ih(e2.port, n6), b5)
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = -1
    else:
        b8 = v10.encode()
        n9 = len(b8)
    n11 = len(m.topics)
    out += (pack_h(n9), b8, pack_ii(m.controller_id, n11))
    for e12 in m.topics:
        if e12.topic_authorized_operations != -2147483648:
            raise EncodeError("TopicAuthorizedOperations is set, which this version lacks")
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14)
        n16 = len(e12.partitions)
        out += (pack_hh(e12.error_code, n15), b14, pack_xi(e12.is_internal, n16))
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes)
            n19 = len(e17.isr_nodes)
            n20 = len(e17.offline_replicas)
            out += (
                pack_hiiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch, n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                pack_i(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                pack_i(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
            )
    return b"".join(out)


def _encode_v8(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.brokers)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3)
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_ih(e2.node_id, n4), b3, pack_ih(e2.port, n6), b5)
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = -1
    else:
        b8 = v10.encode()
        n9 = len(b8)
    n11 = len(m.topics)
    out += (pack_h(n9), b8, pack_ii(m.controller_id, n11))
    for e12 in m.topics:
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14)
        n16 = len(e12.partitions)
        out += (pack_hh(e12.error_code, n15), b14, pack_xi(e12.is_internal, n16))
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes)
            n19 = len(e17.isr_nodes)
            n20 = len(e17.offline_replicas)
            out += (
                pack_hiiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch, n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                pack_i(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                pack_i(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
            )
        out.append(pack_i(e12.topic_authorized_operations))
    out.append(pack_i(m.cluster_authorized_operations))
    return b"".join(out)


def _encode_v9(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.brokers) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3) + 1
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            pack_i(e2.node_id),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.port),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    n11 = len(m.topics) + 1
    out += (
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.controller_id),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.topics:
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14) + 1
        n16 = len(e12.partitions) + 1
        out += (
            pack_h(e12.error_code),
            ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
            b14,
            b"\1" if e12.is_internal else b"\0",
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes) + 1
            n19 = len(e17.isr_nodes) + 1
            n20 = len(e17.offline_replicas) + 1
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch),
                ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
                write_tagged(e17.unknown_tagged_fields) if e17.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e12.topic_authorized_operations),
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_i(m.cluster_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v10(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.brokers) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3) + 1
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            pack_i(e2.node_id),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.port),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    n11 = len(m.topics) + 1
    out += (
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.controller_id),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.topics:
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14) + 1
        if len(e12.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n16 = len(e12.partitions) + 1
        out += (
            pack_h(e12.error_code),
            ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
            b14,
            pack_ux(e12.topic_id, e12.is_internal),
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes) + 1
            n19 = len(e17.isr_nodes) + 1
            n20 = len(e17.offline_replicas) + 1
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch),
                ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
                write_tagged(e17.unknown_tagged_fields) if e17.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e12.topic_authorized_operations),
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_i(m.cluster_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v11(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3) + 1
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            pack_i(e2.node_id),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.port),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    n11 = len(m.topics) + 1
    out += (
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.controller_id),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.topics:
        v13 = e12.name
        if v13 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b14 = v13.encode()
        n15 = len(b14) + 1
        if len(e12.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n16 = len(e12.partitions) + 1
        out += (
            pack_h(e12.error_code),
            ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
            b14,
            pack_ux(e12.topic_id, e12.is_internal),
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes) + 1
            n19 = len(e17.isr_nodes) + 1
            n20 = len(e17.offline_replicas) + 1
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch),
                ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
                write_tagged(e17.unknown_tagged_fields) if e17.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e12.topic_authorized_operations),
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v12(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3) + 1
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            pack_i(e2.node_id),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.port),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    n11 = len(m.topics) + 1
    out += (
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.controller_id),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.topics:
        v15 = e12.name
        if v15 is None:
            b13 = b""
            n14 = 0
        else:
            b13 = v15.encode()
            n14 = len(b13) + 1
        if len(e12.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n16 = len(e12.partitions) + 1
        out += (
            pack_h(e12.error_code),
            ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
            b13,
            pack_ux(e12.topic_id, e12.is_internal),
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes) + 1
            n19 = len(e17.isr_nodes) + 1
            n20 = len(e17.offline_replicas) + 1
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch),
                ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
                write_tagged(e17.unknown_tagged_fields) if e17.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e12.topic_authorized_operations),
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v13(m: MetadataResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.cluster_authorized_operations != -2147483648:
        raise EncodeError("ClusterAuthorizedOperations is set, which this version lacks")
    n1 = len(m.brokers) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.brokers:
        b3 = e2.host.encode()
        n4 = len(b3) + 1
        v7 = e2.rack
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            pack_i(e2.node_id),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.port),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    v10 = m.cluster_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    n11 = len(m.topics) + 1
    out += (
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.controller_id),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e12 in m.topics:
        v15 = e12.name
        if v15 is None:
            b13 = b""
            n14 = 0
        else:
            b13 = v15.encode()
            n14 = len(b13) + 1
        if len(e12.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n16 = len(e12.partitions) + 1
        out += (
            pack_h(e12.error_code),
            ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
            b13,
            pack_ux(e12.topic_id, e12.is_internal),
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e12.partitions:
            n18 = len(e17.replica_nodes) + 1
            n19 = len(e17.isr_nodes) + 1
            n20 = len(e17.offline_replicas) + 1
            out += (
                pack_hiii(e17.error_code, e17.partition_index, e17.leader_id, e17.leader_epoch),
                ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18),
                WRITE_INT32S[len(e17.replica_nodes)](*e17.replica_nodes) if len(e17.replica_nodes) < 17 else pack(f">{len(e17.replica_nodes)}i", *e17.replica_nodes),
                ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
                WRITE_INT32S[len(e17.isr_nodes)](*e17.isr_nodes) if len(e17.isr_nodes) < 17 else pack(f">{len(e17.isr_nodes)}i", *e17.isr_nodes),
                ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20),
                WRITE_INT32S[len(e17.offline_replicas)](*e17.offline_replicas) if len(e17.offline_replicas) < 17 else pack(f">{len(e17.offline_replicas)}i", *e17.offline_replicas),
                write_tagged(e17.unknown_tagged_fields) if e17.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e12.topic_authorized_operations),
            write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
        )
    out += (pack_h(m.error_code), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


MetadataResponseBroker.FIELDS = (
    Field("node_id", "NodeId", "int32", (0, 13), entity="brokerId"),
    Field("host", "Host", "string", (0, 13)),
    Field("port", "Port", "int32", (0, 13)),
    Field("rack", "Rack", "string", (1, 13), nullable=(1, 13), ignorable=True),
)
MetadataResponsePartition.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 13)),
    Field("partition_index", "PartitionIndex", "int32", (0, 13)),
    Field("leader_id", "LeaderId", "int32", (0, 13), entity="brokerId"),
    Field("leader_epoch", "LeaderEpoch", "int32", (7, 13), ignorable=True),
    Field("replica_nodes", "ReplicaNodes", "int32", (0, 13), is_array=True, entity="brokerId"),
    Field("isr_nodes", "IsrNodes", "int32", (0, 13), is_array=True, entity="brokerId"),
    Field("offline_replicas", "OfflineReplicas", "int32", (5, 13), is_array=True, entity="brokerId", ignorable=True),
)
MetadataResponseTopic.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 13)),
    Field("name", "Name", "string", (0, 13), nullable=(12, 13), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (10, 13), ignorable=True),
    Field("is_internal", "IsInternal", "bool", (1, 13), ignorable=True),
    Field("partitions", "Partitions", "struct", (0, 13), is_array=True, struct=MetadataResponsePartition),
    Field("topic_authorized_operations", "TopicAuthorizedOperations", "int32", (8, 13)),
)
MetadataResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (3, 13), ignorable=True),
    Field("brokers", "Brokers", "struct", (0, 13), is_array=True, struct=MetadataResponseBroker),
    Field("cluster_id", "ClusterId", "string", (2, 13), nullable=(2, 13), ignorable=True),
    Field("controller_id", "ControllerId", "int32", (1, 13), entity="brokerId", ignorable=True),
    Field("topics", "Topics", "struct", (0, 13), is_array=True, struct=MetadataResponseTopic),
    Field("cluster_authorized_operations", "ClusterAuthorizedOperations", "int32", (8, 10)),
    Field("error_code", "ErrorCode", "int16", (13, 13), ignorable=True),
)
MetadataResponse.NAME = "MetadataResponse"
MetadataResponse.API_KEY = 3
MetadataResponse.MIN_VERSION = 0
MetadataResponse.MAX_VERSION = 13
MetadataResponse.FLEXIBLE_FROM = 9
MetadataResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v2,
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v5,
    6: _decode_v5,
    7: _decode_v7,
    8: _decode_v8,
    9: _decode_v9,
    10: _decode_v10,
    11: _decode_v11,
    12: _decode_v12,
    13: _decode_v13,
}
MetadataResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v2,
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v5,
    6: _encode_v5,
    7: _encode_v7,
    8: _encode_v8,
    9: _encode_v9,
    10: _encode_v10,
    11: _encode_v11,
    12: _encode_v12,
    13: _encode_v13,
}
