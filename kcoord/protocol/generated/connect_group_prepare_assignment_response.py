# Generated from schemas/message/ConnectGroupPrepareAssignmentResponse.json by `python -m schemas.generator`. Do not edit.
"""ConnectGroupPrepareAssignmentResponse, a response, versions 0."""

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
unpack_hbn = Format(">hbB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_q = Format(">q").unpack_from
pack_hb = Format(">hb").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class Assignor(Struct):
    version: int = 0
    """The version that Metadata is written in; -1: it speaks the classic protocol."""
    reason: int = 0
    """Why the metadata changed, in the assignor's own numbers; 0: no reason."""
    metadata: bytes = b""
    """What the member said to the assignor, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


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
    member_epoch: int = 0
    """The epoch that the member has reached."""
    instance_id: str | None = None
    """The member's static name, or null."""
    assignor: Assignor = attrs.Factory(Assignor)
    """What the member gave for this assignor."""
    connectors_and_tasks: list[ConnectorsAndTasks] = attrs.Factory(list)
    """Its target until now."""
    url: str | None = None
    """Where the worker's REST interface is, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Departed(Struct):
    member_id: str = ""
    """The id that the member had."""
    instance_id: str | None = None
    """Its static name, or null."""
    url: str | None = None
    """Where its REST interface was, or null."""
    connectors_and_tasks: list[ConnectorsAndTasks] = attrs.Factory(list)
    """What its target was: kept for its return."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectGroupPrepareAssignmentResponse(Response):
    """The group as it is frozen for one computation: the same input gives the same assignment."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    group_epoch: int = 0
    """The group's epoch that the assignment will be for."""
    assignor_name: str = ""
    """The assignor to run."""
    members: list[Member] = attrs.Factory(list)
    """The members."""
    config_offset: int = -1
    """The offset of the configurations that the configured set is of; -1: nobody ever said."""
    configured_connectors_and_tasks: list[ConnectorsAndTasks] | None = None
    """All connectors and tasks that there are; null: nobody ever said."""
    departed: list[Departed] = attrs.Factory(list)
    """Members that have gone and whose targets wait for their return."""
    remaining_delay_ms: int = -1
    """How long the targets of the departed wait on, in ms; -1: no delay runs, 0: it is over."""
    rebalance_delay_ms: int = 0
    """How long a delay that begins now should be, in ms."""
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


def _decode_v0(data: bytes, pos: int) -> ConnectGroupPrepareAssignmentResponse:
    end = len(data)
    message = new(ConnectGroupPrepareAssignmentResponse)
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
    message.group_epoch, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.assignor_name = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 13 > end - pos:
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
        assignor = new(Assignor)
        assignor.version, assignor.reason, n = unpack_hbn(data, pos)
        pos += 3
        if n > 127:
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignor.metadata = data[pos + 1 : stop]
        pos = stop
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignor.unknown_tagged_fields = ()
            pos += 1
        member.assignor = assignor
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
        member.url = None
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            member_others = []
            member_tag_count = n
            for _ in range(member_tag_count):
                member_tag, pos = read_uvarint(data, pos)
                n, pos = read_uvarint(data, pos)
                member_stop = pos + n
                if member_stop > len(data):
                    raise Malformed
                if member_tag == 0:
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        member.url = None
                        pos += 1
                    elif n == 1:
                        member.url = ""
                        pos += 1
                    else:
                        stop = pos + n
                        member.url = data[pos + 1 : stop].decode()
                        pos = stop
                else:
                    member_others.append((member_tag, data[pos:member_stop]))
                    pos = member_stop
                if pos != member_stop:
                    raise Malformed
            member.unknown_tagged_fields = tuple(member_others)
        else:
            member.unknown_tagged_fields = ()
            pos += 1
        members.append(member)
    message.members = members
    message.config_offset = -1
    message.configured_connectors_and_tasks = None
    message.departed = []
    message.remaining_delay_ms = -1
    message.rebalance_delay_ms = 0
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
                (message.config_offset,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 1:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    message.configured_connectors_and_tasks = None
                else:
                    n -= 1
                    if n * 3 > end - pos:
                        raise Malformed
                    configured_connectors_and_tasks: list[ConnectorsAndTasks] = []
                    configured_connectors_and_tasks_count = n
                    for _ in range(configured_connectors_and_tasks_count):
                        configured_connectors_and_task, pos = _decode_connectors_and_tasks_v0(data, pos)
                        configured_connectors_and_tasks.append(configured_connectors_and_task)
                    message.configured_connectors_and_tasks = configured_connectors_and_tasks
            elif message_tag == 2:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n * 5 > end - pos:
                    raise Malformed
                departed: list[Departed] = []
                departed_count = n
                for _ in range(departed_count):
                    departed_item = new(Departed)
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    departed_item.member_id = data[pos + 1 : stop].decode()
                    pos = stop
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        departed_item.instance_id = None
                        pos += 1
                    elif n == 1:
                        departed_item.instance_id = ""
                        pos += 1
                    else:
                        stop = pos + n
                        departed_item.instance_id = data[pos + 1 : stop].decode()
                        pos = stop
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        departed_item.url = None
                        pos += 1
                    elif n == 1:
                        departed_item.url = ""
                        pos += 1
                    else:
                        stop = pos + n
                        departed_item.url = data[pos + 1 : stop].decode()
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
                    connectors_and_tasks_2: list[ConnectorsAndTasks] = []
                    connectors_and_tasks_2_count = n
                    for _ in range(connectors_and_tasks_2_count):
                        connectors_and_task_2, pos = _decode_connectors_and_tasks_v0(data, pos)
                        connectors_and_tasks_2.append(connectors_and_task_2)
                    departed_item.connectors_and_tasks = connectors_and_tasks_2
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        departed_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        departed_item.unknown_tagged_fields = ()
                        pos += 1
                    departed.append(departed_item)
                message.departed = departed
            elif message_tag == 3:
                (message.remaining_delay_ms,) = unpack_i(data, pos)
                pos += 4
            elif message_tag == 4:
                (message.rebalance_delay_ms,) = unpack_i(data, pos)
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


def _encode_v0(m: ConnectGroupPrepareAssignmentResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.assignor_name.encode()
    n5 = len(b4) + 1
    n6 = len(m.members) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.group_epoch),
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e7 in m.members:
        b8 = e7.member_id.encode()
        n9 = len(b8) + 1
        v12 = e7.instance_id
        if v12 is None:
            b10 = b""
            n11 = 0
        else:
            b10 = v12.encode()
            n11 = len(b10) + 1
        s13 = e7.assignor
        b14 = s13.metadata
        n15 = len(b14) + 1
        n16 = len(e7.connectors_and_tasks) + 1
        out += (
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_i(e7.member_epoch),
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            pack_hb(s13.version, s13.reason),
            ONE_BYTE[n15] if n15 < 128 else write_uvarint(n15),
            b14,
            write_tagged(s13.unknown_tagged_fields) if s13.unknown_tagged_fields else b"\0",
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
        )
        for e17 in e7.connectors_and_tasks:
            _encode_connectors_and_tasks_v0(out, e17)
        tagged18: list[tuple[int, bytes]] = [*e7.unknown_tagged_fields]
        if e7.url is not None:
            b20 = e7.url.encode()
            n21 = len(b20) + 1
            tagged18.append((0, b"".join((ONE_BYTE[n21] if n21 < 128 else write_string_length(n21), b20))))
        out.append(write_tagged(tagged18) if tagged18 else b"\0")
    tagged22: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.config_offset != -1:
        tagged22.append((0, pack_q(m.config_offset)))
    if m.configured_connectors_and_tasks is not None:
        parts24: list[bytes | memoryview] = []
        n25 = len(m.configured_connectors_and_tasks) + 1
        parts24.append(ONE_BYTE[n25] if n25 < 128 else write_uvarint(n25))
        for e26 in m.configured_connectors_and_tasks:
            _encode_connectors_and_tasks_v0(parts24, e26)
        tagged22.append((1, b"".join(parts24)))
    if m.departed != []:
        parts27: list[bytes | memoryview] = []
        n28 = len(m.departed) + 1
        parts27.append(ONE_BYTE[n28] if n28 < 128 else write_uvarint(n28))
        for e29 in m.departed:
            b30 = e29.member_id.encode()
            n31 = len(b30) + 1
            v34 = e29.instance_id
            if v34 is None:
                b32 = b""
                n33 = 0
            else:
                b32 = v34.encode()
                n33 = len(b32) + 1
            v37 = e29.url
            if v37 is None:
                b35 = b""
                n36 = 0
            else:
                b35 = v37.encode()
                n36 = len(b35) + 1
            n38 = len(e29.connectors_and_tasks) + 1
            parts27 += (
                ONE_BYTE[n31] if n31 < 128 else write_string_length(n31),
                b30,
                ONE_BYTE[n33] if n33 < 128 else write_string_length(n33),
                b32,
                ONE_BYTE[n36] if n36 < 128 else write_string_length(n36),
                b35,
                ONE_BYTE[n38] if n38 < 128 else write_uvarint(n38),
            )
            for e39 in e29.connectors_and_tasks:
                _encode_connectors_and_tasks_v0(parts27, e39)
            parts27.append(write_tagged(e29.unknown_tagged_fields) if e29.unknown_tagged_fields else b"\0")
        tagged22.append((2, b"".join(parts27)))
    if m.remaining_delay_ms != -1:
        tagged22.append((3, pack_i(m.remaining_delay_ms)))
    if m.rebalance_delay_ms != 0:
        tagged22.append((4, pack_i(m.rebalance_delay_ms)))
    out.append(write_tagged(tagged22) if tagged22 else b"\0")
    return b"".join(out)


Assignor.FIELDS = (
    Field("version", "Version", "int16", (0, 0)),
    Field("reason", "Reason", "int8", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
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
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("assignor", "Assignor", "struct", (0, 0), struct=Assignor),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0)),
)
Departed.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0)),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
)
ConnectGroupPrepareAssignmentResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("assignor_name", "AssignorName", "string", (0, 0)),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=Member),
    Field("config_offset", "ConfigOffset", "int64", (0, 0), tag=0, tagged=(0, 0)),
    Field(
        "configured_connectors_and_tasks",
        "ConfiguredConnectorsAndTasks",
        "struct",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        tag=1,
        tagged=(0, 0),
        struct=ConnectorsAndTasks,
    ),
    Field("departed", "Departed", "struct", (0, 0), is_array=True, tag=2, tagged=(0, 0), struct=Departed),
    Field("remaining_delay_ms", "RemainingDelayMs", "int32", (0, 0), tag=3, tagged=(0, 0)),
    Field("rebalance_delay_ms", "RebalanceDelayMs", "int32", (0, 0), tag=4, tagged=(0, 0)),
)
ConnectGroupPrepareAssignmentResponse.NAME = "ConnectGroupPrepareAssignmentResponse"
ConnectGroupPrepareAssignmentResponse.API_KEY = 32101
ConnectGroupPrepareAssignmentResponse.MIN_VERSION = 0
ConnectGroupPrepareAssignmentResponse.MAX_VERSION = 0
ConnectGroupPrepareAssignmentResponse.FLEXIBLE_FROM = 0
ConnectGroupPrepareAssignmentResponse._DECODERS = {0: _decode_v0}
ConnectGroupPrepareAssignmentResponse._ENCODERS = {0: _encode_v0}
