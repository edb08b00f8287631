# Generated from schemas/record/DeclaredTopicValue.json by `python -m schemas.generator`. Do not edit.
"""DeclaredTopicValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue
from kcoord.protocol.primitives import ZERO_UUID, EncodeError, Malformed, read_tagged, read_uvarint, write_tagged
from kcoord.protocol.skipping import skip_tagged

new = object.__new__
unpack_uin = Format(">16siB").unpack_from
pack_ui = Format(">16si").pack


@attrs.define(slots=True, weakref_slot=False)
class DeclaredTopicValue(RecordValue):
    """A topic that a kcoord without a cluster has. It never has any data."""

    topic_id: bytes = ZERO_UUID
    """Its id. A topic that was deleted and declared again has another one."""
    partitions: int = 0
    """How many partitions it has."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DeclaredTopicValue:
    message = new(DeclaredTopicValue)
    message.topic_id, message.partitions, n = unpack_uin(data, pos)
    pos += 20
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: DeclaredTopicValue) -> bytes:
    if len(m.topic_id) != 16:
        raise EncodeError("TopicId is not 16 bytes long")
    return b"".join((
        pack_ui(m.topic_id, m.partitions),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos + 20]
    if n:
        pos = skip_tagged(data, pos + 20)
    else:
        pos += 21
    if pos != len(data):
        raise Malformed
    return None


DeclaredTopicValue.FIELDS = (
    Field("topic_id", "TopicId", "uuid", (0, 0)),
    Field("partitions", "Partitions", "int32", (0, 0)),
)
DeclaredTopicValue.NAME = "DeclaredTopicValue"
DeclaredTopicValue.API_KEY = 28
DeclaredTopicValue.MIN_VERSION = 0
DeclaredTopicValue.MAX_VERSION = 0
DeclaredTopicValue.FLEXIBLE_FROM = 0
DeclaredTopicValue._DECODERS = {0: _decode_v0}
DeclaredTopicValue._ENCODERS = {0: _encode_v0}
DeclaredTopicValue.EPOCH = None
DeclaredTopicValue._CHECKS = {0: _check_v0}
