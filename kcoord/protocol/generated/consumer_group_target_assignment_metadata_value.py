# Generated from schemas/record/ConsumerGroupTargetAssignmentMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""ConsumerGroupTargetAssignmentMetadataValue, a record value, versions 0."""

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
class ConsumerGroupTargetAssignmentMetadataValue(RecordValue):
    """What the targets of a consumer group's members have in common."""

    assignment_epoch: int = 0
    """The group epoch that they were made for."""
    assignment_timestamp: int = 0
    """When they were made, in ms since 1970; 0: not said."""
    assignor: str = ""
    """The assignor that made them."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConsumerGroupTargetAssignmentMetadataValue:
    message = new(ConsumerGroupTargetAssignmentMetadataValue)
    message.assignment_timestamp = 0
    message.assignor = ""
    message.assignment_epoch, n = unpack_in(data, pos)
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
                (message.assignment_timestamp,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 1000:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.assignor = data[pos + 1 : stop].decode()
                pos = stop
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


def _encode_v0(m: ConsumerGroupTargetAssignmentMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    out.append(pack_i(m.assignment_epoch))
    tagged1: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.assignment_timestamp != 0:
        tagged1.append((0, pack_q(m.assignment_timestamp)))
    if m.assignor != "":
        b4 = m.assignor.encode()
        n5 = len(b4) + 1
        tagged1.append((1000, b"".join((ONE_BYTE[n5] if n5 < 128 else write_string_length(n5), b4))))
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
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 5
    if pos != len(data):
        raise Malformed
    return epoch


ConsumerGroupTargetAssignmentMetadataValue.FIELDS = (
    Field("assignment_epoch", "AssignmentEpoch", "int32", (0, 0)),
    Field("assignment_timestamp", "AssignmentTimestamp", "int64", (0, 0), tag=0, tagged=(0, 0), ignorable=True),
    Field("assignor", "Assignor", "string", (0, 0), tag=1000, tagged=(0, 0), ignorable=True),
)
ConsumerGroupTargetAssignmentMetadataValue.NAME = "ConsumerGroupTargetAssignmentMetadataValue"
ConsumerGroupTargetAssignmentMetadataValue.API_KEY = 23
ConsumerGroupTargetAssignmentMetadataValue.MIN_VERSION = 0
ConsumerGroupTargetAssignmentMetadataValue.MAX_VERSION = 0
ConsumerGroupTargetAssignmentMetadataValue.FLEXIBLE_FROM = 0
ConsumerGroupTargetAssignmentMetadataValue._DECODERS = {0: _decode_v0}
ConsumerGroupTargetAssignmentMetadataValue._ENCODERS = {0: _encode_v0}
ConsumerGroupTargetAssignmentMetadataValue.EPOCH = "assignment_epoch"
ConsumerGroupTargetAssignmentMetadataValue._CHECKS = {0: _check_v0}
