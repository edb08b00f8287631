# Generated from schemas/message/ConnectGroupHeartbeatResponse.json by `python -m schemas.generator`. Do not edit.
"""ConnectGroupHeartbeatResponse, a response, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_bn = Format(">bB").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_iin = Format(">iiB").unpack_from
pack_bb = Format(">bb").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class ConnectorTaskId(Struct):
    connector_id: str = ""
    """The connector's name."""
    task_id: int = 0
    """The task's number within its connector, from 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectorsAndTasks(Struct):
    connectors: list[str] = attrs.Factory(list)
    """Connectors by name."""
    tasks: list[ConnectorTaskId] = attrs.Factory(list)
    """Tasks, each with its connector."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Assignment(Struct):
    error: int = 0
    """What the assignor said was wrong, in its own numbers; 0: nothing."""
    connectors_and_tasks: list[ConnectorsAndTasks] = attrs.Factory(list)
    """All that the member shall own, no more."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor tells this member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectGroupHeartbeatResponse(Response):
    """The member's epoch, and its assignment while it has not reached its target. Beside COMPUTE_ASSIGNMENT everything else is as valid as without it."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    member_epoch: int = 0
    """The member's epoch from now on."""
    heartbeat_interval_ms: int = 0
    """The time to the member's next heartbeat, in ms."""
    assignment: Assignment | None = None
    """What the member shall own now; null: as before."""
    session_timeout_ms: int = -1
    """After this time without an answered heartbeat the member must have stopped all it runs, in ms; -1: not said."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_connectors_and_tasks_v0(data: bytes, pos: int) -> tuple[ConnectorsAndTasks, int]:
    end = len(data)
    result = new(ConnectorsAndTasks)
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
    connectors: list[str] = []
    connectors_count = n
    for _ in range(connectors_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        connector = data[pos + 1 : stop].decode()
        pos = stop
        connectors.append(connector)
    result.connectors = connectors
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 6 > end - pos:
        raise Malformed
    tasks: list[ConnectorTaskId] = []
    tasks_left = n
    tasks_tries = 4
    while tasks_left:
        tasks_start = pos
        task = new(ConnectorTaskId)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        task.connector_id = data[pos + 1 : stop].decode()
        pos = stop
        connector_id_end = pos
        connector_id_n = n
        task.task_id, n = unpack_in(data, pos)
        pos += 4
        if n:
            n, pos = read_uvarint(data, pos)
            task.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            task.unknown_tagged_fields = ()
            pos += 1
        tasks.append(task)
        tasks_left -= 1
        if tasks_tries and tasks_left >= 12:
            connector_id_size = connector_id_n - 1
            same = data[tasks_start : connector_id_end - connector_id_size]
            same_2 = data[connector_id_end + 4 : pos]
            tasks_unknown = task.unknown_tagged_fields
            tasks_done = len(tasks)
            tasks_size = pos - tasks_start
            stop = pos + min(tasks_left, (end - pos) // tasks_size) * tasks_size
            for row in iter_unpack(f">{len(same)}s{connector_id_size}si{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, connector_id, task_id, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                task = new(ConnectorTaskId)
                task.connector_id = connector_id.decode() if connector_id else ""
                task.task_id = task_id
                task.unknown_tagged_fields = tasks_unknown
                tasks.append(task)
            tasks_done = len(tasks) - tasks_done
            pos += tasks_done * tasks_size
            tasks_left -= tasks_done
            if not tasks_done:
                tasks_tries -= 1
    result.tasks = tasks
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v0(data: bytes, pos: int) -> ConnectGroupHeartbeatResponse:
    end = len(data)
    message = new(ConnectGroupHeartbeatResponse)
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
    message.member_epoch, message.heartbeat_interval_ms, n = unpack_iin(data, pos)
    pos += 8
    pos += 1
    if n > 127:
        message.assignment = None
    else:
        assignment = new(Assignment)
        assignment.error, n = unpack_bn(data, pos)
        pos += 1
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        connectors_and_tasks: list[ConnectorsAndTasks] = []
        connectors_and_tasks_count = n
        for _ in range(connectors_and_tasks_count):
            connectors_and_task, pos = _decode_connectors_and_tasks_v0(data, pos)
            connectors_and_tasks.append(connectors_and_task)
        assignment.connectors_and_tasks = connectors_and_tasks
        assignment.version, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignment.metadata = data[pos + 1 : stop]
        pos = stop
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignment.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignment.unknown_tagged_fields = ()
            pos += 1
        message.assignment = assignment
    message.session_timeout_ms = -1
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
                (message.session_timeout_ms,) = unpack_i(data, pos)
                pos += 4
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


def _encode_connectors_and_tasks_v0(out: list[bytes | memoryview], m: ConnectorsAndTasks) -> None:
    n1 = len(m.connectors) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.connectors:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    n5 = len(m.tasks) + 1
    out.append(ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
    for e6 in m.tasks:
        b7 = e6.connector_id.encode()
        n8 = len(b7) + 1
        out += (
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            pack_i(e6.task_id),
            write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")


def _encode_v0(m: ConnectGroupHeartbeatResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_ii(m.member_epoch, m.heartbeat_interval_ms),
    )
    s4 = m.assignment
    if s4 is None:
        out.append(b"\xff")
    else:
        n5 = len(s4.connectors_and_tasks) + 1
        out += (pack_bb(1, s4.error), ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5))
        for e6 in s4.connectors_and_tasks:
            _encode_connectors_and_tasks_v0(out, e6)
        b7 = s4.metadata
        n8 = len(b7) + 1
        out += (
            pack_h(s4.version),
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
            b7,
            write_tagged(s4.unknown_tagged_fields) if s4.unknown_tagged_fields else b"\0",
        )
    tagged9: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.session_timeout_ms != -1:
        tagged9.append((0, pack_i(m.session_timeout_ms)))
    out.append(write_tagged(tagged9) if tagged9 else b"\0")
    return b"".join(out)


ConnectorTaskId.FIELDS = (
    Field("connector_id", "ConnectorId", "string", (0, 0)),
    Field("task_id", "TaskId", "int32", (0, 0)),
)
ConnectorsAndTasks.FIELDS = (
    Field("connectors", "Connectors", "string", (0, 0), is_array=True),
    Field("tasks", "Tasks", "struct", (0, 0), is_array=True, struct=ConnectorTaskId),
)
Assignment.FIELDS = (
    Field("error", "Error", "int8", (0, 0)),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
ConnectGroupHeartbeatResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("heartbeat_interval_ms", "HeartbeatIntervalMs", "int32", (0, 0)),
    Field("assignment", "Assignment", "struct", (0, 0), nullable=(0, 0), struct=Assignment),
    Field("session_timeout_ms", "SessionTimeoutMs", "int32", (0, 0), tag=0, tagged=(0, 0)),
)
ConnectGroupHeartbeatResponse.NAME = "ConnectGroupHeartbeatResponse"
ConnectGroupHeartbeatResponse.API_KEY = 32100
ConnectGroupHeartbeatResponse.MIN_VERSION = 0
ConnectGroupHeartbeatResponse.MAX_VERSION = 0
ConnectGroupHeartbeatResponse.FLEXIBLE_FROM = 0
ConnectGroupHeartbeatResponse._DECODERS = {0: _decode_v0}
ConnectGroupHeartbeatResponse._ENCODERS = {0: _encode_v0}
