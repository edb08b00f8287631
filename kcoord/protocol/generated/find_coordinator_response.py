# Generated from schemas/message/FindCoordinatorResponse.json by `python -m schemas.generator`. Do not edit.
"""FindCoordinatorResponse, a response, versions 0-6."""

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
unpack_hih = Format(">hih").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ih = Format(">ih").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ihh = Format(">ihh").unpack_from
pack_hih = Format(">hih").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ihh = Format(">ihh").pack


@attrs.define(slots=True, weakref_slot=False)
class Coordinator(Struct):
    key: str = ""
    """Which key this is the answer to. Since version 4."""
    node_id: int = 0
    """The broker's id, or -1 with an error. Since version 4."""
    host: str = ""
    """The host name or address to connect to. Since version 4."""
    port: int = 0
    """The port to connect to. Since version 4."""
    error_code: int = 0
    """The error, or 0. Since version 4."""
    error_message: str | None = ""
    """Text to the error, or null. Since version 4."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class FindCoordinatorResponse(Response):
    """The brokers that coordinate what was asked for."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    error_code: int = 0
    """The error, or 0. Until version 3."""
    error_message: str | None = ""
    """Text to the error, or null. Since version 1. Until version 3."""
    node_id: int = 0
    """The broker's id, or -1 with an error. Until version 3."""
    host: str = ""
    """The host name or address to connect to. Until version 3."""
    port: int = 0
    """The port to connect to. Until version 3."""
    coordinators: list[Coordinator] = attrs.Factory(list)
    """One entry for each key. Since version 4."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> FindCoordinatorResponse:
    message = new(FindCoordinatorResponse)
    message.throttle_time_ms = 0
    message.error_message = ""
    message.error_code, message.node_id, n = unpack_hih(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    stop = pos + n
    message.host = data[pos:stop].decode()
    pos = stop
    message.coordinators = []
    (message.port,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> FindCoordinatorResponse:
    message = new(FindCoordinatorResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihh(data, pos)
    pos += 8
    if n < 0:
        if n != -1:
            raise Malformed
        message.error_message = None
    elif n == 0:
        message.error_message = ""
    else:
        stop = pos + n
        message.error_message = data[pos:stop].decode()
        pos = stop
    message.node_id, n = unpack_ih(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.host = data[pos:stop].decode()
    pos = stop
    message.coordinators = []
    (message.port,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> FindCoordinatorResponse:
    message = new(FindCoordinatorResponse)
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
    message.node_id, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.host = data[pos + 1 : stop].decode()
    pos = stop
    message.coordinators = []
    message.port, n = unpack_in(data, pos)
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


def _decode_v4(data: bytes, pos: int) -> FindCoordinatorResponse:
    end = len(data)
    message = new(FindCoordinatorResponse)
    message.error_code = 0
    message.error_message = ""
    message.node_id = 0
    message.host = ""
    message.port = 0
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 14 > end - pos:
        raise Malformed
    coordinators: list[Coordinator] = []
    coordinators_left = n
    coordinators_tries = 4
    while coordinators_left:
        coordinators_start = pos
        coordinator = new(Coordinator)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        coordinator.key = data[pos + 1 : stop].decode()
        pos = stop
        key_end = pos
        key_n = n
        coordinator.node_id, n = unpack_in(data, pos)
        pos += 4
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        coordinator.host = data[pos + 1 : stop].decode()
        pos = stop
        host_end = pos
        host_n = n
        coordinator.port, coordinator.error_code, n = unpack_ihn(data, pos)
        pos += 6
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            coordinator.error_message = None
            pos += 1
        elif n == 1:
            coordinator.error_message = ""
            pos += 1
        else:
            stop = pos + n
            coordinator.error_message = data[pos + 1 : stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            coordinator.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            coordinator.unknown_tagged_fields = ()
            pos += 1
        coordinators.append(coordinator)
        coordinators_left -= 1
        if coordinators_tries and coordinators_left >= 12:
            key_size = key_n - 1
            same = data[coordinators_start : key_end - key_size]
            host_size = host_n - 1
            same_2 = data[key_end + 4 : host_end - host_size]
            error_message_null = coordinator.error_message is None
            error_message_size = 0 if coordinator.error_message is None else error_message_n - 1
            same_3 = data[host_end + 6 : error_message_end - error_message_size]
            same_4 = data[error_message_end : pos]
            coordinators_unknown = coordinator.unknown_tagged_fields
            coordinators_done = len(coordinators)
            coordinators_size = pos - coordinators_start
            stop = pos + min(coordinators_left, (end - pos) // coordinators_size) * coordinators_size
            for row in iter_unpack(f">{len(same)}s{key_size}si{len(same_2)}s{host_size}sih{len(same_3)}s{error_message_size}s{len(same_4)}s", memoryview(data)[pos:stop]):
                gap, key, node_id, gap_2, host, port, error_code, gap_3, error_message, gap_4 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3 or gap_4 != same_4:
                    break
                coordinator = new(Coordinator)
                coordinator.key = key.decode() if key else ""
                coordinator.node_id = node_id
                coordinator.host = host.decode() if host else ""
                coordinator.port = port
                coordinator.error_code = error_code
                coordinator.error_message = None if error_message_null else error_message.decode() if error_message else ""
                coordinator.unknown_tagged_fields = coordinators_unknown
                coordinators.append(coordinator)
            coordinators_done = len(coordinators) - coordinators_done
            pos += coordinators_done * coordinators_size
            coordinators_left -= coordinators_done
            if not coordinators_done:
                coordinators_tries -= 1
    message.coordinators = coordinators
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


def _encode_v0(m: FindCoordinatorResponse) -> bytes:
    if m.coordinators != []:
        raise EncodeError("Coordinators is set, which this version lacks")
    b1 = m.host.encode()
    n2 = len(b1)
    return b"".join((pack_hih(m.error_code, m.node_id, n2), b1, pack_i(m.port)))


def _encode_v1(m: FindCoordinatorResponse) -> bytes:
    if m.coordinators != []:
        raise EncodeError("Coordinators is set, which this version lacks")
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = -1
    else:
        b1 = v3.encode()
        n2 = len(b1)
    b4 = m.host.encode()
    n5 = len(b4)
    return b"".join((pack_ihh(m.throttle_time_ms, m.error_code, n2), b1, pack_ih(m.node_id, n5), b4, pack_i(m.port)))


def _encode_v3(m: FindCoordinatorResponse) -> bytes:
    if m.coordinators != []:
        raise EncodeError("Coordinators is set, which this version lacks")
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.host.encode()
    n5 = len(b4) + 1
    return b"".join((
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_i(m.node_id),
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        pack_i(m.port),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


def _encode_v4(m: FindCoordinatorResponse) -> bytes:
    out: list[bytes | memoryview] = []
    if m.error_code != 0:
        raise EncodeError("ErrorCode is set, which this version lacks")
    if m.node_id != 0:
        raise EncodeError("NodeId is set, which this version lacks")
    if m.host != "":
        raise EncodeError("Host is set, which this version lacks")
    if m.port != 0:
        raise EncodeError("Port is set, which this version lacks")
    n1 = len(m.coordinators) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.coordinators:
        b3 = e2.key.encode()
        n4 = len(b3) + 1
        b5 = e2.host.encode()
        n6 = len(b5) + 1
        v9 = e2.error_message
        if v9 is None:
            b7 = b""
            n8 = 0
        else:
            b7 = v9.encode()
            n8 = len(b7) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_i(e2.node_id),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            pack_ih(e2.port, e2.error_code),
            ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
            b7,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


Coordinator.FIELDS = (
    Field("key", "Key", "string", (4, 6)),
    Field("node_id", "NodeId", "int32", (4, 6), entity="brokerId"),
    Field("host", "Host", "string", (4, 6)),
    Field("port", "Port", "int32", (4, 6)),
    Field("error_code", "ErrorCode", "int16", (4, 6)),
    Field("error_message", "ErrorMessage", "string", (4, 6), nullable=(4, 6), ignorable=True),
)
FindCoordinatorResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 6), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (0, 3)),
    Field("error_message", "ErrorMessage", "string", (1, 3), nullable=(1, 3), ignorable=True),
    Field("node_id", "NodeId", "int32", (0, 3), entity="brokerId"),
    Field("host", "Host", "string", (0, 3)),
    Field("port", "Port", "int32", (0, 3)),
    Field("coordinators", "Coordinators", "struct", (4, 6), is_array=True, struct=Coordinator),
)
FindCoordinatorResponse.NAME = "FindCoordinatorResponse"
FindCoordinatorResponse.API_KEY = 10
FindCoordinatorResponse.MIN_VERSION = 0
FindCoordinatorResponse.MAX_VERSION = 6
FindCoordinatorResponse.FLEXIBLE_FROM = 3
FindCoordinatorResponse._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v3,
    4: _decode_v4,
    5: _decode_v4,
    6: _decode_v4,
}
FindCoordinatorResponse._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v3,
    4: _encode_v4,
    5: _encode_v4,
    6: _encode_v4,
}
