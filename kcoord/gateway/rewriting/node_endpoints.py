"""Node endpoints: addresses of new leaders at the end of responses that are mostly records.

`NodeEndpoints` (KIP-951) ends Produce, Fetch and share responses. Nearly always it is empty and the response goes on
byte for byte. Rules (GW-2):

1. A response that was looked at as a whole is rewritten exactly: new addresses, new size.
2. One that streams by has told its size before its end is known. Its tail is held back and rewritten into the same
   number of bytes; where the new addresses do not fit, they are left out, and the client asks for metadata as it did
   before KIP-951.
"""

from __future__ import annotations

import struct
from functools import cache

from kcoord.protocol.addresses import AddressMapper
from kcoord.protocol.frame import response_header_size
from kcoord.protocol.messages import RESPONSES
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.tail import TailFinder, has_tail, rewrite_tail

__all__ = ["TailStream", "may_have_tail", "rewrite_whole"]

NAMELESS = 2
"""A tail of so few bytes names no node: an empty array and an empty tagged section."""
TAIL_LIMIT = 256 * 1024
"""Largest tail that is held back, in bytes: some thousand nodes."""

_SIZE = struct.Struct(">i")

may_have_tail = cache(has_tail)


def rewrite_whole(api_key: int, version: int, frame: bytes, mapper: AddressMapper) -> bytes | None:
    """A whole response frame (from its correlation id on) with its nodes mapped, its size in front; None when it names
    none.

    Raises DecodeError.
    """
    at = TailFinder(api_key, version).feed(frame)
    if at is None or at > len(frame):
        raise DecodeError(f"{RESPONSES[api_key].NAME} v{version} ends before its end")
    if len(frame) - at <= NAMELESS:
        return None
    tail = rewrite_tail(api_key, version, frame[at:], mapper)
    return _SIZE.pack(at + len(tail)) + frame[:at] + tail


class TailStream:
    """One response that streams by: chunks in (from behind the frame's size on), as many bytes out in the end."""

    __slots__ = ("_api_key", "_finder", "_mapper", "_seen", "_tail", "_version")

    def __init__(self, api_key: int, version: int, mapper: AddressMapper) -> None:
        self._api_key = api_key
        self._version = version
        self._mapper = mapper
        self._finder = TailFinder(api_key, version)
        self._tail = bytearray()
        self._seen = 0

    def feed(self, chunk: memoryview) -> memoryview:
        """Take the next bytes of the frame; give those that may go on. What is held back comes from `finish`."""
        seen = self._seen
        self._seen += len(chunk)
        at = self._finder.feed(chunk)
        if at is None or at >= self._seen:
            return chunk
        cut = max(at - seen, 0)
        self._tail += chunk[cut:]
        if len(self._tail) > TAIL_LIMIT:
            raise DecodeError(
                f"{RESPONSES[self._api_key].NAME} v{self._version}: more than {TAIL_LIMIT} bytes behind its records"
            )
        return chunk[:cut]

    def finish(self) -> bytes:
        """The frame is at its end: the tail, as long as it was."""
        if self._finder.offset is None or self._finder.offset > self._seen:
            raise DecodeError(f"{RESPONSES[self._api_key].NAME} v{self._version} ends before its end")
        tail = bytes(self._tail)
        if len(tail) <= NAMELESS:
            return tail
        try:
            return rewrite_tail(self._api_key, self._version, tail, self._mapper, size=len(tail))
        except EncodeError:
            nameless = _without_nodes(self._api_key, self._version, tail)
            return rewrite_tail(self._api_key, self._version, nameless, self._mapper, size=len(tail))


def _without_nodes(api_key: int, version: int, tail: bytes) -> bytes:
    """The tail with no node in it."""
    response = RESPONSES[api_key]
    front = _front(api_key, version)
    message = response.decode(front + tail, version)
    message.node_endpoints = []  # type: ignore[attr-defined]
    return message.encode(version)[len(front) :]


@cache
def _front(api_key: int, version: int) -> bytes:
    """The body of an empty response up to its tail."""
    header = bytes(response_header_size(api_key, version))
    body = RESPONSES[api_key]().encode(version)
    at = TailFinder(api_key, version).feed(header + body)
    if at is None:
        raise DecodeError(f"{RESPONSES[api_key].NAME} v{version} has no tail")
    return body[: at - len(header)]
