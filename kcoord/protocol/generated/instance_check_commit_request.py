# Generated from schemas/internal/InstanceCheckCommitRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceCheckCommitRequest, a request between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
)

new = object.__new__
unpack_ixhn = Format(">i?hB").unpack_from
pack_ixh = Format(">i?h").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceCheckCommitRequest(Request):
    """May this member commit offsets now?"""

    group_id: str = ""
    """The group."""
    member_id: str = ""
    """The member."""
    group_instance_id: str | None = ""
    """Its static name, if it has one."""
    generation: int = 0
    """The generation that it knows."""
    transactional: bool = False
    """Whether it commits in a transaction."""
    api_version: int = 0
    """The version of its request."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceCheckCommitRequest:
    message = new(InstanceCheckCommitRequest)
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.group_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.member_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.group_instance_id = None
        pos += 1
    elif n == 1:
        message.group_instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.group_instance_id = data[pos + 1 : stop].decode()
        pos = stop
    message.generation, message.transactional, message.api_version, n = unpack_ixhn(data, pos)
    pos += 7
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: InstanceCheckCommitRequest) -> bytes:
    b1 = m.group_id.encode()
    n2 = len(b1) + 1
    b3 = m.member_id.encode()
    n4 = len(b3) + 1
    v7 = m.group_instance_id
    if v7 is None:
        b5 = b""
        n6 = 0
    else:
        b5 = v7.encode()
        n6 = len(b5) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
        b3,
        ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
        b5,
        pack_ixh(m.generation, m.transactional, m.api_version),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceCheckCommitRequest.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("member_id", "MemberId", "string", (0, 0)),
    Field("group_instance_id", "GroupInstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("generation", "Generation", "int32", (0, 0)),
    Field("transactional", "Transactional", "bool", (0, 0)),
    Field("api_version", "ApiVersion", "int16", (0, 0)),
)
InstanceCheckCommitRequest.NAME = "InstanceCheckCommitRequest"
InstanceCheckCommitRequest.API_KEY = 32124
InstanceCheckCommitRequest.MIN_VERSION = 0
InstanceCheckCommitRequest.MAX_VERSION = 0
InstanceCheckCommitRequest.FLEXIBLE_FROM = 0
InstanceCheckCommitRequest._DECODERS = {0: _decode_v0}
InstanceCheckCommitRequest._ENCODERS = {0: _encode_v0}
