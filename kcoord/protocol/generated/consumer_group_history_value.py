# Generated from schemas/record/ConsumerGroupHistoryValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupHistoryValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
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
from kcoord.protocol.skipping import alike, skip_string, skip_tagged

new = object.__new__
unpack_un = Format(">16sB").unpack_from
unpack_qqqin = Format(">qqqiB").unpack_from
pack_qqqi = Format(">qqqi").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartition(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class Move(Struct):
    from_: str = ""
    """The id of the member that had them; empty: nobody."""
    to: str = ""
    """The id of the member that got them; empty: nobody."""
    topic_partitions: list[TopicPartition] = attrs.Factory(list)
    """What moved, by topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupHistoryValue(RecordValue):
    """Why an epoch of a consumer group began and what came of it."""

    reason: str = ""
    """Why it began."""
    timestamp: int = 0
    """When it began, in ms since 1970."""
    installed_timestamp: int = -1
    """When its assignment was made, in ms since 1970, or -1."""
    converged_timestamp: int = -1
    """When the last member had what it was to have, in ms since 1970, or -1."""
    moved_count: int = 0
    """How many partitions changed hands."""
    moves: list[Move] = attrs.Factory(list)
    """Which ones; not all where they were many."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupHistoryValue:
    end = len(data)
    message = new(ConsumerGroupHistoryValue)
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
        if n * 18 > end - pos:
            raise Malformed
        topic_partitions: list[TopicPartition] = []
        topic_partitions_left = n
        topic_partitions_tries = 4
        while topic_partitions_left:
            topic_partitions_start = pos
            topic_partition = new(TopicPartition)
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
                    topic_partition = new(TopicPartition)
                    topic_partition.topic_id = topic_id
                    topic_partition.partitions = list(partitions_list(partitions))
                    topic_partition.unknown_tagged_fields = topic_partitions_unknown
                    topic_partitions.append(topic_partition)
                topic_partitions_done = len(topic_partitions) - topic_partitions_done
                pos += topic_partitions_done * topic_partitions_size
                topic_partitions_left -= topic_partitions_done
                if not topic_partitions_done:
                    topic_partitions_tries -= 1
        move.topic_partitions = topic_partitions
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


def _encode_v0(m: ConsumerGroupHistoryValue) -> bytes:
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
        n9 = len(e4.topic_partitions) + 1
        out += (
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
        )
        for e10 in e4.topic_partitions:
            if len(e10.topic_id) != 16:
                raise EncodeError("TopicId is not 16 bytes long")
            n11 = len(e10.partitions) + 1
            out += (
                e10.topic_id,
                ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
                WRITE_INT32S[len(e10.partitions)](*e10.partitions) if len(e10.partitions) < 17 else pack(f">{len(e10.partitions)}i", *e10.partitions),
                write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0",
            )
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
        topic_partition_left = n - 1
        topic_partition_tries = 4
        while topic_partition_left:
            topic_partition_start = pos
            n = data[pos + 16]
            place = pos + 16
            if n < 128:
                pos += 17
            else:
                n, pos = read_uvarint(data, pos + 16)
            if n == 0:
                raise Malformed
            pos += (n - 1) * 4
            n = data[pos]
            place_2 = pos
            if n:
                pos = skip_tagged(data, pos)
            else:
                pos += 1
            topic_partition_left -= 1
            if topic_partition_tries and topic_partition_left >= 5 and not n:
                topic_partition_same = alike(data, topic_partition_start, pos, topic_partition_left, (place, place_2))
                pos += topic_partition_same * (pos - topic_partition_start)
                topic_partition_left -= topic_partition_same
                if not topic_partition_same:
                    topic_partition_tries -= 1
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


TopicPartition.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
)
Move.FIELDS = (
    Field("from_", "From", "string", (0, 0)),
    Field("to", "To", "string", (0, 0)),
    Field("topic_partitions", "TopicPartitions", "struct", (0, 0), is_array=True, struct=TopicPartition),
)
ConsumerGroupHistoryValue.FIELDS = (
    Field("reason", "Reason", "string", (0, 0)),
    Field("timestamp", "Timestamp", "int64", (0, 0)),
    Field("installed_timestamp", "InstalledTimestamp", "int64", (0, 0)),
    Field("converged_timestamp", "ConvergedTimestamp", "int64", (0, 0)),
    Field("moved_count", "MovedCount", "int32", (0, 0)),
    Field("moves", "Moves", "struct", (0, 0), is_array=True, struct=Move),
)
ConsumerGroupHistoryValue.NAME = "ConsumerGroupHistoryValue"
ConsumerGroupHistoryValue.API_KEY = 27
ConsumerGroupHistoryValue.MIN_VERSION = 0
ConsumerGroupHistoryValue.MAX_VERSION = 0
ConsumerGroupHistoryValue.FLEXIBLE_FROM = 0
ConsumerGroupHistoryValue._DECODERS = {0: _decode_v0}
ConsumerGroupHistoryValue._ENCODERS = {0: _encode_v0}
ConsumerGroupHistoryValue.EPOCH = None
ConsumerGroupHistoryValue._CHECKS = {0: _check_v0}
