# Generated from schemas/record/ConnectWorkerGroupTargetAssignmentMemberValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupTargetAssignmentMemberValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
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
from kcoord.protocol.skipping import alike, skip_bytes, skip_string, skip_tagged

new = object.__new__
unpack_bn = Format(">bB").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_in = Format(">iB").unpack_from
pack_b = Format(">b").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class ConnectorTaskId(Struct):
    connector_id: str = ""
    """The connector's name."""
    task_id: int = 0
    """The task's number within its connector, from 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectorsTasks(Struct):
    connectors: list[str] = attrs.Factory(list)
    """Connectors by name."""
    tasks: list[ConnectorTaskId] = attrs.Factory(list)
    """Tasks, each with its connector."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupTargetAssignmentMemberValue(RecordValue):
    """What a member of a connect group shall come to own."""

    error: int = 0
    """What the assignor said was wrong, in its own numbers; 0: nothing."""
    connectors_tasks: list[ConnectorsTasks] = attrs.Factory(list)
    """The target."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor tells this member, opaque."""
    instance_id: str | None = None
    """The member's static name, or null."""
    url: str | None = None
    """Where the worker's REST interface is, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupTargetAssignmentMemberValue:
    end = len(data)
    message = new(ConnectWorkerGroupTargetAssignmentMemberValue)
    message.error, n = unpack_bn(data, pos)
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
    connectors_tasks: list[ConnectorsTasks] = []
    connectors_tasks_count = n
    for _ in range(connectors_tasks_count):
        connectors_task = new(ConnectorsTasks)
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
        connectors_task.connectors = connectors
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
        connectors_task.tasks = tasks
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            connectors_task.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            connectors_task.unknown_tagged_fields = ()
            pos += 1
        connectors_tasks.append(connectors_task)
    message.connectors_tasks = connectors_tasks
    message.version, n = unpack_hn(data, pos)
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
    message.metadata = data[pos + 1 : stop]
    pos = stop
    message.instance_id = None
    message.url = None
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
                    message.instance_id = None
                    pos += 1
                elif n == 1:
                    message.instance_id = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.instance_id = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.url = None
                    pos += 1
                elif n == 1:
                    message.url = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.url = data[pos + 1 : stop].decode()
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


def _encode_v0(m: ConnectWorkerGroupTargetAssignmentMemberValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.connectors_tasks) + 1
    out += (pack_b(m.error), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.connectors_tasks:
        n3 = len(e2.connectors) + 1
        out.append(ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
        for e4 in e2.connectors:
            b5 = e4.encode()
            n6 = len(b5) + 1
            out += (ONE_BYTE[n6] if n6 < 128 else write_string_length(n6), b5)
        n7 = len(e2.tasks) + 1
        out.append(ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7))
        for e8 in e2.tasks:
            b9 = e8.connector_id.encode()
            n10 = len(b9) + 1
            out += (
                ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
                b9,
                pack_i(e8.task_id),
                write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    b11 = m.metadata
    n12 = len(b11) + 1
    out += (pack_h(m.version), ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12), b11)
    tagged13: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.instance_id is not None:
        b15 = m.instance_id.encode()
        n16 = len(b15) + 1
        tagged13.append((0, b"".join((ONE_BYTE[n16] if n16 < 128 else write_string_length(n16), b15))))
    if m.url is not None:
        b18 = m.url.encode()
        n19 = len(b18) + 1
        tagged13.append((1, b"".join((ONE_BYTE[n19] if n19 < 128 else write_string_length(n19), b18))))
    out.append(write_tagged(tagged13) if tagged13 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos + 1]
    if n < 128:
        pos += 2
    else:
        n, pos = read_uvarint(data, pos + 1)
    if n == 0:
        raise Malformed
    connectors_tasks_count = n - 1
    for _ in range(connectors_tasks_count):
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        connectors_count = n - 1
        for _ in range(connectors_count):
            n = data[pos]
            pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        task_left = n - 1
        task_tries = 4
        while task_left:
            task_start = pos
            n = data[pos]
            place = pos
            pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            n = data[pos + 4]
            place_2 = pos + 4
            if n:
                pos = skip_tagged(data, pos + 4)
            else:
                pos += 5
            task_left -= 1
            if task_tries and task_left >= 5 and not n:
                task_same = alike(data, task_start, pos, task_left, (place, place_2))
                pos += task_same * (pos - task_start)
                task_left -= task_same
                if not task_same:
                    task_tries -= 1
        n = data[pos]
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
    n = data[pos + 2]
    pos = pos + 2 + n if 0 < n < 128 else skip_bytes(data, pos + 2, False)
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 0:
                n = data[pos]
                pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
            elif tag == 1:
                n = data[pos]
                pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return None


def _find_v0(data: bytes, pos: int) -> tuple[int, int]:
    pos += 1
    start = pos
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    connectors_tasks_count = n - 1
    for _ in range(connectors_tasks_count):
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        connectors_count = n - 1
        for _ in range(connectors_count):
            n = data[pos]
            pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        task_left = n - 1
        task_tries = 4
        while task_left:
            task_start = pos
            n = data[pos]
            place = pos
            pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            n = data[pos + 4]
            place_2 = pos + 4
            if n:
                pos = skip_tagged(data, pos + 4)
            else:
                pos += 5
            task_left -= 1
            if task_tries and task_left >= 5 and not n:
                task_same = alike(data, task_start, pos, task_left, (place, place_2))
                pos += task_same * (pos - task_start)
                task_left -= task_same
                if not task_same:
                    task_tries -= 1
        n = data[pos]
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
    return start, pos


ConnectorTaskId.FIELDS = (
    Field("connector_id", "ConnectorId", "string", (0, 0)),
    Field("task_id", "TaskId", "int32", (0, 0)),
)
ConnectorsTasks.FIELDS = (
    Field("connectors", "Connectors", "string", (0, 0), is_array=True),
    Field("tasks", "Tasks", "struct", (0, 0), is_array=True, struct=ConnectorTaskId),
)
ConnectWorkerGroupTargetAssignmentMemberValue.FIELDS = (
    Field("error", "Error", "int8", (0, 0)),
    Field("connectors_tasks", "ConnectorsTasks", "struct", (0, 0), is_array=True, struct=ConnectorsTasks),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0)),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0), tag=1, tagged=(0, 0)),
)
ConnectWorkerGroupTargetAssignmentMemberValue.NAME = "ConnectWorkerGroupTargetAssignmentMemberValue"
ConnectWorkerGroupTargetAssignmentMemberValue.API_KEY = 9
ConnectWorkerGroupTargetAssignmentMemberValue.MIN_VERSION = 0
ConnectWorkerGroupTargetAssignmentMemberValue.MAX_VERSION = 0
ConnectWorkerGroupTargetAssignmentMemberValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupTargetAssignmentMemberValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupTargetAssignmentMemberValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupTargetAssignmentMemberValue.EPOCH = None
ConnectWorkerGroupTargetAssignmentMemberValue._CHECKS = {0: _check_v0}
ConnectWorkerGroupTargetAssignmentMemberValue.LISTS = 1
ConnectWorkerGroupTargetAssignmentMemberValue._FINDERS = {0: _find_v0}
