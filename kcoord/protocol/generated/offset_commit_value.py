# Generated from schemas/record/OffsetCommitValue.json by `python -m schemas.generator`. Do not edit.
"""OffsetCommitValue, a record value, versions 0-4."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue
from kcoord.protocol.primitives import (
    ONE_BYTE,
    ZERO_UUID,
    EncodeError,
    Malformed,
    read_string_length,
    read_uvarint,
    write_string_length,
    write_tagged,
)
from kcoord.protocol.skipping import skip_int16_string, skip_string

new = object.__new__
unpack_q = Format(">q").unpack_from
unpack_qn = Format(">qB").unpack_from
unpack_qh = Format(">qh").unpack_from
unpack_qin = Format(">qiB").unpack_from
unpack_qih = Format(">qih").unpack_from
unpack_qq = Format(">qq").unpack_from
pack_q = Format(">q").pack
pack_qh = Format(">qh").pack
pack_qi = Format(">qi").pack
pack_qih = Format(">qih").pack
pack_qq = Format(">qq").pack


@attrs.define(slots=True, weakref_slot=False)
class OffsetCommitValue(RecordValue):
    """How far a group has read in a partition."""

    offset: int = 0
    """The next offset to be read."""
    leader_epoch: int = -1
    """The leader epoch of the last record read, or -1. Since version 3."""
    metadata: str = ""
    """The client's note."""
    commit_timestamp: int = 0
    """When it was committed, in ms since 1970."""
    expire_timestamp: int = -1
    """When the offset may be forgotten, in ms since 1970, or -1. Version 1 only."""
    topic_id: bytes = ZERO_UUID
    """The topic's id, or zeros. Since version 4."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> OffsetCommitValue:
    message = new(OffsetCommitValue)
    message.leader_epoch = -1
    message.offset, n = unpack_qh(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    stop = pos + n
    message.metadata = data[pos:stop].decode()
    pos = stop
    message.expire_timestamp = -1
    message.topic_id = ZERO_UUID
    (message.commit_timestamp,) = unpack_q(data, pos)
    pos += 8
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> OffsetCommitValue:
    message = new(OffsetCommitValue)
    message.leader_epoch = -1
    message.offset, n = unpack_qh(data, pos)
    pos += 10
    if n < 0:
        raise Malformed
    stop = pos + n
    message.metadata = data[pos:stop].decode()
    pos = stop
    message.topic_id = ZERO_UUID
    message.commit_timestamp, message.expire_timestamp = unpack_qq(data, pos)
    pos += 16
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> OffsetCommitValue:
    message = new(OffsetCommitValue)
    message.offset, message.leader_epoch, n = unpack_qih(data, pos)
    pos += 14
    if n < 0:
        raise Malformed
    stop = pos + n
    message.metadata = data[pos:stop].decode()
    pos = stop
    message.expire_timestamp = -1
    message.topic_id = ZERO_UUID
    (message.commit_timestamp,) = unpack_q(data, pos)
    pos += 8
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> OffsetCommitValue:
    message = new(OffsetCommitValue)
    message.offset, message.leader_epoch, n = unpack_qin(data, pos)
    pos += 12
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.metadata = data[pos + 1 : stop].decode()
    pos = stop
    message.expire_timestamp = -1
    message.topic_id = ZERO_UUID
    message.commit_timestamp, n = unpack_qn(data, pos)
    pos += 8
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
                message.topic_id = data[pos : pos + 16]
                pos += 16
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


def _encode_v0(m: OffsetCommitValue) -> bytes:
    b1 = m.metadata.encode()
    n2 = len(b1)
    return b"".join((pack_qh(m.offset, n2), b1, pack_q(m.commit_timestamp)))


def _encode_v1(m: OffsetCommitValue) -> bytes:
    b1 = m.metadata.encode()
    n2 = len(b1)
    return b"".join((pack_qh(m.offset, n2), b1, pack_qq(m.commit_timestamp, m.expire_timestamp)))


def _encode_v3(m: OffsetCommitValue) -> bytes:
    b1 = m.metadata.encode()
    n2 = len(b1)
    return b"".join((pack_qih(m.offset, m.leader_epoch, n2), b1, pack_q(m.commit_timestamp)))


def _encode_v4(m: OffsetCommitValue) -> bytes:
    out: list[bytes | memoryview] = []
    b1 = m.metadata.encode()
    n2 = len(b1) + 1
    out += (
        pack_qi(m.offset, m.leader_epoch),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_q(m.commit_timestamp),
    )
    tagged3: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.topic_id != ZERO_UUID:
        if len(m.topic_id) != 16:
            raise EncodeError("topicId is not 16 bytes long")
        tagged3.append((0, m.topic_id))
    out.append(write_tagged(tagged3) if tagged3 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    pos += 8
    pos = skip_int16_string(data, pos, False)
    pos += 8
    if pos != len(data):
        raise Malformed
    return None


def _check_v1(data: bytes, pos: int) -> int | None:
    pos += 8
    pos = skip_int16_string(data, pos, False)
    pos += 16
    if pos != len(data):
        raise Malformed
    return None


def _check_v3(data: bytes, pos: int) -> int | None:
    pos += 12
    pos = skip_int16_string(data, pos, False)
    pos += 8
    if pos != len(data):
        raise Malformed
    return None


def _check_v4(data: bytes, pos: int) -> int | None:
    n = data[pos + 12]
    pos = pos + 12 + n if 0 < n < 128 else skip_string(data, pos + 12, False)
    n = data[pos + 8]
    if n:
        n, pos = read_uvarint(data, pos + 8)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 0:
                pos += 16
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 9
    if pos != len(data):
        raise Malformed
    return None


OffsetCommitValue.FIELDS = (
    Field("offset", "offset", "int64", (0, 4)),
    Field("leader_epoch", "leaderEpoch", "int32", (3, 4), ignorable=True),
    Field("metadata", "metadata", "string", (0, 4)),
    Field("commit_timestamp", "commitTimestamp", "int64", (0, 4)),
    Field("expire_timestamp", "expireTimestamp", "int64", (1, 1), ignorable=True),
    Field("topic_id", "topicId", "uuid", (4, 4), tag=0, tagged=(4, 4), ignorable=True),
)
OffsetCommitValue.NAME = "OffsetCommitValue"
OffsetCommitValue.API_KEY = 1
OffsetCommitValue.MIN_VERSION = 0
OffsetCommitValue.MAX_VERSION = 4
OffsetCommitValue.FLEXIBLE_FROM = 4
OffsetCommitValue._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v0, 3: _decode_v3, 4: _decode_v4}
OffsetCommitValue._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v0, 3: _encode_v3, 4: _encode_v4}
OffsetCommitValue.EPOCH = None
OffsetCommitValue._CHECKS = {0: _check_v0, 1: _check_v1, 2: _check_v0, 3: _check_v3, 4: _check_v4}
