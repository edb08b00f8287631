# Generated from schemas/message/TxnOffsetCommitRequest.json by `python -m schemas.generator`. Do not edit.
"""TxnOffsetCommitRequest, a request, versions 0-5."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
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
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
unpack_iqh = Format(">iqh").unpack_from
unpack_iqin = Format(">iqiB").unpack_from
unpack_iqih = Format(">iqih").unpack_from
unpack_qhi = Format(">qhi").unpack_from
unpack_qhin = Format(">qhiB").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_iqh = Format(">iqh").pack
pack_iqi = Format(">iqi").pack
pack_iqih = Format(">iqih").pack
pack_qhi = Format(">qhi").pack


@attrs.define(slots=True, weakref_slot=False)
class TxnOffsetCommitRequestPartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    committed_offset: int = 0
    """The next offset to be read."""
    committed_leader_epoch: int = -1
    """The leader epoch of the last record read, or -1. Since version 2."""
    committed_metadata: str | None = ""
    """A note of the client to the offset."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TxnOffsetCommitRequestTopic(Struct):
    name: str = ""
    """The topic's name."""
    partitions: list[TxnOffsetCommitRequestPartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TxnOffsetCommitRequest(Request):
    """Stores offsets of a group as part of a transaction."""

    transactional_id: str = ""
    """The transactional id."""
    group_id: str = ""
    """The group's id."""
    producer_id: int = 0
    """The producer's id."""
    producer_epoch: int = 0
    """The producer's epoch, which fences its elders."""
    generation_id: int = -1
    """The generation that the member knows, or -1 from none. Since version 3."""
    member_id: str = ""
    """The member's id. Since version 3."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 3."""
    topics: list[TxnOffsetCommitRequestTopic] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> TxnOffsetCommitRequest:
    end = len(data)
    message = new(TxnOffsetCommitRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.transactional_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id = -1
    message.member_id = ""
    message.group_instance_id = None
    message.producer_id, message.producer_epoch, n = unpack_qhi(data, pos)
    pos += 14
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[TxnOffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(TxnOffsetCommitRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        partitions: list[TxnOffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(TxnOffsetCommitRequestPartition)
            partition.committed_leader_epoch = -1
            partition.partition_index, partition.committed_offset, n = unpack_iqh(data, pos)
            pos += 14
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.committed_metadata = None
            elif n == 0:
                partition.committed_metadata = ""
            else:
                stop = pos + n
                partition.committed_metadata = data[pos:stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n
                same = data[partitions_start + 12 : committed_metadata_end - committed_metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iq{len(same)}s{committed_metadata_size}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, gap, committed_metadata = row
                    if gap != same:
                        break
                    partition = new(TxnOffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.committed_leader_epoch = -1
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> TxnOffsetCommitRequest:
    end = len(data)
    message = new(TxnOffsetCommitRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.transactional_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.generation_id = -1
    message.member_id = ""
    message.group_instance_id = None
    message.producer_id, message.producer_epoch, n = unpack_qhi(data, pos)
    pos += 14
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[TxnOffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(TxnOffsetCommitRequestTopic)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 18 > end - pos:
            raise Malformed
        partitions: list[TxnOffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(TxnOffsetCommitRequestPartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqih(data, pos)
            pos += 18
            if n < 0:
                if n != -1:
                    raise Malformed
                partition.committed_metadata = None
            elif n == 0:
                partition.committed_metadata = ""
            else:
                stop = pos + n
                partition.committed_metadata = data[pos:stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            partition.unknown_tagged_fields = ()
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n
                same = data[partitions_start + 16 : committed_metadata_end - committed_metadata_size]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{committed_metadata_size}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, committed_metadata = row
                    if gap != same:
                        break
                    partition = new(TxnOffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        topic.unknown_tagged_fields = ()
        topics.append(topic)
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> TxnOffsetCommitRequest:
    end = len(data)
    message = new(TxnOffsetCommitRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.transactional_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.producer_id, message.producer_epoch, message.generation_id, n = unpack_qhin(data, pos)
    pos += 14
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_instance_id = None
        pos += 1
    elif n == 1:
        message.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_instance_id = data[pos + 1 : stop].decode()
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
    topics: list[TxnOffsetCommitRequestTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(TxnOffsetCommitRequestTopic)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
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
        partitions: list[TxnOffsetCommitRequestPartition] = []
        partitions_left = n
        partitions_tries = 4
        while partitions_left:
            partitions_start = pos
            partition = new(TxnOffsetCommitRequestPartition)
            partition.partition_index, partition.committed_offset, partition.committed_leader_epoch, n = unpack_iqin(data, pos)
            pos += 16
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                partition.committed_metadata = None
                pos += 1
            elif n == 1:
                partition.committed_metadata = ""
                pos += 1
            else:
                stop = pos + n
                partition.committed_metadata = data[pos + 1 : stop].decode()
                pos = stop
            committed_metadata_end = pos
            committed_metadata_n = n
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
            partitions_left -= 1
            if partitions_tries and partitions_left >= 12:
                committed_metadata_null = partition.committed_metadata is None
                committed_metadata_size = 0 if partition.committed_metadata is None else committed_metadata_n - 1
                same = data[partitions_start + 16 : committed_metadata_end - committed_metadata_size]
                same_2 = data[committed_metadata_end : pos]
                partitions_unknown = partition.unknown_tagged_fields
                partitions_done = len(partitions)
                partitions_size = pos - partitions_start
                stop = pos + min(partitions_left, (end - pos) // partitions_size) * partitions_size
                for row in iter_unpack(f">iqi{len(same)}s{committed_metadata_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                    partition_index, committed_offset, committed_leader_epoch, gap, committed_metadata, gap_2 = row
                    if gap != same or gap_2 != same_2:
                        break
                    partition = new(TxnOffsetCommitRequestPartition)
                    partition.partition_index = partition_index
                    partition.committed_offset = committed_offset
                    partition.committed_leader_epoch = committed_leader_epoch
                    partition.committed_metadata = None if committed_metadata_null else committed_metadata.decode() if committed_metadata else ""
                    partition.unknown_tagged_fields = partitions_unknown
                    partitions.append(partition)
                partitions_done = len(partitions) - partitions_done
                pos += partitions_done * partitions_size
                partitions_left -= partitions_done
                if not partitions_done:
                    partitions_tries -= 1
        topic.partitions = partitions
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
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


def _encode_v0(m: TxnOffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.generation_id != -1:
        raise EncodeError("GenerationId is set, which this version lacks")
    if m.member_id != "":
        raise EncodeError("MemberId is set, which this version lacks")
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.transactional_id.encode()
    n2 = len(b1)
    b3 = m.group_id.encode()
    n4 = len(b3)
    n5 = len(m.topics)
    out += (pack_h(n2), b1, pack_h(n4), b3, pack_qhi(m.producer_id, m.producer_epoch, n5))
    for e6 in m.topics:
        b7 = e6.name.encode()
        n8 = len(b7)
        n9 = len(e6.partitions)
        out += (pack_h(n8), b7, pack_i(n9))
        for e10 in e6.partitions:
            v13 = e10.committed_metadata
            if v13 is None:
                b11 = b""
                n12 = -1
            else:
                b11 = v13.encode()
                n12 = len(b11)
            out += (pack_iqh(e10.partition_index, e10.committed_offset, n12), b11)
    return b"".join(out)


def _encode_v2(m: TxnOffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.generation_id != -1:
        raise EncodeError("GenerationId is set, which this version lacks")
    if m.member_id != "":
        raise EncodeError("MemberId is set, which this version lacks")
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.transactional_id.encode()
    n2 = len(b1)
    b3 = m.group_id.encode()
    n4 = len(b3)
    n5 = len(m.topics)
    out += (pack_h(n2), b1, pack_h(n4), b3, pack_qhi(m.producer_id, m.producer_epoch, n5))
    for e6 in m.topics:
        b7 = e6.name.encode()
        n8 = len(b7)
        n9 = len(e6.partitions)
        out += (pack_h(n8), b7, pack_i(n9))
        for e10 in e6.partitions:
            v13 = e10.committed_metadata
            if v13 is None:
                b11 = b""
                n12 = -1
            else:
                b11 = v13.encode()
                n12 = len(b11)
            out += (pack_iqih(e10.partition_index, e10.committed_offset, e10.committed_leader_epoch, n12), b11)
    return b"".join(out)


def _encode_v3(m: TxnOffsetCommitRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.transactional_id.encode()
    n2 = len(b1) + 1
    b3 = m.group_id.encode()
    n4 = len(b3) + 1
    b5 = m.member_id.encode()
    n6 = len(b5) + 1
    v9 = m.group_instance_id
    if v9 is None:
        b7 = b""
        n8 = 0
    else:
        b7 = v9.encode()
        n8 = len(b7) + 1
    n10 = len(m.topics) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_qhi(m.producer_id, m.producer_epoch, m.generation_id),
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
        b7,
        ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
    )
    for e11 in m.topics:
        b12 = e11.name.encode()
        n13 = len(b12) + 1
        n14 = len(e11.partitions) + 1
        out += (
            ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
            b12,
            ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14),
        )
        for e15 in e11.partitions:
            v18 = e15.committed_metadata
            if v18 is None:
                b16 = b""
                n17 = 0
            else:
                b16 = v18.encode()
                n17 = len(b16) + 1
            out += (
                pack_iqi(e15.partition_index, e15.committed_offset, e15.committed_leader_epoch),
                ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
                b16,
                write_tagged(e15.unknown_tagged_fields) if e15.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e11.unknown_tagged_fields) if e11.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


TxnOffsetCommitRequestPartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (0, 5)),
    Field("committed_offset", "CommittedOffset", "int64", (0, 5)),
    Field("committed_leader_epoch", "CommittedLeaderEpoch", "int32", (2, 5), ignorable=True),
    Field("committed_metadata", "CommittedMetadata", "string", (0, 5), nullable=(0, 5)),
)
TxnOffsetCommitRequestTopic.FIELDS = (
    Field("name", "Name", "string", (0, 5), entity="topicName"),
    Field("partitions", "Partitions", "struct", (0, 5), is_array=True, struct=TxnOffsetCommitRequestPartition),
)
TxnOffsetCommitRequest.FIELDS = (
    Field("transactional_id", "TransactionalId", "string", (0, 5), entity="transactionalId"),
    Field("group_id", "GroupId", "string", (0, 5), entity="groupId"),
    Field("producer_id", "ProducerId", "int64", (0, 5), entity="producerId"),
    Field("producer_epoch", "ProducerEpoch", "int16", (0, 5)),
    Field("generation_id", "GenerationId", "int32", (3, 5)),
    Field("member_id", "MemberId", "string", (3, 5)),
    Field("group_instance_id", "GroupInstanceId", "string", (3, 5), nullable=(3, 5)),
    Field("topics", "Topics", "struct", (0, 5), is_array=True, struct=TxnOffsetCommitRequestTopic),
)
TxnOffsetCommitRequest.NAME = "TxnOffsetCommitRequest"
TxnOffsetCommitRequest.API_KEY = 28
TxnOffsetCommitRequest.MIN_VERSION = 0
TxnOffsetCommitRequest.MAX_VERSION = 5
TxnOffsetCommitRequest.FLEXIBLE_FROM = 3
TxnOffsetCommitRequest._DECODERS = {
    0: _decode_v0,
    1: _decode_v0,
    2: _decode_v2,
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v3,
}
TxnOffsetCommitRequest._ENCODERS = {
    0: _encode_v0,
    1: _encode_v0,
    2: _encode_v2,
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v3,
}
