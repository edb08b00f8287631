# Generated from schemas/record/ConsumerGroupMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupMetadataValue, a record value, versions 0."""

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
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_q = Format(">q").unpack_from
pack_i = Format(">i").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class ConsumerGroupMetadataValue(RecordValue):
    """The epoch of a consumer group, and why it began."""

    epoch: int = 0
    """The group's epoch."""
    metadata_hash: int = 0
    """What Kafka keeps of the topics' metadata here; kcoord writes 0."""
    reason: str = ""
    """Why the epoch began."""
    reason_timestamp: int = -1
    """When it began, in ms since 1970, or -1."""
    fence_epoch: int = 0
    """The epoch at which somebody last lost partitions without having let go of them."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupMetadataValue:
    message = new(ConsumerGroupMetadataValue)
    message.metadata_hash = 0
    message.reason = ""
    message.reason_timestamp = -1
    message.fence_epoch = 0
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
                (message.metadata_hash,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 1000:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.reason = data[pos + 1 : stop].decode()
                pos = stop
            elif message_tag == 1001:
                (message.reason_timestamp,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 1002:
                (message.fence_epoch,) = unpack_i(data, pos)
                pos += 4
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


def _encode_v0(m: ConsumerGroupMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    out.append(pack_i(m.epoch))
    tagged1: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.metadata_hash != 0:
        tagged1.append((0, pack_q(m.metadata_hash)))
    if m.reason != "":
        b4 = m.reason.encode()
        n5 = len(b4) + 1
        tagged1.append((1000, b"".join((ONE_BYTE[n5] if n5 < 128 else write_string_length(n5), b4))))
    if m.reason_timestamp != -1:
        tagged1.append((1001, pack_q(m.reason_timestamp)))
    if m.fence_epoch != 0:
        tagged1.append((1002, pack_i(m.fence_epoch)))
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
                pos += 8
            elif tag == 1000:
                n = data[pos]
                pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 1001:
                pos += 8
            elif tag == 1002:
                pos += 4
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 5
    if pos != len(data):
        raise Malformed
    return epoch


ConsumerGroupMetadataValue.FIELDS = (
    Field("epoch", "Epoch", "int32", (0, 0)),
    Field("metadata_hash", "MetadataHash", "int64", (0, 0), tag=0, tagged=(0, 0)),
    Field("reason", "Reason", "string", (0, 0), tag=1000, tagged=(0, 0), ignorable=True),
    Field("reason_timestamp", "ReasonTimestamp", "int64", (0, 0), tag=1001, tagged=(0, 0), ignorable=True),
    Field("fence_epoch", "FenceEpoch", "int32", (0, 0), tag=1002, tagged=(0, 0), ignorable=True),
)
ConsumerGroupMetadataValue.NAME = "ConsumerGroupMetadataValue"
ConsumerGroupMetadataValue.API_KEY = 20
ConsumerGroupMetadataValue.MIN_VERSION = 0
ConsumerGroupMetadataValue.MAX_VERSION = 0
ConsumerGroupMetadataValue.FLEXIBLE_FROM = 0
ConsumerGroupMetadataValue._DECODERS = {0: _decode_v0}
ConsumerGroupMetadataValue._ENCODERS = {0: _encode_v0}
ConsumerGroupMetadataValue.EPOCH = "epoch"
ConsumerGroupMetadataValue._CHECKS = {0: _check_v0}
