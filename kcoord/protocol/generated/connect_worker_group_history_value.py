# Generated from schemas/record/ConnectWorkerGroupHistoryValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupHistoryValue, a record value, versions 0."""

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
unpack_in = Format(">iB").unpack_from
unpack_qqqin = Format(">qqqiB").unpack_from
pack_i = Format(">i").pack
pack_qqqi = Format(">qqqi").pack


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
class Move(Struct):
    from_: str = ""
    """The id of the member that had them; empty: nobody."""
    to: str = ""
    """The id of the member that got them; empty: nobody."""
    connectors_tasks: list[ConnectorsTasks] = attrs.Factory(list)
    """What moved."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupHistoryValue(RecordValue):
    """Why an epoch of a connect group began and what came of it."""

    reason: str = ""
    """Why it began."""
    timestamp: int = 0
    """When it began, in ms since 1970."""
    installed_timestamp: int = -1
    """When its assignment was installed, in ms since 1970, or -1."""
    converged_timestamp: int = -1
    """When the last member had reached it, in ms since 1970, or -1."""
    moved_count: int = 0
    """How many connectors and tasks changed hands."""
    moves: list[Move] = attrs.Factory(list)
    """Which ones; not all where they were many."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupHistoryValue:
    end = len(data)
    message = new(ConnectWorkerGroupHistoryValue)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.reason = data[pos + 1 : stop].decode()
    pos = stop
    message.timestamp, message.installed_timestamp, message.converged_timestamp, message.moved_count, n = unpack_qqqin(data, pos)
    pos += 28
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 4 > end - pos:
        raise Malformed
    moves: list[Move] = []
    moves_count = n
    for _ in range(moves_count):
        move = new(Move)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        move.from_ = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        move.to = data[pos + 1 : stop].decode()
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
        move.connectors_tasks = connectors_tasks
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            move.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            move.unknown_tagged_fields = ()
            pos += 1
        moves.append(move)
    message.moves = moves
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


def _encode_v0(m: ConnectWorkerGroupHistoryValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.reason.encode()
    n2 = len(b1) + 1
    n3 = len(m.moves) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_qqqi(m.timestamp, m.installed_timestamp, m.converged_timestamp, m.moved_count),
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
    )
    for e4 in m.moves:
        b5 = e4.from_.encode()
        n6 = len(b5) + 1
        b7 = e4.to.encode()
        n8 = len(b7) + 1
        n9 = len(e4.connectors_tasks) + 1
        out += (
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
        )
        for e10 in e4.connectors_tasks:
            n11 = len(e10.connectors) + 1
            out.append(ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11))
            for e12 in e10.connectors:
                b13 = e12.encode()
                n14 = len(b13) + 1
                out += (ONE_BYTE[n14] if n14 < 128 else write_string_length(n14), b13)
            n15 = len(e10.tasks) + 1
            out.append(ONE_BYTE[n15] if n15 < 128 else write_uvarint(n15))
            for e16 in e10.tasks:
                b17 = e16.connector_id.encode()
                n18 = len(b17) + 1
                out += (
                    ONE_BYTE[n18] if n18 < 128 else write_string_length(n18),
                    b17,
                    pack_i(e16.task_id),
                    write_tagged(e16.unknown_tagged_fields) if e16.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0")
        out.append(write_tagged(e4.unknown_tagged_fields) if e4.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos + 28]
    if n < 128:
        pos += 29
    else:
        n, pos = read_uvarint(data, pos + 28)
    if n == 0:
        raise Malformed
    moves_count = n - 1
    for _ in range(moves_count):
        n = data[pos]
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos]
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
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
        n = data[pos]
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
    n = data[pos]
    if n:
        pos = skip_tagged(data, pos)
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return None


ConnectorTaskId.FIELDS = (
    Field("connector_id", "ConnectorId", "string", (0, 0)),
    Field("task_id", "TaskId", "int32", (0, 0)),
)
ConnectorsTasks.FIELDS = (
    Field("connectors", "Connectors", "string", (0, 0), is_array=True),
    Field("tasks", "Tasks", "struct", (0, 0), is_array=True, struct=ConnectorTaskId),
)
Move.FIELDS = (
    Field("from_", "From", "string", (0, 0)),
    Field("to", "To", "string", (0, 0)),
    Field("connectors_tasks", "ConnectorsTasks", "struct", (0, 0), is_array=True, struct=ConnectorsTasks),
)
ConnectWorkerGroupHistoryValue.FIELDS = (
    Field("reason", "Reason", "string", (0, 0)),
    Field("timestamp", "Timestamp", "int64", (0, 0)),
    Field("installed_timestamp", "InstalledTimestamp", "int64", (0, 0)),
    Field("converged_timestamp", "ConvergedTimestamp", "int64", (0, 0)),
    Field("moved_count", "MovedCount", "int32", (0, 0)),
    Field("moves", "Moves", "struct", (0, 0), is_array=True, struct=Move),
)
ConnectWorkerGroupHistoryValue.NAME = "ConnectWorkerGroupHistoryValue"
ConnectWorkerGroupHistoryValue.API_KEY = 10
ConnectWorkerGroupHistoryValue.MIN_VERSION = 0
ConnectWorkerGroupHistoryValue.MAX_VERSION = 0
ConnectWorkerGroupHistoryValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupHistoryValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupHistoryValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupHistoryValue.EPOCH = None
ConnectWorkerGroupHistoryValue._CHECKS = {0: _check_v0}
