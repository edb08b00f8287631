# Generated from schemas/record/ConnectWorkerGroupHistoryKey.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupHistoryKey, a record key, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message
from kcoord.protocol.primitives import Malformed

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupHistoryKey(Message):
    """Names the epoch of a connect group that the record tells of."""

    group_id: str = ""
    """The group's id."""
    epoch: int = 0
    """The group's epoch."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupHistoryKey:
    message = new(ConnectWorkerGroupHistoryKey)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos:stop].decode()
    pos = stop
    (message.epoch,) = unpack_i(data, pos)
    pos += 4
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConnectWorkerGroupHistoryKey) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1, pack_i(m.epoch)))


ConnectWorkerGroupHistoryKey.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0)),
    Field("epoch", "Epoch", "int32", (0, 0)),
)
ConnectWorkerGroupHistoryKey.NAME = "ConnectWorkerGroupHistoryKey"
ConnectWorkerGroupHistoryKey.API_KEY = 10
ConnectWorkerGroupHistoryKey.MIN_VERSION = 0
ConnectWorkerGroupHistoryKey.MAX_VERSION = 0
ConnectWorkerGroupHistoryKey.FLEXIBLE_FROM = 1
ConnectWorkerGroupHistoryKey._DECODERS = {0: _decode_v0}
ConnectWorkerGroupHistoryKey._ENCODERS = {0: _encode_v0}
