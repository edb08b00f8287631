# Generated from schemas/message/JoinGroupRequest.json by `python -m schemas.generator`. Do not edit.
"""JoinGroupRequest, a request, versions 0-9."""

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
unpack_ih = Format(">ih").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_iih = Format(">iih").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack
pack_iih = Format(">iih").pack


@attrs.define(slots=True, weakref_slot=False)
class JoinGroupRequestProtocol(Struct):
    name: str = ""
    """The protocol's name, e.g. range or sessioned."""
    metadata: bytes = b""
    """What the member says in that protocol, opaque to the coordinator."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class JoinGroupRequest(Request):
    """A member of a classic group joins, or joins again for the next generation."""

    group_id: str = ""
    """The group's id."""
    session_timeout_ms: int = 0
    """The member is lost after this time without a heartbeat, in ms."""
    rebalance_timeout_ms: int = -1
    """How long the others wait for this member in a rebalance, in ms. Since version 1."""
    member_id: str = ""
    """The member's id, or empty the first time."""
    group_instance_id: str | None = None
    """The member's static name (KIP-345), or null for a dynamic member. Since version 5."""
    protocol_type: str = ""
    """What kind of group it is, e.g. consumer or connect."""
    protocols: list[JoinGroupRequestProtocol] = attrs.Factory(list)
    """What the member can speak, best first."""
    reason: str | None = None
    """Why, in the client's words (KIP-800), or null. Since version 8."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> JoinGroupRequest:
    end = len(data)
    message = new(JoinGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.rebalance_timeout_ms = -1
    message.session_timeout_ms, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    protocols: list[JoinGroupRequestProtocol] = []
    protocols_left = n
    protocols_tries = 4
    while protocols_left:
        protocols_start = pos
        protocol = new(JoinGroupRequestProtocol)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        protocol.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        protocol.metadata = data[pos:stop]
        pos = stop
        metadata_end = pos
        protocol.unknown_tagged_fields = ()
        protocols.append(protocol)
        protocols_left -= 1
        if protocols_tries and protocols_left >= 12:
            name_size = name_n
            same = data[protocols_start : name_end - name_size]
            metadata_size = len(protocol.metadata)
            same_2 = data[name_end : metadata_end - metadata_size]
            protocols_unknown = protocol.unknown_tagged_fields
            protocols_done = len(protocols)
            protocols_size = pos - protocols_start
            stop = pos + min(protocols_left, (end - pos) // protocols_size) * protocols_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{metadata_size}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, metadata = row
                if gap != same or gap_2 != same_2:
                    break
                protocol = new(JoinGroupRequestProtocol)
                protocol.name = name.decode() if name else ""
                protocol.metadata = metadata
                protocol.unknown_tagged_fields = protocols_unknown
                protocols.append(protocol)
            protocols_done = len(protocols) - protocols_done
            pos += protocols_done * protocols_size
            protocols_left -= protocols_done
            if not protocols_done:
                protocols_tries -= 1
    message.protocols = protocols
    message.reason = None
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> JoinGroupRequest:
    end = len(data)
    message = new(JoinGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.session_timeout_ms, message.rebalance_timeout_ms, n = unpack_iih(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    message.group_instance_id = None
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    protocols: list[JoinGroupRequestProtocol] = []
    protocols_left = n
    protocols_tries = 4
    while protocols_left:
        protocols_start = pos
        protocol = new(JoinGroupRequestProtocol)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        protocol.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        protocol.metadata = data[pos:stop]
        pos = stop
        metadata_end = pos
        protocol.unknown_tagged_fields = ()
        protocols.append(protocol)
        protocols_left -= 1
        if protocols_tries and protocols_left >= 12:
            name_size = name_n
            same = data[protocols_start : name_end - name_size]
            metadata_size = len(protocol.metadata)
            same_2 = data[name_end : metadata_end - metadata_size]
            protocols_unknown = protocol.unknown_tagged_fields
            protocols_done = len(protocols)
            protocols_size = pos - protocols_start
            stop = pos + min(protocols_left, (end - pos) // protocols_size) * protocols_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{metadata_size}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, metadata = row
                if gap != same or gap_2 != same_2:
                    break
                protocol = new(JoinGroupRequestProtocol)
                protocol.name = name.decode() if name else ""
                protocol.metadata = metadata
                protocol.unknown_tagged_fields = protocols_unknown
                protocols.append(protocol)
            protocols_done = len(protocols) - protocols_done
            pos += protocols_done * protocols_size
            protocols_left -= protocols_done
            if not protocols_done:
                protocols_tries -= 1
    message.protocols = protocols
    message.reason = None
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> JoinGroupRequest:
    end = len(data)
    message = new(JoinGroupRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    message.session_timeout_ms, message.rebalance_timeout_ms, n = unpack_iih(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        if n != -1:
            raise Malformed
        message.group_instance_id = None
    elif n == 0:
        message.group_instance_id = ""
    else:
        stop = pos + n
        message.group_instance_id = data[pos:stop].decode()
        pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    protocols: list[JoinGroupRequestProtocol] = []
    protocols_left = n
    protocols_tries = 4
    while protocols_left:
        protocols_start = pos
        protocol = new(JoinGroupRequestProtocol)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        protocol.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        stop = pos + n
        protocol.metadata = data[pos:stop]
        pos = stop
        metadata_end = pos
        protocol.unknown_tagged_fields = ()
        protocols.append(protocol)
        protocols_left -= 1
        if protocols_tries and protocols_left >= 12:
            name_size = name_n
            same = data[protocols_start : name_end - name_size]
            metadata_size = len(protocol.metadata)
            same_2 = data[name_end : metadata_end - metadata_size]
            protocols_unknown = protocol.unknown_tagged_fields
            protocols_done = len(protocols)
            protocols_size = pos - protocols_start
            stop = pos + min(protocols_left, (end - pos) // protocols_size) * protocols_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{metadata_size}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, metadata = row
                if gap != same or gap_2 != same_2:
                    break
                protocol = new(JoinGroupRequestProtocol)
                protocol.name = name.decode() if name else ""
                protocol.metadata = metadata
                protocol.unknown_tagged_fields = protocols_unknown
                protocols.append(protocol)
            protocols_done = len(protocols) - protocols_done
            pos += protocols_done * protocols_size
            protocols_left -= protocols_done
            if not protocols_done:
                protocols_tries -= 1
    message.protocols = protocols
    message.reason = None
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v6(data: bytes, pos: int) -> JoinGroupRequest:
    end = len(data)
    message = new(JoinGroupRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.session_timeout_ms, message.rebalance_timeout_ms, n = unpack_iin(data, pos)
    pos += 8
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
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos + 1 : stop].decode()
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
    protocols: list[JoinGroupRequestProtocol] = []
    protocols_left = n
    protocols_tries = 4
    while protocols_left:
        protocols_start = pos
        protocol = new(JoinGroupRequestProtocol)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        protocol.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
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
        protocol.metadata = data[pos + 1 : stop]
        pos = stop
        metadata_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            protocol.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            protocol.unknown_tagged_fields = ()
            pos += 1
        protocols.append(protocol)
        protocols_left -= 1
        if protocols_tries and protocols_left >= 12:
            name_size = name_n - 1
            same = data[protocols_start : name_end - name_size]
            metadata_size = len(protocol.metadata)
            same_2 = data[name_end : metadata_end - metadata_size]
            same_3 = data[metadata_end : pos]
            protocols_unknown = protocol.unknown_tagged_fields
            protocols_done = len(protocols)
            protocols_size = pos - protocols_start
            stop = pos + min(protocols_left, (end - pos) // protocols_size) * protocols_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{metadata_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, metadata, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                protocol = new(JoinGroupRequestProtocol)
                protocol.name = name.decode() if name else ""
                protocol.metadata = metadata
                protocol.unknown_tagged_fields = protocols_unknown
                protocols.append(protocol)
            protocols_done = len(protocols) - protocols_done
            pos += protocols_done * protocols_size
            protocols_left -= protocols_done
            if not protocols_done:
                protocols_tries -= 1
    message.protocols = protocols
    message.reason = None
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


def _decode_v8(data: bytes, pos: int) -> JoinGroupRequest:
    end = len(data)
    message = new(JoinGroupRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.session_timeout_ms, message.rebalance_timeout_ms, n = unpack_iin(data, pos)
    pos += 8
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
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.protocol_type = data[pos + 1 : stop].decode()
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
    protocols: list[JoinGroupRequestProtocol] = []
    protocols_left = n
    protocols_tries = 4
    while protocols_left:
        protocols_start = pos
        protocol = new(JoinGroupRequestProtocol)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        protocol.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
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
        protocol.metadata = data[pos + 1 : stop]
        pos = stop
        metadata_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            protocol.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            protocol.unknown_tagged_fields = ()
            pos += 1
        protocols.append(protocol)
        protocols_left -= 1
        if protocols_tries and protocols_left >= 12:
            name_size = name_n - 1
            same = data[protocols_start : name_end - name_size]
            metadata_size = len(protocol.metadata)
            same_2 = data[name_end : metadata_end - metadata_size]
            same_3 = data[metadata_end : pos]
            protocols_unknown = protocol.unknown_tagged_fields
            protocols_done = len(protocols)
            protocols_size = pos - protocols_start
            stop = pos + min(protocols_left, (end - pos) // protocols_size) * protocols_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{metadata_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, metadata, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                protocol = new(JoinGroupRequestProtocol)
                protocol.name = name.decode() if name else ""
                protocol.metadata = metadata
                protocol.unknown_tagged_fields = protocols_unknown
                protocols.append(protocol)
            protocols_done = len(protocols) - protocols_done
            pos += protocols_done * protocols_size
            protocols_left -= protocols_done
            if not protocols_done:
                protocols_tries -= 1
    message.protocols = protocols
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.reason = None
        pos += 1
    elif n == 1:
        message.reason = ""
        pos += 1
    else:
        stop = pos + n
        message.reason = data[pos + 1 : stop].decode()
        pos = stop
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


def _encode_v0(m: JoinGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    b5 = m.protocol_type.encode()
    n6 = len(b5)
    n7 = len(m.protocols)
    out += (pack_h(n2), b1, pack_ih(m.session_timeout_ms, n4), b3, pack_h(n6), b5, pack_i(n7))
    for e8 in m.protocols:
        b9 = e8.name.encode()
        n10 = len(b9)
        b11 = e8.metadata
        n12 = len(b11)
        out += (pack_h(n10), b9, pack_i(n12), b11)
    return b"".join(out)


def _encode_v1(m: JoinGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.group_instance_id is not None:
        raise EncodeError("GroupInstanceId is set, which this version lacks")
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    b5 = m.protocol_type.encode()
    n6 = len(b5)
    n7 = len(m.protocols)
    out += (pack_h(n2), b1, pack_iih(m.session_timeout_ms, m.rebalance_timeout_ms, n4), b3, pack_h(n6), b5, pack_i(n7))
    for e8 in m.protocols:
        b9 = e8.name.encode()
        n10 = len(b9)
        b11 = e8.metadata
        n12 = len(b11)
        out += (pack_h(n10), b9, pack_i(n12), b11)
    return b"".join(out)


def _encode_v5(m: JoinGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.member_id.encode()
    n4 = len(b3)
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = -1
    else:
        b5 = v7.encode()
        n6 = len(b5)
    b8 = m.protocol_type.encode()
    n9 = len(b8)
    n10 = len(m.protocols)
    out += (
        pack_h(n2),
        b1,
        pack_iih(m.session_timeout_ms, m.rebalance_timeout_ms, n4),
        b3,
        pack_h(n6),
        b5,
        pack_h(n9),
        b8,
        pack_i(n10),
    )
    for e11 in m.protocols:
        b12 = e11.name.encode()
        n13 = len(b12)
        b14 = e11.metadata
        n15 = len(b14)
        out += (pack_h(n13), b12, pack_i(n15), b14)
    return b"".join(out)


def _encode_v6(m: JoinGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    b8 = m.protocol_type.encode()
    n9 = len(b8) + 1
    n10 = len(m.protocols) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_ii(m.session_timeout_ms, m.rebalance_timeout_ms),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
    )
    for e11 in m.protocols:
        b12 = e11.name.encode()
        n13 = len(b12) + 1
        b14 = e11.metadata
        n15 = len(b14) + 1
        out += (
            ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
            b12,
            ONE_BYTE[n15] if n15 < 128 else write_uvarint(n15),
            b14,
            write_tagged(e11.unknown_tagged_fields) if e11.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v8(m: JoinGroupRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    b8 = m.protocol_type.encode()
    n9 = len(b8) + 1
    n10 = len(m.protocols) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_ii(m.session_timeout_ms, m.rebalance_timeout_ms),
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
        b8,
        ONE_BYTE[n10] if n10 < 128 else write_uvarint(n10),
    )
    for e11 in m.protocols:
        b12 = e11.name.encode()
        n13 = len(b12) + 1
        b14 = e11.metadata
        n15 = len(b14) + 1
        out += (
            ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
            b12,
            ONE_BYTE[n15] if n15 < 128 else write_uvarint(n15),
            b14,
            write_tagged(e11.unknown_tagged_fields) if e11.unknown_tagged_fields else b"\0",
        )
    v18 = m.reason
    if v18 is None:
        b16 = b""
        n17 = 0
    else:
        b16 = v18.encode()
        n17 = len(b16) + 1
    out += (
        ONE_BYTE[n17] if n17 < 128 else write_string_length(n17),
        b16,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


JoinGroupRequestProtocol.FIELDS = (
    Field("name", "Name", "string", (0, 9)),
    Field("metadata", "Metadata", "bytes", (0, 9)),
)
JoinGroupRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 9), entity="groupId"),
    Field("session_timeout_ms", "SessionTimeoutMs", "int32", (0, 9)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (1, 9), ignorable=True),
    Field("member_id", "MemberId", "string", (0, 9)),
    Field("group_instance_id", "GroupInstanceId", "string", (5, 9), nullable=(5, 9)),
    Field("protocol_type", "ProtocolType", "string", (0, 9)),
    Field("protocols", "Protocols", "struct", (0, 9), is_array=True, struct=JoinGroupRequestProtocol),
    Field("reason", "Reason", "string", (8, 9), nullable=(8, 9), ignorable=True),
)
JoinGroupRequest.NAME = "JoinGroupRequest"
JoinGroupRequest.API_KEY = 11
JoinGroupRequest.MIN_VERSION = 0
JoinGroupRequest.MAX_VERSION = 9
JoinGroupRequest.FLEXIBLE_FROM = 6
JoinGroupRequest._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v1,
    4: _decode_v1,
    5: _decode_v5,
    6: _decode_v6,
    7: _decode_v6,
    8: _decode_v8,
    9: _decode_v8,
}
JoinGroupRequest._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v1,
    4: _encode_v1,
    5: _encode_v5,
    6: _encode_v6,
    7: _encode_v6,
    8: _encode_v8,
    9: _encode_v8,
}
