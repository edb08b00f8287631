# Generated from schemas/message/ConnectGroupInstallAssignmentRequest.json by `python -m schemas.generator`. Do not edit.
"""ConnectGroupInstallAssignmentRequest, a request, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
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
unpack_hn = Format(">hB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_iibn = Format(">iibB").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_iib = Format(">iib").pack


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
class Member(Struct):
    member_id: str = ""
    """The member's id."""
    connectors_and_tasks: list[ConnectorsAndTasks] = attrs.Factory(list)
    """Its new target."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor tells this member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectGroupInstallAssignmentRequest(Request):
    """The chosen worker hands in what it computed."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The id of the chosen member."""
    member_epoch: int = 0
    """The epoch that the member was told last."""
    group_epoch: int = 0
    """The group's epoch as the preparation named it."""
    error: int = 0
    """Why there is no assignment, in the assignor's own numbers; 0: there is one."""
    members: list[Member] = attrs.Factory(list)
    """What each member shall come to own."""
    scheduled_delay_ms: int = 0
    """In this time the group is to be assigned once more, in ms; until then resources may lie unassigned. 0: it need not be."""
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


def _decode_v0(data: bytes, pos: int) -> ConnectGroupInstallAssignmentRequest:
    end = len(data)
    message = new(ConnectGroupInstallAssignmentRequest)
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
    message.member_epoch, message.group_epoch, message.error, n = unpack_iibn(data, pos)
    pos += 9
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 6 > end - pos:
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
        connectors_and_tasks: list[ConnectorsAndTasks] = []
        connectors_and_tasks_count = n
        for _ in range(connectors_and_tasks_count):
            connectors_and_task, pos = _decode_connectors_and_tasks_v0(data, pos)
            connectors_and_tasks.append(connectors_and_task)
        member.connectors_and_tasks = connectors_and_tasks
        member.version, n = unpack_hn(data, pos)
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
        member.metadata = data[pos + 1 : stop]
        pos = stop
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            member.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            member.unknown_tagged_fields = ()
            pos += 1
        members.append(member)
    message.members = members
    message.scheduled_delay_ms = 0
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
                (message.scheduled_delay_ms,) = unpack_i(data, pos)
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


def _encode_v0(m: ConnectGroupInstallAssignmentRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    n5 = len(m.members) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_iib(m.member_epoch, m.group_epoch, m.error),
        ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
    )
    for e6 in m.members:
        b7 = e6.member_id.encode()
        n8 = len(b7) + 1
        n9 = len(e6.connectors_and_tasks) + 1
        out += (
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
        )
        for e10 in e6.connectors_and_tasks:
            _encode_connectors_and_tasks_v0(out, e10)
        b11 = e6.metadata
        n12 = len(b11) + 1
        out += (
            pack_h(e6.version),
            ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12),
            b11,
            write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
        )
    tagged13: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.scheduled_delay_ms != 0:
        tagged13.append((0, pack_i(m.scheduled_delay_ms)))
    out.append(write_tagged(tagged13) if tagged13 else b"\0")
    return b"".join(out)


ConnectorTaskId.FIELDS = (
    Field("connector_id", "ConnectorId", "string", (0, 0)),
    Field("task_id", "TaskId", "int32", (0, 0)),
)
ConnectorsAndTasks.FIELDS = (
    Field("connectors", "Connectors", "string", (0, 0), is_array=True),
    Field("tasks", "Tasks", "struct", (0, 0), is_array=True, struct=ConnectorTaskId),
)
Member.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
ConnectGroupInstallAssignmentRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("error", "Error", "int8", (0, 0)),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=Member),
    Field("scheduled_delay_ms", "ScheduledDelayMs", "int32", (0, 0), tag=0, tagged=(0, 0)),
)
ConnectGroupInstallAssignmentRequest.NAME = "ConnectGroupInstallAssignmentRequest"
ConnectGroupInstallAssignmentRequest.API_KEY = 32102
ConnectGroupInstallAssignmentRequest.MIN_VERSION = 0
ConnectGroupInstallAssignmentRequest.MAX_VERSION = 0
ConnectGroupInstallAssignmentRequest.FLEXIBLE_FROM = 0
ConnectGroupInstallAssignmentRequest._DECODERS = {0: _decode_v0}
ConnectGroupInstallAssignmentRequest._ENCODERS = {0: _encode_v0}
