# Generated from schemas/message/FindCoordinatorRequest.json by `python -m schemas.generator`. Do not edit.
"""FindCoordinatorRequest, a request, versions 0-6."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import (
    ONE_BYTE,
    EncodeError,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_b = Format(">b").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_h = Format(">h").unpack_from
pack_b = Format(">b").pack
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class FindCoordinatorRequest(Request):
    """Asks which broker coordinates a group, a transaction or a share partition."""

    key: str = ""
    """A group id or a transactional id. Until version 3."""
    key_type: int = 0
    """0 groups, 1 transactions, 2 share partitions. Since version 1."""
    coordinator_keys: list[str] = attrs.Factory(list)
    """Group ids, transactional ids or share partitions. Since version 4."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> FindCoordinatorRequest:
    message = new(FindCoordinatorRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.key = data[pos:stop].decode()
    pos = stop
    message.key_type = 0
    message.coordinator_keys = []
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> FindCoordinatorRequest:
    message = new(FindCoordinatorRequest)
    (n,) = unpack_h(data, pos)
    pos += 2
    if n < 0:
        raise Malformed
    stop = pos + n
    message.key = data[pos:stop].decode()
    pos = stop
    message.coordinator_keys = []
    (message.key_type,) = unpack_b(data, pos)
    pos += 1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> FindCoordinatorRequest:
    message = new(FindCoordinatorRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.key = data[pos + 1 : stop].decode()
    pos = stop
    message.coordinator_keys = []
    message.key_type, n = unpack_bn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> FindCoordinatorRequest:
    end = len(data)
    message = new(FindCoordinatorRequest)
    message.key = ""
    message.key_type, n = unpack_bn(data, pos)
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
    coordinator_keys: list[str] = []
    coordinator_keys_count = n
    for _ in range(coordinator_keys_count):
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        coordinator_key = data[pos + 1 : stop].decode()
        pos = stop
        coordinator_keys.append(coordinator_key)
    message.coordinator_keys = coordinator_keys
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


def _encode_v0(m: FindCoordinatorRequest) -> bytes:
    if m.key_type != 0:
        raise EncodeError("KeyType is set, which this version lacks")
    if m.coordinator_keys != []:
        raise EncodeError("CoordinatorKeys is set, which this version lacks")
    b1 = m.key.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1))


def _encode_v1(m: FindCoordinatorRequest) -> bytes:
    if m.coordinator_keys != []:
        raise EncodeError("CoordinatorKeys is set, which this version lacks")
    b1 = m.key.encode()
    n2 = len(b1)
    return b"".join((pack_h(n2), b1, pack_b(m.key_type)))


def _encode_v3(m: FindCoordinatorRequest) -> bytes:
    if m.coordinator_keys != []:
        raise EncodeError("CoordinatorKeys is set, which this version lacks")
    b1 = m.key.encode()
    n2 = len(b1) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        pack_b(m.key_type),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


def _encode_v4(m: FindCoordinatorRequest) -> bytes:
    out: list[bytes | memoryview] = []
    if m.key != "":
        raise EncodeError("Key is set, which this version lacks")
    n1 = len(m.coordinator_keys) + 1
    out += (pack_b(m.key_type), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.coordinator_keys:
        b3 = e2.encode()
        n4 = len(b3) + 1
        out += (ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3)
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


FindCoordinatorRequest.FIELDS = (
    Field("key", "Key", "string", (0, 3)),
    Field("key_type", "KeyType", "int8", (1, 6)),
    Field("coordinator_keys", "CoordinatorKeys", "string", (4, 6), is_array=True),
)
FindCoordinatorRequest.NAME = "FindCoordinatorRequest"
FindCoordinatorRequest.API_KEY = 10
FindCoordinatorRequest.MIN_VERSION = 0
FindCoordinatorRequest.MAX_VERSION = 6
FindCoordinatorRequest.FLEXIBLE_FROM = 3
FindCoordinatorRequest._DECODERS = {
    0: _decode_v0,
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v3,
    4: _decode_v4,
    5: _decode_v4,
    6: _decode_v4,
}
FindCoordinatorRequest._ENCODERS = {
    0: _encode_v0,
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v3,
    4: _encode_v4,
    5: _encode_v4,
    6: _encode_v4,
}
