# Generated from schemas/message/StreamsGroupHeartbeatResponse.json by `python -m schemas.generator`. Do not edit.
"""StreamsGroupHeartbeatResponse, a response, versions 0."""

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
unpack_wn = Format(">HB").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_iiiin = Format(">iiiiB").unpack_from
pack_w = Format(">H").pack
pack_b = Format(">b").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_iiii = Format(">iiii").pack


@attrs.define(slots=True, weakref_slot=False)
class Status(Struct):
    status_code: int = 0
    """The condition's number."""
    status_detail: str = ""
    """The condition in words."""
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
class TopicPartition(Struct):
    topic: str = ""
    """The topic's name."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class EndpointToPartitions(Struct):
    user_endpoint: Endpoint = attrs.Factory(Endpoint)
    """Where the application answers queries; null: nowhere, or as before."""
    active_partitions: list[TopicPartition] = attrs.Factory(list)
    """Partitions whose active tasks run there."""
    standby_partitions: list[TopicPartition] = attrs.Factory(list)
    """Partitions whose standby tasks run there."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class StreamsGroupHeartbeatResponse(Response):
    """The member's epoch, its tasks when they have changed, and where other members can be queried."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    member_id: str = ""
    """The member's id."""
    member_epoch: int = 0
    """The member's epoch from now on."""
    heartbeat_interval_ms: int = 0
    """The time to the member's next heartbeat, in ms."""
    acceptable_recovery_lag: int = 0
    """How many records a restored copy may lag behind and still count as caught up."""
    task_offset_interval_ms: int = 0
    """How often the member should report TaskOffsets, in ms."""
    status: list[Status] | None = attrs.Factory(list)
    """What the member should know about the group's condition; null: nothing."""
    active_tasks: list[TaskIds] | None = None
    """Tasks that process; null: as before."""
    standby_tasks: list[TaskIds] | None = None
    """Tasks that keep a warm copy; null: as before."""
    warmup_tasks: list[TaskIds] | None = None
    """Tasks that build a copy, to become active later; null: as before."""
    endpoint_information_epoch: int = 0
    """Moves on when the endpoints of the members change."""
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = None
    """Which partitions can be queried at which endpoint; null: as before."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_status_v0(data: bytes, pos: int) -> tuple[Status, int]:
    result = new(Status)
    result.status_code, n = unpack_bn(data, pos)
    pos += 1
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.status_detail = data[pos + 1 : stop].decode()
    pos = stop
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


def _decode_topic_partition_v0(data: bytes, pos: int) -> tuple[TopicPartition, int]:
    result = new(TopicPartition)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.topic = data[pos + 1 : stop].decode()
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


def _decode_v0(data: bytes, pos: int) -> StreamsGroupHeartbeatResponse:
    end = len(data)
    message = new(StreamsGroupHeartbeatResponse)
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
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    message.member_epoch, message.heartbeat_interval_ms, message.acceptable_recovery_lag, message.task_offset_interval_ms, n = unpack_iiiin(data, pos)
    pos += 16
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.status = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        status: list[Status] = []
        status_count = n
        for _ in range(status_count):
            status_item, pos = _decode_status_v0(data, pos)
            status.append(status_item)
        message.status = status
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
    message.endpoint_information_epoch, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.partitions_by_user_endpoint = None
    else:
        n -= 1
        if n * 7 > end - pos:
            raise Malformed
        partitions_by_user_endpoint: list[EndpointToPartitions] = []
        partitions_by_user_endpoint_count = n
        for _ in range(partitions_by_user_endpoint_count):
            partitions_by_user_endpoint_item = new(EndpointToPartitions)
            partitions_by_user_endpoint_item.user_endpoint, pos = _decode_endpoint_v0(data, pos)
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
            active_partitions: list[TopicPartition] = []
            active_partitions_count = n
            for _ in range(active_partitions_count):
                active_partition, pos = _decode_topic_partition_v0(data, pos)
                active_partitions.append(active_partition)
            partitions_by_user_endpoint_item.active_partitions = active_partitions
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
            standby_partitions: list[TopicPartition] = []
            standby_partitions_count = n
            for _ in range(standby_partitions_count):
                standby_partition, pos = _decode_topic_partition_v0(data, pos)
                standby_partitions.append(standby_partition)
            partitions_by_user_endpoint_item.standby_partitions = standby_partitions
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partitions_by_user_endpoint_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partitions_by_user_endpoint_item.unknown_tagged_fields = ()
                pos += 1
            partitions_by_user_endpoint.append(partitions_by_user_endpoint_item)
        message.partitions_by_user_endpoint = partitions_by_user_endpoint
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


def _encode_status_v0(out: list[bytes | memoryview], m: Status) -> None:
    b1 = m.status_detail.encode()
    n2 = len(b1) + 1
    out += (
        pack_b(m.status_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
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


def _encode_endpoint_v0(out: list[bytes | memoryview], m: Endpoint) -> None:
    b1 = m.host.encode()
    n2 = len(b1) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_w(m.port),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_topic_partition_v0(out: list[bytes | memoryview], m: TopicPartition) -> None:
    b1 = m.topic.encode()
    n2 = len(b1) + 1
    n3 = len(m.partitions) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_v0(m: StreamsGroupHeartbeatResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.member_id.encode()
    n5 = len(b4) + 1
    a7 = m.status
    n6 = 0 if a7 is None else len(a7) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_iiii(m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag, m.task_offset_interval_ms),
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e8 in a7 or ():
        _encode_status_v0(out, e8)
    a10 = m.active_tasks
    n9 = 0 if a10 is None else len(a10) + 1
    out.append(ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9))
    for e11 in a10 or ():
        _encode_task_ids_v0(out, e11)
    a13 = m.standby_tasks
    n12 = 0 if a13 is None else len(a13) + 1
    out.append(ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12))
    for e14 in a13 or ():
        _encode_task_ids_v0(out, e14)
    a16 = m.warmup_tasks
    n15 = 0 if a16 is None else len(a16) + 1
    out.append(ONE_BYTE[n15] if n15 < 128 else write_uvarint(n15))
    for e17 in a16 or ():
        _encode_task_ids_v0(out, e17)
    a19 = m.partitions_by_user_endpoint
    n18 = 0 if a19 is None else len(a19) + 1
    out += (pack_i(m.endpoint_information_epoch), ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18))
    for e20 in a19 or ():
        _encode_endpoint_v0(out, e20.user_endpoint)
        n21 = len(e20.active_partitions) + 1
        out.append(ONE_BYTE[n21] if n21 < 128 else write_uvarint(n21))
        for e22 in e20.active_partitions:
            _encode_topic_partition_v0(out, e22)
        n23 = len(e20.standby_partitions) + 1
        out.append(ONE_BYTE[n23] if n23 < 128 else write_uvarint(n23))
        for e24 in e20.standby_partitions:
            _encode_topic_partition_v0(out, e24)
        out.append(write_tagged(e20.unknown_tagged_fields) if e20.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


Status.FIELDS = (
    Field("status_code", "StatusCode", "int8", (0, 0)),
    Field("status_detail", "StatusDetail", "string", (0, 0)),
)
TaskIds.FIELDS = (
    Field("subtopology_id", "SubtopologyId", "string", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
Endpoint.FIELDS = (
    Field("host", "Host", "string", (0, 0)),
    Field("port", "Port", "uint16", (0, 0)),
)
TopicPartition.FIELDS = (
    Field("topic", "Topic", "string", (0, 0), entity="topicName"),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
EndpointToPartitions.FIELDS = (
    Field("user_endpoint", "UserEndpoint", "struct", (0, 0), struct=Endpoint),
    Field("active_partitions", "ActivePartitions", "struct", (0, 0), is_array=True, struct=TopicPartition),
    Field("standby_partitions", "StandbyPartitions", "struct", (0, 0), is_array=True, struct=TopicPartition),
)
StreamsGroupHeartbeatResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("heartbeat_interval_ms", "HeartbeatIntervalMs", "int32", (0, 0)),
    Field("acceptable_recovery_lag", "AcceptableRecoveryLag", "int32", (0, 0)),
    Field("task_offset_interval_ms", "TaskOffsetIntervalMs", "int32", (0, 0)),
    Field("status", "Status", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=Status),
    Field("active_tasks", "ActiveTasks", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskIds),
    Field("standby_tasks", "StandbyTasks", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskIds),
    Field("warmup_tasks", "WarmupTasks", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=TaskIds),
    Field("endpoint_information_epoch", "EndpointInformationEpoch", "int32", (0, 0)),
    Field(
        "partitions_by_user_endpoint",
        "PartitionsByUserEndpoint",
        "struct",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        struct=EndpointToPartitions,
    ),
)
StreamsGroupHeartbeatResponse.NAME = "StreamsGroupHeartbeatResponse"
StreamsGroupHeartbeatResponse.API_KEY = 88
StreamsGroupHeartbeatResponse.MIN_VERSION = 0
StreamsGroupHeartbeatResponse.MAX_VERSION = 0
StreamsGroupHeartbeatResponse.FLEXIBLE_FROM = 0
StreamsGroupHeartbeatResponse._DECODERS = {0: _decode_v0}
StreamsGroupHeartbeatResponse._ENCODERS = {0: _encode_v0}
