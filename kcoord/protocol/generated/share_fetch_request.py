# Generated from schemas/message/ShareFetchRequest.json by `python -m schemas.generator`. Do not edit.
"""ShareFetchRequest, a request, versions 1-2."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT8S,
    READ_INT32S,
    WRITE_INT8S,
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
unpack_in = Format(">iB").unpack_from
unpack_iiiiiin = Format(">iiiiiiB").unpack_from
unpack_iiiiiibxn = Format(">iiiiiib?B").unpack_from
unpack_qqn = Format(">qqB").unpack_from
pack_i = Format(">i").pack
pack_iiiiii = Format(">iiiiii").pack
pack_iiiiiibx = Format(">iiiiiib?").pack
pack_qq = Format(">qq").pack


@attrs.define(slots=True, weakref_slot=False)
class AcknowledgementBatch(Struct):
    first_offset: int = 0
    """The first offset of the range."""
    last_offset: int = 0
    """The last offset of the range."""
    acknowledge_types: list[int] = attrs.Factory(list)
    """What becomes of the records: 0 gap, 1 accepted, 2 released, 3 rejected, 4 lease renewed. One entry for each, or one for all."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchPartition(Struct):
    partition_index: int = 0
    """The partition's number."""
    partition_max_bytes: int = 0
    """The most bytes for this partition. In no version any more."""
    acknowledgement_batches: list[AcknowledgementBatch] = attrs.Factory(list)
    """Ranges of records that are settled."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FetchTopic(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[FetchPartition] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ForgottenTopic(Struct):
    topic_id: bytes = ZERO_UUID
    """The topic's id."""
    partitions: list[int] = attrs.Factory(list)
    """The partitions."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ShareFetchRequest(Request):
    """A member of a share group acquires records, and may settle earlier ones."""

    group_id: str | None = None
    """The group's id."""
    member_id: str | None = ""
    """The member's id."""
    share_session_epoch: int = 0
    """Which request of the share session this is: 0 opens it, -1 closes it."""
    max_wait_ms: int = 0
    """How long to wait for MinBytes, in ms."""
    min_bytes: int = 0
    """The fewest bytes worth an answer before MaxWaitMs is over."""
    max_bytes: int = 2147483647
    """The most bytes that the answer should have."""
    max_records: int = 0
    """The most records to acquire."""
    batch_size: int = 0
    """How many records a batch of the answer should have at most."""
    share_acquire_mode: int = 0
    """0 acquires whole batches, 1 at most MaxRecords records. Since version 2."""
    is_renew_ack: bool = False
    """Whether some acknowledgements renew the lease instead of settling. Since version 2."""
    topics: list[FetchTopic] = attrs.Factory(list)
    """One entry for each topic."""
    forgotten_topics_data: list[ForgottenTopic] = attrs.Factory(list)
    """Partitions that leave the share session."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> ShareFetchRequest:
    end = len(data)
    message = new(ShareFetchRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_id = None
        pos += 1
    elif n == 1:
        message.group_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.member_id = None
        pos += 1
    elif n == 1:
        message.member_id = ""
        pos += 1
    else:
        stop = pos + n
        message.member_id = data[pos + 1 : stop].decode()
        pos = stop
    message.share_acquire_mode = 0
    message.is_renew_ack = False
    message.share_session_epoch, message.max_wait_ms, message.min_bytes, message.max_bytes, message.max_records, message.batch_size, n = unpack_iiiiiin(data, pos)
    pos += 24
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 6 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(FetchPartition)
            partition.partition_max_bytes = 0
            partition.partition_index, n = unpack_in(data, pos)
            pos += 4
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 18 > end - pos:
                raise Malformed
            acknowledgement_batches: list[AcknowledgementBatch] = []
            acknowledgement_batches_left = n
            acknowledgement_batches_tries = 4
            while acknowledgement_batches_left:
                acknowledgement_batches_start = pos
                acknowledgement_batche = new(AcknowledgementBatch)
                acknowledgement_batche.first_offset, acknowledgement_batche.last_offset, n = unpack_qqn(data, pos)
                pos += 16
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    acknowledgement_batche.acknowledge_types = list(READ_INT8S[n](data, pos))
                else:
                    acknowledgement_batche.acknowledge_types = list(unpack_from(f">{n}b", data, pos))
                pos += n
                acknowledge_types_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    acknowledgement_batche.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    acknowledgement_batche.unknown_tagged_fields = ()
                    pos += 1
                acknowledgement_batches.append(acknowledgement_batche)
                acknowledgement_batches_left -= 1
                if acknowledgement_batches_tries and acknowledgement_batches_left >= 12:
                    acknowledge_types_size = len(acknowledgement_batche.acknowledge_types) * 1
                    same = data[acknowledgement_batches_start + 16 : acknowledge_types_end - acknowledge_types_size]
                    acknowledge_types_list = integers("b", len(acknowledgement_batche.acknowledge_types))
                    same_2 = data[acknowledge_types_end : pos]
                    acknowledgement_batches_unknown = acknowledgement_batche.unknown_tagged_fields
                    acknowledgement_batches_done = len(acknowledgement_batches)
                    acknowledgement_batches_size = pos - acknowledgement_batches_start
                    stop = pos + min(acknowledgement_batches_left, (end - pos) // acknowledgement_batches_size) * acknowledgement_batches_size
                    for row in iter_unpack(f">qq{len(same)}s{acknowledge_types_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        first_offset, last_offset, gap, acknowledge_types, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        acknowledgement_batche = new(AcknowledgementBatch)
                        acknowledgement_batche.first_offset = first_offset
                        acknowledgement_batche.last_offset = last_offset
                        acknowledgement_batche.acknowledge_types = list(acknowledge_types_list(acknowledge_types))
                        acknowledgement_batche.unknown_tagged_fields = acknowledgement_batches_unknown
                        acknowledgement_batches.append(acknowledgement_batche)
                    acknowledgement_batches_done = len(acknowledgement_batches) - acknowledgement_batches_done
                    pos += acknowledgement_batches_done * acknowledgement_batches_size
                    acknowledgement_batches_left -= acknowledgement_batches_done
                    if not acknowledgement_batches_done:
                        acknowledgement_batches_tries -= 1
            partition.acknowledgement_batches = acknowledgement_batches
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        forgotten_topics_data_item.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same_3 = data[forgotten_topics_data_start + 16 : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_4 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">16s{len(same_3)}s{partitions_2_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                topic_id, gap_3, partitions_2, gap_4 = row_2
                if gap_3 != same_3 or gap_4 != same_4:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic_id = topic_id
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
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


def _decode_v2(data: bytes, pos: int) -> ShareFetchRequest:
    end = len(data)
    message = new(ShareFetchRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_id = None
        pos += 1
    elif n == 1:
        message.group_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.member_id = None
        pos += 1
    elif n == 1:
        message.member_id = ""
        pos += 1
    else:
        stop = pos + n
        message.member_id = data[pos + 1 : stop].decode()
        pos = stop
    message.share_session_epoch, message.max_wait_ms, message.min_bytes, message.max_bytes, message.max_records, message.batch_size, message.share_acquire_mode, message.is_renew_ack, n = unpack_iiiiiibxn(data, pos)
    pos += 26
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topics: list[FetchTopic] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(FetchTopic)
        topic.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 6 > end - pos:
            raise Malformed
        partitions: list[FetchPartition] = []
        partitions_count = n
        for _ in range(partitions_count):
            partition = new(FetchPartition)
            partition.partition_max_bytes = 0
            partition.partition_index, n = unpack_in(data, pos)
            pos += 4
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 18 > end - pos:
                raise Malformed
            acknowledgement_batches: list[AcknowledgementBatch] = []
            acknowledgement_batches_left = n
            acknowledgement_batches_tries = 4
            while acknowledgement_batches_left:
                acknowledgement_batches_start = pos
                acknowledgement_batche = new(AcknowledgementBatch)
                acknowledgement_batche.first_offset, acknowledgement_batche.last_offset, n = unpack_qqn(data, pos)
                pos += 16
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    acknowledgement_batche.acknowledge_types = list(READ_INT8S[n](data, pos))
                else:
                    acknowledgement_batche.acknowledge_types = list(unpack_from(f">{n}b", data, pos))
                pos += n
                acknowledge_types_end = pos
                n = data[pos]
                if n:
                    n, pos = read_uvarint(data, pos)
                    acknowledgement_batche.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    acknowledgement_batche.unknown_tagged_fields = ()
                    pos += 1
                acknowledgement_batches.append(acknowledgement_batche)
                acknowledgement_batches_left -= 1
                if acknowledgement_batches_tries and acknowledgement_batches_left >= 12:
                    acknowledge_types_size = len(acknowledgement_batche.acknowledge_types) * 1
                    same = data[acknowledgement_batches_start + 16 : acknowledge_types_end - acknowledge_types_size]
                    acknowledge_types_list = integers("b", len(acknowledgement_batche.acknowledge_types))
                    same_2 = data[acknowledge_types_end : pos]
                    acknowledgement_batches_unknown = acknowledgement_batche.unknown_tagged_fields
                    acknowledgement_batches_done = len(acknowledgement_batches)
                    acknowledgement_batches_size = pos - acknowledgement_batches_start
                    stop = pos + min(acknowledgement_batches_left, (end - pos) // acknowledgement_batches_size) * acknowledgement_batches_size
                    for row in iter_unpack(f">qq{len(same)}s{acknowledge_types_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                        first_offset, last_offset, gap, acknowledge_types, gap_2 = row
                        if gap != same or gap_2 != same_2:
                            break
                        acknowledgement_batche = new(AcknowledgementBatch)
                        acknowledgement_batche.first_offset = first_offset
                        acknowledgement_batche.last_offset = last_offset
                        acknowledgement_batche.acknowledge_types = list(acknowledge_types_list(acknowledge_types))
                        acknowledgement_batche.unknown_tagged_fields = acknowledgement_batches_unknown
                        acknowledgement_batches.append(acknowledgement_batche)
                    acknowledgement_batches_done = len(acknowledgement_batches) - acknowledgement_batches_done
                    pos += acknowledgement_batches_done * acknowledgement_batches_size
                    acknowledgement_batches_left -= acknowledgement_batches_done
                    if not acknowledgement_batches_done:
                        acknowledgement_batches_tries -= 1
            partition.acknowledgement_batches = acknowledgement_batches
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition.unknown_tagged_fields = ()
                pos += 1
            partitions.append(partition)
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
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    forgotten_topics_data: list[ForgottenTopic] = []
    forgotten_topics_data_left = n
    forgotten_topics_data_tries = 4
    while forgotten_topics_data_left:
        forgotten_topics_data_start = pos
        forgotten_topics_data_item = new(ForgottenTopic)
        forgotten_topics_data_item.topic_id, n = unpack_un(data, pos)
        pos += 16
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n < 17:
            forgotten_topics_data_item.partitions = list(READ_INT32S[n](data, pos))
        else:
            forgotten_topics_data_item.partitions = list(unpack_from(f">{n}i", data, pos))
        pos += n * 4
        partitions_2_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            forgotten_topics_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            forgotten_topics_data_item.unknown_tagged_fields = ()
            pos += 1
        forgotten_topics_data.append(forgotten_topics_data_item)
        forgotten_topics_data_left -= 1
        if forgotten_topics_data_tries and forgotten_topics_data_left >= 12:
            partitions_2_size = len(forgotten_topics_data_item.partitions) * 4
            same_3 = data[forgotten_topics_data_start + 16 : partitions_2_end - partitions_2_size]
            partitions_2_list = integers("i", len(forgotten_topics_data_item.partitions))
            same_4 = data[partitions_2_end : pos]
            forgotten_topics_data_unknown = forgotten_topics_data_item.unknown_tagged_fields
            forgotten_topics_data_done = len(forgotten_topics_data)
            forgotten_topics_data_size = pos - forgotten_topics_data_start
            stop = pos + min(forgotten_topics_data_left, (end - pos) // forgotten_topics_data_size) * forgotten_topics_data_size
            for row_2 in iter_unpack(f">16s{len(same_3)}s{partitions_2_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                topic_id, gap_3, partitions_2, gap_4 = row_2
                if gap_3 != same_3 or gap_4 != same_4:
                    break
                forgotten_topics_data_item = new(ForgottenTopic)
                forgotten_topics_data_item.topic_id = topic_id
                forgotten_topics_data_item.partitions = list(partitions_2_list(partitions_2))
                forgotten_topics_data_item.unknown_tagged_fields = forgotten_topics_data_unknown
                forgotten_topics_data.append(forgotten_topics_data_item)
            forgotten_topics_data_done = len(forgotten_topics_data) - forgotten_topics_data_done
            pos += forgotten_topics_data_done * forgotten_topics_data_size
            forgotten_topics_data_left -= forgotten_topics_data_done
            if not forgotten_topics_data_done:
                forgotten_topics_data_tries -= 1
    message.forgotten_topics_data = forgotten_topics_data
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


def _encode_v1(m: ShareFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.is_renew_ack:
        raise EncodeError("IsRenewAck is set, which this version lacks")
    v3 = m.group_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.member_id
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    n7 = len(m.topics) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_iiiiii(m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size),
        ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
    )
    for e8 in m.topics:
        if len(e8.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n9 = len(e8.partitions) + 1
        out += (e8.topic_id, ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9))
        for e10 in e8.partitions:
            if e10.partition_max_bytes != 0:
                raise EncodeError("PartitionMaxBytes is set, which this version lacks")
            n11 = len(e10.acknowledgement_batches) + 1
            out += (pack_i(e10.partition_index), ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11))
            for e12 in e10.acknowledgement_batches:
                n13 = len(e12.acknowledge_types) + 1
                out += (
                    pack_qq(e12.first_offset, e12.last_offset),
                    ONE_BYTE[n13] if n13 < 128 else write_uvarint(n13),
                    WRITE_INT8S[len(e12.acknowledge_types)](*e12.acknowledge_types) if len(e12.acknowledge_types) < 17 else pack(f">{len(e12.acknowledge_types)}b", *e12.acknowledge_types),
                    write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0")
        out.append(write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0")
    n14 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14))
    for e15 in m.forgotten_topics_data:
        if len(e15.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n16 = len(e15.partitions) + 1
        out += (
            e15.topic_id,
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
            WRITE_INT32S[len(e15.partitions)](*e15.partitions) if len(e15.partitions) < 17 else pack(f">{len(e15.partitions)}i", *e15.partitions),
            write_tagged(e15.unknown_tagged_fields) if e15.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v2(m: ShareFetchRequest) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.group_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.member_id
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    n7 = len(m.topics) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_iiiiiibx(m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size, m.share_acquire_mode, m.is_renew_ack),
        ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
    )
    for e8 in m.topics:
        if len(e8.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n9 = len(e8.partitions) + 1
        out += (e8.topic_id, ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9))
        for e10 in e8.partitions:
            if e10.partition_max_bytes != 0:
                raise EncodeError("PartitionMaxBytes is set, which this version lacks")
            n11 = len(e10.acknowledgement_batches) + 1
            out += (pack_i(e10.partition_index), ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11))
            for e12 in e10.acknowledgement_batches:
                n13 = len(e12.acknowledge_types) + 1
                out += (
                    pack_qq(e12.first_offset, e12.last_offset),
                    ONE_BYTE[n13] if n13 < 128 else write_uvarint(n13),
                    WRITE_INT8S[len(e12.acknowledge_types)](*e12.acknowledge_types) if len(e12.acknowledge_types) < 17 else pack(f">{len(e12.acknowledge_types)}b", *e12.acknowledge_types),
                    write_tagged(e12.unknown_tagged_fields) if e12.unknown_tagged_fields else b"\0",
                )
            out.append(write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0")
        out.append(write_tagged(e8.unknown_tagged_fields) if e8.unknown_tagged_fields else b"\0")
    n14 = len(m.forgotten_topics_data) + 1
    out.append(ONE_BYTE[n14] if n14 < 128 else write_uvarint(n14))
    for e15 in m.forgotten_topics_data:
        if len(e15.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n16 = len(e15.partitions) + 1
        out += (
            e15.topic_id,
            ONE_BYTE[n16] if n16 < 128 else write_uvarint(n16),
            WRITE_INT32S[len(e15.partitions)](*e15.partitions) if len(e15.partitions) < 17 else pack(f">{len(e15.partitions)}i", *e15.partitions),
            write_tagged(e15.unknown_tagged_fields) if e15.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


AcknowledgementBatch.FIELDS = (
    Field("first_offset", "FirstOffset", "int64", (1, 2)),
    Field("last_offset", "LastOffset", "int64", (1, 2)),
    Field("acknowledge_types", "AcknowledgeTypes", "int8", (1, 2), is_array=True),
)
FetchPartition.FIELDS = (
    Field("partition_index", "PartitionIndex", "int32", (1, 2)),
    Field("partition_max_bytes", "PartitionMaxBytes", "int32", (1, 0)),
    Field(
        "acknowledgement_batches",
        "AcknowledgementBatches",
        "struct",
        (1, 2),
        is_array=True,
        struct=AcknowledgementBatch,
    ),
)
FetchTopic.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (1, 2)),
    Field("partitions", "Partitions", "struct", (1, 2), is_array=True, struct=FetchPartition),
)
ForgottenTopic.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (1, 2)),
    Field("partitions", "Partitions", "int32", (1, 2), is_array=True),
)
ShareFetchRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (1, 2), nullable=(1, 2), entity="groupId"),
    Field("member_id", "MemberId", "string", (1, 2), nullable=(1, 2)),
    Field("share_session_epoch", "ShareSessionEpoch", "int32", (1, 2)),
    Field("max_wait_ms", "MaxWaitMs", "int32", (1, 2)),
    Field("min_bytes", "MinBytes", "int32", (1, 2)),
    Field("max_bytes", "MaxBytes", "int32", (1, 2)),
    Field("max_records", "MaxRecords", "int32", (1, 2)),
    Field("batch_size", "BatchSize", "int32", (1, 2)),
    Field("share_acquire_mode", "ShareAcquireMode", "int8", (2, 2), ignorable=True),
    Field("is_renew_ack", "IsRenewAck", "bool", (2, 2)),
    Field("topics", "Topics", "struct", (1, 2), is_array=True, struct=FetchTopic),
    Field("forgotten_topics_data", "ForgottenTopicsData", "struct", (1, 2), is_array=True, struct=ForgottenTopic),
)
ShareFetchRequest.NAME = "ShareFetchRequest"
ShareFetchRequest.API_KEY = 78
ShareFetchRequest.MIN_VERSION = 1
ShareFetchRequest.MAX_VERSION = 2
ShareFetchRequest.FLEXIBLE_FROM = 0
ShareFetchRequest._DECODERS = {1: _decode_v1, 2: _decode_v2}
ShareFetchRequest._ENCODERS = {1: _encode_v1, 2: _encode_v2}
