# Generated from schemas/message/SaslAuthenticateResponse.json by `python -m schemas.generator`. Do not edit.
"""SaslAuthenticateResponse, a response, versions 0-2."""

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
unpack_hn = Format(">hB").unpack_from
unpack_hh = Format(">hh").unpack_from
unpack_i = Format(">i").unpack_from
unpack_q = Format(">q").unpack_from
unpack_qn = Format(">qB").unpack_from
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class SaslAuthenticateResponse(Response):
    """One step of a SASL exchange, from the server."""

    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = ""
    """Text to the error, or null."""
    auth_bytes: bytes = b""
    """What the mechanism's client or server has to say."""
    session_lifetime_ms: int = 0
    """After how long the client must authenticate again, in ms; 0: never. Since version 1."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> SaslAuthenticateResponse:
    message = new(SaslAuthenticateResponse)
    message.error_code, n = unpack_hh(data, pos)
    pos += 4
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
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    stop = pos + n
    message.auth_bytes = data[pos:stop]
    pos = stop
    message.session_lifetime_ms = 0
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> SaslAuthenticateResponse:
    message = new(SaslAuthenticateResponse)
    message.error_code, n = unpack_hh(data, pos)
    pos += 4
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
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    stop = pos + n
    message.auth_bytes = data[pos:stop]
    pos = stop
    (message.session_lifetime_ms,) = unpack_q(data, pos)
    pos += 8
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> SaslAuthenticateResponse:
    message = new(SaslAuthenticateResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
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
    message.auth_bytes = data[pos + 1 : stop]
    pos = stop
    message.session_lifetime_ms, n = unpack_qn(data, pos)
    pos += 8
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: SaslAuthenticateResponse) -> bytes:
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = -1
    else:
        b1 = v3.encode()
        n2 = len(b1)
    b4 = m.auth_bytes
    n5 = len(b4)
    return b"".join((pack_hh(m.error_code, n2), b1, pack_i(n5), b4))


def _encode_v1(m: SaslAuthenticateResponse) -> bytes:
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = -1
    else:
        b1 = v3.encode()
        n2 = len(b1)
    b4 = m.auth_bytes
    n5 = len(b4)
    return b"".join((pack_hh(m.error_code, n2), b1, pack_i(n5), b4, pack_q(m.session_lifetime_ms)))


def _encode_v2(m: SaslAuthenticateResponse) -> bytes:
    v3 = m.error_message
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.auth_bytes
    n5 = len(b4) + 1
    return b"".join((
        pack_h(m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        b4,
        pack_q(m.session_lifetime_ms),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


SaslAuthenticateResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 2)),
    Field("error_message", "ErrorMessage", "string", (0, 2), nullable=(0, 2)),
    Field("auth_bytes", "AuthBytes", "bytes", (0, 2)),
    Field("session_lifetime_ms", "SessionLifetimeMs", "int64", (1, 2), ignorable=True),
)
SaslAuthenticateResponse.NAME = "SaslAuthenticateResponse"
SaslAuthenticateResponse.API_KEY = 36
SaslAuthenticateResponse.MIN_VERSION = 0
SaslAuthenticateResponse.MAX_VERSION = 2
SaslAuthenticateResponse.FLEXIBLE_FROM = 2
SaslAuthenticateResponse._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v2}
SaslAuthenticateResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v2}
