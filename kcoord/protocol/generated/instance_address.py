# Generated from schemas/internal/InstanceAddress.json by `python -m schemas.generator`. Do not edit.
"""InstanceAddress, a struct between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message, Struct
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
unpack_h = Format(">h").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_qn = Format(">qB").unpack_from
iterate_iin = Format(">iiB").iter_unpack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class BrokerPort(Struct):
    broker_id: int = 0
    """The broker's number."""
    port: int = 0
    """By which port clients reach it."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class InstanceAddress(Message):
    """Who an instance is, and where."""

    instance_id: int = 0
    """The instance's number (instance.id)."""
    member_id: str = ""
    """Its member id in the instances' group."""
    started_ms: int = 0
    """When its process began, in ms since 1970: of two with one number the elder counts."""
    host: str = ""
    """By which host clients reach it."""
    port: int = 0
    """By which port clients reach it first."""
    port_offset: int = 0
    """A broker is so many ports, and its number, behind that one."""
    broker_ports: list[BrokerPort] = attrs.Factory(list)
    """Brokers with ports of their own."""
    internal_host: str | None = ""
    """On which host it takes the calls of other instances; null: it takes none."""
    internal_port: int = 0
    """On which port."""
    lease_ms: int = 0
    """How long its leases are, in ms."""
    record_level: int = 0
    """Which records of the log it can read, as a level; 0: those of release 0.1.0, which does not say it."""
    began_new: bool = False
    """Whether it knows that this installation began with a kcoord that takes live groups over (gateway.adopt)."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceAddress:
    end = len(data)
    message = new(InstanceAddress)
    message.instance_id, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    message.started_ms, n = unpack_qn(data, pos)
    pos += 8
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.host = data[pos + 1 : stop].decode()
    pos = stop
    message.port, message.port_offset, n = unpack_iin(data, pos)
    pos += 8
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 9 > end - pos:
        raise Malformed
    broker_ports: list[BrokerPort] = []
    broker_ports_count = n
    for row in iterate_iin(memoryview(data)[pos : pos + n * 9]):
        broker_port = new(BrokerPort)
        broker_port.broker_id, broker_port.port, n = row
        if n:
            break
        broker_port.unknown_tagged_fields = ()
        broker_ports.append(broker_port)
    pos += len(broker_ports) * 9
    for _ in range(broker_ports_count - len(broker_ports)):
        broker_port = new(BrokerPort)
        broker_port.broker_id, broker_port.port, n = unpack_iin(data, pos)
        pos += 8
        if n:
            n, pos = read_uvarint(data, pos)
            broker_port.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker_port.unknown_tagged_fields = ()
            pos += 1
        broker_ports.append(broker_port)
    message.broker_ports = broker_ports
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.internal_host = None
        pos += 1
    elif n == 1:
        message.internal_host = ""
        pos += 1
    else:
        stop = pos + n
        message.internal_host = data[pos + 1 : stop].decode()
        pos = stop
    message.record_level = 0
    message.began_new = False
    message.internal_port, message.lease_ms, n = unpack_iin(data, pos)
    pos += 8
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
            if message_tag == 0:
                (message.record_level,) = unpack_h(data, pos)
                pos += 2
            elif message_tag == 1:
                (message.began_new,) = unpack_x(data, pos)
                pos += 1
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


def _encode_v0(m: InstanceAddress) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.member_id.encode()
    n2 = len(b1) + 1
    b3 = m.host.encode()
    n4 = len(b3) + 1
    n5 = len(m.broker_ports) + 1
    out += (
        pack_i(m.instance_id),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_q(m.started_ms),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        pack_ii(m.port, m.port_offset),
        ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
    )
    for e6 in m.broker_ports:
        out += (
            pack_ii(e6.broker_id, e6.port),
            write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
        )
    v9 = m.internal_host
    if v9 is None:
        b7 = b""
        n8 = 0
    else:
        b7 = v9.encode()
        n8 = len(b7) + 1
    out += (ONE_BYTE[n8] if n8 < 128 else write_string_length(n8), b7, pack_ii(m.internal_port, m.lease_ms))
    tagged10: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.record_level != 0:
        tagged10.append((0, pack_h(m.record_level)))
    if m.began_new:
        tagged10.append((1, b"\1"))
    out.append(write_tagged(tagged10) if tagged10 else b"\0")
    return b"".join(out)


BrokerPort.FIELDS = (
    Field("broker_id", "BrokerId", "int32", (0, 0)),
    Field("port", "Port", "int32", (0, 0)),
)
InstanceAddress.FIELDS = (
    Field("instance_id", "InstanceId", "int32", (0, 0)),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("started_ms", "StartedMs", "int64", (0, 0)),
    Field("host", "Host", "string", (0, 0)),
    Field("port", "Port", "int32", (0, 0)),
    Field("port_offset", "PortOffset", "int32", (0, 0)),
    Field("broker_ports", "BrokerPorts", "struct", (0, 0), is_array=True, struct=BrokerPort),
    Field("internal_host", "InternalHost", "string", (0, 0), nullable=(0, 0)),
    Field("internal_port", "InternalPort", "int32", (0, 0)),
    Field("lease_ms", "LeaseMs", "int32", (0, 0)),
    Field("record_level", "RecordLevel", "int16", (0, 0), tag=0, tagged=(0, 0)),
    Field("began_new", "BeganNew", "bool", (0, 0), tag=1, tagged=(0, 0)),
)
InstanceAddress.NAME = "InstanceAddress"
InstanceAddress.API_KEY = -1
InstanceAddress.MIN_VERSION = 0
InstanceAddress.MAX_VERSION = 0
InstanceAddress.FLEXIBLE_FROM = 0
InstanceAddress._DECODERS = {0: _decode_v0}
InstanceAddress._ENCODERS = {0: _encode_v0}
