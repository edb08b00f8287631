# Generated from schemas/internal/InstanceAskRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceAskRequest, a request between instances, versions 0."""

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
    write_uvarint,
)

new = object.__new__
unpack_bn = Format(">bB").unpack_from
pack_b = Format(">b").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceAskRequest(Request):
    """A question about one group."""

    group_id: str = ""
    """The group."""
    what: int = 0
    """0: may it be deleted? 1: may offsets of it be deleted? 2: which topics is it subscribed to?"""
    topics: list[str] = attrs.Factory(list)
    """The topics in question."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceAskRequest:
    end = len(data)
    message = new(InstanceAskRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    message.what, n = unpack_bn(data, pos)
    pos += 1
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


def _encode_v0(m: InstanceAskRequest) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    n3 = len(m.topics) + 1
    out += (
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_b(m.what),
        ONE_BYTE[n3] if n3 < 128 else write_uvarint(n3),
    )
    for e4 in m.topics:
        b5 = e4.encode()
        n6 = len(b5) + 1
        out += (ONE_BYTE[n6] if n6 < 128 else write_string_length(n6), b5)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


InstanceAskRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("what", "What", "int8", (0, 0)),
    Field("topics", "Topics", "string", (0, 0), is_array=True),
)
InstanceAskRequest.NAME = "InstanceAskRequest"
InstanceAskRequest.API_KEY = 32125
InstanceAskRequest.MIN_VERSION = 0
InstanceAskRequest.MAX_VERSION = 0
InstanceAskRequest.FLEXIBLE_FROM = 0
InstanceAskRequest._DECODERS = {0: _decode_v0}
InstanceAskRequest._ENCODERS = {0: _encode_v0}
