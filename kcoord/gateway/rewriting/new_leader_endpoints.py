"""Node endpoints: addresses of new leaders at the end of responses that are mostly records.

`NodeEndpoints` (KIP-951) is the end of Produce, Fetch and share responses. It is nearly always empty, and then kcoord
passes the response on byte for byte. Rules (GW-2):

1. If kcoord has the whole response, it rewrites the response exactly, with new addresses and a new size.
2. A response that streams by has told its size before its end is known. kcoord holds its tail back and rewrites it into
   the same number of bytes. If the new addresses do not fit, kcoord leaves them out, and the client asks for metadata
   as it did before KIP-951.
"""

from __future__ import annotations

import struct
from functools import cache

from kcoord.protocol.frame import response_header_size
from kcoord.protocol.large_response_addresses import TailFinder, has_tail, rewrite_tail
from kcoord.protocol.messages import RESPONSES
from kcoord.protocol.node_addresses import AddressMapper
from kcoord.protocol.primitives import DecodeError, EncodeError

__all__ = ["TailStream", "may_have_tail", "rewrite_whole"]

NAMELESS = 2
"""A tail of at most this many bytes names no node: an empty array and an empty tagged section."""
TAIL_LIMIT = 256 * 1024
"""The largest tail, in bytes, that kcoord holds back. It has room for some thousand nodes."""

_SIZE = struct.Struct(">i")

may_have_tail = cache(has_tail)


def rewrite_whole(api_key: int, version: int, frame: bytes, mapper: AddressMapper) -> bytes | None:
    """A whole response frame with its nodes mapped and its size in front; None if it names no nodes.

    `frame` begins with its correlation id. Raises DecodeError.
    """
    at = TailFinder(api_key, version).feed(frame)
    if at is None or at > len(frame):
        raise DecodeError(f"{RESPONSES[api_key].NAME} v{version} ends before its end")
    if len(frame) - at <= NAMELESS:
        return None
    tail = rewrite_tail(api_key, version, frame[at:], mapper)
    return _SIZE.pack(at + len(tail)) + frame[:at] + tail


class TailStream:
    """One response that streams by. It takes chunks, from after the frame's size on, and gives as many bytes in all."""

    __slots__ = ("_api_key", "_finder", "_mapper", "_seen", "_tail", "_version")

    def __init__(self, api_key: int, version: int, mapper: AddressMapper) -> None:
        self._api_key = api_key
        self._version = version
        self._mapper = mapper
        self._finder = TailFinder(api_key, version)
        self._tail = bytearray()
        self._seen = 0

    def feed(self, chunk: memoryview) -> memoryview:
        """Take the next bytes of the frame. Returns those that may go on; `finish` returns the others."""
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
        """The tail, at the end of the frame: rewritten, and as long as it was."""
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
    """The tail without nodes."""
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
