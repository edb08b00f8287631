# Generated from schemas/internal/InstanceAskResponse.json by `python -m schemas.generator`. Do not edit.
"""InstanceAskResponse, a response between instances, versions 0."""

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
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceAskResponse(Response):
    """The answer."""

    error_code: int = 0
    """The error code, or 0."""
    topics: list[str] = attrs.Factory(list)
    """Those of the topics that it is subscribed to."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceAskResponse:
    end = len(data)
    message = new(InstanceAskResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n > end - pos:
        raise Malformed
    topics: list[str] = []
    topics_count = n
    for _ in range(topics_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic = data[pos + 1 : stop].decode()
        pos = stop
        topics.append(topic)
    message.topics = topics
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


def _encode_v0(m: InstanceAskResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_h(m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


InstanceAskResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("topics", "Topics", "string", (0, 0), is_array=True),
)
InstanceAskResponse.NAME = "InstanceAskResponse"
InstanceAskResponse.API_KEY = 32125
InstanceAskResponse.MIN_VERSION = 0
InstanceAskResponse.MAX_VERSION = 0
InstanceAskResponse.FLEXIBLE_FROM = 0
InstanceAskResponse._DECODERS = {0: _decode_v0}
InstanceAskResponse._ENCODERS = {0: _encode_v0}
