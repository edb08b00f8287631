"""ApiVersions: which API versions a client may use with kcoord between it and a broker.

Rules (GW-7):

1. APIs that kcoord reads or rewrites get at most the versions that kcoord knows. If kcoord reads only the end of an
   API's responses (Produce, Fetch, share), it cuts only the highest version. The lowest version of Produce stays 0,
   because librdkafka tells a broker's features by it.
2. kcoord drops APIs that Kafka 4.3 does not know, because their responses could name nodes.
3. All else stays as the broker says it: other APIs, supported features and finalized features.
4. Where kcoord serves consumer groups, it offers what these need: their own APIs, Metadata that can be asked by id,
   ListGroups with types. It does not offer to name topics by ids that the cluster does not know (KG-18).
5. kcoord remembers the last answer of each broker, for its own requests and for clients that come while the broker is
   away.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.group.api_handlers_and_rights import API_TABLE, InFront
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.api_versions_response import ApiVersion
from kcoord.protocol.messages import (
    API_NAMES,
    OWN_APIS,
    REQUESTS,
    RESPONSES,
    ApiVersionsResponse,
    ConsumerGroupHeartbeatRequest,
    FetchRequest,
    ListGroupsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    Request,
    ShareGroupHeartbeatRequest,
    StreamsGroupHeartbeatRequest,
    api_name,
)
from kcoord.protocol.node_addresses import NODE_ADDRESSES

__all__ = [
    "API_VERSIONS",
    "NEWER_HEARTBEATS",
    "READ_APIS",
    "ApiVersionsMemory",
    "decode_api_versions",
    "merge",
    "of_cluster",
    "refusal",
]

API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36

NEWER_HEARTBEATS = frozenset(
    {ConsumerGroupHeartbeatRequest.API_KEY, ShareGroupHeartbeatRequest.API_KEY, StreamsGroupHeartbeatRequest.API_KEY}
)
"""The heartbeats of the newer protocols."""

METADATA, METADATA_BY_ID = MetadataRequest.API_KEY, 12
"""Metadata, and the version in which consumers of the new protocol ask for it: kcoord offers it, too, everywhere."""

IDS_FROM = 10
"""The first version of Metadata that tells the ids of topics."""
BY_NAME: Mapping[int, int] = {FetchRequest.API_KEY: 12, OffsetCommitRequest.API_KEY: 9, OffsetFetchRequest.API_KEY: 9}
"""The highest versions in which clients name topics, and not only their ids. Where the cluster tells no ids, kcoord
makes them (KG-18), and the cluster does not know these.
"""

LIST_GROUPS, LIST_BY_STATE, LIST_BY_TYPE = ListGroupsRequest.API_KEY, 4, 5
"""ListGroups, and the versions with the states and the types of groups. Where the cluster tells states, kcoord offers
types, too.
"""

_READ = [row for row in API_TABLE if row.in_front not in (InFront.PASSED, InFront.NOT_OFFERED)]
OF_CONSUMER_GROUPS = frozenset(row.key for row in _READ if row.of_consumer_groups)
"""The APIs of consumer groups of the new protocol. If kcoord serves them, it offers all versions that it knows, also
where the cluster has others or none (KG-18).
"""

OFFERED_HIGHER = OF_CONSUMER_GROUPS | {METADATA, LIST_GROUPS}
"""The APIs of which kcoord may offer higher versions than the cluster."""
_ALWAYS = [row for row in _READ if not (row.of_connect_groups or row.of_consumer_groups)]
READ_APIS = frozenset(row.key for row in _ALWAYS) | NEWER_HEARTBEATS
"""Requests that kcoord reads to see which group they are about."""

OF_CONNECT_GROUPS = frozenset(row.key for row in _READ if row.of_connect_groups)
"""Requests that kcoord reads if it serves connect groups: their own APIs, and those of settings of groups."""

TAIL_ONLY = frozenset({0, 1, 78, 79})
"""Produce, Fetch, ShareFetch, ShareAcknowledge: kcoord looks only at the end of their responses."""

DECODED = READ_APIS | frozenset(NODE_ADDRESSES) | {API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE}


class ApiVersionsMemory:
    """The last answer of each broker, as merged for clients."""

    def __init__(self) -> None:
        self._merged: dict[str, ApiVersionsResponse] = {}
        self._highest: dict[str, dict[int, int]] = {}

    def remember(self, broker: str, merged: ApiVersionsResponse, own: Mapping[int, int]) -> None:
        """Remember a broker's answer. `own`: `of_cluster` of it."""
        if self._merged.get(broker) is merged:
            return
        self._merged[broker] = merged
        highest = {each.api_key: each.max_version for each in merged.api_keys if each.api_key not in OFFERED_HIGHER}
        theirs = {key: min(version, REQUESTS[key].MAX_VERSION) for key, version in own.items()}
        self._highest[broker] = highest | theirs

    def of(self, broker: str) -> ApiVersionsResponse | None:
        """The last answer of that broker, or of any other if that one has never answered; None if none has."""
        return self._merged.get(broker) or next(iter(self._merged.values()), None)

    def knows(self, broker: str) -> bool:
        return broker in self._highest

    def version(self, broker: str, request: type[Request], highest: int | None = None) -> int | None:
        """The version for one of kcoord's own requests, at most `highest`; None if the broker lacks that API."""
        there = self._highest.get(broker, {}).get(request.API_KEY)
        if there is None:
            return None
        return min(there, request.MAX_VERSION if highest is None else highest)


def decode_api_versions(frame: bytes, version: int) -> ApiVersionsResponse:
    """Decode a response frame that begins with its correlation id.

    A broker that does not have the version of the request answers in version 0 (KIP-511).
    """
    if int.from_bytes(frame[4:6], "big") == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return ApiVersionsResponse.decode(frame, version, 4)


def read_apis(connect_groups: bool, consumer_groups: bool = False) -> frozenset[int]:
    """The APIs whose requests kcoord reads. Those of connect groups, or of consumer groups and Metadata, are among them
    if kcoord serves these groups.
    """
    read = READ_APIS | OF_CONNECT_GROUPS if connect_groups else READ_APIS
    return read | OF_CONSUMER_GROUPS | {METADATA} if consumer_groups else read


def merge(response: ApiVersionsResponse, read: frozenset[int] = READ_APIS) -> ApiVersionsResponse:
    """The broker's answer as a client may see it. `read`: the APIs whose requests kcoord reads.

    kcoord adds those of them that no broker has.
    """
    kept = [merged for each in response.api_keys if (merged := _merge_api(each, read | DECODED)) is not None]
    ours = OWN_APIS & read | (OF_CONSUMER_GROUPS if read >= OF_CONSUMER_GROUPS else frozenset())
    own = [ApiVersion(key, REQUESTS[key].MIN_VERSION, REQUESTS[key].MAX_VERSION) for key in sorted(ours)]
    tells_ids = any(each.api_key == METADATA and each.max_version >= IDS_FROM for each in response.api_keys)
    theirs = [
        _for_consumers(each, tells_ids) if METADATA in read else each for each in kept if each.api_key not in ours
    ]
    return attrs.evolve(response, api_keys=[*theirs, *own] if kept else kept)


def _for_consumers(api: ApiVersion, tells_ids: bool) -> ApiVersion:
    """The versions where kcoord serves consumer groups: Metadata in one in which a client can ask by id, ListGroups in
    one that tells the types of groups. `tells_ids`: the cluster has ids of topics.
    """
    if api.api_key in BY_NAME and not tells_ids:
        return attrs.evolve(api, max_version=min(api.max_version, BY_NAME[api.api_key]))
    if api.api_key == METADATA:
        return attrs.evolve(api, max_version=max(api.max_version, METADATA_BY_ID))
    if api.api_key == LIST_GROUPS and api.max_version >= LIST_BY_STATE:
        return attrs.evolve(api, max_version=max(api.max_version, LIST_BY_TYPE))
    return api


def of_cluster(response: ApiVersionsResponse) -> dict[int, int]:
    """The highest versions that the cluster itself has of the APIs of which kcoord may offer higher ones."""
    return {each.api_key: each.max_version for each in response.api_keys if each.api_key in OFFERED_HIGHER}


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
    """Why kcoord can neither read nor pass on a request of that API and version; None if it can."""
    if api_key not in API_NAMES or (api_key in OWN_APIS and api_key not in read):
        return f"{api_name(api_key)} v{version}: Kafka 4.3 has no such API, and its answer could lead past kcoord"
    if api_key in read | DECODED and version > REQUESTS[api_key].MAX_VERSION and api_key != API_VERSIONS:
        return f"{api_name(api_key)} v{version} is newer than what kcoord reads, v{REQUESTS[api_key].MAX_VERSION}"
    if version < 0:
        return f"{api_name(api_key)} v{version}: no such version"
    return None
