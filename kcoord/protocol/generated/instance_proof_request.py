# Generated from schemas/internal/InstanceProofRequest.json by `python -m schemas.generator`. Do not edit.
"""InstanceProofRequest, a request between instances, versions 0."""

from __future__ import annotations

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import ONE_BYTE, Malformed, read_tagged, read_uvarint, write_tagged, write_uvarint

new = object.__new__


@attrs.define(slots=True, weakref_slot=False)
class InstanceProofRequest(Request):
    """The caller proves that it has the secret, and asks the same of the one called."""

    nonce: bytes = b""
    """Random bytes."""
    proof: bytes = b""
    """HMAC-SHA256 over both nonces and who calls; empty where no secret is used."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceProofRequest:
    message = new(InstanceProofRequest)
    n = data[pos]
    if n > 127:
        pos += 1
        n += (data[pos] << 7) - 128
        if n > 16383:
            n, pos = read_uvarint(data, pos - 1)
            pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.nonce = data[pos + 1 : stop]
    pos = stop
    n = data[pos]
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


def _encode_v0(m: InstanceProofRequest) -> bytes:
    b1 = m.nonce
    n2 = len(b1) + 1
    b3 = m.proof
    n4 = len(b3) + 1
    return b"".join((
        ONE_BYTE[n2] if n2 < 128 else write_uvarint(n2),
        b1,
        ONE_BYTE[n4] if n4 < 128 else write_uvarint(n4),
        b3,
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


InstanceProofRequest.FIELDS = (
    Field("nonce", "Nonce", "bytes", (0, 0)),
    Field("proof", "Proof", "bytes", (0, 0)),
)
InstanceProofRequest.NAME = "InstanceProofRequest"
InstanceProofRequest.API_KEY = 32121
InstanceProofRequest.MIN_VERSION = 0
InstanceProofRequest.MAX_VERSION = 0
InstanceProofRequest.FLEXIBLE_FROM = 0
InstanceProofRequest._DECODERS = {0: _decode_v0}
InstanceProofRequest._ENCODERS = {0: _encode_v0}
