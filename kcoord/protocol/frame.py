"""Frames: the size before each message, and the headers of requests and responses.

A frame is a 32-bit size and then that many bytes: a header and a body. Request header v1 is (API key, API version,
correlation id, client id). Request header v2, for flexible versions, ends with a tagged section; its client id keeps
the 16-bit length. Response header v0 is the correlation id; v1 ends with a tagged section. ApiVersions is always
answered with header v0. Otherwise a client that does not know the version could not read the answer (KIP-511).
"""

from __future__ import annotations

import struct

import attrs

from kcoord.protocol.messages import FLEXIBLE_FROM, api_name
from kcoord.protocol.primitives import MAX_STRING, DecodeError, EncodeError, Malformed, read_tagged, read_uvarint

__all__ = [
    "RequestHeader",
    "decode_request_header",
    "decode_response_header",
    "encode_request_header",
    "encode_response_frame",
    "response_header_size",
]

API_VERSIONS_KEY = 18
MOST_TAGS = 1000
"""The most tagged fields in a header."""

_REQUEST = struct.Struct(">hhih")
_SIZE_AND_ID = struct.Struct(">ii")
_ID = struct.Struct(">i")


@attrs.define(slots=True)
class RequestHeader:
    """Header v1 or v2 of a request. A ``client_id`` of None is null."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def decode_request_header(data: bytes, pos: int = 0) -> tuple[RequestHeader, int]:
    """Read the header of a request frame without its size; return it and the position of the body.

    A client id that is not UTF-8 is read with U+FFFD, as in Kafka. Raises DecodeError for an API key that Kafka 4.3
    does not know (its header version is unknown), and for a header that is cut short or has a wrong length.
    """
    try:
        api_key, api_version, correlation_id, size = _REQUEST.unpack_from(data, pos)
        flexible_from = FLEXIBLE_FROM.get(api_key)
        if flexible_from is None:
            raise DecodeError(f"RequestHeader: unknown API key {api_key}")
        pos += _REQUEST.size
        client_id = None
        if size >= 0:
            stop = pos + size
            client_id = data[pos:stop].decode("utf-8", "replace")
            pos = stop
            if len(client_id) > MAX_STRING // 3 and len(client_id.encode()) > MAX_STRING:  # U+FFFD has made it longer
                raise Malformed("the client id is not UTF-8, and too long with U+FFFD for each wrong byte")
        elif size != -1:
            raise Malformed(f"the client id says {size} bytes")
        if pos > len(data):
            raise Malformed(f"the client id says {size} bytes, {len(data) - pos + size} are left")
        if api_version >= flexible_from:
            pos = _skip_tagged(data, pos)
    except (IndexError, struct.error):
        raise DecodeError(f"RequestHeader: cut short, {len(data)} bytes") from None
    except Malformed as fault:
        raise DecodeError(f"RequestHeader of {api_name(api_key)} v{api_version}: {fault}") from None
    return RequestHeader(api_key, api_version, correlation_id, client_id), pos


def encode_request_header(header: RequestHeader) -> bytes:
    """The bytes of header v1 or v2, by API and version, without the frame's size.

    Raises EncodeError for an unknown API key or a client id of more than 32,767 bytes.
    """
    flexible_from = FLEXIBLE_FROM.get(header.api_key)
    if flexible_from is None:
        raise EncodeError(f"RequestHeader: unknown API key {header.api_key}")
    name = b"" if header.client_id is None else header.client_id.encode()
    if len(name) > MAX_STRING:
        raise EncodeError(f"RequestHeader: a client id of {len(name)} bytes, at most {MAX_STRING} are possible")
    size = -1 if header.client_id is None else len(name)
    fixed = _REQUEST.pack(header.api_key, header.api_version, header.correlation_id, size)
    return fixed + name + (b"\0" if header.api_version >= flexible_from else b"")


def response_header_size(api_key: int, api_version: int) -> int:
    """The bytes of a response header without tagged fields: 4 for v0, 5 for v1. An unknown API key gets v0."""
    flexible = api_version >= FLEXIBLE_FROM.get(api_key, api_version + 1) and api_key != API_VERSIONS_KEY
    return _ID.size + flexible


def encode_response_frame(api_key: int, api_version: int, correlation_id: int, body: bytes) -> bytes:
    """A whole frame: size, response header v0 or v1, body."""
    if response_header_size(api_key, api_version) == _ID.size:
        return _SIZE_AND_ID.pack(_ID.size + len(body), correlation_id) + body
    return _SIZE_AND_ID.pack(_ID.size + 1 + len(body), correlation_id) + b"\0" + body


def decode_response_header(api_key: int, api_version: int, data: bytes, pos: int = 0) -> tuple[int, int]:
    """Read the header of a response frame without its size; return the correlation id and the position of the body.

    Raises DecodeError for a header that is cut short or has a wrong length.
    """
    try:
        (correlation_id,) = _ID.unpack_from(data, pos)
        if response_header_size(api_key, api_version) == _ID.size:
            return correlation_id, pos + _ID.size
        return correlation_id, _skip_tagged(data, pos + _ID.size)
    except (IndexError, struct.error):
        fault: object = f"cut short, {len(data)} bytes"
    except Malformed as malformed:
        fault = malformed
    raise DecodeError(f"ResponseHeader of {api_name(api_key)} v{api_version}: {fault}")


def _skip_tagged(data: bytes, pos: int) -> int:
    """Skip the tagged section of a header. Kafka defines no tagged fields there; those of others are checked and
    dropped.
    """
    count, pos = read_uvarint(data, pos)
    if count > MOST_TAGS:
        raise Malformed(f"{count} tagged fields in a header")
    return read_tagged(data, pos, count)[1] if count else pos
