"""Frames that a hostile client sends, as bytes: what no codec of kcoord's would write."""

from __future__ import annotations

import struct

__all__ = ["API_VERSIONS_FRAME", "frame", "head"]


def head(api_key: int, version: int, correlation_id: int = 1) -> bytes:
    """A request header v1 without a client id."""
    return struct.pack(">hhih", api_key, version, correlation_id, -1)


def frame(api_key: int, version: int, body: bytes = b"") -> bytes:
    """A whole frame."""
    data = head(api_key, version) + body
    return struct.pack(">i", len(data)) + data


API_VERSIONS_FRAME = frame(18, 0)
"""The smallest request that everybody may send."""
