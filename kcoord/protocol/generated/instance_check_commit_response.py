# Generated from schemas/internal/InstanceCheckCommitResponse.json by `python -m schemas.generator`. Do not edit.
"""InstanceCheckCommitResponse, a response between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import Malformed, read_tagged, read_uvarint, write_tagged

new = object.__new__
unpack_hn = Format(">hB").unpack_from
pack_h = Format(">h").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceCheckCommitResponse(Response):
    """Whether it may."""

    error_code: int = 0
    """The error code for the member, or 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceCheckCommitResponse:
    message = new(InstanceCheckCommitResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: InstanceCheckCommitResponse) -> bytes:
    return b"".join((pack_h(m.error_code), write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0"))


InstanceCheckCommitResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
)
InstanceCheckCommitResponse.NAME = "InstanceCheckCommitResponse"
InstanceCheckCommitResponse.API_KEY = 32124
InstanceCheckCommitResponse.MIN_VERSION = 0
InstanceCheckCommitResponse.MAX_VERSION = 0
InstanceCheckCommitResponse.FLEXIBLE_FROM = 0
InstanceCheckCommitResponse._DECODERS = {0: _decode_v0}
InstanceCheckCommitResponse._ENCODERS = {0: _encode_v0}
