# Generated from schemas/message/ProduceRequest.json by `python -m schemas.generator`. Do not edit.
"""ProduceRequest, a request, versions 3-13."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
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
unpack_h = Format(">h").unpack_from
unpack_hin = Format(">hiB").unpack_from
unpack_hii = Format(">hii").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_h = Format(">h").pack
pack_hi = Format(">hi").pack
pack_hii = Format(">hii").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class PartitionProduceData(Struct):
    index: int = 0
    """The partition's number."""
    records: bytes | memoryview | None = None
    """Batches of records, opaque, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class TopicProduceData(Struct):
    name: str = ""
    """The topic's name. Until version 12."""
    topic_id: bytes = ZERO_UUID
    """The topic's id. Since version 13."""
    partition_data: list[PartitionProduceData] = attrs.Factory(list)
    """One entry for each partition."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ProduceRequest(Request):
    """Appends batches of records to partitions."""

    transactional_id: str | None = None
    """The transactional id, or null outside of transactions."""
    acks: int = 0
    """Who must have written before it counts: 0 nobody (and no answer comes), 1 the leader, -1 all in-sync replicas."""
    timeout_ms: int = 0
    """How long to wait for the replicas, in ms."""
    topic_data: list[TopicProduceData] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v3(data: bytes, pos: int) -> ProduceRequest:
    end = len(data)
    message = new(ProduceRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.transactional_id = None
    elif n == 0:
        message.transactional_id = ""
    else:
        stop = pos + n
        message.transactional_id = data[pos:stop].decode()
        pos = stop
    message.acks, message.timeout_ms, n = unpack_hii(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topic_data: list[TopicProduceData] = []
    topic_data_count = n
    for _ in range(topic_data_count):
        topic_data_item = new(TopicProduceData)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic_data_item.name = data[pos:stop].decode()
        pos = stop
        topic_data_item.topic_id = ZERO_UUID
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 8 > end - pos:
            raise Malformed
        partition_data: list[PartitionProduceData] = []
        partition_data_count = n
        for _ in range(partition_data_count):
            partition_data_item = new(PartitionProduceData)
            partition_data_item.index, n = unpack_ii(data, pos)
            pos += 8
            if n < 0:
                if n != -1:
                    raise Malformed
                partition_data_item.records = None
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition_data_item.records = memoryview(data)[pos:stop]
                pos = stop
            partition_data_item.unknown_tagged_fields = ()
            partition_data.append(partition_data_item)
        topic_data_item.partition_data = partition_data
        topic_data_item.unknown_tagged_fields = ()
        topic_data.append(topic_data_item)
    message.topic_data = topic_data
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v9(data: bytes, pos: int) -> ProduceRequest:
    end = len(data)
    message = new(ProduceRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.transactional_id = None
        pos += 1
    elif n == 1:
        message.transactional_id = ""
        pos += 1
    else:
        stop = pos + n
        message.transactional_id = data[pos + 1 : stop].decode()
        pos = stop
    message.acks, message.timeout_ms, n = unpack_hin(data, pos)
    pos += 6
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    topic_data: list[TopicProduceData] = []
    topic_data_count = n
    for _ in range(topic_data_count):
        topic_data_item = new(TopicProduceData)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic_data_item.name = data[pos + 1 : stop].decode()
        pos = stop
        topic_data_item.topic_id = ZERO_UUID
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
        partition_data: list[PartitionProduceData] = []
        partition_data_count = n
        for _ in range(partition_data_count):
            partition_data_item = new(PartitionProduceData)
            partition_data_item.index, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                pos += 1
                n += (data[pos] << 7) - 128
                if n > 16383:
                    n, pos = read_uvarint(data, pos - 1)
                    pos -= 1
            if n == 0:
                partition_data_item.records = None
                pos += 1
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition_data_item.records = memoryview(data)[pos + 1 : stop]
                pos = stop
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition_data_item.unknown_tagged_fields = ()
                pos += 1
            partition_data.append(partition_data_item)
        topic_data_item.partition_data = partition_data
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic_data_item.unknown_tagged_fields = ()
            pos += 1
        topic_data.append(topic_data_item)
    message.topic_data = topic_data
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


def _decode_v13(data: bytes, pos: int) -> ProduceRequest:
    end = len(data)
    message = new(ProduceRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.transactional_id = None
        pos += 1
    elif n == 1:
        message.transactional_id = ""
        pos += 1
    else:
        stop = pos + n
        message.transactional_id = data[pos + 1 : stop].decode()
        pos = stop
    message.acks, message.timeout_ms, n = unpack_hin(data, pos)
    pos += 6
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 18 > end - pos:
        raise Malformed
    topic_data: list[TopicProduceData] = []
    topic_data_count = n
    for _ in range(topic_data_count):
        topic_data_item = new(TopicProduceData)
        topic_data_item.name = ""
        topic_data_item.topic_id, n = unpack_un(data, pos)
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
        partition_data: list[PartitionProduceData] = []
        partition_data_count = n
        for _ in range(partition_data_count):
            partition_data_item = new(PartitionProduceData)
            partition_data_item.index, n = unpack_in(data, pos)
            pos += 4
            if n > 127:
                pos += 1
                n += (data[pos] << 7) - 128
                if n > 16383:
                    n, pos = read_uvarint(data, pos - 1)
                    pos -= 1
            if n == 0:
                partition_data_item.records = None
                pos += 1
            else:
                stop = pos + n
                if stop > len(data):
                    raise Malformed
                partition_data_item.records = memoryview(data)[pos + 1 : stop]
                pos = stop
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                partition_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                partition_data_item.unknown_tagged_fields = ()
                pos += 1
            partition_data.append(partition_data_item)
        topic_data_item.partition_data = partition_data
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic_data_item.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            topic_data_item.unknown_tagged_fields = ()
            pos += 1
        topic_data.append(topic_data_item)
    message.topic_data = topic_data
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


def _encode_v3(m: ProduceRequest) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.transactional_id
    if v3 is None:
        b1 = b""
        n2 = -1
    else:
        b1 = v3.encode()
        n2 = len(b1)
    n4 = len(m.topic_data)
    out += (pack_h(n2), b1, pack_hii(m.acks, m.timeout_ms, n4))
    for e5 in m.topic_data:
        b6 = e5.name.encode()
        n7 = len(b6)
        n8 = len(e5.partition_data)
        out += (pack_h(n7), b6, pack_i(n8))
        for e9 in e5.partition_data:
            v12 = e9.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = -1
            else:
                b10 = v12
                n11 = len(b10)
            out += (pack_ii(e9.index, n11), b10)
    return b"".join(out)


def _encode_v9(m: ProduceRequest) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.transactional_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    n4 = len(m.topic_data) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_hi(m.acks, m.timeout_ms),
        ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4),
    )
    for e5 in m.topic_data:
        b6 = e5.name.encode()
        n7 = len(b6) + 1
        n8 = len(e5.partition_data) + 1
        out += (
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        )
        for e9 in e5.partition_data:
            v12 = e9.records
            if v12 is None:
                b10: bytes | memoryview = b""
                n11 = 0
            else:
                b10 = v12
                n11 = len(b10) + 1
            out += (
                pack_i(e9.index),
                ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11),
                b10,
                write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e5.unknown_tagged_fields) if e5.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v13(m: ProduceRequest) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.transactional_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    n4 = len(m.topic_data) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_hi(m.acks, m.timeout_ms),
        ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4),
    )
    for e5 in m.topic_data:
        if len(e5.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        n6 = len(e5.partition_data) + 1
        out += (e5.topic_id, ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6))
        for e7 in e5.partition_data:
            v10 = e7.records
            if v10 is None:
                b8: bytes | memoryview = b""
                n9 = 0
            else:
                b8 = v10
                n9 = len(b8) + 1
            out += (
                pack_i(e7.index),
                ONE_BYTE[n9] if n9 < 128 else write_uvarint(n9),
                b8,
                write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e5.unknown_tagged_fields) if e5.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


PartitionProduceData.FIELDS = (
    Field("index", "Index", "int32", (3, 13)),
    Field("records", "Records", "records", (3, 13), nullable=(3, 13)),
)
TopicProduceData.FIELDS = (
    Field("name", "Name", "string", (3, 12), entity="topicName", ignorable=True),
    Field("topic_id", "TopicId", "uuid", (13, 13), ignorable=True),
    Field("partition_data", "PartitionData", "struct", (3, 13), is_array=True, struct=PartitionProduceData),
)
ProduceRequest.FIELDS = (
    Field("transactional_id", "TransactionalId", "string", (3, 13), nullable=(3, 13), entity="transactionalId"),
    Field("acks", "Acks", "int16", (3, 13)),
    Field("timeout_ms", "TimeoutMs", "int32", (3, 13)),
    Field("topic_data", "TopicData", "struct", (3, 13), is_array=True, struct=TopicProduceData),
)
ProduceRequest.NAME = "ProduceRequest"
ProduceRequest.API_KEY = 0
ProduceRequest.MIN_VERSION = 3
ProduceRequest.MAX_VERSION = 13
ProduceRequest.FLEXIBLE_FROM = 9
ProduceRequest._DECODERS = {
    3: _decode_v3,
    4: _decode_v3,
    5: _decode_v3,
    6: _decode_v3,
    7: _decode_v3,
    8: _decode_v3,
    9: _decode_v9,
    10: _decode_v9,
    11: _decode_v9,
    12: _decode_v9,
    13: _decode_v13,
}
ProduceRequest._ENCODERS = {
    3: _encode_v3,
    4: _encode_v3,
    5: _encode_v3,
    6: _encode_v3,
    7: _encode_v3,
    8: _encode_v3,
    9: _encode_v9,
    10: _encode_v9,
    11: _encode_v9,
    12: _encode_v9,
    13: _encode_v13,
}
