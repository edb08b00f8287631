# Generated from schemas/message/ConsumerGroupDescribeResponse.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupDescribeResponse, a response, versions 0-1."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    ZERO_UUID,
    EncodeError,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_un = Format(">16sB").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_qqqin = Format(">qqqiB").unpack_from
pack_b = Format(">b").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack
pack_qqqi = Format(">qqqi").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartitions(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    topic_name: str = ""
    """The topic's name."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Assignment(Struct):
    topic_partitions: list[TopicPartitions] = attrs.Factory(list)
    """Topics with their partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Member(Struct):
    member_id: str = ""
    """The member's id."""
    instance_id: str | None = None
    """The member's static name, or null."""
    rack_id: str | None = None
    """The client's rack, or null."""
    member_epoch: int = 0
    """The epoch that the member has reached."""
    client_id: str = ""
    """The client id that the member gave in its request headers."""
    client_host: str = ""
    """The address that the member connects from, with a leading slash."""
    subscribed_topic_names: list[str] = attrs.Factory(list)
    """Topics that the member subscribes to by name."""
    subscribed_topic_regex: str | None = None
    """The RE2 pattern that the member subscribes to, or null."""
    assignment: Assignment = attrs.Factory(Assignment)
    """What the member holds now."""
    target_assignment: Assignment = attrs.Factory(Assignment)
    """What the member is moving towards."""
    member_type: int = -1
    """0 classic, 1 consumer, -1 unknown. Since version 1."""
    pending: list[TopicPartitions] = attrs.Factory(list)
    """kcoord's own: what the member was told to let go of, and has not yet."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Move(Struct):
    from_: str = ""
    """The id of the member that had them; empty: nobody."""
    to: str = ""
    """The id of the member that got them; empty: nobody."""
    topic_partitions: list[TopicPartitions] = attrs.Factory(list)
    """What moved. The name is empty where the topic is gone."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class HistoryEntry(Struct):
    epoch: int = 0
    """The group epoch."""
    reason: str = ""
    """Why it began."""
    timestamp_ms: int = 0
    """When it began, in ms since 1970."""
    installed_ms: int = -1
    """When its assignment was made, in ms since 1970, or -1."""
    converged_ms: int = -1
    """When the last member had what it was to have, in ms since 1970, or -1."""
    moved_count: int = 0
    """How many partitions changed hands."""
    moves: list[Move] = attrs.Factory(list)
    """Which ones; not all where they were many."""
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
    """The state as a word, e.g. Stable or Empty."""
    group_epoch: int = 0
    """The group's epoch: moves on when members, subscriptions or topics change."""
    assignment_epoch: int = 0
    """The epoch of the target assignment."""
    assignor_name: str = ""
    """The assignor that the coordinator uses."""
    members: list[Member] = attrs.Factory(list)
    """The members."""
    authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the group; the lowest int32 when not asked for."""
    history: list[HistoryEntry] | None = None
    """kcoord's own: the last epochs, oldest first; null: not told."""
    computing_member_id: str | None = None
    """kcoord's own: the member that computes the next assignment (KG-27); null: none does, or not told."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupDescribeResponse(Response):
    """The state and the members of KIP-848 consumer groups."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    groups: list[DescribedGroup] = attrs.Factory(list)
    """One entry for each group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_topic_partitions_v0(data: bytes, pos: int) -> tuple[TopicPartitions, int]:
    result = new(TopicPartitions)
    result.topic_id, n = unpack_un(data, pos)
    pos += 16
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    result.topic_name = data[pos + 1 : stop].decode()
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


def _decode_assignment_v0(data: bytes, pos: int) -> tuple[Assignment, int]:
    end = len(data)
    result = new(Assignment)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 19 > end - pos:
        raise Malformed
    topic_partitions: list[TopicPartitions] = []
    topic_partitions_count = n
    for _ in range(topic_partitions_count):
        topic_partition, pos = _decode_topic_partitions_v0(data, pos)
        topic_partitions.append(topic_partition)
    result.topic_partitions = topic_partitions
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupDescribeResponse:
    end = len(data)
    message = new(ConsumerGroupDescribeResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 20 > end - pos:
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
        if n * 16 > end - pos:
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
                member.rack_id = None
                pos += 1
            elif n == 1:
                member.rack_id = ""
                pos += 1
            else:
                stop = pos + n
                member.rack_id = data[pos + 1 : stop].decode()
                pos = stop
            member.member_epoch, n = unpack_in(data, pos)
            pos += 4
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
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n > end - pos:
                raise Malformed
            subscribed_topic_names: list[str] = []
            subscribed_topic_names_count = n
            for _ in range(subscribed_topic_names_count):
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                subscribed_topic_name = data[pos + 1 : stop].decode()
                pos = stop
                subscribed_topic_names.append(subscribed_topic_name)
            member.subscribed_topic_names = subscribed_topic_names
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                member.subscribed_topic_regex = None
                pos += 1
            elif n == 1:
                member.subscribed_topic_regex = ""
                pos += 1
            else:
                stop = pos + n
                member.subscribed_topic_regex = data[pos + 1 : stop].decode()
                pos = stop
            member.assignment, pos = _decode_assignment_v0(data, pos)
            member.target_assignment, pos = _decode_assignment_v0(data, pos)
            member.member_type = -1
            member.pending = []
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
                    if member_tag == 1000:
                        n = data[pos]
                        if n < 128:
                            pos += 1
                        else:
                            n, pos = read_uvarint(data, pos)
                        if n == 0:
                            raise Malformed
                        n -= 1
                        if n * 19 > end - pos:
                            raise Malformed
                        pending: list[TopicPartitions] = []
                        pending_count = n
                        for _ in range(pending_count):
                            pending_item, pos = _decode_topic_partitions_v0(data, pos)
                            pending.append(pending_item)
                        member.pending = pending
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
        group.history = None
        group.computing_member_id = None
        group.authorized_operations, n = unpack_in(data, pos)
        pos += 4
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
                if group_tag == 1000:
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        group.history = None
                    else:
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
                                if n * 19 > end - pos:
                                    raise Malformed
                                topic_partitions: list[TopicPartitions] = []
                                topic_partitions_count = n
                                for _ in range(topic_partitions_count):
                                    topic_partition, pos = _decode_topic_partitions_v0(data, pos)
                                    topic_partitions.append(topic_partition)
                                move.topic_partitions = topic_partitions
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
                elif group_tag == 1001:
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


def _decode_v1(data: bytes, pos: int) -> ConsumerGroupDescribeResponse:
    end = len(data)
    message = new(ConsumerGroupDescribeResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 20 > end - pos:
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
        if n * 17 > end - pos:
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
                member.rack_id = None
                pos += 1
            elif n == 1:
                member.rack_id = ""
                pos += 1
            else:
                stop = pos + n
                member.rack_id = data[pos + 1 : stop].decode()
                pos = stop
            member.member_epoch, n = unpack_in(data, pos)
            pos += 4
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
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n > end - pos:
                raise Malformed
            subscribed_topic_names: list[str] = []
            subscribed_topic_names_count = n
            for _ in range(subscribed_topic_names_count):
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                subscribed_topic_name = data[pos + 1 : stop].decode()
                pos = stop
                subscribed_topic_names.append(subscribed_topic_name)
            member.subscribed_topic_names = subscribed_topic_names
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                member.subscribed_topic_regex = None
                pos += 1
            elif n == 1:
                member.subscribed_topic_regex = ""
                pos += 1
            else:
                stop = pos + n
                member.subscribed_topic_regex = data[pos + 1 : stop].decode()
                pos = stop
            member.assignment, pos = _decode_assignment_v0(data, pos)
            member.target_assignment, pos = _decode_assignment_v0(data, pos)
            member.pending = []
            member.member_type, n = unpack_bn(data, pos)
            pos += 1
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
                    if member_tag == 1000:
                        n = data[pos]
                        if n < 128:
                            pos += 1
                        else:
                            n, pos = read_uvarint(data, pos)
                        if n == 0:
                            raise Malformed
                        n -= 1
                        if n * 19 > end - pos:
                            raise Malformed
                        pending: list[TopicPartitions] = []
                        pending_count = n
                        for _ in range(pending_count):
                            pending_item, pos = _decode_topic_partitions_v0(data, pos)
                            pending.append(pending_item)
                        member.pending = pending
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
        group.history = None
        group.computing_member_id = None
        group.authorized_operations, n = unpack_in(data, pos)
        pos += 4
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
                if group_tag == 1000:
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        group.history = None
                    else:
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
                                if n * 19 > end - pos:
                                    raise Malformed
                                topic_partitions: list[TopicPartitions] = []
                                topic_partitions_count = n
                                for _ in range(topic_partitions_count):
                                    topic_partition, pos = _decode_topic_partitions_v0(data, pos)
                                    topic_partitions.append(topic_partition)
                                move.topic_partitions = topic_partitions
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
                elif group_tag == 1001:
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


def _encode_topic_partitions_v0(out: list[bytes | memoryview], m: TopicPartitions) -> None:
    if len(m.topic_id) != 16:
        raise EncodeError("TopicId is not 16 bytes long")
    b1 = m.topic_name.encode()
    n2 = len(b1) + 1
    n3 = len(m.partitions) + 1
    out += (
        m.topic_id,
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )


def _encode_assignment_v0(out: list[bytes | memoryview], m: Assignment) -> None:
    n1 = len(m.topic_partitions) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topic_partitions:
        _encode_topic_partitions_v0(out, e2)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")


def _encode_v0(m: ConsumerGroupDescribeResponse) -> bytes:
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
            v21 = e13.rack_id
            if v21 is None:
                b19 = b""
                n20 = 0
            else:
                b19 = v21.encode()
                n20 = len(b19) + 1
            b22 = e13.client_id.encode()
            n23 = len(b22) + 1
            b24 = e13.client_host.encode()
            n25 = len(b24) + 1
            n26 = len(e13.subscribed_topic_names) + 1
            out += (
                ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
                b14,
                ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
                b16,
                ONE_BYTE[n20] if n20 < 128 else write_string_length(n20),
                b19,
                pack_i(e13.member_epoch),
                ONE_BYTE[n23] if n23 < 128 else write_string_length(n23),
                b22,
                ONE_BYTE[n25] if n25 < 128 else write_string_length(n25),
                b24,
                ONE_BYTE[n26] if n26 < 128 else write_uvarint(n26),
            )
            for e27 in e13.subscribed_topic_names:
                b28 = e27.encode()
                n29 = len(b28) + 1
                out += (ONE_BYTE[n29] if n29 < 128 else write_string_length(n29), b28)
            v32 = e13.subscribed_topic_regex
            if v32 is None:
                b30 = b""
                n31 = 0
            else:
                b30 = v32.encode()
                n31 = len(b30) + 1
            out += (ONE_BYTE[n31] if n31 < 128 else write_string_length(n31), b30)
            _encode_assignment_v0(out, e13.assignment)
            _encode_assignment_v0(out, e13.target_assignment)
            tagged33: list[tuple[int, bytes]] = [*e13.unknown_tagged_fields]
            if e13.pending != []:
                parts34: list[bytes | memoryview] = []
                n35 = len(e13.pending) + 1
                parts34.append(ONE_BYTE[n35] if n35 < 128 else write_uvarint(n35))
                for e36 in e13.pending:
                    _encode_topic_partitions_v0(parts34, e36)
                tagged33.append((1000, b"".join(parts34)))
            out.append(write_tagged(tagged33) if tagged33 else b"\0")
        out.append(pack_i(e2.authorized_operations))
        tagged37: list[tuple[int, bytes]] = [*e2.unknown_tagged_fields]
        if e2.history is not None:
            parts38: list[bytes | memoryview] = []
            n39 = len(e2.history) + 1
            parts38.append(ONE_BYTE[n39] if n39 < 128 else write_uvarint(n39))
            for e40 in e2.history:
                b41 = e40.reason.encode()
                n42 = len(b41) + 1
                n43 = len(e40.moves) + 1
                parts38 += (
                    pack_i(e40.epoch),
                    ONE_BYTE[n42] if n42 < 128 else write_string_length(n42),
                    b41,
                    pack_qqqi(e40.timestamp_ms, e40.installed_ms, e40.converged_ms, e40.moved_count),
                    ONE_BYTE[n43] if n43 < 128 else write_uvarint(n43),
                )
                for e44 in e40.moves:
                    b45 = e44.from_.encode()
                    n46 = len(b45) + 1
                    b47 = e44.to.encode()
                    n48 = len(b47) + 1
                    n49 = len(e44.topic_partitions) + 1
                    parts38 += (
                        ONE_BYTE[n46] if n46 < 128 else write_string_length(n46),
                        b45,
                        ONE_BYTE[n48] if n48 < 128 else write_string_length(n48),
                        b47,
                        ONE_BYTE[n49] if n49 < 128 else write_uvarint(n49),
                    )
                    for e50 in e44.topic_partitions:
                        _encode_topic_partitions_v0(parts38, e50)
                    parts38.append(write_tagged(e44.unknown_tagged_fields) if e44.unknown_tagged_fields else b"\0")
                parts38.append(write_tagged(e40.unknown_tagged_fields) if e40.unknown_tagged_fields else b"\0")
            tagged37.append((1000, b"".join(parts38)))
        if e2.computing_member_id is not None:
            b52 = e2.computing_member_id.encode()
            n53 = len(b52) + 1
            tagged37.append((1001, b"".join((ONE_BYTE[n53] if n53 < 128 else write_string_length(n53), b52))))
        out.append(write_tagged(tagged37) if tagged37 else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v1(m: ConsumerGroupDescribeResponse) -> bytes:
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
            v21 = e13.rack_id
            if v21 is None:
                b19 = b""
                n20 = 0
            else:
                b19 = v21.encode()
                n20 = len(b19) + 1
            b22 = e13.client_id.encode()
            n23 = len(b22) + 1
            b24 = e13.client_host.encode()
            n25 = len(b24) + 1
            n26 = len(e13.subscribed_topic_names) + 1
            out += (
                ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
                b14,
                ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
                b16,
                ONE_BYTE[n20] if n20 < 128 else write_string_length(n20),
                b19,
                pack_i(e13.member_epoch),
                ONE_BYTE[n23] if n23 < 128 else write_string_length(n23),
                b22,
                ONE_BYTE[n25] if n25 < 128 else write_string_length(n25),
                b24,
                ONE_BYTE[n26] if n26 < 128 else write_uvarint(n26),
            )
            for e27 in e13.subscribed_topic_names:
                b28 = e27.encode()
                n29 = len(b28) + 1
                out += (ONE_BYTE[n29] if n29 < 128 else write_string_length(n29), b28)
            v32 = e13.subscribed_topic_regex
            if v32 is None:
                b30 = b""
                n31 = 0
            else:
                b30 = v32.encode()
                n31 = len(b30) + 1
            out += (ONE_BYTE[n31] if n31 < 128 else write_string_length(n31), b30)
            _encode_assignment_v0(out, e13.assignment)
            _encode_assignment_v0(out, e13.target_assignment)
            out.append(pack_b(e13.member_type))
            tagged33: list[tuple[int, bytes]] = [*e13.unknown_tagged_fields]
            if e13.pending != []:
                parts34: list[bytes | memoryview] = []
                n35 = len(e13.pending) + 1
                parts34.append(ONE_BYTE[n35] if n35 < 128 else write_uvarint(n35))
                for e36 in e13.pending:
                    _encode_topic_partitions_v0(parts34, e36)
                tagged33.append((1000, b"".join(parts34)))
            out.append(write_tagged(tagged33) if tagged33 else b"\0")
        out.append(pack_i(e2.authorized_operations))
        tagged37: list[tuple[int, bytes]] = [*e2.unknown_tagged_fields]
        if e2.history is not None:
            parts38: list[bytes | memoryview] = []
            n39 = len(e2.history) + 1
            parts38.append(ONE_BYTE[n39] if n39 < 128 else write_uvarint(n39))
            for e40 in e2.history:
                b41 = e40.reason.encode()
                n42 = len(b41) + 1
                n43 = len(e40.moves) + 1
                parts38 += (
                    pack_i(e40.epoch),
                    ONE_BYTE[n42] if n42 < 128 else write_string_length(n42),
                    b41,
                    pack_qqqi(e40.timestamp_ms, e40.installed_ms, e40.converged_ms, e40.moved_count),
                    ONE_BYTE[n43] if n43 < 128 else write_uvarint(n43),
                )
                for e44 in e40.moves:
                    b45 = e44.from_.encode()
                    n46 = len(b45) + 1
                    b47 = e44.to.encode()
                    n48 = len(b47) + 1
                    n49 = len(e44.topic_partitions) + 1
                    parts38 += (
                        ONE_BYTE[n46] if n46 < 128 else write_string_length(n46),
                        b45,
                        ONE_BYTE[n48] if n48 < 128 else write_string_length(n48),
                        b47,
                        ONE_BYTE[n49] if n49 < 128 else write_uvarint(n49),
                    )
                    for e50 in e44.topic_partitions:
                        _encode_topic_partitions_v0(parts38, e50)
                    parts38.append(write_tagged(e44.unknown_tagged_fields) if e44.unknown_tagged_fields else b"\0")
                parts38.append(write_tagged(e40.unknown_tagged_fields) if e40.unknown_tagged_fields else b"\0")
            tagged37.append((1000, b"".join(parts38)))
        if e2.computing_member_id is not None:
            b52 = e2.computing_member_id.encode()
            n53 = len(b52) + 1
            tagged37.append((1001, b"".join((ONE_BYTE[n53] if n53 < 128 else write_string_length(n53), b52))))
        out.append(write_tagged(tagged37) if tagged37 else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 1)),
    Field("topic_name", "TopicName", "string", (0, 1), entity="topicName"),
    Field("partitions", "Partitions", "int32", (0, 1), is_array=True),
)
Assignment.FIELDS = (
    Field("topic_partitions", "TopicPartitions", "struct", (0, 1), is_array=True, struct=TopicPartitions),
)
Member.FIELDS = (
    Field("member_id", "MemberId", "string", (0, 1)),
    Field("instance_id", "InstanceId", "string", (0, 1), nullable=(0, 1)),
    Field("rack_id", "RackId", "string", (0, 1), nullable=(0, 1)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 1)),
    Field("client_id", "ClientId", "string", (0, 1)),
    Field("client_host", "ClientHost", "string", (0, 1)),
    Field("subscribed_topic_names", "SubscribedTopicNames", "string", (0, 1), is_array=True, entity="topicName"),
    Field("subscribed_topic_regex", "SubscribedTopicRegex", "string", (0, 1), nullable=(0, 1)),
    Field("assignment", "Assignment", "struct", (0, 1), struct=Assignment),
    Field("target_assignment", "TargetAssignment", "struct", (0, 1), struct=Assignment),
    Field("member_type", "MemberType", "int8", (1, 1), ignorable=True),
    Field(
        "pending",
        "Pending",
        "struct",
        (0, 1),
        is_array=True,
        tag=1000,
        tagged=(0, 1),
        struct=TopicPartitions,
        ignorable=True,
    ),
)
Move.FIELDS = (
    Field("from_", "From", "string", (0, 1)),
    Field("to", "To", "string", (0, 1)),
    Field("topic_partitions", "TopicPartitions", "struct", (0, 1), is_array=True, struct=TopicPartitions),
)
HistoryEntry.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 1)),
    Field("reason", "Reason", "string", (0, 1)),
    Field("timestamp_ms", "TimestampMs", "int64", (0, 1)),
    Field("installed_ms", "InstalledMs", "int64", (0, 1)),
    Field("converged_ms", "ConvergedMs", "int64", (0, 1)),
    Field("moved_count", "MovedCount", "int32", (0, 1)),
    Field("moves", "Moves", "struct", (0, 1), is_array=True, struct=Move),
)
DescribedGroup.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 1)),
    Field("error_message", "ErrorMessage", "string", (0, 1), nullable=(0, 1)),
    Field("group_id", "GroupId", "string", (0, 1), entity="groupId"),
    Field("group_state", "GroupState", "string", (0, 1)),
    Field("group_epoch", "GroupEpoch", "int32", (0, 1)),
    Field("assignment_epoch", "AssignmentEpoch", "int32", (0, 1)),
    Field("assignor_name", "AssignorName", "string", (0, 1)),
    Field("members", "Members", "struct", (0, 1), is_array=True, struct=Member),
    Field("authorized_operations", "AuthorizedOperations", "int32", (0, 1)),
    Field(
        "history",
        "History",
        "struct",
        (0, 1),
        is_array=True,
        nullable=(0, 1),
        tag=1000,
        tagged=(0, 1),
        struct=HistoryEntry,
        ignorable=True,
    ),
    Field(
        "computing_member_id",
        "ComputingMemberId",
        "string",
        (0, 1),
        nullable=(0, 1),
        tag=1001,
        tagged=(0, 1),
        ignorable=True,
    ),
)
ConsumerGroupDescribeResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 1)),
    Field("groups", "Groups", "struct", (0, 1), is_array=True, struct=DescribedGroup),
)
ConsumerGroupDescribeResponse.NAME = "ConsumerGroupDescribeResponse"
ConsumerGroupDescribeResponse.API_KEY = 69
ConsumerGroupDescribeResponse.MIN_VERSION = 0
ConsumerGroupDescribeResponse.MAX_VERSION = 1
ConsumerGroupDescribeResponse.FLEXIBLE_FROM = 0
ConsumerGroupDescribeResponse._DECODERS = {0: _decode_v0, 1: _decode_v1}
ConsumerGroupDescribeResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1}
