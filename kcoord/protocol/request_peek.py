"""Peeking at a request: facts from its first bytes while the rest has not arrived.

This is for requests that are passed on as bytes and not decoded. Each function takes the bytes of a frame that have
arrived, without the size, and returns None while they are not enough.
"""

from __future__ import annotations

import struct

from kcoord.protocol.messages import FLEXIBLE_FROM
from kcoord.protocol.primitives import DecodeError, Malformed, read_uvarint

__all__ = ["peek_api", "peek_produce_acks"]

_API = struct.Struct(">hhi")
_SHORT = struct.Struct(">h")
_PRODUCE = 0


def peek_api(data: bytes | bytearray | memoryview, pos: int = 0) -> tuple[int, int, int] | None:
    """(API key, API version, correlation id) of the request at ``pos``; None while fewer than 8 bytes are there."""
    if len(data) - pos < _API.size:
        return None
    api_key, api_version, correlation_id = _API.unpack_from(data, pos)
    return api_key, api_version, correlation_id


def peek_produce_acks(data: bytes, pos: int = 0) -> int | None:
    """The ``acks`` of the Produce request (v3 or later) whose header begins at ``pos``. 0 means that there is no
    answer.

    The field follows the client id and the transactional id. Raises DecodeError for another API and for impossible
    lengths.
    """
    api = peek_api(data, pos)
    if api is None:
        return None
    if api[0] != _PRODUCE:
        raise DecodeError(f"API {api[0]} is not Produce")
    flexible = api[1] >= FLEXIBLE_FROM[_PRODUCE]
    try:
        pos = _after_string(data, pos + _API.size)
        if flexible:
            pos = _after_tagged(data, pos)
            n, pos = read_uvarint(data, pos)
            pos += n - 1 if n else 0
        else:
            pos = _after_string(data, pos)
        acks: int = _SHORT.unpack_from(data, pos)[0]
    except (IndexError, struct.error):
        return None
    except Malformed as fault:
        raise DecodeError(f"Produce v{api[1]}: {fault}") from None
    return acks


def _after_string(data: bytes, pos: int) -> int:
    n: int = _SHORT.unpack_from(data, pos)[0]
    if n < -1:
        raise Malformed(f"a string of {n} bytes")
    return pos + _SHORT.size + max(n, 0)


def _after_tagged(data: bytes, pos: int) -> int:
    count, pos = read_uvarint(data, pos)
    for _ in range(count):
        _, pos = read_uvarint(data, pos)
        size, pos = read_uvarint(data, pos)
        pos += size
    return pos
