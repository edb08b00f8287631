# Generated from schemas/record/ConnectWorkerGroupCurrentMemberAssignmentValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupCurrentMemberAssignmentValue, a record value, versions 0."""

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
unpack_x = Format(">?").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ibn = Format(">ibB").unpack_from
unpack_i_n = Format(">ixB").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ib = Format(">ib").pack


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
class ConnectWorkerGroupCurrentMemberAssignmentValue(RecordValue):
    """All that a member of a connect group may be running."""

    member_epoch: int = 0
    """The epoch that the member has reached."""
    error: int = 0
    """What the assignor said was wrong, in its own numbers; 0: nothing."""
    connectors_tasks: list[ConnectorsTasks] = attrs.Factory(list)
    """What it may be running."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor told this member, opaque."""
    previous_member_epoch: int = -1
    """The epoch before, which the member still knows if an answer was lost; -1: none."""
    evicted: bool = False
    """Whether it took too long to let go, and is out of the group's assignment until it joins again."""
    doubtful: list[ConnectorsTasks] = attrs.Factory(list)
    """What it came with and others may have started since: it stops that, and starts it once more if it is to run it."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupCurrentMemberAssignmentValue:
    end = len(data)
    message = new(ConnectWorkerGroupCurrentMemberAssignmentValue)
    message.member_epoch, message.error, n = unpack_ibn(data, pos)
    pos += 5
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
    message.previous_member_epoch = -1
    message.evicted = False
    message.doubtful = []
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
                (message.previous_member_epoch,) = unpack_i(data, pos)
                pos += 4
            elif message_tag == 1:
                (message.evicted,) = unpack_x(data, pos)
                pos += 1
            elif message_tag == 2:
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
                doubtful: list[ConnectorsTasks] = []
                doubtful_count = n
                for _ in range(doubtful_count):
                    doubtful_item = new(ConnectorsTasks)
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
                    connectors_2: list[str] = []
                    connectors_2_count = n
                    for _ in range(connectors_2_count):
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        connector_2 = data[pos + 1 : stop].decode()
                        pos = stop
                        connectors_2.append(connector_2)
                    doubtful_item.connectors = connectors_2
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
                    tasks_2: list[ConnectorTaskId] = []
                    tasks_2_count = n
                    for _ in range(tasks_2_count):
                        task_2 = new(ConnectorTaskId)
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        task_2.connector_id = data[pos + 1 : stop].decode()
                        pos = stop
                        task_2.task_id, n = unpack_in(data, pos)
                        pos += 4
                        if n:
                            n, pos = read_uvarint(data, pos)
                            task_2.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            task_2.unknown_tagged_fields = ()
                            pos += 1
                        tasks_2.append(task_2)
                    doubtful_item.tasks = tasks_2
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        doubtful_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        doubtful_item.unknown_tagged_fields = ()
                        pos += 1
                    doubtful.append(doubtful_item)
                message.doubtful = doubtful
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


def _encode_v0(m: ConnectWorkerGroupCurrentMemberAssignmentValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.connectors_tasks) + 1
    out += (pack_ib(m.member_epoch, m.error), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
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
    if m.previous_member_epoch != -1:
        tagged13.append((0, pack_i(m.previous_member_epoch)))
    if m.evicted:
        tagged13.append((1, b"\1"))
    if m.doubtful != []:
        parts15: list[bytes | memoryview] = []
        n16 = len(m.doubtful) + 1
        parts15.append(ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16))
        for e17 in m.doubtful:
            n18 = len(e17.connectors) + 1
            parts15.append(ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18))
            for e19 in e17.connectors:
                b20 = e19.encode()
                n21 = len(b20) + 1
                parts15 += (ONE_BYTE[n21] if n21 < 128 else write_string_length(n21), b20)
            n22 = len(e17.tasks) + 1
            parts15.append(ONE_BYTE[n22] if n22 < 128 else write_uvarint(n22))
            for e23 in e17.tasks:
                b24 = e23.connector_id.encode()
                n25 = len(b24) + 1
                parts15 += (
                    ONE_BYTE[n25] if n25 < 128 else write_string_length(n25),
                    b24,
                    pack_i(e23.task_id),
                    write_tagged(e23.unknown_tagged_fields) if e23.unknown_tagged_fields else b"\0",
                )
            parts15.append(write_tagged(e17.unknown_tagged_fields) if e17.unknown_tagged_fields else b"\0")
        tagged13.append((2, b"".join(parts15)))
    out.append(write_tagged(tagged13) if tagged13 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    epoch: int
    epoch, n = unpack_i_n(data, pos)
    if n < 128:
        pos += 6
    else:
        n, pos = read_uvarint(data, pos + 5)
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
                pos += 4
            elif tag == 1:
                pos += 1
            elif tag == 2:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                doubtful_count = n - 1
                for _ in range(doubtful_count):
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    connectors_count_2 = n - 1
                    for _ in range(connectors_count_2):
                        n = data[pos]
                        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    task_left_2 = n - 1
                    task_tries_2 = 4
                    while task_left_2:
                        task_start_2 = pos
                        n = data[pos]
                        place_3 = pos
                        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
                        n = data[pos + 4]
                        place_4 = pos + 4
                        if n:
                            pos = skip_tagged(data, pos + 4)
                        else:
                            pos += 5
                        task_left_2 -= 1
                        if task_tries_2 and task_left_2 >= 5 and not n:
                            task_same_2 = alike(data, task_start_2, pos, task_left_2, (place_3, place_4))
                            pos += task_same_2 * (pos - task_start_2)
                            task_left_2 -= task_same_2
                            if not task_same_2:
                                task_tries_2 -= 1
                    n = data[pos]
                    if n:
                        pos = skip_tagged(data, pos)
                    else:
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


def _find_v0(data: bytes, pos: int) -> tuple[int, int]:
    pos += 5
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
ConnectWorkerGroupCurrentMemberAssignmentValue.FIELDS = (
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("error", "Error", "int8", (0, 0)),
    Field("connectors_tasks", "ConnectorsTasks", "struct", (0, 0), is_array=True, struct=ConnectorsTasks),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
    Field("previous_member_epoch", "PreviousMemberEpoch", "int32", (0, 0), tag=0, tagged=(0, 0)),
    Field("evicted", "Evicted", "bool", (0, 0), tag=1, tagged=(0, 0)),
    Field("doubtful", "Doubtful", "struct", (0, 0), is_array=True, tag=2, tagged=(0, 0), struct=ConnectorsTasks),
)
ConnectWorkerGroupCurrentMemberAssignmentValue.NAME = "ConnectWorkerGroupCurrentMemberAssignmentValue"
ConnectWorkerGroupCurrentMemberAssignmentValue.API_KEY = 7
ConnectWorkerGroupCurrentMemberAssignmentValue.MIN_VERSION = 0
ConnectWorkerGroupCurrentMemberAssignmentValue.MAX_VERSION = 0
ConnectWorkerGroupCurrentMemberAssignmentValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupCurrentMemberAssignmentValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupCurrentMemberAssignmentValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupCurrentMemberAssignmentValue.EPOCH = "member_epoch"
ConnectWorkerGroupCurrentMemberAssignmentValue._CHECKS = {0: _check_v0}
ConnectWorkerGroupCurrentMemberAssignmentValue.LISTS = 1
ConnectWorkerGroupCurrentMemberAssignmentValue._FINDERS = {0: _find_v0}
