# Generated from schemas/record/ConnectWorkerGroupConnectorsTasksMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupConnectorsTasksMetadataValue, a record value, versions 0."""

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
from kcoord.protocol.skipping import alike, skip_string, skip_tagged

new = object.__new__
unpack_b = Format(">b").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_q = Format(">q").unpack_from
pack_b = Format(">b").pack
pack_i = Format(">i").pack
pack_q = Format(">q").pack


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
class ConnectWorkerGroupConnectorsTasksMetadataValue(RecordValue):
    """All connectors and tasks that are configured for a connect group."""

    epoch: int = 0
    """The group's epoch when this set was taken."""
    connectors_tasks: list[ConnectorsTasks] = attrs.Factory(list)
    """The set."""
    config_offset: int = -1
    """The offset of the configurations that the set is of, or -1."""
    config_source: int = 0
    """What that offset counts: 1: changes of a file, 2: records of Connect's configuration topic; 0: not known."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupConnectorsTasksMetadataValue:
    end = len(data)
    message = new(ConnectWorkerGroupConnectorsTasksMetadataValue)
    message.epoch, n = unpack_in(data, pos)
    pos += 4
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
    message.config_offset = -1
    message.config_source = 0
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
                (message.config_source,) = unpack_b(data, pos)
                pos += 1
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


def _encode_v0(m: ConnectWorkerGroupConnectorsTasksMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.connectors_tasks) + 1
    out += (pack_i(m.epoch), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
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
    tagged11: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.config_offset != -1:
        tagged11.append((0, pack_q(m.config_offset)))
    if m.config_source != 0:
        tagged11.append((1, pack_b(m.config_source)))
    out.append(write_tagged(tagged11) if tagged11 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    epoch: int
    epoch, n = unpack_in(data, pos)
    if n < 128:
        pos += 5
    else:
        n, pos = read_uvarint(data, pos + 4)
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
                pos += 8
            elif tag == 1:
                pos += 1
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return epoch


ConnectorTaskId.FIELDS = (
    Field("connector_id", "ConnectorId", "string", (0, 0)),
    Field("task_id", "TaskId", "int32", (0, 0)),
)
ConnectorsTasks.FIELDS = (
    Field("connectors", "Connectors", "string", (0, 0), is_array=True),
    Field("tasks", "Tasks", "struct", (0, 0), is_array=True, struct=ConnectorTaskId),
)
ConnectWorkerGroupConnectorsTasksMetadataValue.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 0)),
    Field("connectors_tasks", "ConnectorsTasks", "struct", (0, 0), is_array=True, struct=ConnectorsTasks),
    Field("config_offset", "ConfigOffset", "int64", (0, 0), tag=0, tagged=(0, 0)),
    Field("config_source", "ConfigSource", "int8", (0, 0), tag=1, tagged=(0, 0)),
)
ConnectWorkerGroupConnectorsTasksMetadataValue.NAME = "ConnectWorkerGroupConnectorsTasksMetadataValue"
ConnectWorkerGroupConnectorsTasksMetadataValue.API_KEY = 4
ConnectWorkerGroupConnectorsTasksMetadataValue.MIN_VERSION = 0
ConnectWorkerGroupConnectorsTasksMetadataValue.MAX_VERSION = 0
ConnectWorkerGroupConnectorsTasksMetadataValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupConnectorsTasksMetadataValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupConnectorsTasksMetadataValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupConnectorsTasksMetadataValue.EPOCH = "epoch"
ConnectWorkerGroupConnectorsTasksMetadataValue._CHECKS = {0: _check_v0}
