# Generated from schemas/record/ConsumerGroupRegularExpressionValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupRegularExpressionValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue
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
from kcoord.protocol.skipping import skip_string, skip_tagged

new = object.__new__
unpack_qqn = Format(">qqB").unpack_from
pack_qq = Format(">qq").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupRegularExpressionValue(RecordValue):
    """The topics that match a regular expression of a consumer group."""

    topics: list[str] = attrs.Factory(list)
    """Their names."""
    version: int = 0
    """What Kafka calls the version of the metadata that they were looked for in; kcoord writes 0."""
    timestamp: int = 0
    """When they were looked for, in ms since 1970."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupRegularExpressionValue:
    end = len(data)
    message = new(ConsumerGroupRegularExpressionValue)
    n = data[pos]
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
    message.version, message.timestamp, n = unpack_qqn(data, pos)
    pos += 16
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupRegularExpressionValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out += (
        pack_qq(m.version, m.timestamp),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    topics_count = n - 1
    for _ in range(topics_count):
        n = data[pos]
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos + 16]
    if n:
        pos = skip_tagged(data, pos + 16)
    else:
        pos += 17
    if pos != len(data):
        raise Malformed
    return None


ConsumerGroupRegularExpressionValue.FIELDS = (
    Field("topics", "Topics", "string", (0, 0), is_array=True),
    Field("version", "Version", "int64", (0, 0)),
    Field("timestamp", "Timestamp", "int64", (0, 0)),
)
ConsumerGroupRegularExpressionValue.NAME = "ConsumerGroupRegularExpressionValue"
ConsumerGroupRegularExpressionValue.API_KEY = 26
ConsumerGroupRegularExpressionValue.MIN_VERSION = 0
ConsumerGroupRegularExpressionValue.MAX_VERSION = 0
ConsumerGroupRegularExpressionValue.FLEXIBLE_FROM = 0
ConsumerGroupRegularExpressionValue._DECODERS = {0: _decode_v0}
ConsumerGroupRegularExpressionValue._ENCODERS = {0: _encode_v0}
ConsumerGroupRegularExpressionValue.EPOCH = None
ConsumerGroupRegularExpressionValue._CHECKS = {0: _check_v0}
