"""Frames between instances: encoding and decoding of requests and responses, and a connection as a stream of frames.

Frames are Kafka's: a size, then a request with header v2 (without a client id) or a response with header v1. The
messages are defined in `schemas/internal`. Their API keys are not in the table of the clients' protocol, so that no
port for clients serves them. Rules:

1. No memory is reserved for the size that a frame claims. A size above the limit ends the connection.
2. A peer that does not read what is written to it is not read from; see `FrameStream.is_congested`.
"""

from __future__ import annotations

import asyncio
import struct
from abc import ABC, abstractmethod
from typing import Final, cast

from kcoord.protocol.frame_start import SIZE_BYTES, FrameRefused
from kcoord.protocol.generated.instance_ask_request import InstanceAskRequest
from kcoord.protocol.generated.instance_check_commit_request import InstanceCheckCommitRequest
from kcoord.protocol.generated.instance_group_facts_request import InstanceGroupFactsRequest
from kcoord.protocol.generated.instance_hello_request import InstanceHelloRequest
from kcoord.protocol.generated.instance_let_go_request import InstanceLetGoRequest
from kcoord.protocol.generated.instance_ping_request import InstancePingRequest
from kcoord.protocol.generated.instance_proof_request import InstanceProofRequest
from kcoord.protocol.generated.instance_relay_request import InstanceRelayRequest
from kcoord.protocol.generated.instance_session_request import InstanceSessionRequest
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.primitives import DecodeError

__all__ = ["HEADER_LIMIT", "FrameStream", "read_request", "read_response_id", "request_frame", "response_frame"]

VERSION: Final = 0
HEADER_LIMIT: Final = 1024
"""The largest frame, in bytes, before both sides are authenticated."""
CONGESTED: Final = 16 << 20
"""If more bytes than this wait to be written, the peer counts as one that does not read."""

REQUESTS: Final[dict[int, type[Request]]] = {
    each.API_KEY: each
    for each in (
        InstanceHelloRequest,
        InstanceProofRequest,
        InstanceRelayRequest,
        InstanceLetGoRequest,
        InstanceCheckCommitRequest,
        InstanceAskRequest,
        InstanceGroupFactsRequest,
        InstanceSessionRequest,
        InstancePingRequest,
    )
}

_REQUEST = struct.Struct(">ihhihB")
_RESPONSE = struct.Struct(">iiB")
_SIZE = struct.Struct(">i")
NO_CLIENT_ID: Final = -1
NO_TAGS: Final = 0


def request_frame(correlation_id: int, request: Request) -> bytes:
    """The whole frame of a request."""
    body = request.encode(VERSION)
    size = _REQUEST.size - SIZE_BYTES + len(body)
    return _REQUEST.pack(size, request.API_KEY, VERSION, correlation_id, NO_CLIENT_ID, NO_TAGS) + body


def response_frame(correlation_id: int, response: Response) -> bytes:
    """The whole frame of a response."""
    body = response.encode(VERSION)
    return _RESPONSE.pack(_RESPONSE.size - SIZE_BYTES + len(body), correlation_id, NO_TAGS) + body


def read_request(frame: bytes) -> tuple[int, Request]:
    """The correlation id and the request in a whole frame. Raises FrameRefused."""
    if len(frame) < _REQUEST.size:
        raise FrameRefused(f"a request of {len(frame)} bytes has no whole header")
    _, api_key, version, correlation_id, client_id, tags = _REQUEST.unpack_from(frame)
    kind = REQUESTS.get(api_key)
    if kind is None or version != VERSION or client_id != NO_CLIENT_ID or tags != NO_TAGS:
        raise FrameRefused(f"API {api_key} v{version} is not one that instances of this version of kcoord use")
    try:
        return correlation_id, kind.decode(frame, version, _REQUEST.size)
    except DecodeError as error:
        raise FrameRefused(str(error)) from error


def read_response_id(frame: bytes) -> tuple[int, int]:
    """The correlation id in the whole frame of a response, and the position of its body. Raises FrameRefused."""
    if len(frame) < _RESPONSE.size:
        raise FrameRefused(f"a response of {len(frame)} bytes has no whole header")
    return _RESPONSE.unpack_from(frame)[1], _RESPONSE.size


class FrameStream(asyncio.Protocol, ABC):
    """One connection as a stream of frames. A subclass says what happens with a frame, and when the connection
    is lost.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.frame_limit = HEADER_LIMIT
        self.peer = "?"
        self._rest = bytearray()
        self._full = False

    @abstractmethod
    def frame_received(self, frame: bytes) -> None:
        """Called with one whole frame. May raise FrameRefused, which ends the connection."""

    @abstractmethod
    def refused(self, reason: str) -> None:
        """Called when a frame is refused, with the reason. Must end the connection."""

    @property
    def is_congested(self) -> bool:
        """Whether so many bytes wait to be written that no more should be added."""
        return self.transport is None or self.transport.get_write_buffer_size() > CONGESTED

    def write(self, frame: bytes) -> None:
        """Send a frame. Does nothing if the connection is lost."""
        if self.transport is not None:
            self.transport.write(frame)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is one, but not by its type
        name = transport.get_extra_info("peername") or ("?", 0)
        self.peer = f"{name[0]}:{name[1]}"

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._rest.clear()

    def data_received(self, data: bytes) -> None:
        rest = self._rest
        rest += data
        at = 0
        try:
            while self.transport is not None and len(rest) - at >= SIZE_BYTES:
                size = _SIZE.unpack_from(rest, at)[0]
                if not 0 <= size <= self.frame_limit:
                    raise FrameRefused(f"a frame of {size} bytes is outside 0 to {self.frame_limit}")
                end = at + SIZE_BYTES + size
                if len(rest) < end:
                    break
                frame = bytes(rest[at:end])
                at = end
                self.frame_received(frame)
        except FrameRefused as refusal:
            rest.clear()
            self.refused(str(refusal))
            return
        del rest[:at]
