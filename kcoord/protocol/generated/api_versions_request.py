# Generated from schemas/message/ApiVersionsRequest.json by `python -m schemas.generator`. Do not edit.
"""ApiVersionsRequest, a request, versions 0-4."""

from __future__ import annotations

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
)

new = object.__new__


@attrs.define(slots=True, weakref_slot=False)
class ApiVersionsRequest(Request):
    """Asks which APIs and versions the server speaks; a client's first request."""

    client_software_name: str = ""
    """The client library's name. Since version 3."""
    client_software_version: str = ""
    """The client library's version. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ApiVersionsRequest:
    message = new(ApiVersionsRequest)
    message.client_software_name = ""
    message.client_software_version = ""
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> ApiVersionsRequest:
    message = new(ApiVersionsRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.client_software_name = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.client_software_version = data[pos + 1 : stop].decode()
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


def _encode_v0(m: ApiVersionsRequest) -> bytes:
    return b""


def _encode_v3(m: ApiVersionsRequest) -> bytes:
    b1 = m.client_software_name.encode()
    n2 = len(b1) + 1
    b3 = m.client_software_version.encode()
    n4 = len(b3) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


ApiVersionsRequest.FIELDS = (
    Field("client_software_name", "ClientSoftwareName", "string", (3, 4), ignorable=True),
    Field("client_software_version", "ClientSoftwareVersion", "string", (3, 4), ignorable=True),
)
ApiVersionsRequest.NAME = "ApiVersionsRequest"
ApiVersionsRequest.API_KEY = 18
ApiVersionsRequest.MIN_VERSION = 0
ApiVersionsRequest.MAX_VERSION = 4
ApiVersionsRequest.FLEXIBLE_FROM = 3
ApiVersionsRequest._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v0, 3: _decode_v3, 4: _decode_v3}
ApiVersionsRequest._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v0, 3: _encode_v3, 4: _encode_v3}
