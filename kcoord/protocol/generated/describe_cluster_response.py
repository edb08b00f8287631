# Generated from schemas/message/DescribeClusterResponse.json by `python -m schemas.generator`. Do not edit.
"""DescribeClusterResponse, a response, versions 0-2."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
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
unpack_xn = Format(">?B").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
pack_b = Format(">b").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribeClusterBroker(Struct):
    broker_id: int = 0
    """The broker's id."""
    host: str = ""
    """The host name or address to connect to."""
    port: int = 0
    """The port to connect to."""
    rack: str | None = None
    """The broker's rack, or null."""
    is_fenced: bool = False
    """Whether the broker is fenced. Since version 2."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeClusterResponse(Response):
    """The cluster's id, controller and brokers."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    endpoint_type: int = 1
    """1 for brokers, 2 for controllers. Since version 1."""
    cluster_id: str = ""
    """The cluster's id."""
    controller_id: int = -1
    """The controller as clients should see it, or -1."""
    brokers: list[DescribeClusterBroker] = attrs.Factory(list)
    """The brokers, or the controllers, as asked for."""
    cluster_authorized_operations: int = -2147483648
    """Bits of the operations that the asker may do on the cluster; the lowest int32 when not asked for."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DescribeClusterResponse:
    end = len(data)
    message = new(DescribeClusterResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    message.endpoint_type = 1
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.cluster_id = data[pos + 1 : stop].decode()
    pos = stop
    message.controller_id, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[DescribeClusterBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(DescribeClusterBroker)
        broker.broker_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.is_fenced = False
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                broker_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(DescribeClusterBroker)
                broker.broker_id = broker_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.is_fenced = False
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    message.cluster_authorized_operations, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> DescribeClusterResponse:
    end = len(data)
    message = new(DescribeClusterResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    message.endpoint_type, n = unpack_bn(data, pos)
    pos += 1
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.cluster_id = data[pos + 1 : stop].decode()
    pos = stop
    message.controller_id, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 11 > end - pos:
        raise Malformed
    brokers: list[DescribeClusterBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(DescribeClusterBroker)
        broker.broker_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.is_fenced = False
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                broker_id, gap, host, port, gap_2, rack, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(DescribeClusterBroker)
                broker.broker_id = broker_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.is_fenced = False
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    message.cluster_authorized_operations, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> DescribeClusterResponse:
    end = len(data)
    message = new(DescribeClusterResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.error_message = None
        pos += 1
    elif n == 1:
        message.error_message = ""
        pos += 1
    else:
        stop = pos + n
        message.error_message = data[pos + 1 : stop].decode()
        pos = stop
    message.endpoint_type, n = unpack_bn(data, pos)
    pos += 1
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.cluster_id = data[pos + 1 : stop].decode()
    pos = stop
    message.controller_id, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 12 > end - pos:
        raise Malformed
    brokers: list[DescribeClusterBroker] = []
    brokers_left = n
    brokers_tries = 4
    while brokers_left:
        brokers_start = pos
        broker = new(DescribeClusterBroker)
        broker.broker_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        broker.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        broker.port, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            broker.rack = None
            pos += 1
        elif n == 1:
            broker.rack = ""
            pos += 1
        else:
            stop = pos + n
            broker.rack = data[pos + 1 : stop].decode()
            pos = stop
        rack_end = pos
        rack_n = n
        broker.is_fenced, n = unpack_xn(data, pos)
        pos += 1
        if n:
            n, pos = read_uvarint(data, pos)
            broker.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            broker.unknown_tagged_fields = ()
            pos += 1
        brokers.append(broker)
        brokers_left -= 1
        if brokers_tries and brokers_left >= 12:
            host_size = host_n - 1
            same = data[brokers_start + 4 : host_end - host_size]
            rack_null = broker.rack is None
            rack_size = 0 if broker.rack is None else rack_n - 1
            same_2 = data[host_end + 4 : rack_end - rack_size]
            same_3 = data[rack_end + 1 : pos]
            brokers_unknown = broker.unknown_tagged_fields
            brokers_done = len(brokers)
            brokers_size = pos - brokers_start
            stop = pos + min(brokers_left, (end - pos) // brokers_size) * brokers_size
            for row in iter_unpack(f">i{len(same)}s{host_size}si{len(same_2)}s{rack_size}s?{len(same_3)}s", memoryview(data)[pos:stop]):
                broker_id, gap, host, port, gap_2, rack, is_fenced, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                broker = new(DescribeClusterBroker)
                broker.broker_id = broker_id
                broker.host = host.decode() if host else ""
                broker.port = port
                broker.rack = None if rack_null else rack.decode() if rack else ""
                broker.is_fenced = is_fenced
                broker.unknown_tagged_fields = brokers_unknown
                brokers.append(broker)
            brokers_done = len(brokers) - brokers_done
            pos += brokers_done * brokers_size
            brokers_left -= brokers_done
            if not brokers_done:
                brokers_tries -= 1
    message.brokers = brokers
    message.cluster_authorized_operations, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: DescribeClusterResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.endpoint_type != 1:
        raise EncodeError("EndpointType is set, which this version lacks")
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.cluster_id.encode()
    n5 = len(b4) + 1
    n6 = len(m.brokers) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_i(m.controller_id),
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e7 in m.brokers:
        if e7.is_fenced:
            raise EncodeError("IsFenced is set, which this version lacks")
        b8 = e7.host.encode()
        n9 = len(b8) + 1
        v12 = e7.rack
        if v12 is None:
            b10 = b""
            n11 = 0
        else:
            b10 = v12.encode()
            n11 = len(b10) + 1
        out += (
            pack_i(e7.broker_id),
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_i(e7.port),
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_i(m.cluster_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v1(m: DescribeClusterResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.cluster_id.encode()
    n5 = len(b4) + 1
    n6 = len(m.brokers) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_b(m.endpoint_type),
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_i(m.controller_id),
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e7 in m.brokers:
        if e7.is_fenced:
            raise EncodeError("IsFenced is set, which this version lacks")
        b8 = e7.host.encode()
        n9 = len(b8) + 1
        v12 = e7.rack
        if v12 is None:
            b10 = b""
            n11 = 0
        else:
            b10 = v12.encode()
            n11 = len(b10) + 1
        out += (
            pack_i(e7.broker_id),
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_i(e7.port),
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_i(m.cluster_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _encode_v2(m: DescribeClusterResponse) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.cluster_id.encode()
    n5 = len(b4) + 1
    n6 = len(m.brokers) + 1
    out += (
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_b(m.endpoint_type),
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_i(m.controller_id),
        ONE_BYTE[n6] if n6 < 128 else write_uvarint(n6),
    )
    for e7 in m.brokers:
        b8 = e7.host.encode()
        n9 = len(b8) + 1
        v12 = e7.rack
        if v12 is None:
            b10 = b""
            n11 = 0
        else:
            b10 = v12.encode()
            n11 = len(b10) + 1
        out += (
            pack_i(e7.broker_id),
            ONE_BYTE[n9] if n9 < 128 else write_string_length(n9),
            b8,
            pack_i(e7.port),
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            b"\1" if e7.is_fenced else b"\0",
            write_tagged(e7.unknown_tagged_fields) if e7.unknown_tagged_fields else b"\0",
        )
    out += (
        pack_i(m.cluster_authorized_operations),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


DescribeClusterBroker.FIELDS = (
    Field("broker_id", "BrokerId", "int32", (0, 2), entity="brokerId"),
    Field("host", "Host", "string", (0, 2)),
    Field("port", "Port", "int32", (0, 2)),
    Field("rack", "Rack", "string", (0, 2), nullable=(0, 2)),
    Field("is_fenced", "IsFenced", "bool", (2, 2)),
)
DescribeClusterResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 2)),
    Field("error_code", "ErrorCode", "int16", (0, 2)),
    Field("error_message", "ErrorMessage", "string", (0, 2), nullable=(0, 2)),
    Field("endpoint_type", "EndpointType", "int8", (1, 2)),
    Field("cluster_id", "ClusterId", "string", (0, 2)),
    Field("controller_id", "ControllerId", "int32", (0, 2), entity="brokerId"),
    Field("brokers", "Brokers", "struct", (0, 2), is_array=True, struct=DescribeClusterBroker),
    Field("cluster_authorized_operations", "ClusterAuthorizedOperations", "int32", (0, 2)),
)
DescribeClusterResponse.NAME = "DescribeClusterResponse"
DescribeClusterResponse.API_KEY = 60
DescribeClusterResponse.MIN_VERSION = 0
DescribeClusterResponse.MAX_VERSION = 2
DescribeClusterResponse.FLEXIBLE_FROM = 0
DescribeClusterResponse._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v2}
DescribeClusterResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v2}
