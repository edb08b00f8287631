# Generated from schemas/internal/InstanceHelloRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceHelloRequest, a request between instances, versions 0."""

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
unpack_in = Format(">iB").unpack_from
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceHelloRequest(Request):
    """The first words of an instance that calls another."""

    instance_id: int = 0
    """Who calls, by its number."""
    run: str = ""
    """Which process that is: made at random at its start."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceHelloRequest:
    message = new(InstanceHelloRequest)
    message.instance_id, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.run = data[pos + 1 : stop].decode()
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


def _encode_v0(m: InstanceHelloRequest) -> bytes:
    b1 = m.run.encode()
    n2 = len(b1) + 1
    return b"".join((
        pack_i(m.instance_id),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceHelloRequest.FIELDS = (
    Field("instance_id", "InstanceId", "int32", (0, 0)),
    Field("run", "Run", "string", (0, 0)),
)
InstanceHelloRequest.NAME = "InstanceHelloRequest"
InstanceHelloRequest.API_KEY = 32120
InstanceHelloRequest.MIN_VERSION = 0
InstanceHelloRequest.MAX_VERSION = 0
InstanceHelloRequest.FLEXIBLE_FROM = 0
InstanceHelloRequest._DECODERS = {0: _decode_v0}
InstanceHelloRequest._ENCODERS = {0: _encode_v0}
