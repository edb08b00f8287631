# Generated from schemas/message/StreamsGroupDescribeResponse.json by `python -m schemas.generator`. Do not edit.
"""StreamsGroupDescribeResponse, a response, versions 0."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_xn = Format(">?B").unpack_from
unpack_wn = Format(">HB").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_iqn = Format(">iqB").unpack_from
pack_w = Format(">H").pack
pack_b = Format(">b").pack
pack_bi = Format(">bi").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack
pack_iq = Format(">iq").pack


@attrs.define(slots=True, weakref_slot=False)
class KeyValue(Struct):
    key: str = ""
    """The name."""
    value: str = ""
    """The value."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TopicInfo(Struct):
    name: str = ""
    """The topic's name."""
    partitions: int = 0
    """How many partitions the topic has; 0 where that follows from others."""
    replication_factor: int = 0
    """How many replicas the topic should have; 0 is the broker's default."""
    topic_configs: list[KeyValue] = attrs.Factory(list)
    """Settings of the topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Subtopology(Struct):
    subtopology_id: str = ""
    """The part of the topology."""
    source_topics: list[str] = attrs.Factory(list)
    """Topics that it reads."""
    repartition_sink_topics: list[str] = attrs.Factory(list)
    """Repartition topics that it writes."""
    state_changelog_topics: list[TopicInfo] = attrs.Factory(list)
    """Topics that hold its state."""
    repartition_source_topics: list[TopicInfo] = attrs.Factory(list)
    """Repartition topics that it reads."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Topology(Struct):
    epoch: int = 0
    """The topology's epoch."""
    subtopologies: list[Subtopology] | None = None
    """The independent parts of the topology."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Endpoint(Struct):
    host: str = ""
    """The host that the application can be queried at."""
    port: int = 0
    """The port that the application can be queried at."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TaskOffset(Struct):
    subtopology_id: str = ""
    """The part of the topology."""
    partition: int = 0
    """The partition's number."""
    offset: int = 0
    """The offset in the changelog."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TaskIds(Struct):
    subtopology_id: str = ""
    """The part of the topology."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Assignment(Struct):
    active_tasks: list[TaskIds] = attrs.Factory(list)
    """Tasks that process; null: as before."""
    standby_tasks: list[TaskIds] = attrs.Factory(list)
    """Tasks that keep a warm copy; null: as before."""
    warmup_tasks: list[TaskIds] = attrs.Factory(list)
    """Tasks that build a copy, to become active later; null: as before."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Member(Struct):
    member_id: str = ""
    """The member's id."""
    member_epoch: int = 0
    """The epoch that the member has reached."""
    instance_id: str | None = None
    """The member's static name, or null."""
    rack_id: str | None = None
    """The client's rack, or null."""
    client_id: str = ""
    """The client id that the member gave in its request headers."""
    client_host: str = ""
    """The address that the member connects from, with a leading slash."""
    topology_epoch: int = 0
    """The epoch of the topology that the member runs."""
    process_id: str = ""
    """Tells members of one process from others."""
    user_endpoint: Endpoint | None = None
    """Where the application answers queries; null: nowhere, or as before."""
    client_tags: list[KeyValue] = attrs.Factory(list)
    """Labels of the member that the assignor may go by; null: as before."""
    task_offsets: list[TaskOffset] = attrs.Factory(list)
    """How far the copies of the tasks are; null: as before."""
    task_end_offsets: list[TaskOffset] = attrs.Factory(list)
    """Where the changelogs of the tasks end; null: as before."""
    assignment: Assignment = attrs.Factory(Assignment)
    """What the member runs now."""
    target_assignment: Assignment = attrs.Factory(Assignment)
    """What the member is moving towards."""
    is_classic: bool = False
    """Whether the member still speaks the classic protocol."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribedGroup(Struct):
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    group_id: str = ""
    """The group's id."""
    group_state: str = ""
    """The state as a word, e.g. Stable or Empty."""
    group_epoch: int = 0
    """The group's epoch: moves on when members, subscriptions or topics change."""
    assignment_epoch: int = 0
    """The epoch of the target assignment."""
    topology: Topology | None = None
    """The topology, or null before it is known."""
    members: list[Member] = attrs.Factory(list)
    """The members."""
    authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the group; the lowest int32 when not asked for."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class StreamsGroupDescribeResponse(Response):
    """The state, the topology and the members of streams groups."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    groups: list[DescribedGroup] = attrs.Factory(list)
    """One entry for each group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_key_value_v0(data: bytes, pos: int) -> tuple[KeyValue, int]:
    result = new(KeyValue)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.key = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.value = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_topic_info_v0(data: bytes, pos: int) -> tuple[TopicInfo, int]:
    end = len(data)
    result = new(TopicInfo)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.name = data[pos + 1 : stop].decode()
    pos = stop
    result.partitions, result.replication_factor, n = unpack_ihn(data, pos)
    pos += 6
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topic_configs: list[KeyValue] = []
    topic_configs_count = n
    for _ in range(topic_configs_count):
        topic_config, pos = _decode_key_value_v0(data, pos)
        topic_configs.append(topic_config)
    result.topic_configs = topic_configs
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_endpoint_v0(data: bytes, pos: int) -> tuple[Endpoint, int]:
    result = new(Endpoint)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.host = data[pos + 1 : stop].decode()
    pos = stop
    result.port, n = unpack_wn(data, pos)
    pos += 2
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_task_offset_v0(data: bytes, pos: int) -> tuple[TaskOffset, int]:
    result = new(TaskOffset)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.subtopology_id = data[pos + 1 : stop].decode()
    pos = stop
    result.partition, result.offset, n = unpack_iqn(data, pos)
    pos += 12
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_task_ids_v0(data: bytes, pos: int) -> tuple[TaskIds, int]:
    result = new(TaskIds)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.subtopology_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
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


def _decode_assignment_v0(data: bytes, pos: int) -> tuple[Assignment, int]:
    end = len(data)
    result = new(Assignment)
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
    active_tasks: list[TaskIds] = []
    active_tasks_count = n
    for _ in range(active_tasks_count):
        active_task, pos = _decode_task_ids_v0(data, pos)
        active_tasks.append(active_task)
    result.active_tasks = active_tasks
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
    standby_tasks: list[TaskIds] = []
    standby_tasks_count = n
    for _ in range(standby_tasks_count):
        standby_task, pos = _decode_task_ids_v0(data, pos)
        standby_tasks.append(standby_task)
    result.standby_tasks = standby_tasks
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
    warmup_tasks: list[TaskIds] = []
    warmup_tasks_count = n
    for _ in range(warmup_tasks_count):
        warmup_task, pos = _decode_task_ids_v0(data, pos)
        warmup_tasks.append(warmup_task)
    result.warmup_tasks = warmup_tasks
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v0(data: bytes, pos: int) -> StreamsGroupDescribeResponse:
    end = len(data)
    message = new(StreamsGroupDescribeResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 20 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            group.error_message = None
            pos += 1
        elif n == 1:
            group.error_message = ""
            pos += 1
        else:
            stop = pos + n
            group.error_message = data[pos + 1 : stop].decode()
            pos = stop
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
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos + 1 : stop].decode()
        pos = stop
        group.group_epoch, group.assignment_epoch, n = unpack_iin(data, pos)
        pos += 8
        pos += 1
        if n > 127:
            group.topology = None
        else:
            topology = new(Topology)
            topology.epoch, n = unpack_in(data, pos)
            pos += 4
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                topology.subtopologies = None
            else:
                n -= 1
                if n * 6 > end - pos:
                    raise Malformed
                subtopologies: list[Subtopology] = []
                subtopologies_count = n
                for _ in range(subtopologies_count):
                    subtopology = new(Subtopology)
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    subtopology.subtopology_id = data[pos + 1 : stop].decode()
                    pos = stop
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n > end - pos:
                        raise Malformed
                    source_topics: list[str] = []
                    source_topics_count = n
                    for _ in range(source_topics_count):
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        source_topic = data[pos + 1 : stop].decode()
                        pos = stop
                        source_topics.append(source_topic)
                    subtopology.source_topics = source_topics
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n > end - pos:
                        raise Malformed
                    repartition_sink_topics: list[str] = []
                    repartition_sink_topics_count = n
                    for _ in range(repartition_sink_topics_count):
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        repartition_sink_topic = data[pos + 1 : stop].decode()
                        pos = stop
                        repartition_sink_topics.append(repartition_sink_topic)
                    subtopology.repartition_sink_topics = repartition_sink_topics
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n * 9 > end - pos:
                        raise Malformed
                    state_changelog_topics: list[TopicInfo] = []
                    state_changelog_topics_count = n
                    for _ in range(state_changelog_topics_count):
                        state_changelog_topic, pos = _decode_topic_info_v0(data, pos)
                        state_changelog_topics.append(state_changelog_topic)
                    subtopology.state_changelog_topics = state_changelog_topics
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n * 9 > end - pos:
                        raise Malformed
                    repartition_source_topics: list[TopicInfo] = []
                    repartition_source_topics_count = n
                    for _ in range(repartition_source_topics_count):
                        repartition_source_topic, pos = _decode_topic_info_v0(data, pos)
                        repartition_source_topics.append(repartition_source_topic)
                    subtopology.repartition_source_topics = repartition_source_topics
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        subtopology.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        subtopology.unknown_tagged_fields = ()
                        pos += 1
                    subtopologies.append(subtopology)
                topology.subtopologies = subtopologies
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                topology.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                topology.unknown_tagged_fields = ()
                pos += 1
            group.topology = topology
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 28 > end - pos:
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
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.client_id = data[pos + 1 : stop].decode()
            pos = stop
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos + 1 : stop].decode()
            pos = stop
            member.topology_epoch, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.process_id = data[pos + 1 : stop].decode()
            pos = stop
            n = data[pos]
            pos += 1
            if n > 127:
                member.user_endpoint = None
            else:
                member.user_endpoint, pos = _decode_endpoint_v0(data, pos)
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
            client_tags: list[KeyValue] = []
            client_tags_count = n
            for _ in range(client_tags_count):
                client_tag, pos = _decode_key_value_v0(data, pos)
                client_tags.append(client_tag)
            member.client_tags = client_tags
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 14 > end - pos:
                raise Malformed
            task_offsets: list[TaskOffset] = []
            task_offsets_count = n
            for _ in range(task_offsets_count):
                task_offset, pos = _decode_task_offset_v0(data, pos)
                task_offsets.append(task_offset)
            member.task_offsets = task_offsets
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 14 > end - pos:
                raise Malformed
            task_end_offsets: list[TaskOffset] = []
            task_end_offsets_count = n
            for _ in range(task_end_offsets_count):
                task_end_offset, pos = _decode_task_offset_v0(data, pos)
                task_end_offsets.append(task_end_offset)
            member.task_end_offsets = task_end_offsets
            member.assignment, pos = _decode_assignment_v0(data, pos)
            member.target_assignment, pos = _decode_assignment_v0(data, pos)
            member.is_classic, n = unpack_xn(data, pos)
            pos += 1
            if n:
                n, pos = read_uvarint(data, pos)
                member.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                member.unknown_tagged_fields = ()
                pos += 1
            members.append(member)
        group.members = members
        group.authorized_operations, n = unpack_in(data, pos)
        pos += 4
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


def _encode_key_value_v0(out: list[bytes | memoryview], m: KeyValue) -> None:
    b1 = m.key.encode()
    n2 = len(b1) + 1
    b3 = m.value.encode()
    n4 = len(b3) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_topic_info_v0(out: list[bytes | memoryview], m: TopicInfo) -> None:
    b1 = m.name.encode()
    n2 = len(b1) + 1
    n3 = len(m.topic_configs) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_ih(m.partitions, m.replication_factor),
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
    )
    for e4 in m.topic_configs:
        _encode_key_value_v0(out, e4)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")


def _encode_endpoint_v0(out: list[bytes | memoryview], m: Endpoint) -> None:
    b1 = m.host.encode()
    n2 = len(b1) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_w(m.port),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_task_offset_v0(out: list[bytes | memoryview], m: TaskOffset) -> None:
    b1 = m.subtopology_id.encode()
    n2 = len(b1) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_iq(m.partition, m.offset),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_task_ids_v0(out: list[bytes | memoryview], m: TaskIds) -> None:
    b1 = m.subtopology_id.encode()
    n2 = len(b1) + 1
    n3 = len(m.partitions) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_assignment_v0(out: list[bytes | memoryview], m: Assignment) -> None:
    n1 = len(m.active_tasks) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.active_tasks:
        _encode_task_ids_v0(out, e2)
    n3 = len(m.standby_tasks) + 1
    out.append(ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
    for e4 in m.standby_tasks:
        _encode_task_ids_v0(out, e4)
    n5 = len(m.warmup_tasks) + 1
    out.append(ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
    for e6 in m.warmup_tasks:
        _encode_task_ids_v0(out, e6)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")


def _encode_v0(m: StreamsGroupDescribeResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        b6 = e2.group_id.encode()
        n7 = len(b6) + 1
        b8 = e2.group_state.encode()
        n9 = len(b8) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_ii(e2.group_epoch, e2.assignment_epoch),
        )
        s10 = e2.topology
        if s10 is None:
            out.append(b"\xff")
        else:
            a12 = s10.subtopologies
            n11 = 0 if a12 is None else len(a12) + 1
            out += (pack_bi(1, s10.epoch), ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11))
            for e13 in a12 or ():
                b14 = e13.subtopology_id.encode()
                n15 = len(b14) + 1
                n16 = len(e13.source_topics) + 1
                out += (
                    ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
                    b14,
                    ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
                )
                for e17 in e13.source_topics:
                    b18 = e17.encode()
                    n19 = len(b18) + 1
                    out += (ONE_BYTE[n19] if n19 < 128 else write_string_length(n19), b18)
                n20 = len(e13.repartition_sink_topics) + 1
                out.append(ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20))
                for e21 in e13.repartition_sink_topics:
                    b22 = e21.encode()
                    n23 = len(b22) + 1
                    out += (ONE_BYTE[n23] if n23 < 128 else write_string_length(n23), b22)
                n24 = len(e13.state_changelog_topics) + 1
                out.append(ONE_BYTE[n24] if n24 < 128 else write_uvarint(n24))
                for e25 in e13.state_changelog_topics:
                    _encode_topic_info_v0(out, e25)
                n26 = len(e13.repartition_source_topics) + 1
                out.append(ONE_BYTE[n26] if n26 < 128 else write_uvarint(n26))
                for e27 in e13.repartition_source_topics:
                    _encode_topic_info_v0(out, e27)
                out.append(write_tagged(e13.unknown_tagged_fields) if e13.unknown_tagged_fields else b"\0")
            out.append(write_tagged(s10.unknown_tagged_fields) if s10.unknown_tagged_fields else b"\0")
        n28 = len(e2.members) + 1
        out.append(ONE_BYTE[n28] if n28 < 128 else write_uvarint(n28))
        for e29 in e2.members:
            b30 = e29.member_id.encode()
            n31 = len(b30) + 1
            v34 = e29.instance_id
            if v34 is None:
                b32 = b""
                n33 = 0
            else:
                b32 = v34.encode()
                n33 = len(b32) + 1
            v37 = e29.rack_id
            if v37 is None:
                b35 = b""
                n36 = 0
            else:
                b35 = v37.encode()
                n36 = len(b35) + 1
            b38 = e29.client_id.encode()
            n39 = len(b38) + 1
            b40 = e29.client_host.encode()
            n41 = len(b40) + 1
            b42 = e29.process_id.encode()
            n43 = len(b42) + 1
            out += (
                ONE_BYTE[n31] if n31 < 128 else write_string_length(n31),
                b30,
                pack_i(e29.member_epoch),
                ONE_BYTE[n33] if n33 < 128 else write_string_length(n33),
                b32,
                ONE_BYTE[n36] if n36 < 128 else write_string_length(n36),
                b35,
                ONE_BYTE[n39] if n39 < 128 else write_string_length(n39),
                b38,
                ONE_BYTE[n41] if n41 < 128 else write_string_length(n41),
                b40,
                pack_i(e29.topology_epoch),
                ONE_BYTE[n43] if n43 < 128 else write_string_length(n43),
                b42,
            )
            s44 = e29.user_endpoint
            if s44 is None:
                out.append(b"\xff")
            else:
                out.append(pack_b(1))
                _encode_endpoint_v0(out, s44)
            n45 = len(e29.client_tags) + 1
            out.append(ONE_BYTE[n45] if n45 < 128 else write_uvarint(n45))
            for e46 in e29.client_tags:
                _encode_key_value_v0(out, e46)
            n47 = len(e29.task_offsets) + 1
            out.append(ONE_BYTE[n47] if n47 < 128 else write_uvarint(n47))
            for e48 in e29.task_offsets:
                _encode_task_offset_v0(out, e48)
            n49 = len(e29.task_end_offsets) + 1
            out.append(ONE_BYTE[n49] if n49 < 128 else write_uvarint(n49))
            for e50 in e29.task_end_offsets:
                _encode_task_offset_v0(out, e50)
            _encode_assignment_v0(out, e29.assignment)
            _encode_assignment_v0(out, e29.target_assignment)
            out += (
                b"\1" if e29.is_classic else b"\0",
                write_tagged(e29.unknown_tagged_fields) if e29.unknown_tagged_fields else b"\0",
            )
        out += (
            pack_i(e2.authorized_operations),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


KeyValue.FIELDS = (
    Field("key", "Key", "string", (0, 0)),
    Field("value", "Value", "string", (0, 0)),
)
TopicInfo.FIELDS = (
    Field("name", "Name", "string", (0, 0), entity="topicName"),
    Field("partitions", "Partitions", "int32", (0, 0)),
    Field("replication_factor", "ReplicationFactor", "int16", (0, 0)),
    Field("topic_configs", "TopicConfigs", "struct", (0, 0), is_array=True, struct=KeyValue),
)
Subtopology.FIELDS = (
    Field("subtopology_id", "SubtopologyId", "string", (0, 0)),
    Field("source_topics", "SourceTopics", "string", (0, 0), is_array=True, entity="topicName"),
    Field("repartition_sink_topics", "RepartitionSinkTopics", "string", (0, 0), is_array=True, entity="topicName"),
    Field("state_changelog_topics", "StateChangelogTopics", "struct", (0, 0), is_array=True, struct=TopicInfo),
    Field("repartition_source_topics", "RepartitionSourceTopics", "struct", (0, 0), is_array=True, struct=TopicInfo),
)
Topology.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 0)),
    Field("subtopologies", "Subtopologies", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=Subtopology),
)
Endpoint.FIELDS = (
    Field("host", "Host", "string", (0, 0)),
    Field("port", "Port", "uint16", (0, 0)),
)
TaskOffset.FIELDS = (
    Field("subtopology_id", "SubtopologyId", "string", (0, 0)),
    Field("partition", "Partition", "int32", (0, 0)),
    Field("offset", "Offset", "int64", (0, 0)),
)
TaskIds.FIELDS = (
    Field("subtopology_id", "SubtopologyId", "string", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
Assignment.FIELDS = (
    Field("active_tasks", "ActiveTasks", "struct", (0, 0), is_array=True, struct=TaskIds),
    Field("standby_tasks", "StandbyTasks", "struct", (0, 0), is_array=True, struct=TaskIds),
    Field("warmup_tasks", "WarmupTasks", "struct", (0, 0), is_array=True, struct=TaskIds),
)
Member.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("rack_id", "RackId", "string", (0, 0), nullable=(0, 0)),
    Field("client_id", "ClientId", "string", (0, 0)),
    Field("client_host", "ClientHost", "string", (0, 0)),
    Field("topology_epoch", "TopologyEpoch", "int32", (0, 0)),
    Field("process_id", "ProcessId", "string", (0, 0)),
    Field("user_endpoint", "UserEndpoint", "struct", (0, 0), nullable=(0, 0), struct=Endpoint),
    Field("client_tags", "ClientTags", "struct", (0, 0), is_array=True, struct=KeyValue),
    Field("task_offsets", "TaskOffsets", "struct", (0, 0), is_array=True, struct=TaskOffset),
    Field("task_end_offsets", "TaskEndOffsets", "struct", (0, 0), is_array=True, struct=TaskOffset),
    Field("assignment", "Assignment", "struct", (0, 0), struct=Assignment),
    Field("target_assignment", "TargetAssignment", "struct", (0, 0), struct=Assignment),
    Field("is_classic", "IsClassic", "bool", (0, 0)),
)
DescribedGroup.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("group_state", "GroupState", "string", (0, 0)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("assignment_epoch", "AssignmentEpoch", "int32", (0, 0)),
    Field("topology", "Topology", "struct", (0, 0), nullable=(0, 0), struct=Topology),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=Member),
    Field("authorized_operations", "AuthorizedOperations", "int32", (0, 0)),
)
StreamsGroupDescribeResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("groups", "Groups", "struct", (0, 0), is_array=True, struct=DescribedGroup),
)
StreamsGroupDescribeResponse.NAME = "StreamsGroupDescribeResponse"
StreamsGroupDescribeResponse.API_KEY = 89
StreamsGroupDescribeResponse.MIN_VERSION = 0
StreamsGroupDescribeResponse.MAX_VERSION = 0
StreamsGroupDescribeResponse.FLEXIBLE_FROM = 0
StreamsGroupDescribeResponse._DECODERS = {0: _decode_v0}
StreamsGroupDescribeResponse._ENCODERS = {0: _encode_v0}
