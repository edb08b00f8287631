"""A call: a request that is not decoded yet, as its header, its bytes, and the position of its body."""

from __future__ import annotations

import attrs

from kcoord.protocol.frame import RequestHeader, decode_request_header
from kcoord.protocol.frame_start import SIZE_BYTES, read_head
from kcoord.protocol.messages import ApiVersionsRequest
from kcoord.protocol.primitives import DecodeError

__all__ = ["Call", "call_of", "software_name"]

_API_VERSIONS = ApiVersionsRequest.API_KEY.to_bytes(2, "big")


@attrs.define(slots=True, eq=False)
class Call:
    """One request in work: header, whole frame (size prefix included), and the position of its body in the frame."""

    header: RequestHeader
    frame: bytes
    body_pos: int


def call_of(frame: bytes) -> Call:
    """The call in a whole frame. Raises DecodeError.

    For ApiVersions in an unknown newer version, only the head is read: the request must be answered (KIP-511), but its
    header may have changed.
    """
    if frame.startswith(_API_VERSIONS, SIZE_BYTES):
        head = read_head(frame)
        if head is not None and head.api_version > ApiVersionsRequest.MAX_VERSION:
            return Call(RequestHeader(head.api_key, head.api_version, head.correlation_id, None), frame, len(frame))
    header, body_pos = decode_request_header(frame, SIZE_BYTES)
    return Call(header, frame, body_pos)


def software_name(call: Call) -> str:
    """The name of the client's software in an ApiVersions request (KIP-511); "" if it says none, or cannot be read."""
    try:
        return ApiVersionsRequest.decode(call.frame, call.header.api_version, call.body_pos).client_software_name
    except (DecodeError, ValueError):
        return ""
