# Generated from schemas/message/ConnectGroupHeartbeatRequest.json by `python -m schemas.generator`. Do not edit.
"""ConnectGroupHeartbeatRequest, a request, versions 0."""

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
unpack_b = Format(">b").unpack_from
unpack_hhbhn = Format(">hhbhB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_q = Format(">q").unpack_from
pack_b = Format(">b").pack
pack_hhbh = Format(">hhbh").pack
pack_i = Format(">i").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class Assignor(Struct):
    name: str = ""
    """The assignor's name."""
    minimum_version: int = 0
    """The lowest version of metadata that the member can read with it."""
    maximum_version: int = 0
    """The highest version that it can read."""
    reason: int = 0
    """Why the metadata changed, in the assignor's own numbers; 0: no reason."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor wants to be told of this member, opaque."""
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
class ConnectGroupHeartbeatRequest(Request):
    """A worker of a connect group says that it is alive, what it wants, and what it owns. Fields other than the first three are left out (null or -1) while they are as before; a join carries them all."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The member's id, which it made itself and keeps as long as its process lives."""
    member_epoch: int = -1
    """The epoch that the member was told last; 0 joins, -1 leaves, -2 is a static member that will be back."""
    instance_id: str | None = None
    """The member's static name; null: none, or as before."""
    rebalance_timeout_ms: int = -1
    """How long the member may take to let go of what it must give up, in ms; -1: as before."""
    server_assignor: str | None = None
    """The coordinator's assignor that the member wishes; null: none, or as before."""
    client_assignors: list[Assignor] | None = None
    """Assignors that the member can run, the one that it likes best first; null: none, or as before."""
    connectors_and_tasks: list[ConnectorsAndTasks] | None = None
    """All that the member owns: from the receipt of a grant until it has stopped it; null: as before."""
    url: str | None = None
    """Where the worker's REST interface is; null: none, or as before."""
    config_offset: int = -1
    """How far the member has read the configurations of connectors; -1: it says nothing of them."""
    configured_connectors_and_tasks: list[ConnectorsAndTasks] | None = None
    """All connectors and tasks that are configured at ConfigOffset; null: not said."""
    max_wait_ms: int = 0
    """How long the answer may be held back while there is nothing new to say, in ms; 0: not at all."""
    config_source: int = 0
    """What ConfigOffset counts: 1: changes of a file, 2: records of Connect's configuration topic; 0: not said."""
    trouble: str | None = None
    """What goes wrong in the member, in words for people; empty: nothing any more; null: as before, and at a join nothing."""
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


def _decode_v0(data: bytes, pos: int) -> ConnectGroupHeartbeatRequest:
    end = len(data)
    message = new(ConnectGroupHeartbeatRequest)
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
    message.member_epoch, n = unpack_in(data, pos)
    pos += 4
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
    message.rebalance_timeout_ms, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.server_assignor = None
        pos += 1
    elif n == 1:
        message.server_assignor = ""
        pos += 1
    else:
        stop = pos + n
        message.server_assignor = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.client_assignors = None
    else:
        n -= 1
        if n * 10 > end - pos:
            raise Malformed
        client_assignors: list[Assignor] = []
        client_assignors_left = n
        client_assignors_tries = 4
        while client_assignors_left:
            client_assignors_start = pos
            client_assignor = new(Assignor)
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            client_assignor.name = data[pos + 1 : stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            client_assignor.minimum_version, client_assignor.maximum_version, client_assignor.reason, client_assignor.version, n = unpack_hhbhn(data, pos)
            pos += 7
            if n > 127:
                pos += 1
                n += (data[pos] << 7) - 128
                if n > 16383:
                    n, pos = read_uvarint(data, pos - 1)
                    pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            client_assignor.metadata = data[pos + 1 : stop]
            pos = stop
            metadata_end = pos
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                client_assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                client_assignor.unknown_tagged_fields = ()
                pos += 1
            client_assignors.append(client_assignor)
            client_assignors_left -= 1
            if client_assignors_tries and client_assignors_left >= 12:
                name_size = name_n - 1
                same = data[client_assignors_start : name_end - name_size]
                metadata_size = len(client_assignor.metadata)
                same_2 = data[name_end + 7 : metadata_end - metadata_size]
                same_3 = data[metadata_end : pos]
                client_assignors_unknown = client_assignor.unknown_tagged_fields
                client_assignors_done = len(client_assignors)
                client_assignors_size = pos - client_assignors_start
                stop = pos + min(client_assignors_left, (end - pos) // client_assignors_size) * client_assignors_size
                for row in iter_unpack(f">{len(same)}s{name_size}shhbh{len(same_2)}s{metadata_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                    gap, name, minimum_version, maximum_version, reason, version, gap_2, metadata, gap_3 = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3:
                        break
                    client_assignor = new(Assignor)
                    client_assignor.name = name.decode() if name else ""
                    client_assignor.minimum_version = minimum_version
                    client_assignor.maximum_version = maximum_version
                    client_assignor.reason = reason
                    client_assignor.version = version
                    client_assignor.metadata = metadata
                    client_assignor.unknown_tagged_fields = client_assignors_unknown
                    client_assignors.append(client_assignor)
                client_assignors_done = len(client_assignors) - client_assignors_done
                pos += client_assignors_done * client_assignors_size
                client_assignors_left -= client_assignors_done
                if not client_assignors_done:
                    client_assignors_tries -= 1
        message.client_assignors = client_assignors
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.connectors_and_tasks = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        connectors_and_tasks: list[ConnectorsAndTasks] = []
        connectors_and_tasks_count = n
        for _ in range(connectors_and_tasks_count):
            connectors_and_task, pos = _decode_connectors_and_tasks_v0(data, pos)
            connectors_and_tasks.append(connectors_and_task)
        message.connectors_and_tasks = connectors_and_tasks
    message.url = None
    message.config_offset = -1
    message.configured_connectors_and_tasks = None
    message.max_wait_ms = 0
    message.config_source = 0
    message.trouble = None
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
                    message.url = None
                    pos += 1
                elif n == 1:
                    message.url = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.url = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                (message.config_offset,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 2:
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
            elif message_tag == 3:
                (message.max_wait_ms,) = unpack_i(data, pos)
                pos += 4
            elif message_tag == 4:
                (message.config_source,) = unpack_b(data, pos)
                pos += 1
            elif message_tag == 5:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.trouble = None
                    pos += 1
                elif n == 1:
                    message.trouble = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.trouble = data[pos + 1 : stop].decode()
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


def _encode_v0(m: ConnectGroupHeartbeatRequest) -> bytes:
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
    v10 = m.server_assignor
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    a12 = m.client_assignors
    n11 = 0 if a12 is None else len(a12) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_i(m.member_epoch),
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        pack_i(m.rebalance_timeout_ms),
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e13 in a12 or ():
        b14 = e13.name.encode()
        n15 = len(b14) + 1
        b16 = e13.metadata
        n17 = len(b16) + 1
        out += (
            ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
            b14,
            pack_hhbh(e13.minimum_version, e13.maximum_version, e13.reason, e13.version),
            ONE_BYTE[n17] if n17 < 128 else write_uvarint(n17),
            b16,
            write_tagged(e13.unknown_tagged_fields) if e13.unknown_tagged_fields else b"\0",
        )
    a19 = m.connectors_and_tasks
    n18 = 0 if a19 is None else len(a19) + 1
    out.append(ONE_BYTE[n18] if n18 < 128 else write_uvarint(n18))
    for e20 in a19 or ():
        _encode_connectors_and_tasks_v0(out, e20)
    tagged21: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.url is not None:
        b23 = m.url.encode()
        n24 = len(b23) + 1
        tagged21.append((0, b"".join((ONE_BYTE[n24] if n24 < 128 else write_string_length(n24), b23))))
    if m.config_offset != -1:
        tagged21.append((1, pack_q(m.config_offset)))
    if m.configured_connectors_and_tasks is not None:
        parts26: list[bytes | memoryview] = []
        n27 = len(m.configured_connectors_and_tasks) + 1
        parts26.append(ONE_BYTE[n27] if n27 < 128 else write_uvarint(n27))
        for e28 in m.configured_connectors_and_tasks:
            _encode_connectors_and_tasks_v0(parts26, e28)
        tagged21.append((2, b"".join(parts26)))
    if m.max_wait_ms != 0:
        tagged21.append((3, pack_i(m.max_wait_ms)))
    if m.config_source != 0:
        tagged21.append((4, pack_b(m.config_source)))
    if m.trouble is not None:
        b32 = m.trouble.encode()
        n33 = len(b32) + 1
        tagged21.append((5, b"".join((ONE_BYTE[n33] if n33 < 128 else write_string_length(n33), b32))))
    out.append(write_tagged(tagged21) if tagged21 else b"\0")
    return b"".join(out)


Assignor.FIELDS = (
    Field("name", "Name", "string", (0, 0)),
    Field("minimum_version", "MinimumVersion", "int16", (0, 0)),
    Field("maximum_version", "MaximumVersion", "int16", (0, 0)),
    Field("reason", "Reason", "int8", (0, 0)),
    Field("version", "Version", "int16", (0, 0)),
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
ConnectGroupHeartbeatRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 0)),
    Field("server_assignor", "ServerAssignor", "string", (0, 0), nullable=(0, 0)),
    Field("client_assignors", "ClientAssignors", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=Assignor),
    Field(
        "connectors_and_tasks",
        "ConnectorsAndTasks",
        "struct",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        struct=ConnectorsAndTasks,
    ),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0)),
    Field("config_offset", "ConfigOffset", "int64", (0, 0), tag=1, tagged=(0, 0)),
    Field(
        "configured_connectors_and_tasks",
        "ConfiguredConnectorsAndTasks",
        "struct",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        tag=2,
        tagged=(0, 0),
        struct=ConnectorsAndTasks,
    ),
    Field("max_wait_ms", "MaxWaitMs", "int32", (0, 0), tag=3, tagged=(0, 0)),
    Field("config_source", "ConfigSource", "int8", (0, 0), tag=4, tagged=(0, 0)),
    Field("trouble", "Trouble", "string", (0, 0), nullable=(0, 0), tag=5, tagged=(0, 0)),
)
ConnectGroupHeartbeatRequest.NAME = "ConnectGroupHeartbeatRequest"
ConnectGroupHeartbeatRequest.API_KEY = 32100
ConnectGroupHeartbeatRequest.MIN_VERSION = 0
ConnectGroupHeartbeatRequest.MAX_VERSION = 0
ConnectGroupHeartbeatRequest.FLEXIBLE_FROM = 0
ConnectGroupHeartbeatRequest._DECODERS = {0: _decode_v0}
ConnectGroupHeartbeatRequest._ENCODERS = {0: _encode_v0}
