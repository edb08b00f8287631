# Generated from schemas/message/OffsetFetchRequest.json by `python -m schemas.generator`. Do not edit.
"""OffsetFetchRequest, a request, versions 1-10."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    ZERO_UUID,
    EncodeError,
    Malformed,
    integers,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_un = Format(">16sB").unpack_from
unpack_xn = Format(">?B").unpack_from
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchRequestTopic(Struct):
    name: str = ""
    """The topic's name. Until version 7."""
    partition_indexes: list[int] = attrs.Factory(list)
    """The partitions' numbers. Until version 7."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchRequestTopics(Struct):
    name: str = ""
    """The topic's name. Since version 8. Until version 9."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 10."""
    partition_indexes: list[int] = attrs.Factory(list)
    """The partitions' numbers. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchRequestGroup(Struct):
    group_id: str = ""
    """The group's id. Since version 8."""
    member_id: str | None = None
    """The id of a KIP-848 member, or null. Since version 9."""
    member_epoch: int = -1
    """The epoch of a KIP-848 member, or -1. Since version 9."""
    topics: list[OffsetFetchRequestTopics] | None = attrs.Factory(list)
    """The partitions wanted; null: all. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class OffsetFetchRequest(Request):
    """Asks how far groups have read."""

    group_id: str = ""
    """The group's id. Until version 7."""
    topics: list[OffsetFetchRequestTopic] | None = attrs.Factory(list)
    """The partitions wanted; null: all. Until version 7."""
    groups: list[OffsetFetchRequestGroup] = attrs.Factory(list)
    """The groups whose offsets are wanted. Since version 8."""
    require_stable: bool = False
    """Whether to wait for transactions that may still change the offsets (KIP-447). Since version 7."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[OffsetFetchRequestTopic] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(OffsetFetchRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n < 17:
            topic.partition_indexes = list(READ_INT32S[n](data, pos))
        else:
            topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partition_indexes_end = pos
        topic.unknown_tagged_fields = ()
        topics.append(topic)
        topics_left -= 1
        if topics_tries and topics_left >= 12:
            name_size = name_n
            same = data[topics_start : name_end - name_size]
            partition_indexes_size = len(topic.partition_indexes) * 4
            same_2 = data[name_end : partition_indexes_end - partition_indexes_size]
            partition_indexes_list = integers("i", len(topic.partition_indexes))
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{partition_indexes_size}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, partition_indexes = row
                if gap != same or gap_2 != same_2:
                    break
                topic = new(OffsetFetchRequestTopic)
                topic.name = name.decode() if name else ""
                topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                topic.unknown_tagged_fields = topics_unknown
                topics.append(topic)
            topics_done = len(topics) - topics_done
            pos += topics_done * topics_size
            topics_left -= topics_done
            if not topics_done:
                topics_tries -= 1
    message.topics = topics
    message.groups = []
    message.require_stable = False
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        if n != -1:
            raise Malformed
        message.topics = None
    else:
        if n * 6 > end - pos:
            raise Malformed
        topics: list[OffsetFetchRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(OffsetFetchRequestTopic)
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            topic.name = data[pos:stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            (n,) = unpack_i(data, pos)
            pos += 4
            if n < 0:
                raise Malformed
            if n < 17:
                topic.partition_indexes = list(READ_INT32S[n](data, pos))
            else:
                topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            partition_indexes_end = pos
            topic.unknown_tagged_fields = ()
            topics.append(topic)
            topics_left -= 1
            if topics_tries and topics_left >= 12:
                name_size = name_n
                same = data[topics_start : name_end - name_size]
                partition_indexes_size = len(topic.partition_indexes) * 4
                same_2 = data[name_end : partition_indexes_end - partition_indexes_size]
                partition_indexes_list = integers("i", len(topic.partition_indexes))
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{partition_indexes_size}s", memoryview(data)[pos:stop]):
                    gap, name, gap_2, partition_indexes = row
                    if gap != same or gap_2 != same_2:
                        break
                    topic = new(OffsetFetchRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.groups = []
    message.require_stable = False
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v6(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.topics = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        topics: list[OffsetFetchRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(OffsetFetchRequestTopic)
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            topic.name = data[pos + 1 : stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                topic.partition_indexes = list(READ_INT32S[n](data, pos))
            else:
                topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            partition_indexes_end = pos
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                topic.unknown_tagged_fields = ()
                pos += 1
            topics.append(topic)
            topics_left -= 1
            if topics_tries and topics_left >= 12:
                name_size = name_n - 1
                same = data[topics_start : name_end - name_size]
                partition_indexes_size = len(topic.partition_indexes) * 4
                same_2 = data[name_end : partition_indexes_end - partition_indexes_size]
                partition_indexes_list = integers("i", len(topic.partition_indexes))
                same_3 = data[partition_indexes_end : pos]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{partition_indexes_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                    gap, name, gap_2, partition_indexes, gap_3 = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3:
                        break
                    topic = new(OffsetFetchRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.groups = []
    message.require_stable = False
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


def _decode_v7(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.topics = None
    else:
        n -= 1
        if n * 3 > end - pos:
            raise Malformed
        topics: list[OffsetFetchRequestTopic] = []
        topics_left = n
        topics_tries = 4
        while topics_left:
            topics_start = pos
            topic = new(OffsetFetchRequestTopic)
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            topic.name = data[pos + 1 : stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            n = data[pos]
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                topic.partition_indexes = list(READ_INT32S[n](data, pos))
            else:
                topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            partition_indexes_end = pos
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                topic.unknown_tagged_fields = ()
                pos += 1
            topics.append(topic)
            topics_left -= 1
            if topics_tries and topics_left >= 12:
                name_size = name_n - 1
                same = data[topics_start : name_end - name_size]
                partition_indexes_size = len(topic.partition_indexes) * 4
                same_2 = data[name_end : partition_indexes_end - partition_indexes_size]
                partition_indexes_list = integers("i", len(topic.partition_indexes))
                same_3 = data[partition_indexes_end : pos]
                topics_unknown = topic.unknown_tagged_fields
                topics_done = len(topics)
                topics_size = pos - topics_start
                stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{partition_indexes_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                    gap, name, gap_2, partition_indexes, gap_3 = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3:
                        break
                    topic = new(OffsetFetchRequestTopic)
                    topic.name = name.decode() if name else ""
                    topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                    topic.unknown_tagged_fields = topics_unknown
                    topics.append(topic)
                topics_done = len(topics) - topics_done
                pos += topics_done * topics_size
                topics_left -= topics_done
                if not topics_done:
                    topics_tries -= 1
        message.topics = topics
    message.groups = []
    message.require_stable, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v8(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
    message.group_id = ""
    message.topics = []
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
    groups: list[OffsetFetchRequestGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(OffsetFetchRequestGroup)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        group.group_id = data[pos + 1 : stop].decode()
        pos = stop
        group.member_id = None
        group.member_epoch = -1
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            group.topics = None
        else:
            n -= 1
            if n * 3 > end - pos:
                raise Malformed
            topics: list[OffsetFetchRequestTopics] = []
            topics_left = n
            topics_tries = 4
            while topics_left:
                topics_start = pos
                topic = new(OffsetFetchRequestTopics)
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                topic.name = data[pos + 1 : stop].decode()
                pos = stop
                name_end = pos
                name_n = n
                topic.topic_id = ZERO_UUID
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    topic.partition_indexes = list(READ_INT32S[n](data, pos))
                else:
                    topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
                partition_indexes_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
                    pos += 1
                topics.append(topic)
                topics_left -= 1
                if topics_tries and topics_left >= 12:
                    name_size = name_n - 1
                    same = data[topics_start : name_end - name_size]
                    partition_indexes_size = len(topic.partition_indexes) * 4
                    same_2 = data[name_end : partition_indexes_end - partition_indexes_size]
                    partition_indexes_list = integers("i", len(topic.partition_indexes))
                    same_3 = data[partition_indexes_end : pos]
                    topics_unknown = topic.unknown_tagged_fields
                    topics_done = len(topics)
                    topics_size = pos - topics_start
                    stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{partition_indexes_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                        gap, name, gap_2, partition_indexes, gap_3 = row
                        if gap != same or gap_2 != same_2 or gap_3 != same_3:
                            break
                        topic = new(OffsetFetchRequestTopics)
                        topic.name = name.decode() if name else ""
                        topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                        topic.topic_id = ZERO_UUID
                        topic.unknown_tagged_fields = topics_unknown
                        topics.append(topic)
                    topics_done = len(topics) - topics_done
                    pos += topics_done * topics_size
                    topics_left -= topics_done
                    if not topics_done:
                        topics_tries -= 1
            group.topics = topics
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
    message.groups = groups
    message.require_stable, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v9(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
    message.group_id = ""
    message.topics = []
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 8 > end - pos:
        raise Malformed
    groups: list[OffsetFetchRequestGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(OffsetFetchRequestGroup)
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
            group.member_id = None
            pos += 1
        elif n == 1:
            group.member_id = ""
            pos += 1
        else:
            stop = pos + n
            group.member_id = data[pos + 1 : stop].decode()
            pos = stop
        group.member_epoch, n = unpack_in(data, pos)
        pos += 4
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            group.topics = None
        else:
            n -= 1
            if n * 3 > end - pos:
                raise Malformed
            topics: list[OffsetFetchRequestTopics] = []
            topics_left = n
            topics_tries = 4
            while topics_left:
                topics_start = pos
                topic = new(OffsetFetchRequestTopics)
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                topic.name = data[pos + 1 : stop].decode()
                pos = stop
                name_end = pos
                name_n = n
                topic.topic_id = ZERO_UUID
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    topic.partition_indexes = list(READ_INT32S[n](data, pos))
                else:
                    topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
                partition_indexes_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
                    pos += 1
                topics.append(topic)
                topics_left -= 1
                if topics_tries and topics_left >= 12:
                    name_size = name_n - 1
                    same = data[topics_start : name_end - name_size]
                    partition_indexes_size = len(topic.partition_indexes) * 4
                    same_2 = data[name_end : partition_indexes_end - partition_indexes_size]
                    partition_indexes_list = integers("i", len(topic.partition_indexes))
                    same_3 = data[partition_indexes_end : pos]
                    topics_unknown = topic.unknown_tagged_fields
                    topics_done = len(topics)
                    topics_size = pos - topics_start
                    stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{partition_indexes_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                        gap, name, gap_2, partition_indexes, gap_3 = row
                        if gap != same or gap_2 != same_2 or gap_3 != same_3:
                            break
                        topic = new(OffsetFetchRequestTopics)
                        topic.name = name.decode() if name else ""
                        topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                        topic.topic_id = ZERO_UUID
                        topic.unknown_tagged_fields = topics_unknown
                        topics.append(topic)
                    topics_done = len(topics) - topics_done
                    pos += topics_done * topics_size
                    topics_left -= topics_done
                    if not topics_done:
                        topics_tries -= 1
            group.topics = topics
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
    message.groups = groups
    message.require_stable, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v10(data: bytes, pos: int) -> OffsetFetchRequest:
    end = len(data)
    message = new(OffsetFetchRequest)
    message.group_id = ""
    message.topics = []
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 8 > end - pos:
        raise Malformed
    groups: list[OffsetFetchRequestGroup] = []
    groups_count = n
    for _ in range(groups_count):
        group = new(OffsetFetchRequestGroup)
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
            group.member_id = None
            pos += 1
        elif n == 1:
            group.member_id = ""
            pos += 1
        else:
            stop = pos + n
            group.member_id = data[pos + 1 : stop].decode()
            pos = stop
        group.member_epoch, n = unpack_in(data, pos)
        pos += 4
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            group.topics = None
        else:
            n -= 1
            if n * 18 > end - pos:
                raise Malformed
            topics: list[OffsetFetchRequestTopics] = []
            topics_left = n
            topics_tries = 4
            while topics_left:
                topics_start = pos
                topic = new(OffsetFetchRequestTopics)
                topic.name = ""
                topic.topic_id, n = unpack_un(data, pos)
                pos += 16
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    topic.partition_indexes = list(READ_INT32S[n](data, pos))
                else:
                    topic.partition_indexes = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
                partition_indexes_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
                    pos += 1
                topics.append(topic)
                topics_left -= 1
                if topics_tries and topics_left >= 12:
                    partition_indexes_size = len(topic.partition_indexes) * 4
                    same = data[topics_start + 16 : partition_indexes_end - partition_indexes_size]
                    partition_indexes_list = integers("i", len(topic.partition_indexes))
                    same_2 = data[partition_indexes_end : pos]
                    topics_unknown = topic.unknown_tagged_fields
                    topics_done = len(topics)
                    topics_size = pos - topics_start
                    stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
                    for row in iter_unpack(f">16s{len(same)}s{partition_indexes_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        topic_id, gap, partition_indexes, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        topic = new(OffsetFetchRequestTopics)
                        topic.topic_id = topic_id
                        topic.partition_indexes = list(partition_indexes_list(partition_indexes))
                        topic.name = ""
                        topic.unknown_tagged_fields = topics_unknown
                        topics.append(topic)
                    topics_done = len(topics) - topics_done
                    pos += topics_done * topics_size
                    topics_left -= topics_done
                    if not topics_done:
                        topics_tries -= 1
            group.topics = topics
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            group.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            group.unknown_tagged_fields = ()
            pos += 1
        groups.append(group)
    message.groups = groups
    message.require_stable, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v1(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    if m.require_stable:
        raise EncodeError("RequireStable is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    v3 = m.topics
    if v3 is None:
        raise EncodeError("Topics is null, which is not allowed in this version")
    n4 = len(v3)
    out += (pack_h(n2), b1, pack_i(n4))
    for e5 in v3:
        b6 = e5.name.encode()
        n7 = len(b6)
        n8 = len(e5.partition_indexes)
        out += (
            pack_h(n7),
            b6,
            pack_i(n8),
            WRITE_INT32S[len(e5.partition_indexes)](*e5.partition_indexes) if len(e5.partition_indexes) < 17 else pack(f">{len(e5.partition_indexes)}i", *e5.partition_indexes),
        )
    return b"".join(out)


def _encode_v2(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    if m.require_stable:
        raise EncodeError("RequireStable is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    a4 = m.topics
    n3 = -1 if a4 is None else len(a4)
    out += (pack_h(n2), b1, pack_i(n3))
    for e5 in a4 or ():
        b6 = e5.name.encode()
        n7 = len(b6)
        n8 = len(e5.partition_indexes)
        out += (
            pack_h(n7),
            b6,
            pack_i(n8),
            WRITE_INT32S[len(e5.partition_indexes)](*e5.partition_indexes) if len(e5.partition_indexes) < 17 else pack(f">{len(e5.partition_indexes)}i", *e5.partition_indexes),
        )
    return b"".join(out)


def _encode_v6(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    if m.require_stable:
        raise EncodeError("RequireStable is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    a4 = m.topics
    n3 = 0 if a4 is None else len(a4) + 1
    out += (ONE_BYTE[n2] if n2 < 128 else write_string_length(n2), b1, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
    for e5 in a4 or ():
        b6 = e5.name.encode()
        n7 = len(b6) + 1
        n8 = len(e5.partition_indexes) + 1
        out += (
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
            WRITE_INT32S[len(e5.partition_indexes)](*e5.partition_indexes) if len(e5.partition_indexes) < 17 else pack(f">{len(e5.partition_indexes)}i", *e5.partition_indexes),
            write_tagged(e5.unknown_tagged_fields) if e5.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v7(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.groups != []:
        raise EncodeError("Groups is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    a4 = m.topics
    n3 = 0 if a4 is None else len(a4) + 1
    out += (ONE_BYTE[n2] if n2 < 128 else write_string_length(n2), b1, ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
    for e5 in a4 or ():
        b6 = e5.name.encode()
        n7 = len(b6) + 1
        n8 = len(e5.partition_indexes) + 1
        out += (
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
            WRITE_INT32S[len(e5.partition_indexes)](*e5.partition_indexes) if len(e5.partition_indexes) < 17 else pack(f">{len(e5.partition_indexes)}i", *e5.partition_indexes),
            write_tagged(e5.unknown_tagged_fields) if e5.unknown_tagged_fields else b"\0",
        )
    out += (
        b"\1" if m.require_stable else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v8(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_id != "":
        raise EncodeError("GroupId is set, which this version lacks")
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.groups) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        a6 = e2.topics
        n5 = 0 if a6 is None else len(a6) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e7 in a6 or ():
            b8 = e7.name.encode()
            n9 = len(b8) + 1
            n10 = len(e7.partition_indexes) + 1
            out += (
                ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
                b8,
                ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
                WRITE_INT32S[len(e7.partition_indexes)](*e7.partition_indexes) if len(e7.partition_indexes) < 17 else pack(f">{len(e7.partition_indexes)}i", *e7.partition_indexes),
                write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        b"\1" if m.require_stable else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v9(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_id != "":
        raise EncodeError("GroupId is set, which this version lacks")
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.groups) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        v7 = e2.member_id
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        a9 = e2.topics
        n8 = 0 if a9 is None else len(a9) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            pack_i(e2.member_epoch),
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        )
        for e10 in a9 or ():
            b11 = e10.name.encode()
            n12 = len(b11) + 1
            n13 = len(e10.partition_indexes) + 1
            out += (
                ONE_BYTE[n12] if n12 < 128 else write_string_length(n12),
                b11,
                ONE_BYTE[n13] if n13 < 128 else write_uvarint(n13),
                WRITE_INT32S[len(e10.partition_indexes)](*e10.partition_indexes) if len(e10.partition_indexes) < 17 else pack(f">{len(e10.partition_indexes)}i", *e10.partition_indexes),
                write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        b"\1" if m.require_stable else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v10(m: OffsetFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_id != "":
        raise EncodeError("GroupId is set, which this version lacks")
    if m.topics != []:
        raise EncodeError("Topics is set, which this version lacks")
    n1 = len(m.groups) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.groups:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        v7 = e2.member_id
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        a9 = e2.topics
        n8 = 0 if a9 is None else len(a9) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            pack_i(e2.member_epoch),
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        )
        for e10 in a9 or ():
            if len(e10.topic_id) != 16:
                raise EncodeError("TopicId is not 16 bytes long")
            n11 = len(e10.partition_indexes) + 1
            out += (
                e10.topic_id,
                ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
                WRITE_INT32S[len(e10.partition_indexes)](*e10.partition_indexes) if len(e10.partition_indexes) < 17 else pack(f">{len(e10.partition_indexes)}i", *e10.partition_indexes),
                write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        b"\1" if m.require_stable else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


OffsetFetchRequestTopic.FIELDS = (
    Field("name", "Name", "string", (1, 7), entity="topicName"),
    Field("partition_indexes", "PartitionIndexes", "int32", (1, 7), is_array=True),
)
OffsetFetchRequestTopics.FIELDS = (
    Field("name", "Name", "string", (8, 9), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (10, 10), ignorable=True),
    Field("partition_indexes", "PartitionIndexes", "int32", (8, 10), is_array=True),
)
OffsetFetchRequestGroup.FIELDS = (
    Field("group_id", "GroupId", "string", (8, 10), entity="groupId"),
    Field("member_id", "MemberId", "string", (9, 10), nullable=(9, 10), ignorable=True),
    Field("member_epoch", "MemberEpoch", "int32", (9, 10), ignorable=True),
    Field("topics", "Topics", "struct", (8, 10), is_array=True, nullable=(8, 10), struct=OffsetFetchRequestTopics),
)
OffsetFetchRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (1, 7), entity="groupId"),
    Field("topics", "Topics", "struct", (1, 7), is_array=True, nullable=(2, 7), struct=OffsetFetchRequestTopic),
    Field("groups", "Groups", "struct", (8, 10), is_array=True, struct=OffsetFetchRequestGroup),
    Field("require_stable", "RequireStable", "bool", (7, 10)),
)
OffsetFetchRequest.NAME = "OffsetFetchRequest"
OffsetFetchRequest.API_KEY = 9
OffsetFetchRequest.MIN_VERSION = 1
OffsetFetchRequest.MAX_VERSION = 10
OffsetFetchRequest.FLEXIBLE_FROM = 6
OffsetFetchRequest._DECODERS = {
    1: _decode_v1,
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v2,
    5: _decode_v2,
    6: _decode_v6,
    7: _decode_v7,
    8: _decode_v8,
    9: _decode_v9,
    10: _decode_v10,
}
OffsetFetchRequest._ENCODERS = {
    1: _encode_v1,
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v2,
    5: _encode_v2,
    6: _encode_v6,
    7: _encode_v7,
    8: _encode_v8,
    9: _encode_v9,
    10: _encode_v10,
}
