# Generated from schemas/record/ConsumerGroupCurrentMemberAssignmentValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupCurrentMemberAssignmentValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

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
    read_tagged,
    read_uvarint,
    write_tagged,
    write_uvarint,
)
from kcoord.protocol.skipping import skip_tagged

new = object.__new__
unpack_un = Format(">16sB").unpack_from
unpack_iibn = Format(">iibB").unpack_from
unpack_i_____n = Format(">ixxxxxB").unpack_from
pack_iib = Format(">iib").pack


@attrs.define(slots=True, weakref_slot=False)
class TopicPartitions(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    assignment_epochs: list[int] | None = attrs.Factory(list)
    """For each partition, the group epoch at which the member got it; null: not said."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupCurrentMemberAssignmentValue(RecordValue):
    """All that a member of a consumer group may be consuming."""

    member_epoch: int = 0
    """The epoch that it was told."""
    previous_member_epoch: int = 0
    """The epoch before, which the member still knows if an answer was lost."""
    state: int = 0
    """0: it has what it is told; 1: it must let go of something; 2: it waits for what others have."""
    assigned_partitions: list[TopicPartitions] = attrs.Factory(list)
    """What it is told to consume, by topic."""
    partitions_pending_revocation: list[TopicPartitions] = attrs.Factory(list)
    """What it must let go of, by topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_topic_partitions_v0(data: bytes, pos: int) -> tuple[TopicPartitions, int]:
    result = new(TopicPartitions)
    result.topic_id, n = unpack_un(data, pos)
    pos += 16
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
    result.assignment_epochs = []
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        result_others = []
        result_tag_count = n
        for _ in range(result_tag_count):
            result_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            result_stop = pos + n
            if result_stop > len(data):
                raise Malformed
            if result_tag == 0:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    result.assignment_epochs = None
                else:
                    n -= 1
                    if n < 17:
                        result.assignment_epochs = list(READ_INT32S[n](data, pos))
                    else:
                        result.assignment_epochs = list(unpack_from(f">{n}i", data, pos))
                    pos += n * 4
            else:
                result_others.append((result_tag, data[pos:result_stop]))
                pos = result_stop
            if pos != result_stop:
                raise Malformed
        result.unknown_tagged_fields = tuple(result_others)
    else:
        result.unknown_tagged_fields = ()
        pos += 1
    return result, pos


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupCurrentMemberAssignmentValue:
    end = len(data)
    message = new(ConsumerGroupCurrentMemberAssignmentValue)
    message.member_epoch, message.previous_member_epoch, message.state, n = unpack_iibn(data, pos)
    pos += 9
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    assigned_partitions: list[TopicPartitions] = []
    assigned_partitions_count = n
    for _ in range(assigned_partitions_count):
        assigned_partition, pos = _decode_topic_partitions_v0(data, pos)
        assigned_partitions.append(assigned_partition)
    message.assigned_partitions = assigned_partitions
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
    partitions_pending_revocation: list[TopicPartitions] = []
    partitions_pending_revocation_count = n
    for _ in range(partitions_pending_revocation_count):
        partitions_pending_revocation_item, pos = _decode_topic_partitions_v0(data, pos)
        partitions_pending_revocation.append(partitions_pending_revocation_item)
    message.partitions_pending_revocation = partitions_pending_revocation
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
    n1 = len(m.partitions) + 1
    out += (
        m.topic_id,
        ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
    )
    tagged2: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.assignment_epochs != []:
        a5 = m.assignment_epochs
        n4 = 0 if a5 is None else len(a5) + 1
        tagged2.append((
            0,
            b"".join((ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4), b"" if not a5 else WRITE_INT32S[len(a5)](*a5) if len(a5) < 17 else pack(f">{len(a5)}i", *a5))),
        ))
    out.append(write_tagged(tagged2) if tagged2 else b"\0")


def _encode_v0(m: ConsumerGroupCurrentMemberAssignmentValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.assigned_partitions) + 1
    out += (pack_iib(m.member_epoch, m.previous_member_epoch, m.state), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.assigned_partitions:
        _encode_topic_partitions_v0(out, e2)
    n3 = len(m.partitions_pending_revocation) + 1
    out.append(ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3))
    for e4 in m.partitions_pending_revocation:
        _encode_topic_partitions_v0(out, e4)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _check_topic_partitions_v0(data: bytes, pos: int) -> int:
    n = data[pos + 16]
    if n < 128:
        pos += 17
    else:
        n, pos = read_uvarint(data, pos + 16)
    if n == 0:
        raise Malformed
    pos += (n - 1) * 4
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        topic_partition_tags = n
        for _ in range(topic_partition_tags):
            topic_partition_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            topic_partition_stop = pos + n
            if topic_partition_stop > len(data):
                raise Malformed
            if topic_partition_tag == 0:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                pos += max(n - 1, 0) * 4
            else:
                pos = topic_partition_stop
            if pos != topic_partition_stop:
                raise Malformed
    else:
        pos += 1
    return pos


def _check_v0(data: bytes, pos: int) -> int | None:
    epoch: int
    epoch, n = unpack_i_____n(data, pos)
    if n < 128:
        pos += 10
    else:
        n, pos = read_uvarint(data, pos + 9)
    if n == 0:
        raise Malformed
    assigned_partitions_count = n - 1
    for _ in range(assigned_partitions_count):
        pos = _check_topic_partitions_v0(data, pos)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    partitions_pending_revocation_count = n - 1
    for _ in range(partitions_pending_revocation_count):
        pos = _check_topic_partitions_v0(data, pos)
    n = data[pos]
    if n:
        pos = skip_tagged(data, pos)
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return epoch


def _find_topic_partitions_v0(data: bytes, pos: int) -> int:
    n = data[pos + 16]
    if n < 128:
        pos += 17
    else:
        n, pos = read_uvarint(data, pos + 16)
    if n == 0:
        raise Malformed
    pos += (n - 1) * 4
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        topic_partition_tags = n
        for _ in range(topic_partition_tags):
            topic_partition_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            topic_partition_stop = pos + n
            if topic_partition_stop > len(data):
                raise Malformed
            if topic_partition_tag == 0:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                pos += max(n - 1, 0) * 4
            else:
                pos = topic_partition_stop
            if pos != topic_partition_stop:
                raise Malformed
    else:
        pos += 1
    return pos


def _find_v0(data: bytes, pos: int) -> tuple[int, int]:
    pos += 9
    start = pos
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    assigned_partitions_count = n - 1
    for _ in range(assigned_partitions_count):
        pos = _find_topic_partitions_v0(data, pos)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    partitions_pending_revocation_count = n - 1
    for _ in range(partitions_pending_revocation_count):
        pos = _find_topic_partitions_v0(data, pos)
    return start, pos


TopicPartitions.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
    Field(
        "assignment_epochs",
        "AssignmentEpochs",
        "int32",
        (0, 0),
        is_array=True,
        nullable=(0, 0),
        tag=0,
        tagged=(0, 0),
    ),
)
ConsumerGroupCurrentMemberAssignmentValue.FIELDS = (
    Field("member_epoch", "MemberEpoch", "int32", (0, 0)),
    Field("previous_member_epoch", "PreviousMemberEpoch", "int32", (0, 0)),
    Field("state", "State", "int8", (0, 0)),
    Field("assigned_partitions", "AssignedPartitions", "struct", (0, 0), is_array=True, struct=TopicPartitions),
    Field(
        "partitions_pending_revocation",
        "PartitionsPendingRevocation",
        "struct",
        (0, 0),
        is_array=True,
        struct=TopicPartitions,
    ),
)
ConsumerGroupCurrentMemberAssignmentValue.NAME = "ConsumerGroupCurrentMemberAssignmentValue"
ConsumerGroupCurrentMemberAssignmentValue.API_KEY = 25
ConsumerGroupCurrentMemberAssignmentValue.MIN_VERSION = 0
ConsumerGroupCurrentMemberAssignmentValue.MAX_VERSION = 0
ConsumerGroupCurrentMemberAssignmentValue.FLEXIBLE_FROM = 0
ConsumerGroupCurrentMemberAssignmentValue._DECODERS = {0: _decode_v0}
ConsumerGroupCurrentMemberAssignmentValue._ENCODERS = {0: _encode_v0}
ConsumerGroupCurrentMemberAssignmentValue.EPOCH = "member_epoch"
ConsumerGroupCurrentMemberAssignmentValue._CHECKS = {0: _check_v0}
ConsumerGroupCurrentMemberAssignmentValue.LISTS = 2
ConsumerGroupCurrentMemberAssignmentValue._FINDERS = {0: _find_v0}
