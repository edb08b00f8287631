# Generated from schemas/record/ConsumerGroupRegularExpressionKey.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupRegularExpressionKey, a record key, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupRegularExpressionKey(Message):
    """Which regular expression of a consumer group the record is about."""

    group_id: str = ""
    """The group."""
    regular_expression: str = ""
    """The regular expression."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupRegularExpressionKey:
    message = new(ConsumerGroupRegularExpressionKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.regular_expression = data[pos:stop].decode()
    pos = stop
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConsumerGroupRegularExpressionKey) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    b3 = m.regular_expression.encode()
    n4 = len(b3)
    return b"".join((pack_h(n2), b1, pack_h(n4), b3))


ConsumerGroupRegularExpressionKey.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
    Field("regular_expression", "RegularExpression", "string", (0, 0)),
)
ConsumerGroupRegularExpressionKey.NAME = "ConsumerGroupRegularExpressionKey"
ConsumerGroupRegularExpressionKey.API_KEY = 26
ConsumerGroupRegularExpressionKey.MIN_VERSION = 0
ConsumerGroupRegularExpressionKey.MAX_VERSION = 0
ConsumerGroupRegularExpressionKey.FLEXIBLE_FROM = 1
ConsumerGroupRegularExpressionKey._DECODERS = {0: _decode_v0}
ConsumerGroupRegularExpressionKey._ENCODERS = {0: _encode_v0}
