# Generated from schemas/message/ConnectGroupDescribeResponse.json by `python -m schemas.generator`. Do not edit.
"""ConnectGroupDescribeResponse, a response, versions 0."""

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
unpack_x = Format(">?").unpack_from
unpack_xn = Format(">?B").unpack_from
unpack_b = Format(">b").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ibn = Format(">ibB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_q = Format(">q").unpack_from
unpack_qn = Format(">qB").unpack_from
unpack_qqqin = Format(">qqqiB").unpack_from
pack_b = Format(">b").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ib = Format(">ib").pack
pack_ii = Format(">ii").pack
pack_q = Format(">q").pack
pack_qqqi = Format(">qqqi").pack


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
    instance_id: str | None = None
    """The member's static name, or null."""
    client_id: str = ""
    """The client id that the member gave in its request headers."""
    client_host: str = ""
    """The address that the member connects from, with a leading slash."""
    url: str | None = None
    """Where the worker's REST interface is, or null."""
    member_epoch: int = 0
    """The epoch that the member has reached."""
    state: str = ""
    """How far the member has come, as a word."""
    rebalance_timeout_ms: int = 0
    """How long it may take to let go of what it must give up, in ms."""
    session_timeout_ms: int = 0
    """It is lost after this time without a heartbeat, in ms."""
    owned: list[ConnectorsAndTasks] = attrs.Factory(list)
    """All that it may be running."""
    target: list[ConnectorsAndTasks] = attrs.Factory(list)
    """What it shall come to own."""
    waiting_for: list[ConnectorsAndTasks] = attrs.Factory(list)
    """What of its target others have not let go of yet."""
    to_release: list[ConnectorsAndTasks] = attrs.Factory(list)
    """What it must let go of."""
    protocol: str = "connect"
    """What it speaks: connect, or of a worker of the classic protocol the newest embedded one (default, compatible, sessioned)."""
    generation: int = -1
    """The generation that a worker of the classic protocol knows, or -1."""
    leads: bool = False
    """Whether it is the leader that assignments of workers of the classic protocol name."""
    trouble: str | None = None
    """What it says that goes wrong in it, in words for people, or null."""
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
class Move(Struct):
    from_: str = ""
    """The id of the member that had them; empty: nobody."""
    to: str = ""
    """The id of the member that got them; empty: nobody."""
    connectors_and_tasks: list[ConnectorsAndTasks] = attrs.Factory(list)
    """What moved."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class HistoryEntry(Struct):
    epoch: int = 0
    """The group's epoch."""
    reason: str = ""
    """Why it began."""
    timestamp_ms: int = 0
    """When it began, in ms since 1970."""
    installed_ms: int = -1
    """When its assignment was installed, in ms since 1970, or -1."""
    converged_ms: int = -1
    """When the last member had reached it, in ms since 1970, or -1."""
    moved_count: int = 0
    """How many connectors and tasks changed hands."""
    moves: list[Move] = attrs.Factory(list)
    """Which ones; not all where they were many."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Misplaced(Struct):
    reason: str = ""
    """Why not."""
    is_running: bool = False
    """Whether it runs all the same, where it was; else nobody runs it."""
    connectors_and_tasks: list[ConnectorsAndTasks] = attrs.Factory(list)
    """Which ones."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribedGroup(Struct):
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    group_id: str = ""
    """The group's id."""
    group_state: str = ""
    """The state as a word: Empty, Assigning, Reconciling, Stable or Dead."""
    group_epoch: int = 0
    """The group's epoch: moves on when something changed that asks for a new assignment."""
    assignment_epoch: int = 0
    """The group's epoch that the target was computed for."""
    assignor_name: str = ""
    """The assignor that computed the target; empty: none yet."""
    members: list[Member] = attrs.Factory(list)
    """The members."""
    computing_member_id: str | None = None
    """The member that has been chosen to compute; null: nobody is computing."""
    config_offset: int = -1
    """The offset of the configurations that Configured is of; -1: nobody ever said."""
    configured: list[ConnectorsAndTasks] | None = None
    """All connectors and tasks that there are; null: nobody ever said."""
    departed: list[Departed] = attrs.Factory(list)
    """Members that have gone and whose targets wait for their return."""
    remaining_delay_ms: int = -1
    """How long those targets wait on, in ms; -1: no delay runs."""
    assignment_error: int = 0
    """What went wrong in the last computation, in the assignor's own numbers; 0: nothing."""
    assignment_error_message: str | None = None
    """The same as a text, or null."""
    authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the group; the lowest int32 when not asked for."""
    history: list[HistoryEntry] = attrs.Factory(list)
    """The last epochs of the group, the oldest first."""
    classic_mode: str | None = None
    """How the group is managed when it has workers of the classic protocol only: barrier or individual; also told of a classic group of Connect workers, beside the error."""
    barrier: str | None = None
    """Why its workers of the classic protocol have to join all together; null: each is managed by itself, or there are none."""
    embedded_protocol: str | None = None
    """The embedded protocol that those speak with each other, or null."""
    migration_policy: str | None = None
    """Which way the group may change its protocol, told where ClassicMode is."""
    repeated_rebalances: int = 0
    """How many of the last rebalances, in a row, gave the same answer to the same input as an earlier one; also told of a classic group of Connect workers."""
    computes_in_ms: int = -1
    """When the rebalance begins that has to wait because of that, in ms from now; -1: none waits."""
    config_source: int = 0
    """What ConfigOffset counts: 1: changes of a file, 2: records of Connect's configuration topic; 0: not known."""
    rebalance_delay_ms: int = -1
    """How long what a worker had waits for its return, in ms; -1: not told."""
    rebalance_delay_source: int = 0
    """Who has set that: 1: the group's own setting, 2: its workers of the classic protocol, 3: kcoord's setting for all groups; 0: not told."""
    placement_state: int = 0
    """Whether placement rules hold: 1: yes, 2: more is to move, 3: no, since workers compute the assignment; 0: the group has none; 4: it has none, and none would hold, since workers compute the assignment."""
    misplaced: list[Misplaced] = attrs.Factory(list)
    """What cannot be where the rules want it."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectGroupDescribeResponse(Response):
    """The state, the members and the history of connect groups."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    groups: list[DescribedGroup] = attrs.Factory(list)
    """One entry for each group."""
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


def _decode_v0(data: bytes, pos: int) -> ConnectGroupDescribeResponse:
    end = len(data)
    message = new(ConnectGroupDescribeResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 38 > end - pos:
        raise Malformed
    groups: list[DescribedGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(DescribedGroup)
        group.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            group.error_message = None
            pos += 1
        elif n == 1:
            group.error_message = ""
            pos += 1
        else:
            stop = pos + n
            group.error_message = data[pos + 1 : stop].decode()
            pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_state = data[pos + 1 : stop].decode()
        pos = stop
        group.group_epoch, group.assignment_epoch, n = unpack_iin(data, pos)
        pos += 8
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.assignor_name = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 23 > end - pos:
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
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.client_id = data[pos + 1 : stop].decode()
            pos = stop
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.client_host = data[pos + 1 : stop].decode()
            pos = stop
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
            member.member_epoch, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            member.state = data[pos + 1 : stop].decode()
            pos = stop
            member.rebalance_timeout_ms, member.session_timeout_ms, n = unpack_iin(data, pos)
            pos += 8
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 3 > end - pos:
                raise Malformed
            owned: list[ConnectorsAndTasks] = []
            owned_count = n
            for _ in range(owned_count):
                owned_item, pos = _decode_connectors_and_tasks_v0(data, pos)
                owned.append(owned_item)
            member.owned = owned
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
            target: list[ConnectorsAndTasks] = []
            target_count = n
            for _ in range(target_count):
                target_item, pos = _decode_connectors_and_tasks_v0(data, pos)
                target.append(target_item)
            member.target = target
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
            waiting_for: list[ConnectorsAndTasks] = []
            waiting_for_count = n
            for _ in range(waiting_for_count):
                waiting_for_item, pos = _decode_connectors_and_tasks_v0(data, pos)
                waiting_for.append(waiting_for_item)
            member.waiting_for = waiting_for
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
            to_release: list[ConnectorsAndTasks] = []
            to_release_count = n
            for _ in range(to_release_count):
                to_release_item, pos = _decode_connectors_and_tasks_v0(data, pos)
                to_release.append(to_release_item)
            member.to_release = to_release
            member.protocol = "connect"
            member.generation = -1
            member.leads = False
            member.trouble = None
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
                            raise Malformed
                        stop = pos + n
                        member.protocol = data[pos + 1 : stop].decode()
                        pos = stop
                    elif member_tag == 1:
                        (member.generation,) = unpack_i(data, pos)
                        pos += 4
                    elif member_tag == 2:
                        (member.leads,) = unpack_x(data, pos)
                        pos += 1
                    elif member_tag == 3:
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            member.trouble = None
                            pos += 1
                        elif n == 1:
                            member.trouble = ""
                            pos += 1
                        else:
                            stop = pos + n
                            member.trouble = data[pos + 1 : stop].decode()
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
        group.members = members
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            group.computing_member_id = None
            pos += 1
        elif n == 1:
            group.computing_member_id = ""
            pos += 1
        else:
            stop = pos + n
            group.computing_member_id = data[pos + 1 : stop].decode()
            pos = stop
        group.config_offset, n = unpack_qn(data, pos)
        pos += 8
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            group.configured = None
        else:
            n -= 1
            if n * 3 > end - pos:
                raise Malformed
            configured: list[ConnectorsAndTasks] = []
            configured_count = n
            for _ in range(configured_count):
                configured_item, pos = _decode_connectors_and_tasks_v0(data, pos)
                configured.append(configured_item)
            group.configured = configured
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
            connectors_and_tasks: list[ConnectorsAndTasks] = []
            connectors_and_tasks_count = n
            for _ in range(connectors_and_tasks_count):
                connectors_and_task, pos = _decode_connectors_and_tasks_v0(data, pos)
                connectors_and_tasks.append(connectors_and_task)
            departed_item.connectors_and_tasks = connectors_and_tasks
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                departed_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                departed_item.unknown_tagged_fields = ()
                pos += 1
            departed.append(departed_item)
        group.departed = departed
        group.remaining_delay_ms, group.assignment_error, n = unpack_ibn(data, pos)
        pos += 5
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            group.assignment_error_message = None
            pos += 1
        elif n == 1:
            group.assignment_error_message = ""
            pos += 1
        else:
            stop = pos + n
            group.assignment_error_message = data[pos + 1 : stop].decode()
            pos = stop
        group.authorized_operations, n = unpack_in(data, pos)
        pos += 4
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 35 > end - pos:
            raise Malformed
        history: list[HistoryEntry] = []
        history_count = n
        for _ in range(history_count):
            history_item = new(HistoryEntry)
            history_item.epoch, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            history_item.reason = data[pos + 1 : stop].decode()
            pos = stop
            history_item.timestamp_ms, history_item.installed_ms, history_item.converged_ms, history_item.moved_count, n = unpack_qqqin(data, pos)
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
                connectors_and_tasks_2: list[ConnectorsAndTasks] = []
                connectors_and_tasks_2_count = n
                for _ in range(connectors_and_tasks_2_count):
                    connectors_and_task_2, pos = _decode_connectors_and_tasks_v0(data, pos)
                    connectors_and_tasks_2.append(connectors_and_task_2)
                move.connectors_and_tasks = connectors_and_tasks_2
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    move.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    move.unknown_tagged_fields = ()
                    pos += 1
                moves.append(move)
            history_item.moves = moves
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                history_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                history_item.unknown_tagged_fields = ()
                pos += 1
            history.append(history_item)
        group.history = history
        group.classic_mode = None
        group.barrier = None
        group.embedded_protocol = None
        group.migration_policy = None
        group.repeated_rebalances = 0
        group.computes_in_ms = -1
        group.config_source = 0
        group.rebalance_delay_ms = -1
        group.rebalance_delay_source = 0
        group.placement_state = 0
        group.misplaced = []
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group_others = []
            group_tag_count = n
            for _ in range(group_tag_count):
                group_tag, pos = read_uvarint(data, pos)
                n, pos = read_uvarint(data, pos)
                group_stop = pos + n
                if group_stop > len(data):
                    raise Malformed
                if group_tag == 0:
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        group.classic_mode = None
                        pos += 1
                    elif n == 1:
                        group.classic_mode = ""
                        pos += 1
                    else:
                        stop = pos + n
                        group.classic_mode = data[pos + 1 : stop].decode()
                        pos = stop
                elif group_tag == 1:
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        group.barrier = None
                        pos += 1
                    elif n == 1:
                        group.barrier = ""
                        pos += 1
                    else:
                        stop = pos + n
                        group.barrier = data[pos + 1 : stop].decode()
                        pos = stop
                elif group_tag == 2:
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        group.embedded_protocol = None
                        pos += 1
                    elif n == 1:
                        group.embedded_protocol = ""
                        pos += 1
                    else:
                        stop = pos + n
                        group.embedded_protocol = data[pos + 1 : stop].decode()
                        pos = stop
                elif group_tag == 3:
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        group.migration_policy = None
                        pos += 1
                    elif n == 1:
                        group.migration_policy = ""
                        pos += 1
                    else:
                        stop = pos + n
                        group.migration_policy = data[pos + 1 : stop].decode()
                        pos = stop
                elif group_tag == 4:
                    (group.repeated_rebalances,) = unpack_i(data, pos)
                    pos += 4
                elif group_tag == 5:
                    (group.computes_in_ms,) = unpack_i(data, pos)
                    pos += 4
                elif group_tag == 6:
                    (group.config_source,) = unpack_b(data, pos)
                    pos += 1
                elif group_tag == 7:
                    (group.rebalance_delay_ms,) = unpack_q(data, pos)
                    pos += 8
                elif group_tag == 8:
                    (group.rebalance_delay_source,) = unpack_b(data, pos)
                    pos += 1
                elif group_tag == 9:
                    (group.placement_state,) = unpack_b(data, pos)
                    pos += 1
                elif group_tag == 10:
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
                    misplaced: list[Misplaced] = []
                    misplaced_count = n
                    for _ in range(misplaced_count):
                        misplaced_item = new(Misplaced)
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        misplaced_item.reason = data[pos + 1 : stop].decode()
                        pos = stop
                        misplaced_item.is_running, n = unpack_xn(data, pos)
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
                        connectors_and_tasks_3: list[ConnectorsAndTasks] = []
                        connectors_and_tasks_3_count = n
                        for _ in range(connectors_and_tasks_3_count):
                            connectors_and_task_3, pos = _decode_connectors_and_tasks_v0(data, pos)
                            connectors_and_tasks_3.append(connectors_and_task_3)
                        misplaced_item.connectors_and_tasks = connectors_and_tasks_3
                        n = data[pos]
                        if n:
                            n, pos = read_uvarint(data, pos)
                            misplaced_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            misplaced_item.unknown_tagged_fields = ()
                            pos += 1
                        misplaced.append(misplaced_item)
                    group.misplaced = misplaced
                else:
                    group_others.append((group_tag, data[pos:group_stop]))
                    pos = group_stop
                if pos != group_stop:
                    raise Malformed
            group.unknown_tagged_fields = tuple(group_others)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
    message.groups = groups
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


def _encode_v0(m: ConnectGroupDescribeResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.groups) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        b6 = e2.group_id.encode()
        n7 = len(b6) + 1
        b8 = e2.group_state.encode()
        n9 = len(b8) + 1
        b10 = e2.assignor_name.encode()
        n11 = len(b10) + 1
        n12 = len(e2.members) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_ii(e2.group_epoch, e2.assignment_epoch),
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            ONE_BYTE[n12] if n12 < 128 else write_uvarint(n12),
        )
        for e13 in e2.members:
            b14 = e13.member_id.encode()
            n15 = len(b14) + 1
            v18 = e13.instance_id
            if v18 is None:
                b16 = b""
                n17 = 0
            else:
                b16 = v18.encode()
                n17 = len(b16) + 1
            b19 = e13.client_id.encode()
            n20 = len(b19) + 1
            b21 = e13.client_host.encode()
            n22 = len(b21) + 1
            v25 = e13.url
            if v25 is None:
                b23 = b""
                n24 = 0
            else:
                b23 = v25.encode()
                n24 = len(b23) + 1
            b26 = e13.state.encode()
            n27 = len(b26) + 1
            n28 = len(e13.owned) + 1
            out += (
                ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
                b14,
                ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
                b16,
                ONE_BYTE[n20] if n20 < 128 else write_string_length(n20),
                b19,
                ONE_BYTE[n22] if n22 < 128 else write_string_length(n22),
                b21,
                ONE_BYTE[n24] if n24 < 128 else write_string_length(n24),
                b23,
                pack_i(e13.member_epoch),
                ONE_BYTE[n27] if n27 < 128 else write_string_length(n27),
                b26,
                pack_ii(e13.rebalance_timeout_ms, e13.session_timeout_ms),
                ONE_BYTE[n28] if n28 < 128 else write_uvarint(n28),
            )
            for e29 in e13.owned:
                _encode_connectors_and_tasks_v0(out, e29)
            n30 = len(e13.target) + 1
            out.append(ONE_BYTE[n30] if n30 < 128 else write_uvarint(n30))
            for e31 in e13.target:
                _encode_connectors_and_tasks_v0(out, e31)
            n32 = len(e13.waiting_for) + 1
            out.append(ONE_BYTE[n32] if n32 < 128 else write_uvarint(n32))
            for e33 in e13.waiting_for:
                _encode_connectors_and_tasks_v0(out, e33)
            n34 = len(e13.to_release) + 1
            out.append(ONE_BYTE[n34] if n34 < 128 else write_uvarint(n34))
            for e35 in e13.to_release:
                _encode_connectors_and_tasks_v0(out, e35)
            tagged36: list[tuple[int, bytes]] = [*e13.unknown_tagged_fields]
            if e13.protocol != "connect":
                b38 = e13.protocol.encode()
                n39 = len(b38) + 1
                tagged36.append((0, b"".join((ONE_BYTE[n39] if n39 < 128 else write_string_length(n39), b38))))
            if e13.generation != -1:
                tagged36.append((1, pack_i(e13.generation)))
            if e13.leads:
                tagged36.append((2, b"\1"))
            if e13.trouble is not None:
                b42 = e13.trouble.encode()
                n43 = len(b42) + 1
                tagged36.append((3, b"".join((ONE_BYTE[n43] if n43 < 128 else write_string_length(n43), b42))))
            out.append(write_tagged(tagged36) if tagged36 else b"\0")
        v46 = e2.computing_member_id
        if v46 is None:
            b44 = b""
            n45 = 0
        else:
            b44 = v46.encode()
            n45 = len(b44) + 1
        a48 = e2.configured
        n47 = 0 if a48 is None else len(a48) + 1
        out += (
            ONE_BYTE[n45] if n45 < 128 else write_string_length(n45),
            b44,
            pack_q(e2.config_offset),
            ONE_BYTE[n47] if n47 < 128 else write_uvarint(n47),
        )
        for e49 in a48 or ():
            _encode_connectors_and_tasks_v0(out, e49)
        n50 = len(e2.departed) + 1
        out.append(ONE_BYTE[n50] if n50 < 128 else write_uvarint(n50))
        for e51 in e2.departed:
            b52 = e51.member_id.encode()
            n53 = len(b52) + 1
            v56 = e51.instance_id
            if v56 is None:
                b54 = b""
                n55 = 0
            else:
                b54 = v56.encode()
                n55 = len(b54) + 1
            v59 = e51.url
            if v59 is None:
                b57 = b""
                n58 = 0
            else:
                b57 = v59.encode()
                n58 = len(b57) + 1
            n60 = len(e51.connectors_and_tasks) + 1
            out += (
                ONE_BYTE[n53] if n53 < 128 else write_string_length(n53),
                b52,
                ONE_BYTE[n55] if n55 < 128 else write_string_length(n55),
                b54,
                ONE_BYTE[n58] if n58 < 128 else write_string_length(n58),
                b57,
                ONE_BYTE[n60] if n60 < 128 else write_uvarint(n60),
            )
            for e61 in e51.connectors_and_tasks:
                _encode_connectors_and_tasks_v0(out, e61)
            out.append(write_tagged(e51.unknown_tagged_fields) if e51.unknown_tagged_fields else b"\0")
        v64 = e2.assignment_error_message
        if v64 is None:
            b62 = b""
            n63 = 0
        else:
            b62 = v64.encode()
            n63 = len(b62) + 1
        n65 = len(e2.history) + 1
        out += (
            pack_ib(e2.remaining_delay_ms, e2.assignment_error),
            ONE_BYTE[n63] if n63 < 128 else write_string_length(n63),
            b62,
            pack_i(e2.authorized_operations),
            ONE_BYTE[n65] if n65 < 128 else write_uvarint(n65),
        )
        for e66 in e2.history:
            b67 = e66.reason.encode()
            n68 = len(b67) + 1
            n69 = len(e66.moves) + 1
            out += (
                pack_i(e66.epoch),
                ONE_BYTE[n68] if n68 < 128 else write_string_length(n68),
                b67,
                pack_qqqi(e66.timestamp_ms, e66.installed_ms, e66.converged_ms, e66.moved_count),
                ONE_BYTE[n69] if n69 < 128 else write_uvarint(n69),
            )
            for e70 in e66.moves:
                b71 = e70.from_.encode()
                n72 = len(b71) + 1
                b73 = e70.to.encode()
                n74 = len(b73) + 1
                n75 = len(e70.connectors_and_tasks) + 1
                out += (
                    ONE_BYTE[n72] if n72 < 128 else write_string_length(n72),
                    b71,
                    ONE_BYTE[n74] if n74 < 128 else write_string_length(n74),
                    b73,
                    ONE_BYTE[n75] if n75 < 128 else write_uvarint(n75),
                )
                for e76 in e70.connectors_and_tasks:
                    _encode_connectors_and_tasks_v0(out, e76)
                out.append(write_tagged(e70.unknown_tagged_fields) if e70.unknown_tagged_fields else b"\0")
            out.append(write_tagged(e66.unknown_tagged_fields) if e66.unknown_tagged_fields else b"\0")
        tagged77: list[tuple[int, bytes]] = [*e2.unknown_tagged_fields]
        if e2.classic_mode is not None:
            b79 = e2.classic_mode.encode()
            n80 = len(b79) + 1
            tagged77.append((0, b"".join((ONE_BYTE[n80] if n80 < 128 else write_string_length(n80), b79))))
        if e2.barrier is not None:
            b82 = e2.barrier.encode()
            n83 = len(b82) + 1
            tagged77.append((1, b"".join((ONE_BYTE[n83] if n83 < 128 else write_string_length(n83), b82))))
        if e2.embedded_protocol is not None:
            b85 = e2.embedded_protocol.encode()
            n86 = len(b85) + 1
            tagged77.append((2, b"".join((ONE_BYTE[n86] if n86 < 128 else write_string_length(n86), b85))))
        if e2.migration_policy is not None:
            b88 = e2.migration_policy.encode()
            n89 = len(b88) + 1
            tagged77.append((3, b"".join((ONE_BYTE[n89] if n89 < 128 else write_string_length(n89), b88))))
        if e2.repeated_rebalances != 0:
            tagged77.append((4, pack_i(e2.repeated_rebalances)))
        if e2.computes_in_ms != -1:
            tagged77.append((5, pack_i(e2.computes_in_ms)))
        if e2.config_source != 0:
            tagged77.append((6, pack_b(e2.config_source)))
        if e2.rebalance_delay_ms != -1:
            tagged77.append((7, pack_q(e2.rebalance_delay_ms)))
        if e2.rebalance_delay_source != 0:
            tagged77.append((8, pack_b(e2.rebalance_delay_source)))
        if e2.placement_state != 0:
            tagged77.append((9, pack_b(e2.placement_state)))
        if e2.misplaced != []:
            parts96: list[bytes | memoryview] = []
            n97 = len(e2.misplaced) + 1
            parts96.append(ONE_BYTE[n97] if n97 < 128 else write_uvarint(n97))
            for e98 in e2.misplaced:
                b99 = e98.reason.encode()
                n100 = len(b99) + 1
                n101 = len(e98.connectors_and_tasks) + 1
                parts96 += (
                    ONE_BYTE[n100] if n100 < 128 else write_string_length(n100),
                    b99,
                    b"\1" if e98.is_running else b"\0",
                    ONE_BYTE[n101] if n101 < 128 else write_uvarint(n101),
                )
                for e102 in e98.connectors_and_tasks:
                    _encode_connectors_and_tasks_v0(parts96, e102)
                parts96.append(write_tagged(e98.unknown_tagged_fields) if e98.unknown_tagged_fields else b"\0")
            tagged77.append((10, b"".join(parts96)))
        out.append(write_tagged(tagged77) if tagged77 else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
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
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("client_id", "ClientId", "string", (0, 0)),
    Field("client_host", "ClientHost", "string", (0, 0)),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("state", "State", "string", (0, 0)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 0)),
    Field("session_timeout_ms", "SessionTimeoutMs", "int32", (0, 0)),
    Field("owned", "Owned", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("target", "Target", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("waiting_for", "WaitingFor", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("to_release", "ToRelease", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
    Field("protocol", "Protocol", "string", (0, 0), tag=0, tagged=(0, 0)),
    Field("generation", "Generation", "int32", (0, 0), tag=1, tagged=(0, 0)),
    Field("leads", "Leads", "bool", (0, 0), tag=2, tagged=(0, 0)),
    Field("trouble", "Trouble", "string", (0, 0), nullable=(0, 0), tag=3, tagged=(0, 0)),
)
Departed.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0)),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
)
Move.FIELDS = (
    Field("from_", "From", "string", (0, 0)),
    Field("to", "To", "string", (0, 0)),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
)
HistoryEntry.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 0)),
    Field("reason", "Reason", "string", (0, 0)),
    Field("timestamp_ms", "TimestampMs", "int64", (0, 0)),
    Field("installed_ms", "InstalledMs", "int64", (0, 0)),
    Field("converged_ms", "ConvergedMs", "int64", (0, 0)),
    Field("moved_count", "MovedCount", "int32", (0, 0)),
    Field("moves", "Moves", "struct", (0, 0), is_array=True, struct=Move),
)
Misplaced.FIELDS = (
    Field("reason", "Reason", "string", (0, 0)),
    Field("is_running", "IsRunning", "bool", (0, 0)),
    Field("connectors_and_tasks", "ConnectorsAndTasks", "struct", (0, 0), is_array=True, struct=ConnectorsAndTasks),
)
DescribedGroup.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("group_state", "GroupState", "string", (0, 0)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("assignment_epoch", "AssignmentEpoch", "int32", (0, 0)),
    Field("assignor_name", "AssignorName", "string", (0, 0)),
    Field("members", "Members", "struct", (0, 0), is_array=True, struct=Member),
    Field("computing_member_id", "ComputingMemberId", "string", (0, 0), nullable=(0, 0)),
    Field("config_offset", "ConfigOffset", "int64", (0, 0)),
    Field("configured", "Configured", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=ConnectorsAndTasks),
    Field("departed", "Departed", "struct", (0, 0), is_array=True, struct=Departed),
    Field("remaining_delay_ms", "RemainingDelayMs", "int32", (0, 0)),
    Field("assignment_error", "AssignmentError", "int8", (0, 0)),
    Field("assignment_error_message", "AssignmentErrorMessage", "string", (0, 0), nullable=(0, 0)),
    Field("authorized_operations", "AuthorizedOperations", "int32", (0, 0)),
    Field("history", "History", "struct", (0, 0), is_array=True, struct=HistoryEntry),
    Field("classic_mode", "ClassicMode", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0)),
    Field("barrier", "Barrier", "string", (0, 0), nullable=(0, 0), tag=1, tagged=(0, 0)),
    Field("embedded_protocol", "EmbeddedProtocol", "string", (0, 0), nullable=(0, 0), tag=2, tagged=(0, 0)),
    Field("migration_policy", "MigrationPolicy", "string", (0, 0), nullable=(0, 0), tag=3, tagged=(0, 0)),
    Field("repeated_rebalances", "RepeatedRebalances", "int32", (0, 0), tag=4, tagged=(0, 0)),
    Field("computes_in_ms", "ComputesInMs", "int32", (0, 0), tag=5, tagged=(0, 0)),
    Field("config_source", "ConfigSource", "int8", (0, 0), tag=6, tagged=(0, 0)),
    Field("rebalance_delay_ms", "RebalanceDelayMs", "int64", (0, 0), tag=7, tagged=(0, 0)),
    Field("rebalance_delay_source", "RebalanceDelaySource", "int8", (0, 0), tag=8, tagged=(0, 0)),
    Field("placement_state", "PlacementState", "int8", (0, 0), tag=9, tagged=(0, 0)),
    Field("misplaced", "Misplaced", "struct", (0, 0), is_array=True, tag=10, tagged=(0, 0), struct=Misplaced),
)
ConnectGroupDescribeResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 0)),
    Field("groups", "Groups", "struct", (0, 0), is_array=True, struct=DescribedGroup),
)
ConnectGroupDescribeResponse.NAME = "ConnectGroupDescribeResponse"
ConnectGroupDescribeResponse.API_KEY = 32103
ConnectGroupDescribeResponse.MIN_VERSION = 0
ConnectGroupDescribeResponse.MAX_VERSION = 0
ConnectGroupDescribeResponse.FLEXIBLE_FROM = 0
ConnectGroupDescribeResponse._DECODERS = {0: _decode_v0}
ConnectGroupDescribeResponse._ENCODERS = {0: _encode_v0}
