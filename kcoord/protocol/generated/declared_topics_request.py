# Generated from schemas/message/DeclaredTopicsRequest.json by `python -m schemas.generator`. Do not edit.
"""DeclaredTopicsRequest, a request, versions 0."""

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
class DeclaredTopicsRequest(Request):
    """Asks for the topics that a kcoord without a cluster has. Sent from one instance to another, never by clients."""

    group_id: str = ""
    """The name that says which partition of the log has the topics."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DeclaredTopicsRequest:
    message = new(DeclaredTopicsRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
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


def _encode_v0(m: DeclaredTopicsRequest) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


DeclaredTopicsRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
)
DeclaredTopicsRequest.NAME = "DeclaredTopicsRequest"
DeclaredTopicsRequest.API_KEY = 32105
DeclaredTopicsRequest.MIN_VERSION = 0
DeclaredTopicsRequest.MAX_VERSION = 0
DeclaredTopicsRequest.FLEXIBLE_FROM = 0
DeclaredTopicsRequest._DECODERS = {0: _decode_v0}
DeclaredTopicsRequest._ENCODERS = {0: _encode_v0}
