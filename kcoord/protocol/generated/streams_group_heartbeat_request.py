# Generated from schemas/message/StreamsGroupHeartbeatRequest.json by `python -m schemas.generator`. Do not edit.
"""StreamsGroupHeartbeatRequest, a request, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT16S,
    READ_INT32S,
    WRITE_INT16S,
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
unpack_xn = Format(">?B").unpack_from
unpack_wn = Format(">HB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_iqn = Format(">iqB").unpack_from
pack_w = Format(">H").pack
pack_b = Format(">b").pack
pack_bi = Format(">bi").pack
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
class CopartitionGroup(Struct):
    source_topics: list[int] = attrs.Factory(list)
    """Positions in the subtopology's list of source topics."""
    source_topic_regex: list[int] = attrs.Factory(list)
    """Positions in the subtopology's list of source patterns."""
    repartition_source_topics: list[int] = attrs.Factory(list)
    """Positions in the subtopology's list of repartition topics it reads."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Subtopology(Struct):
    subtopology_id: str = ""
    """The part of the topology."""
    source_topics: list[str] = attrs.Factory(list)
    """Topics that it reads."""
    source_topic_regex: list[str] = attrs.Factory(list)
    """Patterns of topics that it reads."""
    state_changelog_topics: list[TopicInfo] = attrs.Factory(list)
    """Topics that hold its state."""
    repartition_sink_topics: list[str] = attrs.Factory(list)
    """Repartition topics that it writes."""
    repartition_source_topics: list[TopicInfo] = attrs.Factory(list)
    """Repartition topics that it reads."""
    copartition_groups: list[CopartitionGroup] = attrs.Factory(list)
    """Topics that must have the same number of partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Topology(Struct):
    epoch: int = 0
    """The topology's epoch."""
    subtopologies: list[Subtopology] = attrs.Factory(list)
    """The independent parts of the topology."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TaskIds(Struct):
    subtopology_id: str = ""
    """The part of the topology."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
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
class StreamsGroupHeartbeatRequest(Request):
    """A member of a streams group says that it is alive, what it runs, and how far its tasks are."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The member's id."""
    member_epoch: int = 0
    """The member's epoch: 0 joins, -1 leaves, -2 is a static member that comes back."""
    endpoint_information_epoch: int = 0
    """Moves on when the endpoints of the members change."""
    instance_id: str | None = None
    """The member's static name, or null."""
    rack_id: str | None = None
    """The client's rack, or null."""
    rebalance_timeout_ms: int = -1
    """How long the member may take to give up tasks, in ms; -1: as before."""
    topology: Topology | None = None
    """The topology, from a member that joins; null: as before."""
    active_tasks: list[TaskIds] | None = None
    """Tasks that process; null: as before."""
    standby_tasks: list[TaskIds] | None = None
    """Tasks that keep a warm copy; null: as before."""
    warmup_tasks: list[TaskIds] | None = None
    """Tasks that build a copy, to become active later; null: as before."""
    process_id: str | None = None
    """Tells members of one process from others."""
    user_endpoint: Endpoint | None = None
    """Where the application answers queries; null: nowhere, or as before."""
    client_tags: list[KeyValue] | None = None
    """Labels of the member that the assignor may go by; null: as before."""
    task_offsets: list[TaskOffset] | None = None
    """How far the copies of the tasks are; null: as before."""
    task_end_offsets: list[TaskOffset] | None = None
    """Where the changelogs of the tasks end; null: as before."""
    shutdown_application: bool = False
    """Whether every member shall stop."""
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


def _decode_v0(data: bytes, pos: int) -> StreamsGroupHeartbeatRequest:
    end = len(data)
    message = new(StreamsGroupHeartbeatRequest)
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
    message.member_epoch, message.endpoint_information_epoch, n = unpack_iin(data, pos)
    pos += 8
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.instance_id = None
        pos += 1
    elif n == 1:
        message.instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.instance_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.rack_id = None
        pos += 1
    elif n == 1:
        message.rack_id = ""
        pos += 1
    else:
        stop = pos + n
        message.rack_id = data[pos + 1 : stop].decode()
        pos = stop
    message.rebalance_timeout_ms, n = unpack_in(data, pos)
    pos += 4
    pos += 1
    if n > 127:
        message.topology = None
    else:
        topology = new(Topology)
        topology.epoch, n = unpack_in(data, pos)
        pos += 4
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 8 > end - pos:
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
            source_topic_regex: list[str] = []
            source_topic_regex_count = n
            for _ in range(source_topic_regex_count):
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                source_topic_regex_item = data[pos + 1 : stop].decode()
                pos = stop
                source_topic_regex.append(source_topic_regex_item)
            subtopology.source_topic_regex = source_topic_regex
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
            repartition_source_topics: list[TopicInfo] = []
            repartition_source_topics_count = n
            for _ in range(repartition_source_topics_count):
                repartition_source_topic, pos = _decode_topic_info_v0(data, pos)
                repartition_source_topics.append(repartition_source_topic)
            subtopology.repartition_source_topics = repartition_source_topics
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 4 > end - pos:
                raise Malformed
            copartition_groups: list[CopartitionGroup] = []
            copartition_groups_left = n
            copartition_groups_tries = 4
            while copartition_groups_left:
                copartition_groups_start = pos
                copartition_group = new(CopartitionGroup)
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    copartition_group.source_topics = list(READ_INT16S[n](data, pos))
                else:
                    copartition_group.source_topics = list(unpack_from(f">{n}h", data, pos))
                pos += n * 2
                source_topics_2_end = pos
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    copartition_group.source_topic_regex = list(READ_INT16S[n](data, pos))
                else:
                    copartition_group.source_topic_regex = list(unpack_from(f">{n}h", data, pos))
                pos += n * 2
                source_topic_regex_2_end = pos
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    copartition_group.repartition_source_topics = list(READ_INT16S[n](data, pos))
                else:
                    copartition_group.repartition_source_topics = list(unpack_from(f">{n}h", data, pos))
                pos += n * 2
                repartition_source_topics_2_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    copartition_group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    copartition_group.unknown_tagged_fields = ()
                    pos += 1
                copartition_groups.append(copartition_group)
                copartition_groups_left -= 1
                if copartition_groups_tries and copartition_groups_left >= 12:
                    source_topics_2_size = len(copartition_group.source_topics) * 2
                    same = data[copartition_groups_start : source_topics_2_end - source_topics_2_size]
                    source_topics_2_list = integers("h", len(copartition_group.source_topics))
                    source_topic_regex_2_size = len(copartition_group.source_topic_regex) * 2
                    same_2 = data[source_topics_2_end : source_topic_regex_2_end - source_topic_regex_2_size]
                    source_topic_regex_2_list = integers("h", len(copartition_group.source_topic_regex))
                    repartition_source_topics_2_size = len(copartition_group.repartition_source_topics) * 2
                    same_3 = data[source_topic_regex_2_end : repartition_source_topics_2_end - repartition_source_topics_2_size]
                    repartition_source_topics_2_list = integers("h", len(copartition_group.repartition_source_topics))
                    same_4 = data[repartition_source_topics_2_end : pos]
                    copartition_groups_unknown = copartition_group.unknown_tagged_fields
                    copartition_groups_done = len(copartition_groups)
                    copartition_groups_size = pos - copartition_groups_start
                    stop = pos + min(copartition_groups_left, (end - pos) // copartition_groups_size) * copartition_groups_size
                    for row in iter_unpack(f">{len(same)}s{source_topics_2_size}s{len(same_2)}s{source_topic_regex_2_size}s{len(same_3)}s{repartition_source_topics_2_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                        (
                            gap,
                            source_topics_2,
                            gap_2,
                            source_topic_regex_2,
                            gap_3,
                            repartition_source_topics_2,
                            gap_4,
                        ) = row
                        if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                            break
                        copartition_group = new(CopartitionGroup)
                        copartition_group.source_topics = list(source_topics_2_list(source_topics_2))
                        copartition_group.source_topic_regex = list(source_topic_regex_2_list(source_topic_regex_2))
                        copartition_group.repartition_source_topics = list(repartition_source_topics_2_list(repartition_source_topics_2))
                        copartition_group.unknown_tagged_fields = copartition_groups_unknown
                        copartition_groups.append(copartition_group)
                    copartition_groups_done = len(copartition_groups) - copartition_groups_done
                    pos += copartition_groups_done * copartition_groups_size
                    copartition_groups_left -= copartition_groups_done
                    if not copartition_groups_done:
                        copartition_groups_tries -= 1
            subtopology.copartition_groups = copartition_groups
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
        message.topology = topology
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.active_tasks = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        active_tasks: list[TaskIds] = []
        active_tasks_count = n
        for _ in range(active_tasks_count):
            active_task, pos = _decode_task_ids_v0(data, pos)
            active_tasks.append(active_task)
        message.active_tasks = active_tasks
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.standby_tasks = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        standby_tasks: list[TaskIds] = []
        standby_tasks_count = n
        for _ in range(standby_tasks_count):
            standby_task, pos = _decode_task_ids_v0(data, pos)
            standby_tasks.append(standby_task)
        message.standby_tasks = standby_tasks
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.warmup_tasks = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        warmup_tasks: list[TaskIds] = []
        warmup_tasks_count = n
        for _ in range(warmup_tasks_count):
            warmup_task, pos = _decode_task_ids_v0(data, pos)
            warmup_tasks.append(warmup_task)
        message.warmup_tasks = warmup_tasks
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.process_id = None
        pos += 1
    elif n == 1:
        message.process_id = ""
        pos += 1
    else:
        stop = pos + n
        message.process_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    pos += 1
    if n > 127:
        message.user_endpoint = None
    else:
        message.user_endpoint, pos = _decode_endpoint_v0(data, pos)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.client_tags = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        client_tags: list[KeyValue] = []
        client_tags_count = n
        for _ in range(client_tags_count):
            client_tag, pos = _decode_key_value_v0(data, pos)
            client_tags.append(client_tag)
        message.client_tags = client_tags
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.task_offsets = None
    else:
        n -= 1
        if n * 14 > end - pos:
            raise Malformed
        task_offsets: list[TaskOffset] = []
        task_offsets_count = n
        for _ in range(task_offsets_count):
            task_offset, pos = _decode_task_offset_v0(data, pos)
            task_offsets.append(task_offset)
        message.task_offsets = task_offsets
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.task_end_offsets = None
    else:
        n -= 1
        if n * 14 > end - pos:
            raise Malformed
        task_end_offsets: list[TaskOffset] = []
        task_end_offsets_count = n
        for _ in range(task_end_offsets_count):
            task_end_offset, pos = _decode_task_offset_v0(data, pos)
            task_end_offsets.append(task_end_offset)
        message.task_end_offsets = task_end_offsets
    message.shutdown_application, n = unpack_xn(data, pos)
    pos += 1
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


def _encode_v0(m: StreamsGroupHeartbeatRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    v10 = m.rack_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_ii(m.member_epoch, m.endpoint_information_epoch),
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.rebalance_timeout_ms),
    )
    s11 = m.topology
    if s11 is None:
        out.append(b"\xff")
    else:
        n12 = len(s11.subtopologies) + 1
        out += (pack_bi(1, s11.epoch), ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12))
        for e13 in s11.subtopologies:
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
            n20 = len(e13.source_topic_regex) + 1
            out.append(ONE_BYTE[n20] if n20 < 128 else write_uvarint(n20))
            for e21 in e13.source_topic_regex:
                b22 = e21.encode()
                n23 = len(b22) + 1
                out += (ONE_BYTE[n23] if n23 < 128 else write_string_length(n23), b22)
            n24 = len(e13.state_changelog_topics) + 1
            out.append(ONE_BYTE[n24] if n24 < 128 else write_uvarint(n24))
            for e25 in e13.state_changelog_topics:
                _encode_topic_info_v0(out, e25)
            n26 = len(e13.repartition_sink_topics) + 1
            out.append(ONE_BYTE[n26] if n26 < 128 else write_uvarint(n26))
            for e27 in e13.repartition_sink_topics:
                b28 = e27.encode()
                n29 = len(b28) + 1
                out += (ONE_BYTE[n29] if n29 < 128 else write_string_length(n29), b28)
            n30 = len(e13.repartition_source_topics) + 1
            out.append(ONE_BYTE[n30] if n30 < 128 else write_uvarint(n30))
            for e31 in e13.repartition_source_topics:
                _encode_topic_info_v0(out, e31)
            n32 = len(e13.copartition_groups) + 1
            out.append(ONE_BYTE[n32] if n32 < 128 else write_uvarint(n32))
            for e33 in e13.copartition_groups:
                n34 = len(e33.source_topics) + 1
                n35 = len(e33.source_topic_regex) + 1
                n36 = len(e33.repartition_source_topics) + 1
                out += (
                    ONE_BYTE[n34] if n34 < 128 else write_uvarint(n34),
                    WRITE_INT16S[len(e33.source_topics)](*e33.source_topics) if len(e33.source_topics) < 17 else pack(f">{len(e33.source_topics)}h", *e33.source_topics),
                    ONE_BYTE[n35] if n35 < 128 else write_uvarint(n35),
                    WRITE_INT16S[len(e33.source_topic_regex)](*e33.source_topic_regex) if len(e33.source_topic_regex) < 17 else pack(f">{len(e33.source_topic_regex)}h", *e33.source_topic_regex),
                    ONE_BYTE[n36] if n36 < 128 else write_uvarint(n36),
                    WRITE_INT16S[len(e33.repartition_source_topics)](*e33.repartition_source_topics) if len(e33.repartition_source_topics) < 17 else pack(f">{len(e33.repartition_source_topics)}h", *e33.repartition_source_topics),
                    write_tagged(e33.unknown_tagged_fields) if e33.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e13.unknown_tagged_fields) if e13.unknown_tagged_fields else b"\0")
        out.append(write_tagged(s11.unknown_tagged_fields) if s11.unknown_tagged_fields else b"\0")
    a38 = m.active_tasks
    n37 = 0 if a38 is None else len(a38) + 1
    out.append(ONE_BYTE[n37] if n37 < 128 else write_uvarint(n37))
    for e39 in a38 or ():
        _encode_task_ids_v0(out, e39)
    a41 = m.standby_tasks
    n40 = 0 if a41 is None else len(a41) + 1
    out.append(ONE_BYTE[n40] if n40 < 128 else write_uvarint(n40))
    for e42 in a41 or ():
        _encode_task_ids_v0(out, e42)
    a44 = m.warmup_tasks
    n43 = 0 if a44 is None else len(a44) + 1
    out.append(ONE_BYTE[n43] if n43 < 128 else write_uvarint(n43))
    for e45 in a44 or ():
        _encode_task_ids_v0(out, e45)
    v48 = m.process_id
    if v48 is None:
        b46 = b""
        n47 = 0
    else:
        b46 = v48.encode()
        n47 = len(b46) + 1
    out += (ONE_BYTE[n47] if n47 < 128 else write_string_length(n47), b46)
    s49 = m.user_endpoint
    if s49 is None:
        out.append(b"\xff")
    else:
        out.append(pack_b(1))
        _encode_endpoint_v0(out, s49)
    a51 = m.client_tags
    n50 = 0 if a51 is None else len(a51) + 1
    out.append(ONE_BYTE[n50] if n50 < 128 else write_uvarint(n50))
    for e52 in a51 or ():
        _encode_key_value_v0(out, e52)
    a54 = m.task_offsets
    n53 = 0 if a54 is None else len(a54) + 1
    out.append(ONE_BYTE[n53] if n53 < 128 else write_uvarint(n53))
    for e55 in a54 or ():
        _encode_task_offset_v0(out, e55)
    a57 = m.task_end_offsets
    n56 = 0 if a57 is None else len(a57) + 1
    out.append(ONE_BYTE[n56] if n56 < 128 else write_uvarint(n56))
    for e58 in a57 or ():
        _encode_task_offset_v0(out, e58)
    out += (
        b"\1" if m.shutdown_application else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
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
CopartitionGroup.FIELDS = (
    Field("source_topics", "SourceTopics", "int16", (0, 0), is_array=True),
    Field("source_topic_regex", "SourceTopicRegex", "int16", (0, 0), is_array=True),
    Field("repartition_source_topics", "RepartitionSourceTopics", "int16", (0, 0), is_array=True),
)
Subtopology.FIELDS = (
    Field("subtopology_id", "SubtopologyId", "string", (0, 0)),
    Field("source_topics", "SourceTopics", "string", (0, 0), is_array=True, entity="topicName"),
    Field("source_topic_regex", "SourceTopicRegex", "string", (0, 0), is_array=True),
    Field("state_changelog_topics", "StateChangelogTopics", "struct", (0, 0), is_array=True, struct=TopicInfo),
    Field("repartition_sink_topics", "RepartitionSinkTopics", "string", (0, 0), is_array=True, entity="topicName"),
    Field("repartition_source_topics", "RepartitionSourceTopics", "struct", (0, 0), is_array=True, struct=TopicInfo),
    Field("copartition_groups", "CopartitionGroups", "struct", (0, 0), is_array=True, struct=CopartitionGroup),
)
Topology.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 0)),
    Field("subtopologies", "Subtopologies", "struct", (0, 0), is_array=True, struct=Subtopology),
)
TaskIds.FIELDS = (
    Field("subtopology_id", "SubtopologyId", "string", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
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
StreamsGroupHeartbeatRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("endpoint_information_epoch", "EndpointInformationEpoch", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("rack_id", "RackId", "string", (0, 0), nullable=(0, 0)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 0)),
    Field("topology", "Topology", "struct", (0, 0), nullable=(0, 0), struct=Topology),
    Field("active_tasks", "ActiveTasks", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskIds),
    Field("standby_tasks", "StandbyTasks", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskIds),
    Field("warmup_tasks", "WarmupTasks", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskIds),
    Field("process_id", "ProcessId", "string", (0, 0), nullable=(0, 0)),
    Field("user_endpoint", "UserEndpoint", "struct", (0, 0), nullable=(0, 0), struct=Endpoint),
    Field("client_tags", "ClientTags", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=KeyValue),
    Field("task_offsets", "TaskOffsets", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskOffset),
    Field("task_end_offsets", "TaskEndOffsets", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskOffset),
    Field("shutdown_application", "ShutdownApplication", "bool", (0, 0)),
)
StreamsGroupHeartbeatRequest.NAME = "StreamsGroupHeartbeatRequest"
StreamsGroupHeartbeatRequest.API_KEY = 88
StreamsGroupHeartbeatRequest.MIN_VERSION = 0
StreamsGroupHeartbeatRequest.MAX_VERSION = 0
StreamsGroupHeartbeatRequest.FLEXIBLE_FROM = 0
StreamsGroupHeartbeatRequest._DECODERS = {0: _decode_v0}
StreamsGroupHeartbeatRequest._ENCODERS = {0: _encode_v0}
