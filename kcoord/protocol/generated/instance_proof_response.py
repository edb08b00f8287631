# Generated from schemas/internal/InstanceProofResponse.json by `python -m schemas.generator`. Do not edit.
"""InstanceProofResponse, a response between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.primitives import ONE_BYTE, Malformed, read_tagged, read_uvarint, write_tagged, write_uvarint

new = object.__new__
unpack_hn = Format(">hB").unpack_from
unpack_in = Format(">iB").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class InstanceProofResponse(Response):
    """Whether the caller is welcome, and the proof of the one called."""

    error_code: int = 0
    """The error code, or 0: SASL_AUTHENTICATION_FAILED for a wrong proof."""
    proof: bytes = b""
    """HMAC-SHA256, likewise."""
    instance_id: int = 0
    """Who answers, by its number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceProofResponse:
    message = new(InstanceProofResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.proof = data[pos + 1 : stop]
    pos = stop
    message.instance_id, n = unpack_in(data, pos)
    pos += 4
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: InstanceProofResponse) -> bytes:
    b1 = m.proof
    n2 = len(b1) + 1
    return b"".join((
        pack_h(m.error_code),
        ONE_BYTE[n2] if n2 < 128 else write_uvarint(n2),
        b1,
        pack_i(m.instance_id),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceProofResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("proof", "Proof", "bytes", (0, 0)),
    Field("instance_id", "InstanceId", "int32", (0, 0)),
)
InstanceProofResponse.NAME = "InstanceProofResponse"
InstanceProofResponse.API_KEY = 32121
InstanceProofResponse.MIN_VERSION = 0
InstanceProofResponse.MAX_VERSION = 0
InstanceProofResponse.FLEXIBLE_FROM = 0
InstanceProofResponse._DECODERS = {0: _decode_v0}
InstanceProofResponse._ENCODERS = {0: _encode_v0}
