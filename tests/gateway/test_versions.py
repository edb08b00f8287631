"""Which versions may a client use through kcoord? GW-7."""

import struct

import attrs
import pytest

from kcoord.gateway.rewriting.api_versions import DECODED, OF_CONSUMER_GROUPS, READ_APIS, merge, read_apis
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.api_versions_response import ApiVersion, SupportedFeatureKey
from kcoord.protocol.generated.unassigned import ADOPT_GROUP, DECLARED_TOPICS
from kcoord.protocol.messages import API_NAMES, OWN_APIS, REQUESTS, ApiVersionsRequest, ApiVersionsResponse
from tests.gateway.scripted import ask, connect, until
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

PRODUCE, METADATA, JOIN_GROUP, CREATE_TOPICS, UNKNOWN = 0, 3, 11, 19, 4711
FETCH, OFFSET_COMMIT, OFFSET_FETCH = 1, 8, 9


def request() -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="tests", client_software_version="1")


@pytest.mark.parametrize("version", range(ApiVersionsRequest.MAX_VERSION + 1))
async def test_rule_7_what_upstream_says_passes_where_kcoord_knows_as_much(
    through: Client, direct: Client, version: int
) -> None:
    """Kafka 4.3 is what kcoord knows: nothing is cut, Produce begins at 0, features stay; its own APIs are added."""
    here, there = [await ask(client, request(), version) for client in (through, direct)]
    ranges = [
        {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys} for answer in (here, there)
    ]
    own = {
        key: (REQUESTS[key].MIN_VERSION, REQUESTS[key].MAX_VERSION)
        for key in OWN_APIS - OF_CONSUMER_GROUPS - {ADOPT_GROUP, DECLARED_TOPICS}
    }
    assert ranges[0] == ranges[1] | own
    assert ranges[0][PRODUCE][0] == 0
    assert attrs.evolve(here, api_keys=[]) == attrs.evolve(there, api_keys=[])
    assert version < 3 or here.finalized_features


def test_rule_7_what_kcoord_reads_is_cut_what_nobody_knows_is_dropped_all_else_stays() -> None:
    """A broker of the future, and of the past, in one."""
    highest = REQUESTS[JOIN_GROUP].MAX_VERSION
    feature = SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)
    theirs = ApiVersionsResponse(
        throttle_time_ms=3,
        api_keys=[
            ApiVersion(api_key=PRODUCE, min_version=0, max_version=99),
            ApiVersion(api_key=METADATA, min_version=0, max_version=99),
            ApiVersion(api_key=JOIN_GROUP, min_version=2, max_version=highest + 1),
            ApiVersion(api_key=CREATE_TOPICS, min_version=2, max_version=99),
            ApiVersion(api_key=UNKNOWN, min_version=0, max_version=1),
            ApiVersion(api_key=min(READ_APIS), min_version=90, max_version=99),
        ],
        supported_features=[feature],
    )
    merged = merge(theirs)
    assert {each.api_key: (each.min_version, each.max_version) for each in merged.api_keys} == {
        PRODUCE: (0, REQUESTS[PRODUCE].MAX_VERSION),
        METADATA: (0, REQUESTS[METADATA].MAX_VERSION),
        JOIN_GROUP: (2, highest),
        CREATE_TOPICS: (2, 99),
    }
    assert (merged.throttle_time_ms, merged.supported_features) == (3, [feature])
    assert set(API_NAMES) >= DECODED


@pytest.mark.parametrize("serves_consumers", [True, False])
@pytest.mark.parametrize(("metadata", "tells_ids"), [(9, False), (10, True)])
def test_where_the_cluster_tells_no_ids_of_topics_nobody_may_name_topics_by_them(
    metadata: int, tells_ids: bool, serves_consumers: bool
) -> None:
    """KG-18: kcoord makes ids for its consumers, which the cluster does not know."""
    by_id = {FETCH: 13, OFFSET_COMMIT: 10, OFFSET_FETCH: 10}
    keys = {METADATA: metadata, **by_id}
    theirs = ApiVersionsResponse(api_keys=[ApiVersion(key, 0, highest) for key, highest in keys.items()])
    merged = merge(theirs, read_apis(connect_groups=False, consumer_groups=serves_consumers))
    offered = {each.api_key: each.max_version for each in merged.api_keys}
    is_cut = serves_consumers and not tells_ids
    assert {key: offered[key] for key in by_id} == ({FETCH: 12, OFFSET_COMMIT: 9, OFFSET_FETCH: 9} if is_cut else by_id)


async def test_rule_7_a_version_that_nobody_can_read_yet_is_answered_in_version_0(kcoord: Kcoord) -> None:
    """KIP-511: a client from the future learns what it may use."""
    client = await connect(kcoord.bootstrap)
    frame = struct.pack(">hhih", 18, 77, 5, -1) + b"whatever it is then"
    client.writer.write(struct.pack(">i", len(frame)) + frame)
    data = await client.read_frame()
    answer = ApiVersionsResponse.decode(data, 0, 4)
    assert data[:4] == struct.pack(">i", 5)
    assert ErrorCode(answer.error_code) == ErrorCode.UNSUPPORTED_VERSION
    assert {each.api_key for each in answer.api_keys} >= {PRODUCE, METADATA, JOIN_GROUP, 18}
    assert (await ask(client, request())).error_code == ErrorCode.NONE  # and goes on with one that fits


@pytest.mark.parametrize(
    ("api_key", "version"), [(UNKNOWN, 0), (JOIN_GROUP, REQUESTS[JOIN_GROUP].MAX_VERSION + 1), (METADATA, 99), (2, -1)]
)
async def test_rule_7_what_was_not_offered_ends_the_connection(kcoord: Kcoord, api_key: int, version: int) -> None:
    client = await connect(kcoord.bootstrap)
    frame = struct.pack(">hhih", api_key, version, 5, -1) + bytes(20)
    client.writer.write(struct.pack(">i", len(frame)) + frame)
    assert await client.read_frame() == b""

    async def is_told() -> bool:
        return f"{API_NAMES.get(api_key, 'API 4711')} v{version}" in kcoord.log.read_text()

    await until(is_told, "the reason in the log")
