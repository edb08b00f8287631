# Generated from schemas/internal/InstanceLetGoRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceLetGoRequest, a request between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

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
unpack_qn = Format(">qB").unpack_from
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceLetGoRequest(Request):
    """Nothing shall wait for a client's connection any more. It has no answer."""

    connection: int = 0
    """The client's connection, by its number in the process that passes its requests on."""
    group_id: str | None = ""
    """The group whose held heartbeat is to be answered; null: the connection is gone."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceLetGoRequest:
    message = new(InstanceLetGoRequest)
    message.connection, n = unpack_qn(data, pos)
    pos += 8
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_id = None
        pos += 1
    elif n == 1:
        message.group_id = ""
        pos += 1
    else:
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


def _encode_v0(m: InstanceLetGoRequest) -> bytes:
    v3 = m.group_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    return b"".join((
        pack_q(m.connection),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceLetGoRequest.FIELDS = (
    Field("connection", "Connection", "int64", (0, 0)),
    Field("group_id", "GroupId", "string", (0, 0), nullable=(0, 0), entity="groupId"),
)
InstanceLetGoRequest.NAME = "InstanceLetGoRequest"
InstanceLetGoRequest.API_KEY = 32123
InstanceLetGoRequest.MIN_VERSION = 0
InstanceLetGoRequest.MAX_VERSION = 0
InstanceLetGoRequest.FLEXIBLE_FROM = 0
InstanceLetGoRequest._DECODERS = {0: _decode_v0}
InstanceLetGoRequest._ENCODERS = {0: _encode_v0}
