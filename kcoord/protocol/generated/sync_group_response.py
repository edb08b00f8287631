# Generated from schemas/message/SyncGroupResponse.json by `python -m schemas.generator`. Do not edit.
"""SyncGroupResponse, a response, versions 0-5."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
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
unpack_hi = Format(">hi").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ihi = Format(">ihi").unpack_from
pack_hi = Format(">hi").pack
pack_ih = Format(">ih").pack
pack_ihi = Format(">ihi").pack


@attrs.define(slots=True, weakref_slot=False)
class SyncGroupResponse(Response):
    """What the leader assigned to this member."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all. Since version 1."""
    error_code: int = 0
    """The error, or 0."""
    protocol_type: str | None = None
    """What kind of group it is, e.g. consumer or connect. Since version 5."""
    protocol_name: str | None = None
    """The protocol that was chosen. Since version 5."""
    assignment: bytes = b""
    """The member's assignment as the leader wrote it; empty if there is none."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> SyncGroupResponse:
    message = new(SyncGroupResponse)
    message.throttle_time_ms = 0
    message.protocol_type = None
    message.protocol_name = None
    message.error_code, n = unpack_hi(data, pos)
    pos += 6
    if n < 0:
        raise Malformed
    stop = pos + n
    message.assignment = data[pos:stop]
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> SyncGroupResponse:
    message = new(SyncGroupResponse)
    message.protocol_type = None
    message.protocol_name = None
    message.throttle_time_ms, message.error_code, n = unpack_ihi(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    stop = pos + n
    message.assignment = data[pos:stop]
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> SyncGroupResponse:
    message = new(SyncGroupResponse)
    message.protocol_type = None
    message.protocol_name = None
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.assignment = data[pos + 1 : stop]
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


def _decode_v5(data: bytes, pos: int) -> SyncGroupResponse:
    message = new(SyncGroupResponse)
    message.throttle_time_ms, message.error_code, n = unpack_ihn(data, pos)
    pos += 6
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol_type = None
        pos += 1
    elif n == 1:
        message.protocol_type = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol_type = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.protocol_name = None
        pos += 1
    elif n == 1:
        message.protocol_name = ""
        pos += 1
    else:
        stop = pos + n
        message.protocol_name = data[pos + 1 : stop].decode()
        pos = stop
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
    message.assignment = data[pos + 1 : stop]
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


def _encode_v0(m: SyncGroupResponse) -> bytes:
    b1 = m.assignment
    n2 = len(b1)
    return b"".join((pack_hi(m.error_code, n2), b1))


def _encode_v1(m: SyncGroupResponse) -> bytes:
    b1 = m.assignment
    n2 = len(b1)
    return b"".join((pack_ihi(m.throttle_time_ms, m.error_code, n2), b1))


def _encode_v4(m: SyncGroupResponse) -> bytes:
    b1 = m.assignment
    n2 = len(b1) + 1
    return b"".join((
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_uvarint(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


def _encode_v5(m: SyncGroupResponse) -> bytes:
    v3 = m.protocol_type
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    v6 = m.protocol_name
    if v6 is None:
        b4 = b""
        n5 = 0
    else:
        b4 = v6.encode()
        n5 = len(b4) + 1
    b7 = m.assignment
    n8 = len(b7) + 1
    return b"".join((
        pack_ih(m.throttle_time_ms, m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        b7,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


SyncGroupResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 5), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (0, 5)),
    Field("protocol_type", "ProtocolType", "string", (5, 5), nullable=(5, 5), ignorable=True),
    Field("protocol_name", "ProtocolName", "string", (5, 5), nullable=(5, 5), ignorable=True),
    Field("assignment", "Assignment", "bytes", (0, 5)),
)
SyncGroupResponse.NAME = "SyncGroupResponse"
SyncGroupResponse.API_KEY = 14
SyncGroupResponse.MIN_VERSION = 0
SyncGroupResponse.MAX_VERSION = 5
SyncGroupResponse.FLEXIBLE_FROM = 4
SyncGroupResponse._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v1, 3: _decode_v1, 4: _decode_v4, 5: _decode_v5}
SyncGroupResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v1, 3: _encode_v1, 4: _encode_v4, 5: _encode_v5}
