# Generated from schemas/internal/InstanceMetadata.json by `python -m schemas.generator`. Do not edit.
"""InstanceMetadata, a struct between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format, pack, unpack_from

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import (
    ONE_BYTE,
    READ_INT32S,
    WRITE_INT32S,
    Malformed,
    read_uvarint,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_in = Format(">iB").unpack_from
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceMetadata(Message):
    """What an instance says of itself when it joins the instances' group."""

    instance: bytes = b""
    """An InstanceAddress: who it is, and where. Its member id is left out: the group knows it."""
    partitions: int = 0
    """How many partitions it believes that there are."""
    owned: list[int] = attrs.Factory(list)
    """The partitions that it holds."""
    brokers: list[int] = attrs.Factory(list)
    """The brokers that it knows of; empty where it stands before none."""
    leaders: list[int] = attrs.Factory(list)
    """The broker that leads each partition of __consumer_offsets; -1: not known. Empty: nobody's business."""
    map: bytes | None = b""
    """The newest map that it has, an InstanceMap; null: it has none."""
    unreadable: list[int] = attrs.Factory(list)
    """The partitions that it cannot serve, because a newer kcoord has written to them."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceMetadata:
    message = new(InstanceMetadata)
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
    message.instance = data[pos + 1 : stop]
    pos = stop
    message.partitions, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n < 17:
        message.owned = list(READ_INT32S[n](data, pos))
    else:
        message.owned = list(unpack_from(f">{n}i", data, pos))
    pos += n * 4
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n < 17:
        message.brokers = list(READ_INT32S[n](data, pos))
    else:
        message.brokers = list(unpack_from(f">{n}i", data, pos))
    pos += n * 4
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n < 17:
        message.leaders = list(READ_INT32S[n](data, pos))
    else:
        message.leaders = list(unpack_from(f">{n}i", data, pos))
    pos += n * 4
    n = data[pos]
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        message.map = None
        pos += 1
    else:
        stop = pos + n
        message.map = data[pos + 1 : stop]
        pos = stop
    message.unreadable = []
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
            if message_tag == 0:
                n = data[pos]
                if n < 128:
                    pos += 1
                else:
                    n, pos = read_uvarint(data, pos)
                if n == 0:
                    raise Malformed
                n -= 1
                if n < 17:
                    message.unreadable = list(READ_INT32S[n](data, pos))
                else:
                    message.unreadable = list(unpack_from(f">{n}i", data, pos))
                pos += n * 4
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


def _encode_v0(m: InstanceMetadata) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.instance
    n2 = len(b1) + 1
    n3 = len(m.owned) + 1
    n4 = len(m.brokers) + 1
    n5 = len(m.leaders) + 1
    v8 = m.map
    if v8 is None:
        b6 = b""
        n7 = 0
    else:
        b6 = v8
        n7 = len(b6) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_uvarint(n2),
        b1,
        pack_i(m.partitions),
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
        WRITE_INT32S[len(m.owned)](*m.owned) if len(m.owned) < 17 else pack(f">{len(m.owned)}i", *m.owned),
        ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4),
        WRITE_INT32S[len(m.brokers)](*m.brokers) if len(m.brokers) < 17 else pack(f">{len(m.brokers)}i", *m.brokers),
        ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        WRITE_INT32S[len(m.leaders)](*m.leaders) if len(m.leaders) < 17 else pack(f">{len(m.leaders)}i", *m.leaders),
        ONE_BYTE[n7] if n7 < 128 else write_uvarint(n7),
        b6,
    )
    tagged9: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.unreadable != []:
        n11 = len(m.unreadable) + 1
        tagged9.append((
            0,
            b"".join((ONE_BYTE[n11] if n11 < 128 else write_uvarint(n11), WRITE_INT32S[len(m.unreadable)](*m.unreadable) if len(m.unreadable) < 17 else pack(f">{len(m.unreadable)}i", *m.unreadable))),
        ))
    out.append(write_tagged(tagged9) if tagged9 else b"\0")
    return b"".join(out)


InstanceMetadata.FIELDS = (
    Field("instance", "Instance", "bytes", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0)),
    Field("owned", "Owned", "int32", (0, 0), is_array=True),
    Field("brokers", "Brokers", "int32", (0, 0), is_array=True),
    Field("leaders", "Leaders", "int32", (0, 0), is_array=True),
    Field("map", "Map", "bytes", (0, 0), nullable=(0, 0)),
    Field("unreadable", "Unreadable", "int32", (0, 0), is_array=True, tag=0, tagged=(0, 0)),
)
InstanceMetadata.NAME = "InstanceMetadata"
InstanceMetadata.API_KEY = -1
InstanceMetadata.MIN_VERSION = 0
InstanceMetadata.MAX_VERSION = 0
InstanceMetadata.FLEXIBLE_FROM = 0
InstanceMetadata._DECODERS = {0: _decode_v0}
InstanceMetadata._ENCODERS = {0: _encode_v0}
