"""ApiVersions: which versions a client may use, with kcoord between it and a broker.

Rules (GW-7):

1. What kcoord reads or rewrites is cut to the versions that it knows; of responses that it reads at their end only
   (Produce, Fetch, share), just the highest: Produce's lowest stays 0, by which librdkafka tells features.
2. APIs that Kafka 4.3 does not know are dropped: their responses could name nodes.
3. All else stays as the broker says: other APIs, supported and finalized features.
4. What a broker said last is kept by broker: for kcoord's own requests, and for clients that come while it is away.
"""

from __future__ import annotations

import attrs

from kcoord.protocol.addresses import NODE_ADDRESSES
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.api_versions_response import ApiVersion
from kcoord.protocol.generated.unassigned import ADOPT_GROUP
from kcoord.protocol.messages import (
    API_NAMES,
    OWN_APIS,
    REQUESTS,
    RESPONSES,
    ApiVersionsResponse,
    Request,
    api_name,
)

__all__ = ["API_VERSIONS", "READ_APIS", "ApiVersionsMemory", "decode_api_versions", "merge", "refusal"]

API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36

READ_APIS = frozenset({8, 10, 11, 12, 13, 14, 15, 16, 28, 42, 47, 68, 76, 88})
"""Requests that are read to see whose group they are about: OffsetCommit, FindCoordinator, JoinGroup, Heartbeat,
LeaveGroup, SyncGroup, DescribeGroups, ListGroups, TxnOffsetCommit, DeleteGroups, OffsetDelete, and the heartbeats of
the newer protocols."""

CONFIG_APIS = frozenset({32, 44})
"""DescribeConfigs and IncrementalAlterConfigs: read where connect groups are served, which have settings here."""

CLIENTS_OWN_APIS = OWN_APIS - {ADOPT_GROUP}
"""The APIs of connect groups; kcoord adopts groups by itself, for no client."""

TAIL_ONLY = frozenset({0, 1, 78, 79})
"""Produce, Fetch, ShareFetch, ShareAcknowledge: only the end of their responses is looked at."""

DECODED = READ_APIS | frozenset(NODE_ADDRESSES) | {API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE}


class ApiVersionsMemory:
    """What each broker said last, as it was merged for clients."""

    def __init__(self) -> None:
        self._merged: dict[str, ApiVersionsResponse] = {}
        self._highest: dict[str, dict[int, int]] = {}

    def remember(self, broker: str, merged: ApiVersionsResponse) -> None:
        if self._merged.get(broker) is merged:
            return
        self._merged[broker] = merged
        self._highest[broker] = {each.api_key: each.max_version for each in merged.api_keys}

    def of(self, broker: str) -> ApiVersionsResponse | None:
        """What that broker said last, or where it never spoke, any other."""
        return self._merged.get(broker) or next(iter(self._merged.values()), None)

    def knows(self, broker: str) -> bool:
        return broker in self._highest

    def version(self, broker: str, request: type[Request], highest: int | None = None) -> int | None:
        """The version for a request of kcoord's own, at most `highest`; None where the broker has not that API."""
        there = self._highest.get(broker, {}).get(request.API_KEY)
        if there is None:
            return None
        return min(there, request.MAX_VERSION if highest is None else highest)


def decode_api_versions(frame: bytes, version: int) -> ApiVersionsResponse:
    """A response frame from its correlation id on. A broker that lacks the version asked for answers in version 0
    (KIP-511)."""
    if int.from_bytes(frame[4:6], "big") == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return ApiVersionsResponse.decode(frame, version, 4)


def read_apis(connect_groups: bool) -> frozenset[int]:
    """The APIs whose requests are read; with those of connect groups if these are served."""
    return READ_APIS | CONFIG_APIS | CLIENTS_OWN_APIS if connect_groups else READ_APIS


def merge(response: ApiVersionsResponse, read: frozenset[int] = READ_APIS) -> ApiVersionsResponse:
    """The broker's answer as a client may see it. `read` are the APIs whose requests are read; those among them that no
    broker has are added.
    """
    kept = [merged for each in response.api_keys if (merged := _merge_api(each, read | DECODED)) is not None]
    own = [ApiVersion(key, REQUESTS[key].MIN_VERSION, REQUESTS[key].MAX_VERSION) for key in sorted(OWN_APIS & read)]
    return attrs.evolve(response, api_keys=[*kept, *own] if kept else kept)


def _merge_api(theirs: ApiVersion, decoded: frozenset[int]) -> ApiVersion | None:
    key = theirs.api_key
    if key not in API_NAMES or key in OWN_APIS:
        return None
    if key not in decoded:
        return theirs
    ours = RESPONSES[key]
    lowest = theirs.min_version if key in TAIL_ONLY else max(theirs.min_version, ours.MIN_VERSION)
    highest = min(theirs.max_version, ours.MAX_VERSION)
    return attrs.evolve(theirs, min_version=lowest, max_version=highest) if lowest <= highest else None


def refusal(api_key: int, version: int, read: frozenset[int] = READ_APIS) -> str | None:
    """Why a request of that API and version can be neither read nor passed on, or None."""
    if api_key not in API_NAMES or (api_key in OWN_APIS and api_key not in read):
        return f"{api_name(api_key)} v{version}: Kafka 4.3 has no such API, and its answer could lead past kcoord"
    if api_key in read | DECODED and version > REQUESTS[api_key].MAX_VERSION and api_key != API_VERSIONS:
        return f"{api_name(api_key)} v{version} is newer than what kcoord reads, v{REQUESTS[api_key].MAX_VERSION}"
    if version < 0:
        return f"{api_name(api_key)} v{version}: no such version"
    return None
