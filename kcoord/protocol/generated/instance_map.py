# Generated from schemas/internal/InstanceMap.json by `python -m schemas.generator`. Do not edit.
"""InstanceMap, a struct between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    Malformed,
    read_tagged,
    read_uvarint,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_iin = Format(">iiB").unpack_from
unpack_qn = Format(">qB").unpack_from
iterate_iin = Format(">iiB").iter_unpack
pack_ii = Format(">ii").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class Instance(Struct):
    address: bytes = b""
    """An InstanceAddress."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class BrokerFront(Struct):
    broker_id: int = 0
    """The broker's number."""
    instance_id: int = 0
    """The instance's number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class InstanceMap(Message):
    """Who is there, and whose each partition is: made by the leader of the instances' group, the same for all of its members."""

    epoch: int = 0
    """Grows with each map."""
    instances: list[Instance] = attrs.Factory(list)
    """The instances that take part."""
    partitions: list[int] = attrs.Factory(list)
    """The owner of each partition, by its instance's number; -1: nobody's at the moment."""
    brokers: list[BrokerFront] = attrs.Factory(list)
    """Which instance stands before which broker."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceMap:
    end = len(data)
    message = new(InstanceMap)
    message.epoch, n = unpack_qn(data, pos)
    pos += 8
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 2 > end - pos:
        raise Malformed
    instances: list[Instance] = []
    instances_left = n
    instances_tries = 4
    while instances_left:
        instances_start = pos
        instance = new(Instance)
        n = data[pos]
        if n > 127:
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        instance.address = data[pos + 1 : stop]
        pos = stop
        address_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            instance.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            instance.unknown_tagged_fields = ()
            pos += 1
        instances.append(instance)
        instances_left -= 1
        if instances_tries and instances_left >= 12:
            address_size = len(instance.address)
            same = data[instances_start : address_end - address_size]
            same_2 = data[address_end : pos]
            instances_unknown = instance.unknown_tagged_fields
            instances_done = len(instances)
            instances_size = pos - instances_start
            stop = pos + min(instances_left, (end - pos) // instances_size) * instances_size
            for row in iter_unpack(f">{len(same)}s{address_size}s{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, address, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                instance = new(Instance)
                instance.address = address
                instance.unknown_tagged_fields = instances_unknown
                instances.append(instance)
            instances_done = len(instances) - instances_done
            pos += instances_done * instances_size
            instances_left -= instances_done
            if not instances_done:
                instances_tries -= 1
    message.instances = instances
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n < 17:
        message.partitions = list(READ_INT32S[n](data, pos))
    else:
        message.partitions = list(unpack_from(f">{n}i", data, pos))
    pos += n * 4
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 9 > end - pos:
        raise Malformed
    brokers: list[BrokerFront] = []
    brokers_count = n
    for row_2 in iterate_iin(memoryview(data)[pos : pos + n * 9]):
        broker = new(BrokerFront)
        broker.broker_id, broker.instance_id, n = row_2
        if n:
            break
        broker.unknown_tagged_fields = ()
        brokers.append(broker)
    pos += len(brokers) * 9
    for _ in range(brokers_count - len(brokers)):
        broker = new(BrokerFront)
        broker.broker_id, broker.instance_id, n = unpack_iin(data, pos)
        pos += 8
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
    message.brokers = brokers
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


def _encode_v0(m: InstanceMap) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.instances) + 1
    out += (pack_q(m.epoch), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.instances:
        b3 = e2.address
        n4 = len(b3) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4),
            b3,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    n5 = len(m.partitions) + 1
    n6 = len(m.brokers) + 1
    out += (
        ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        WRITE_INT32S[len(m.partitions)](*m.partitions) if len(m.partitions) < 17 else pack(f">{len(m.partitions)}i", *m.partitions),
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e7 in m.brokers:
        out += (
            pack_ii(e7.broker_id, e7.instance_id),
            write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


Instance.FIELDS = (
    Field("address", "Address", "bytes", (0, 0)),
)
BrokerFront.FIELDS = (
    Field("broker_id", "BrokerId", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "int32", (0, 0)),
)
InstanceMap.FIELDS = (
    Field("epoch", "Epoch", "int64", (0, 0)),
    Field("instances", "Instances", "struct", (0, 0), is_array=True, struct=Instance),
    Field("partitions", "Partitions", "int32", (0, 0), is_array=True),
    Field("brokers", "Brokers", "struct", (0, 0), is_array=True, struct=BrokerFront),
)
InstanceMap.NAME = "InstanceMap"
InstanceMap.API_KEY = -1
InstanceMap.MIN_VERSION = 0
InstanceMap.MAX_VERSION = 0
InstanceMap.FLEXIBLE_FROM = 0
InstanceMap._DECODERS = {0: _decode_v0}
InstanceMap._ENCODERS = {0: _encode_v0}
