# Generated from schemas/record/LegacyOffsetCommitValue.json by `python -m schemas.generator`. Do not edit.
"""LegacyOffsetCommitValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue
from kcoord.protocol.primitives import Malformed
from kcoord.protocol.skipping import skip_int16_string

new = object.__new__
unpack_q = Format(">q").unpack_from
unpack_qh = Format(">qh").unpack_from
pack_q = Format(">q").pack
pack_qh = Format(">qh").pack


@attrs.define(slots=True, weakref_slot=False)
class LegacyOffsetCommitValue(RecordValue):
    """How far a group has read in a partition, in the oldest form."""

    offset: int = 0
    """The next offset to be read."""
    metadata: str = ""
    """The client's note."""
    commit_timestamp: int = 0
    """When it was committed, in ms since 1970."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> LegacyOffsetCommitValue:
    message = new(LegacyOffsetCommitValue)
    message.offset, n = unpack_qh(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    stop = pos + n
    message.metadata = data[pos:stop].decode()
    pos = stop
    (message.commit_timestamp,) = unpack_q(data, pos)
    pos += 8
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: LegacyOffsetCommitValue) -> bytes:
    b1 = m.metadata.encode()
    n2 = len(b1)
    return b"".join((pack_qh(m.offset, n2), b1, pack_q(m.commit_timestamp)))


def _check_v0(data: bytes, pos: int) -> int | None:
    pos += 8
    pos = skip_int16_string(data, pos, False)
    pos += 8
    if pos != len(data):
        raise Malformed
    return None


LegacyOffsetCommitValue.FIELDS = (
    Field("offset", "offset", "int64", (0, 0)),
    Field("metadata", "metadata", "string", (0, 0)),
    Field("commit_timestamp", "commitTimestamp", "int64", (0, 0)),
)
LegacyOffsetCommitValue.NAME = "LegacyOffsetCommitValue"
LegacyOffsetCommitValue.API_KEY = 0
LegacyOffsetCommitValue.MIN_VERSION = 0
LegacyOffsetCommitValue.MAX_VERSION = 0
LegacyOffsetCommitValue.FLEXIBLE_FROM = 1
LegacyOffsetCommitValue._DECODERS = {0: _decode_v0}
LegacyOffsetCommitValue._ENCODERS = {0: _encode_v0}
LegacyOffsetCommitValue.EPOCH = None
LegacyOffsetCommitValue._CHECKS = {0: _check_v0}
