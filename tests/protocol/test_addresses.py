"""Is every address of a node found and rewritten, in decoded responses and in the tail of a frame that streams by?
(GW-2)
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from kcoord.protocol.frame import encode_response_frame, response_header_size
from kcoord.protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, NodeEndpoint, PartitionData
from kcoord.protocol.generated.find_coordinator_response import Coordinator, FindCoordinatorResponse
from kcoord.protocol.generated.metadata_response import MetadataResponse, MetadataResponseBroker
from kcoord.protocol.large_response_addresses import TailFinder, has_tail, rewrite_tail
from kcoord.protocol.messages import API_NAMES, RESPONSES
from kcoord.protocol.node_addresses import NODE_ADDRESSES, names_nodes, rewrite_addresses
from kcoord.protocol.primitives import DecodeError, EncodeError
from tests.protocol.catalogue import random_message, versions_of

FETCH = 1
UPSTREAM = "broker-of-upstream.internal"

WITH_TAIL = [(cls, version) for cls, version in versions_of(*RESPONSES.values()) if has_tail(cls.API_KEY, version)]


def behind_kcoord(node_id: int, host: str, port: int) -> tuple[str, int]:
    return f"kcoord-for-{node_id}", 9093 + node_id


def test_these_responses_name_nodes() -> None:
    found = {
        (API_NAMES[api], ".".join((*path.path, path.host)), path.node_id, path.versions)
        for api, paths in NODE_ADDRESSES.items()
        for path in paths
    }
    assert found == {
        ("Produce", "node_endpoints.host", "node_id", (10, 13)),
        ("Fetch", "node_endpoints.host", "node_id", (16, 18)),
        ("Metadata", "brokers.host", "node_id", (0, 13)),
        ("FindCoordinator", "host", "node_id", (0, 3)),
        ("FindCoordinator", "coordinators.host", "node_id", (4, 6)),
        ("DescribeCluster", "brokers.host", "broker_id", (0, 2)),
        ("ShareFetch", "node_endpoints.host", "node_id", (1, 2)),
        ("ShareAcknowledge", "node_endpoints.host", "node_id", (1, 2)),
    }


@pytest.mark.parametrize(
    ("api", "version", "names"),
    [(0, 9, False), (0, 10, True), (1, 15, False), (1, 16, True), (3, 0, True), (12, 4, False)],
)
def test_only_versions_that_can_name_nodes_need_reading(api: int, version: int, names: bool) -> None:
    assert names_nodes(api, version) is names


@pytest.mark.parametrize("api", sorted(NODE_ADDRESSES))
def test_no_upstream_address_is_left_in_any_version(api: int) -> None:
    response = RESPONSES[api]
    rng = random.Random(api)
    named = 0
    for version in range(response.MIN_VERSION, response.MAX_VERSION + 1):
        for _ in range(30):
            message = random_message(rng, response, version)
            _put_upstream(message, version)
            before = message.encode(version)
            rewrite_addresses(message, version, behind_kcoord)
            after = message.encode(version)
            assert UPSTREAM.encode() not in after
            named += UPSTREAM.encode() in before
            assert (after == before) is (UPSTREAM.encode() not in before)
    assert named > 0


def _put_upstream(value: Any, version: int) -> None:
    """Give everything that has a host an upstream one, and an id as brokers have."""
    for field in type(value).FIELDS:
        found = getattr(value, field.attribute)
        if field.name == "Host" and field.is_in(version):
            value.host = UPSTREAM
            setattr(value, "node_id" if hasattr(value, "node_id") else "broker_id", 1)
        for each in found if field.kind == "struct" and isinstance(found, list) else ():
            _put_upstream(each, version)


def test_ids_and_all_else_stay() -> None:
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(1, "a", 1, "r"), MetadataResponseBroker(5, "b", 2)],
        cluster_id="c",
        controller_id=5,
    )
    rewrite_addresses(response, 12, behind_kcoord)
    assert response.brokers == [
        MetadataResponseBroker(1, "kcoord-for-1", 9094, "r"),
        MetadataResponseBroker(5, "kcoord-for-5", 9098),
    ]
    assert (response.cluster_id, response.controller_id) == ("c", 5)


def test_an_error_that_names_no_node_is_left_alone() -> None:
    missing = Coordinator("g", -1, "", -1, error_code=15)
    response = FindCoordinatorResponse(coordinators=[missing, Coordinator("h", 2, UPSTREAM, 9092)])
    rewrite_addresses(response, 4, behind_kcoord)
    assert response.coordinators == [missing, Coordinator("h", 2, "kcoord-for-2", 9095)]


# --- the tail of what streams by


def test_these_responses_have_a_tail() -> None:
    assert {(API_NAMES[cls.API_KEY], version) for cls, version in WITH_TAIL} == {
        *(("Produce", version) for version in range(10, 14)),
        *(("Fetch", version) for version in range(16, 19)),
        *(("ShareFetch", version) for version in (1, 2)),
        *(("ShareAcknowledge", version) for version in (1, 2)),
    }


@pytest.mark.parametrize(("cls", "version"), WITH_TAIL, ids=lambda case: getattr(case, "NAME", case))
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
def test_the_tail_is_found_in_chunks_of_any_size_and_rewritten(cls: Any, version: int, chunk: int) -> None:
    rng = random.Random(chunk)
    for _ in range(40):
        message = random_message(rng, cls, version)
        _put_upstream(message, version)
        frame = encode_response_frame(cls.API_KEY, version, 7, message.encode(version))[4:]
        finder = TailFinder(cls.API_KEY, version)
        for start in range(0, len(frame), chunk):
            finder.feed(memoryview(frame)[start : start + chunk])
        offset = finder.offset
        assert offset is not None

        new = frame[:offset] + rewrite_tail(cls.API_KEY, version, frame[offset:], behind_kcoord)

        rewrite_addresses(message, version, behind_kcoord)
        assert new == encode_response_frame(cls.API_KEY, version, 7, message.encode(version))[4:]


def _fetched(endpoints: list[NodeEndpoint], records: bytes = b"") -> bytes:
    partitions = [PartitionData(0, records=records), PartitionData(1, error_code=6)]
    response = FetchResponse(
        responses=[FetchableTopicResponse(topic_id=b"t" * 16, partitions=partitions)], node_endpoints=endpoints
    )
    return encode_response_frame(FETCH, 17, 7, response.encode(17))[4:]


def test_the_place_of_the_tail_is_known_before_records_have_come() -> None:
    frame = _fetched([], bytes(100_000))
    finder = TailFinder(FETCH, 17)
    assert finder.feed(frame[:100]) is None
    finder.feed(frame[100 : len(frame) - 60])
    assert finder.offset is None, "the second partition has not come yet"
    assert finder.feed(frame[len(frame) - 60 :]) == len(frame) - 1
    assert frame[-1:] == b"\0", "a tagged section with nothing in it"


@pytest.mark.parametrize(
    "room", [0, *range(3, 40), 127, 128, 129, 130, 131, 132, 133, 134, 300, 16_386, 16_390, 20_000]
)
def test_a_tail_is_filled_up_to_the_size_that_was_promised(room: int) -> None:
    tail = _tail_of(_fetched([NodeEndpoint(3, UPSTREAM, 9092, "rack")]))
    plain = rewrite_tail(FETCH, 17, tail, behind_kcoord)

    filled = rewrite_tail(FETCH, 17, tail, behind_kcoord, len(plain) + room)

    assert len(filled) == len(plain) + room
    message = FetchResponse.decode(FetchResponse().encode(17)[:-1] + filled, 17)
    assert message.node_endpoints == [NodeEndpoint(3, "kcoord-for-3", 9096, "rack")]


@pytest.mark.parametrize("room", [-20, -1, 1, 2])
def test_a_size_that_cannot_be_kept_is_refused(room: int) -> None:
    tail = _tail_of(_fetched([NodeEndpoint(3, UPSTREAM, 9092)]))
    plain = rewrite_tail(FETCH, 17, tail, behind_kcoord)
    with pytest.raises(
        EncodeError, match=f"a tail of {len(plain)} bytes cannot be made {len(plain) + room} bytes long"
    ):
        rewrite_tail(FETCH, 17, tail, behind_kcoord, len(plain) + room)


def test_what_is_no_tail_is_refused() -> None:
    with pytest.raises(DecodeError, match="FetchResponse v17: tagged fields"):
        rewrite_tail(FETCH, 17, b"\1\0\7", behind_kcoord)


def test_an_over_long_count_is_refused_where_it_stands() -> None:
    frame = bytes(response_header_size(FETCH, 17) + 10) + b"\xff" * 9
    with pytest.raises(DecodeError, match="a varint of more than 5 bytes at byte 20"):
        TailFinder(FETCH, 17).feed(frame)


@pytest.mark.parametrize(("api", "version"), [(3, 12), (1, 15), (12, 4), (999, 0)])
def test_where_there_is_no_tail_none_is_sought(api: int, version: int) -> None:
    assert not has_tail(api, version)
    with pytest.raises(ValueError, match="has no tail to find"):
        TailFinder(api, version)


def _tail_of(frame: bytes) -> bytes:
    offset = TailFinder(FETCH, 17).feed(frame)
    assert offset is not None
    return frame[offset:]
