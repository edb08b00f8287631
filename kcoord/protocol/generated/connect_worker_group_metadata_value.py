# Generated from schemas/record/ConnectWorkerGroupMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupMetadataValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_uvarint,
    write_string_length,
    write_tagged,
)
from kcoord.protocol.skipping import skip_string

new = object.__new__
unpack_in = Format(">iB").unpack_from
unpack_q = Format(">q").unpack_from
pack_i = Format(">i").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupMetadataValue(RecordValue):
    """The epoch of a connect group, and why it began."""

    epoch: int = 0
    """The group's epoch."""
    reason: str = ""
    """Why this epoch began."""
    reason_timestamp: int = -1
    """When it began, in ms since 1970, or -1."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupMetadataValue:
    message = new(ConnectWorkerGroupMetadataValue)
    message.reason = ""
    message.reason_timestamp = -1
    message.epoch, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.reason = data[pos + 1 : stop].decode()
                pos = stop
            elif message_tag == 1:
                (message.reason_timestamp,) = unpack_q(data, pos)
                pos += 8
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConnectWorkerGroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    out.append(pack_i(m.epoch))
    tagged1: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.reason != "":
        b3 = m.reason.encode()
        n4 = len(b3) + 1
        tagged1.append((0, b"".join((ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3))))
    if m.reason_timestamp != -1:
        tagged1.append((1, pack_q(m.reason_timestamp)))
    out.append(write_tagged(tagged1) if tagged1 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    epoch: int
    epoch, n = unpack_in(data, pos)
    if n:
        n, pos = read_uvarint(data, pos + 4)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 0:
                n = data[pos]
                pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 1:
                pos += 8
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 5
    if pos != len(data):
        raise Malformed
    return epoch


ConnectWorkerGroupMetadataValue.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 0)),
    Field("reason", "Reason", "string", (0, 0), tag=0, tagged=(0, 0)),
    Field("reason_timestamp", "ReasonTimestamp", "int64", (0, 0), tag=1, tagged=(0, 0)),
)
ConnectWorkerGroupMetadataValue.NAME = "ConnectWorkerGroupMetadataValue"
ConnectWorkerGroupMetadataValue.API_KEY = 3
ConnectWorkerGroupMetadataValue.MIN_VERSION = 0
ConnectWorkerGroupMetadataValue.MAX_VERSION = 0
ConnectWorkerGroupMetadataValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupMetadataValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupMetadataValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupMetadataValue.EPOCH = "epoch"
ConnectWorkerGroupMetadataValue._CHECKS = {0: _check_v0}
