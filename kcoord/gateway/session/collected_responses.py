"""Responses that kcoord reads as a whole before the client gets them.

Metadata and DescribeCluster name nodes (GW-2), ApiVersions is merged (GW-7), FindCoordinator is both (GW-9). The
schemas say which fields hold addresses. kcoord never passes on Metadata without brokers, because librdkafka does not
recover from it (GW-3).
"""

from __future__ import annotations

from functools import lru_cache

from kcoord.gateway.rewriting.address_prefix import behind_addresses, empty_behind_addresses
from kcoord.gateway.rewriting.api_versions import (
    API_VERSIONS,
    SASL_AUTHENTICATE,
    decode_api_versions,
    merge,
    of_cluster,
)
from kcoord.gateway.session import authentication
from kcoord.gateway.session.connection_context import PassingSession
from kcoord.gateway.session.upstream import CannotPass, Deliver, Expected
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import decode_response_header, encode_response_frame
from kcoord.protocol.messages import (
    RESPONSES,
    ApiVersionsResponse,
    DescribeClusterResponse,
    MetadataResponse,
    Response,
)
from kcoord.protocol.node_addresses import NODE_ADDRESSES, rewrite_addresses

__all__ = ["decode", "encoded", "rewriter", "send"]

ID_BYTES = 4
"""A correlation id."""


def rewriter(session: PassingSession, api_key: int) -> Deliver | None:
    """The function that takes the responses of that API on that connection.

    None: the responses pass as bytes, or `Upstream` rewrites only their end.
    """
    if api_key == API_VERSIONS:
        return lambda owed, frame: _api_versions(session, owed, frame)
    if api_key == SASL_AUTHENTICATE and session.sasl is not None:
        return lambda owed, frame: authentication.answered(session, owed, frame)
    if api_key in NODE_ADDRESSES and api_key not in TAIL_APIS:
        return lambda owed, frame: _names_nodes(session, owed, frame)
    return None


TAIL_APIS = frozenset({0, 1, 78, 79})
"""Produce, Fetch, ShareFetch, ShareAcknowledge: see `new_leader_endpoints.py`."""


def decode(owed: Expected, frame: bytes) -> Response:
    """Decode a response frame that begins with its correlation id. Raises DecodeError."""
    body_pos = decode_response_header(owed.api_key, owed.api_version, frame)[1]
    return RESPONSES[owed.api_key].decode(frame, owed.api_version, body_pos)


def send(session: PassingSession, owed: Expected, response: Response) -> None:
    """Map the nodes in a response and send it on. Raises CannotPass."""
    rewrite_addresses(response, owed.api_version, session.map_node)
    session.to_client_when_known(encoded(owed, response))


def _names_nodes(session: PassingSession, owed: Expected, frame: bytes) -> None:
    """Decode and rewrite only the front of a response, up to its last address."""
    key, version = owed.api_key, owed.api_version
    body_pos = decode_response_header(key, version, frame)[1]
    behind, empty_rest = behind_addresses(key, version, frame, body_pos), empty_behind_addresses(key, version)
    response = RESPONSES[key].decode(frame[body_pos:behind] + empty_rest, version)
    if isinstance(response, MetadataResponse) and not response.brokers:
        raise CannotPass("Metadata without brokers")
    rewrite_addresses(response, version, session.map_node)
    if isinstance(response, MetadataResponse | DescribeClusterResponse):
        session.told_nodes_ms = session.gateway.now_ms()
    front = response.encode(version)
    body = front[: len(front) - len(empty_rest)] + frame[behind:]
    session.to_client_when_known(encode_response_frame(key, version, owed.correlation_id, body))


def _api_versions(session: PassingSession, owed: Expected, frame: bytes) -> None:
    merged, version, body, own = _merged(frame[ID_BYTES:], owed.api_version, session.gateway.read_apis)
    upstream = session.upstream
    if upstream is not None and merged.error_code == ErrorCode.NONE:
        session.gateway.versions.remember(upstream.name, merged, own)
    session.to_client(encode_response_frame(API_VERSIONS, version, owed.correlation_id, body))


@lru_cache(maxsize=64)
def _merged(body: bytes, version: int, read: frozenset[int]) -> tuple[ApiVersionsResponse, int, bytes, dict[int, int]]:
    """A broker's ApiVersions answer as clients may see it, the version of the answer, its bytes in that version, and
    which versions it has itself where kcoord may offer others.

    `body` has no correlation id. The result is cached, because a broker gives the same answer to every client.
    """
    theirs = decode_api_versions(bytes(ID_BYTES) + body, version)
    merged = merge(theirs, read)
    if merged.error_code == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return merged, version, merged.encode(version), of_cluster(theirs)


def encoded(owed: Expected, response: Response) -> bytes:
    """The frame that sends `response` to a client in place of upstream's answer."""
    body = response.encode(owed.api_version)
    return encode_response_frame(owed.api_key, owed.api_version, owed.correlation_id, body)
