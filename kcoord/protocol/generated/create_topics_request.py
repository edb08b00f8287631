# Generated from schemas/message/CreateTopicsRequest.json by `python -m schemas.generator`. Do not edit.
"""CreateTopicsRequest, a request, versions 2-7."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
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
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_ix = Format(">i?").unpack_from
unpack_ixn = Format(">i?B").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ihi = Format(">ihi").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ix = Format(">i?").pack
pack_ih = Format(">ih").pack
pack_ihi = Format(">ihi").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class CreatableReplicaAssignment(Struct):
    partition_index: int = 0
    """The partition's number."""
    broker_ids: list[int] = attrs.Factory(list)
    """The brokers of its replicas."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreatableTopicConfig(Struct):
    name: str = ""
    """The setting's name."""
    value: str | None = ""
    """Its value."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreatableTopic(Struct):
    name: str = ""
    """The topic's name."""
    num_partitions: int = 0
    """How many partitions; -1 where they are assigned by hand, or as many as the broker gives by itself."""
    replication_factor: int = 0
    """How many replicas of each partition; -1 where they are assigned by hand, or as the broker does by itself."""
    assignments: list[CreatableReplicaAssignment] = attrs.Factory(list)
    """Where the replicas of each partition go; empty: the broker decides."""
    configs: list[CreatableTopicConfig] = attrs.Factory(list)
    """Settings of the topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreateTopicsRequest(Request):
    """Creates topics."""

    topics: list[CreatableTopic] = attrs.Factory(list)
    """The topics."""
    timeout_ms: int = 60000
    """How long the answer may take, in ms."""
    validate_only: bool = False
    """Whether the topics are only checked."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v2(data: bytes, pos: int) -> CreateTopicsRequest:
    end = len(data)
    message = new(CreateTopicsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 16 > end - pos:
        raise Malformed
    topics: list[CreatableTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(CreatableTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        topic.num_partitions, topic.replication_factor, n = unpack_ihi(data, pos)
        pos += 10
        if n < 0:
            raise Malformed
        if n * 8 > end - pos:
            raise Malformed
        assignments: list[CreatableReplicaAssignment] = []
        assignments_left = n
        assignments_tries = 4
        while assignments_left:
            assignments_start = pos
            assignment = new(CreatableReplicaAssignment)
            assignment.partition_index, n = unpack_ii(data, pos)
            pos += 8
            if n < 0:
                raise Malformed
            if n < 17:
                assignment.broker_ids = list(READ_INT32S[n](data, pos))
            else:
                assignment.broker_ids = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            broker_ids_end = pos
            assignment.unknown_tagged_fields = ()
            assignments.append(assignment)
            assignments_left -= 1
            if assignments_tries and assignments_left >= 12:
                broker_ids_size = len(assignment.broker_ids) * 4
                same = data[assignments_start + 4 : broker_ids_end - broker_ids_size]
                broker_ids_list = integers("i", len(assignment.broker_ids))
                assignments_unknown = assignment.unknown_tagged_fields
                assignments_done = len(assignments)
                assignments_size = pos - assignments_start
                stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
                for row in iter_unpack(f">i{len(same)}s{broker_ids_size}s", memoryview(data)[pos:stop]):
                    partition_index, gap, broker_ids = row
                    if gap != same:
                        break
                    assignment = new(CreatableReplicaAssignment)
                    assignment.partition_index = partition_index
                    assignment.broker_ids = list(broker_ids_list(broker_ids))
                    assignment.unknown_tagged_fields = assignments_unknown
                    assignments.append(assignment)
                assignments_done = len(assignments) - assignments_done
                pos += assignments_done * assignments_size
                assignments_left -= assignments_done
                if not assignments_done:
                    assignments_tries -= 1
        topic.assignments = assignments
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 4 > end - pos:
            raise Malformed
        configs: list[CreatableTopicConfig] = []
        configs_left = n
        configs_tries = 4
        while configs_left:
            configs_start = pos
            config = new(CreatableTopicConfig)
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos:stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                if n != -1:
                    raise Malformed
                config.value = None
            elif n == 0:
                config.value = ""
            else:
                stop = pos + n
                config.value = data[pos:stop].decode()
                pos = stop
            value_end = pos
            value_n = n
            config.unknown_tagged_fields = ()
            configs.append(config)
            configs_left -= 1
            if configs_tries and configs_left >= 12:
                name_size = name_n
                same_2 = data[configs_start : name_end - name_size]
                value_null = config.value is None
                value_size = 0 if config.value is None else value_n
                same_3 = data[name_end : value_end - value_size]
                configs_unknown = config.unknown_tagged_fields
                configs_done = len(configs)
                configs_size = pos - configs_start
                stop = pos + min(configs_left, (end - pos) // configs_size) * configs_size
                for row_2 in iter_unpack(f">{len(same_2)}s{name_size}s{len(same_3)}s{value_size}s", memoryview(data)[pos:stop]):
                    gap_2, name, gap_3, value = row_2
                    if gap_2 != same_2 or gap_3 != same_3:
                        break
                    config = new(CreatableTopicConfig)
                    config.name = name.decode() if name else ""
                    config.value = None if value_null else value.decode() if value else ""
                    config.unknown_tagged_fields = configs_unknown
                    configs.append(config)
                configs_done = len(configs) - configs_done
                pos += configs_done * configs_size
                configs_left -= configs_done
                if not configs_done:
                    configs_tries -= 1
        topic.configs = configs
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.timeout_ms, message.validate_only = unpack_ix(data, pos)
    pos += 5
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> CreateTopicsRequest:
    end = len(data)
    message = new(CreateTopicsRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 10 > end - pos:
        raise Malformed
    topics: list[CreatableTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(CreatableTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.num_partitions, topic.replication_factor, n = unpack_ihn(data, pos)
        pos += 6
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 6 > end - pos:
            raise Malformed
        assignments: list[CreatableReplicaAssignment] = []
        assignments_left = n
        assignments_tries = 4
        while assignments_left:
            assignments_start = pos
            assignment = new(CreatableReplicaAssignment)
            assignment.partition_index, n = unpack_in(data, pos)
            pos += 4
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                assignment.broker_ids = list(READ_INT32S[n](data, pos))
            else:
                assignment.broker_ids = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            broker_ids_end = pos
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                assignment.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                assignment.unknown_tagged_fields = ()
                pos += 1
            assignments.append(assignment)
            assignments_left -= 1
            if assignments_tries and assignments_left >= 12:
                broker_ids_size = len(assignment.broker_ids) * 4
                same = data[assignments_start + 4 : broker_ids_end - broker_ids_size]
                broker_ids_list = integers("i", len(assignment.broker_ids))
                same_2 = data[broker_ids_end : pos]
                assignments_unknown = assignment.unknown_tagged_fields
                assignments_done = len(assignments)
                assignments_size = pos - assignments_start
                stop = pos + min(assignments_left, (end - pos) // assignments_size) * assignments_size
                for row in iter_unpack(f">i{len(same)}s{broker_ids_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    partition_index, gap, broker_ids, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    assignment = new(CreatableReplicaAssignment)
                    assignment.partition_index = partition_index
                    assignment.broker_ids = list(broker_ids_list(broker_ids))
                    assignment.unknown_tagged_fields = assignments_unknown
                    assignments.append(assignment)
                assignments_done = len(assignments) - assignments_done
                pos += assignments_done * assignments_size
                assignments_left -= assignments_done
                if not assignments_done:
                    assignments_tries -= 1
        topic.assignments = assignments
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
        configs: list[CreatableTopicConfig] = []
        configs_left = n
        configs_tries = 4
        while configs_left:
            configs_start = pos
            config = new(CreatableTopicConfig)
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos + 1 : stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                config.value = None
                pos += 1
            elif n == 1:
                config.value = ""
                pos += 1
            else:
                stop = pos + n
                config.value = data[pos + 1 : stop].decode()
                pos = stop
            value_end = pos
            value_n = n
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                config.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                config.unknown_tagged_fields = ()
                pos += 1
            configs.append(config)
            configs_left -= 1
            if configs_tries and configs_left >= 12:
                name_size = name_n - 1
                same_3 = data[configs_start : name_end - name_size]
                value_null = config.value is None
                value_size = 0 if config.value is None else value_n - 1
                same_4 = data[name_end : value_end - value_size]
                same_5 = data[value_end : pos]
                configs_unknown = config.unknown_tagged_fields
                configs_done = len(configs)
                configs_size = pos - configs_start
                stop = pos + min(configs_left, (end - pos) // configs_size) * configs_size
                for row_2 in iter_unpack(f">{len(same_3)}s{name_size}s{len(same_4)}s{value_size}s{len(same_5)}s", memoryview(data)[pos:stop]):
                    gap_3, name, gap_4, value, gap_5 = row_2
                    if gap_3 != same_3 or gap_4 != same_4 or gap_5 != same_5:
                        break
                    config = new(CreatableTopicConfig)
                    config.name = name.decode() if name else ""
                    config.value = None if value_null else value.decode() if value else ""
                    config.unknown_tagged_fields = configs_unknown
                    configs.append(config)
                configs_done = len(configs) - configs_done
                pos += configs_done * configs_size
                configs_left -= configs_done
                if not configs_done:
                    configs_tries -= 1
        topic.configs = configs
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
    message.timeout_ms, message.validate_only, n = unpack_ixn(data, pos)
    pos += 5
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v2(m: CreateTopicsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_i(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3)
        n5 = len(e2.assignments)
        out += (pack_h(n4), b3, pack_ihi(e2.num_partitions, e2.replication_factor, n5))
        for e6 in e2.assignments:
            n7 = len(e6.broker_ids)
            out += (
                pack_ii(e6.partition_index, n7),
                WRITE_INT32S[len(e6.broker_ids)](*e6.broker_ids) if len(e6.broker_ids) < 17 else pack(f">{len(e6.broker_ids)}i", *e6.broker_ids),
            )
        n8 = len(e2.configs)
        out.append(pack_i(n8))
        for e9 in e2.configs:
            b10 = e9.name.encode()
            n11 = len(b10)
            v14 = e9.value
            if v14 is None:
                b12 = b""
                n13 = -1
            else:
                b12 = v14.encode()
                n13 = len(b12)
            out += (pack_h(n11), b10, pack_h(n13), b12)
    out.append(pack_ix(m.timeout_ms, m.validate_only))
    return b"".join(out)


def _encode_v5(m: CreateTopicsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        n5 = len(e2.assignments) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_ih(e2.num_partitions, e2.replication_factor),
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.assignments:
            n7 = len(e6.broker_ids) + 1
            out += (
                pack_i(e6.partition_index),
                ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
                WRITE_INT32S[len(e6.broker_ids)](*e6.broker_ids) if len(e6.broker_ids) < 17 else pack(f">{len(e6.broker_ids)}i", *e6.broker_ids),
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        n8 = len(e2.configs) + 1
        out.append(ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8))
        for e9 in e2.configs:
            b10 = e9.name.encode()
            n11 = len(b10) + 1
            v14 = e9.value
            if v14 is None:
                b12 = b""
                n13 = 0
            else:
                b12 = v14.encode()
                n13 = len(b12) + 1
            out += (
                ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
                b10,
                ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
                b12,
                write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        pack_ix(m.timeout_ms, m.validate_only),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


CreatableReplicaAssignment.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (2, 7)),
    Field("broker_ids", "BrokerIds", "int32", (2, 7), is_array=True, entity="brokerId"),
)
CreatableTopicConfig.FIELDS = (
    Field("name", "Name", "string", (2, 7)),
    Field("value", "Value", "string", (2, 7), nullable=(2, 7)),
)
CreatableTopic.FIELDS = (
    Field("name", "Name", "string", (2, 7), entity="topicName"),
    Field("num_partitions", "NumPartitions", "int32", (2, 7)),
    Field("replication_factor", "ReplicationFactor", "int16", (2, 7)),
    Field("assignments", "Assignments", "struct", (2, 7), is_array=True, struct=CreatableReplicaAssignment),
    Field("configs", "Configs", "struct", (2, 7), is_array=True, struct=CreatableTopicConfig),
)
CreateTopicsRequest.FIELDS = (
    Field("topics", "Topics", "struct", (2, 7), is_array=True, struct=CreatableTopic),
    Field("timeout_ms", "timeoutMs", "int32", (2, 7)),
    Field("validate_only", "validateOnly", "bool", (2, 7)),
)
CreateTopicsRequest.NAME = "CreateTopicsRequest"
CreateTopicsRequest.API_KEY = 19
CreateTopicsRequest.MIN_VERSION = 2
CreateTopicsRequest.MAX_VERSION = 7
CreateTopicsRequest.FLEXIBLE_FROM = 5
CreateTopicsRequest._DECODERS = {
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v2,
    5: _decode_v5,
    6: _decode_v5,
    7: _decode_v5,
}
CreateTopicsRequest._ENCODERS = {
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v2,
    5: _encode_v5,
    6: _encode_v5,
    7: _encode_v5,
}
