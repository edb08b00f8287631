# Generated from schemas/message/ConsumerGroupHeartbeatRequest.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupHeartbeatRequest, a request, versions 0-1."""

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
unpack_hhbhn = Format(">hhbhB").unpack_from
unpack_in = Format(">iB").unpack_from
pack_hhbh = Format(">hhbh").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartitions(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


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
class ConsumerGroupHeartbeatRequest(Request):
    """A member of a KIP-848 consumer group says that it is alive, what it wants, and what it holds."""

    group_id: str = ""
    """The group's id."""
    member_id: str = ""
    """The member's id."""
    member_epoch: int = 0
    """The member's epoch: 0 joins, -1 leaves, -2 is a static member that comes back."""
    instance_id: str | None = None
    """The member's static name, or null."""
    rack_id: str | None = None
    """The client's rack, or null."""
    rebalance_timeout_ms: int = -1
    """How long the member may take to give up partitions, in ms; -1: as before."""
    subscribed_topic_names: list[str] | None = None
    """Topics that the member subscribes to by name; null: as before."""
    subscribed_topic_regex: str | None = None
    """The RE2 pattern that the member subscribes to, or null. Since version 1."""
    server_assignor: str | None = None
    """The assignor that the member wishes, or null; null also: as before."""
    topic_partitions: list[TopicPartitions] | None = None
    """What the member holds; null: as before."""
    client_assignors: list[Assignor] | None = None
    """kcoord's own field: assignors that the member can run, the one that it likes best first; null: none, or as before."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupHeartbeatRequest:
    end = len(data)
    message = new(ConsumerGroupHeartbeatRequest)
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
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.rack_id = None
        pos += 1
    elif n == 1:
        message.rack_id = ""
        pos += 1
    else:
        stop = pos + n
        message.rack_id = data[pos + 1 : stop].decode()
        pos = stop
    message.rebalance_timeout_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.subscribed_topic_names = None
    else:
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
        message.subscribed_topic_names = subscribed_topic_names
    message.subscribed_topic_regex = None
    n = data[pos]
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
        message.topic_partitions = None
    else:
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        topic_partitions: list[TopicPartitions] = []
        topic_partitions_left = n
        topic_partitions_tries = 4
        while topic_partitions_left:
            topic_partitions_start = pos
            topic_partition = new(TopicPartitions)
            topic_partition.topic_id, n = unpack_un(data, pos)
            pos += 16
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                topic_partition.partitions = list(READ_INT32S[n](data, pos))
            else:
                topic_partition.partitions = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            partitions_end = pos
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                topic_partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                topic_partition.unknown_tagged_fields = ()
                pos += 1
            topic_partitions.append(topic_partition)
            topic_partitions_left -= 1
            if topic_partitions_tries and topic_partitions_left >= 12:
                partitions_size = len(topic_partition.partitions) * 4
                same = data[topic_partitions_start + 16 : partitions_end - partitions_size]
                partitions_list = integers("i", len(topic_partition.partitions))
                same_2 = data[partitions_end : pos]
                topic_partitions_unknown = topic_partition.unknown_tagged_fields
                topic_partitions_done = len(topic_partitions)
                topic_partitions_size = pos - topic_partitions_start
                stop = pos + min(topic_partitions_left, (end - pos) // topic_partitions_size) * topic_partitions_size
                for row in iter_unpack(f">16s{len(same)}s{partitions_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    topic_id, gap, partitions, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    topic_partition = new(TopicPartitions)
                    topic_partition.topic_id = topic_id
                    topic_partition.partitions = list(partitions_list(partitions))
                    topic_partition.unknown_tagged_fields = topic_partitions_unknown
                    topic_partitions.append(topic_partition)
                topic_partitions_done = len(topic_partitions) - topic_partitions_done
                pos += topic_partitions_done * topic_partitions_size
                topic_partitions_left -= topic_partitions_done
                if not topic_partitions_done:
                    topic_partitions_tries -= 1
        message.topic_partitions = topic_partitions
    message.client_assignors = None
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
            if message_tag == 1000:
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
                    client_assignors_count = n
                    for _ in range(client_assignors_count):
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
                        n = data[pos]
                        if n:
                            n, pos = read_uvarint(data, pos)
                            client_assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            client_assignor.unknown_tagged_fields = ()
                            pos += 1
                        client_assignors.append(client_assignor)
                    message.client_assignors = client_assignors
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


def _decode_v1(data: bytes, pos: int) -> ConsumerGroupHeartbeatRequest:
    end = len(data)
    message = new(ConsumerGroupHeartbeatRequest)
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
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.rack_id = None
        pos += 1
    elif n == 1:
        message.rack_id = ""
        pos += 1
    else:
        stop = pos + n
        message.rack_id = data[pos + 1 : stop].decode()
        pos = stop
    message.rebalance_timeout_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        message.subscribed_topic_names = None
    else:
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
        message.subscribed_topic_names = subscribed_topic_names
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.subscribed_topic_regex = None
        pos += 1
    elif n == 1:
        message.subscribed_topic_regex = ""
        pos += 1
    else:
        stop = pos + n
        message.subscribed_topic_regex = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
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
        message.topic_partitions = None
    else:
        n -= 1
        if n * 18 > end - pos:
            raise Malformed
        topic_partitions: list[TopicPartitions] = []
        topic_partitions_left = n
        topic_partitions_tries = 4
        while topic_partitions_left:
            topic_partitions_start = pos
            topic_partition = new(TopicPartitions)
            topic_partition.topic_id, n = unpack_un(data, pos)
            pos += 16
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n < 17:
                topic_partition.partitions = list(READ_INT32S[n](data, pos))
            else:
                topic_partition.partitions = list(unpack_from(f">{n}i", data, pos))
            pos += n * 4
            partitions_end = pos
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                topic_partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                topic_partition.unknown_tagged_fields = ()
                pos += 1
            topic_partitions.append(topic_partition)
            topic_partitions_left -= 1
            if topic_partitions_tries and topic_partitions_left >= 12:
                partitions_size = len(topic_partition.partitions) * 4
                same = data[topic_partitions_start + 16 : partitions_end - partitions_size]
                partitions_list = integers("i", len(topic_partition.partitions))
                same_2 = data[partitions_end : pos]
                topic_partitions_unknown = topic_partition.unknown_tagged_fields
                topic_partitions_done = len(topic_partitions)
                topic_partitions_size = pos - topic_partitions_start
                stop = pos + min(topic_partitions_left, (end - pos) // topic_partitions_size) * topic_partitions_size
                for row in iter_unpack(f">16s{len(same)}s{partitions_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    topic_id, gap, partitions, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    topic_partition = new(TopicPartitions)
                    topic_partition.topic_id = topic_id
                    topic_partition.partitions = list(partitions_list(partitions))
                    topic_partition.unknown_tagged_fields = topic_partitions_unknown
                    topic_partitions.append(topic_partition)
                topic_partitions_done = len(topic_partitions) - topic_partitions_done
                pos += topic_partitions_done * topic_partitions_size
                topic_partitions_left -= topic_partitions_done
                if not topic_partitions_done:
                    topic_partitions_tries -= 1
        message.topic_partitions = topic_partitions
    message.client_assignors = None
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
            if message_tag == 1000:
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
                    client_assignors_count = n
                    for _ in range(client_assignors_count):
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
                        n = data[pos]
                        if n:
                            n, pos = read_uvarint(data, pos)
                            client_assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                        else:
                            client_assignor.unknown_tagged_fields = ()
                            pos += 1
                        client_assignors.append(client_assignor)
                    message.client_assignors = client_assignors
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


def _encode_v0(m: ConsumerGroupHeartbeatRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.subscribed_topic_regex is not None:
        raise EncodeError("SubscribedTopicRegex is set, which this version lacks")
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
    v10 = m.rack_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    a12 = m.subscribed_topic_names
    n11 = 0 if a12 is None else len(a12) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_i(m.member_epoch),
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.rebalance_timeout_ms),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e13 in a12 or ():
        b14 = e13.encode()
        n15 = len(b14) + 1
        out += (ONE_BYTE[n15] if n15 < 128 else write_string_length(n15), b14)
    v18 = m.server_assignor
    if v18 is None:
        b16 = b""
        n17 = 0
    else:
        b16 = v18.encode()
        n17 = len(b16) + 1
    a20 = m.topic_partitions
    n19 = 0 if a20 is None else len(a20) + 1
    out += (
        ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
        b16,
        ONE_BYTE[n19] if n19 < 128 else write_uvarint(n19),
    )
    for e21 in a20 or ():
        if len(e21.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n22 = len(e21.partitions) + 1
        out += (
            e21.topic_id,
            ONE_BYTE[n22] if n22 < 128 else write_uvarint(n22),
            WRITE_INT32S[len(e21.partitions)](*e21.partitions) if len(e21.partitions) < 17 else pack(f">{len(e21.partitions)}i", *e21.partitions),
            write_tagged(e21.unknown_tagged_fields) if e21.unknown_tagged_fields else b"\0",
        )
    tagged23: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.client_assignors is not None:
        parts24: list[bytes | memoryview] = []
        n25 = len(m.client_assignors) + 1
        parts24.append(ONE_BYTE[n25] if n25 < 128 else write_uvarint(n25))
        for e26 in m.client_assignors:
            b27 = e26.name.encode()
            n28 = len(b27) + 1
            b29 = e26.metadata
            n30 = len(b29) + 1
            parts24 += (
                ONE_BYTE[n28] if n28 < 128 else write_string_length(n28),
                b27,
                pack_hhbh(e26.minimum_version, e26.maximum_version, e26.reason, e26.version),
                ONE_BYTE[n30] if n30 < 128 else write_uvarint(n30),
                b29,
                write_tagged(e26.unknown_tagged_fields) if e26.unknown_tagged_fields else b"\0",
            )
        tagged23.append((1000, b"".join(parts24)))
    out.append(write_tagged(tagged23) if tagged23 else b"\0")
    return b"".join(out)


def _encode_v1(m: ConsumerGroupHeartbeatRequest) -> bytes:
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
    v10 = m.rack_id
    if v10 is None:
        b8 = b""
        n9 = 0
    else:
        b8 = v10.encode()
        n9 = len(b8) + 1
    a12 = m.subscribed_topic_names
    n11 = 0 if a12 is None else len(a12) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_i(m.member_epoch),
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        pack_i(m.rebalance_timeout_ms),
        ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
    )
    for e13 in a12 or ():
        b14 = e13.encode()
        n15 = len(b14) + 1
        out += (ONE_BYTE[n15] if n15 < 128 else write_string_length(n15), b14)
    v18 = m.subscribed_topic_regex
    if v18 is None:
        b16 = b""
        n17 = 0
    else:
        b16 = v18.encode()
        n17 = len(b16) + 1
    v21 = m.server_assignor
    if v21 is None:
        b19 = b""
        n20 = 0
    else:
        b19 = v21.encode()
        n20 = len(b19) + 1
    a23 = m.topic_partitions
    n22 = 0 if a23 is None else len(a23) + 1
    out += (
        ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
        b16,
        ONE_BYTE[n20] if n20 < 128 else write_string_length(n20),
        b19,
        ONE_BYTE[n22] if n22 < 128 else write_uvarint(n22),
    )
    for e24 in a23 or ():
        if len(e24.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n25 = len(e24.partitions) + 1
        out += (
            e24.topic_id,
            ONE_BYTE[n25] if n25 < 128 else write_uvarint(n25),
            WRITE_INT32S[len(e24.partitions)](*e24.partitions) if len(e24.partitions) < 17 else pack(f">{len(e24.partitions)}i", *e24.partitions),
            write_tagged(e24.unknown_tagged_fields) if e24.unknown_tagged_fields else b"\0",
        )
    tagged26: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.client_assignors is not None:
        parts27: list[bytes | memoryview] = []
        n28 = len(m.client_assignors) + 1
        parts27.append(ONE_BYTE[n28] if n28 < 128 else write_uvarint(n28))
        for e29 in m.client_assignors:
            b30 = e29.name.encode()
            n31 = len(b30) + 1
            b32 = e29.metadata
            n33 = len(b32) + 1
            parts27 += (
                ONE_BYTE[n31] if n31 < 128 else write_string_length(n31),
                b30,
                pack_hhbh(e29.minimum_version, e29.maximum_version, e29.reason, e29.version),
                ONE_BYTE[n33] if n33 < 128 else write_uvarint(n33),
                b32,
                write_tagged(e29.unknown_tagged_fields) if e29.unknown_tagged_fields else b"\0",
            )
        tagged26.append((1000, b"".join(parts27)))
    out.append(write_tagged(tagged26) if tagged26 else b"\0")
    return b"".join(out)


TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 1)),
    Field("partitions", "Partitions", "int32", (0, 1), is_array=True),
)
Assignor.FIELDS = (
    Field("name", "Name", "string", (0, 1)),
    Field("minimum_version", "MinimumVersion", "int16", (0, 1)),
    Field("maximum_version", "MaximumVersion", "int16", (0, 1)),
    Field("reason", "Reason", "int8", (0, 1)),
    Field("version", "Version", "int16", (0, 1)),
    Field("metadata", "Metadata", "bytes", (0, 1)),
)
ConsumerGroupHeartbeatRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 1), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 1)),
    Field("member_epoch", "MemberEpoch", "int32", (0, 1)),
    Field("instance_id", "InstanceId", "string", (0, 1), nullable=(0, 1)),
    Field("rack_id", "RackId", "string", (0, 1), nullable=(0, 1)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 1)),
    Field(
        "subscribed_topic_names",
        "SubscribedTopicNames",
        "string",
        (0, 1),
        is_array=True,
        nullable=(0, 1),
        entity="topicName",
    ),
    Field("subscribed_topic_regex", "SubscribedTopicRegex", "string", (1, 1), nullable=(1, 1)),
    Field("server_assignor", "ServerAssignor", "string", (0, 1), nullable=(0, 1)),
    Field(
        "topic_partitions",
        "TopicPartitions",
        "struct",
        (0, 1),
        is_array=True,
        nullable=(0, 1),
        struct=TopicPartitions,
    ),
    Field(
        "client_assignors",
        "ClientAssignors",
        "struct",
        (0, 1),
        is_array=True,
        nullable=(0, 1),
        tag=1000,
        tagged=(0, 1),
        struct=Assignor,
        ignorable=True,
    ),
)
ConsumerGroupHeartbeatRequest.NAME = "ConsumerGroupHeartbeatRequest"
ConsumerGroupHeartbeatRequest.API_KEY = 68
ConsumerGroupHeartbeatRequest.MIN_VERSION = 0
ConsumerGroupHeartbeatRequest.MAX_VERSION = 1
ConsumerGroupHeartbeatRequest.FLEXIBLE_FROM = 0
ConsumerGroupHeartbeatRequest._DECODERS = {0: _decode_v0, 1: _decode_v1}
ConsumerGroupHeartbeatRequest._ENCODERS = {0: _encode_v0, 1: _encode_v1}
