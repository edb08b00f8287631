"""A message that is written in slices is the same bytes as one that is written whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kcoord.protocol.generated.connect_group_describe_response import (
    ConnectorsAndTasks,
    ConnectorTaskId,
    Departed,
    DescribedGroup,
    HistoryEntry,
    Member,
    Move,
)
from kcoord.protocol.generated.connect_group_prepare_assignment_response import ConnectorsAndTasks as PreparedResources
from kcoord.protocol.generated.connect_group_prepare_assignment_response import Member as PreparedMember
from kcoord.protocol.generated.describe_groups_response import DescribedGroup as DescribedClassicGroup
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.generated.list_groups_response import ListedGroup
from kcoord.protocol.generated.offset_commit_response import OffsetCommitResponsePartition, OffsetCommitResponseTopic
from kcoord.protocol.generated.offset_fetch_response import (
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kcoord.protocol.messages import (
    ConnectGroupDescribeResponse,
    ConnectGroupPrepareAssignmentResponse,
    DescribeGroupsResponse,
    ListGroupsResponse,
    OffsetCommitResponse,
    OffsetFetchResponse,
    Response,
)
from kcoord.protocol.sliced_encoding import (
    ELEMENTS_AT_ONCE,
    DeferredArray,
    count_elements,
    encode_in_slices,
    large_arrays,
)

SIZES = (0, 1, ELEMENTS_AT_ONCE - 2, ELEMENTS_AT_ONCE + 1, 3, 2 * ELEMENTS_AT_ONCE + 7, 0)


def offsets_of_one_group() -> Response:
    topics = [
        OffsetFetchResponseTopic(f"t{at}", [OffsetFetchResponsePartition(p, p, -1, "m") for p in range(size)])
        for at, size in enumerate(SIZES)
    ]
    return OffsetFetchResponse(throttle_time_ms=3, topics=topics, error_code=9)


def offsets_of_groups() -> Response:
    topics = [
        OffsetFetchResponseTopics(
            name=f"t{at}", partitions=[OffsetFetchResponsePartitions(p, p, -1, "m") for p in range(size)]
        )
        for at, size in enumerate(SIZES)
    ]
    return OffsetFetchResponse(
        groups=[OffsetFetchResponseGroup("a", topics, 5), OffsetFetchResponseGroup("b"), OffsetFetchResponseGroup("c")]
    )


def commits() -> Response:
    topics = [
        OffsetCommitResponseTopic(name=f"t{at}", partitions=[OffsetCommitResponsePartition(p, 0) for p in range(size)])
        for at, size in enumerate(SIZES)
    ]
    return OffsetCommitResponse(throttle_time_ms=7, topics=topics)


def groups() -> Response:
    return ListGroupsResponse(
        throttle_time_ms=1, error_code=2, groups=[ListedGroup(f"g{at}", "consumer") for at in range(1207)]
    )


def members() -> Response:
    described = [DescribedGroupMember(member_id=f"m{at}", member_metadata=b"x" * at) for at in range(1207)]
    group = DescribedClassicGroup(group_id="g", members=described, authorized_operations=77)
    return DescribeGroupsResponse(throttle_time_ms=1, groups=[DescribedClassicGroup(group_id="f"), group])


def resources(count: int, connectors: int = 1) -> list[ConnectorsAndTasks]:
    names = [f"c{at}" for at in range(connectors)]
    return [ConnectorsAndTasks(names, [ConnectorTaskId(f"c{at % connectors}", at) for at in range(count)])]


def deferred(count: int) -> Any:
    return DeferredArray(count, lambda: resources(count))


def connect_groups() -> Response:
    """Large lists at every depth, small ones beside them, and some that are made only when they are written."""
    members = [
        Member(member_id="none"),
        Member(member_id="large", owned=deferred(1801), target=resources(1201), waiting_for=resources(3), generation=9),
        *[Member(member_id=f"m{at}", owned=resources(7), target=deferred(9), leads=at == 5) for at in range(120)],
    ]
    history = [HistoryEntry(epoch=at, reason="r", moves=[Move("a", "b", resources(90, 4))] * 9) for at in range(5)]
    many = DescribedGroup(
        group_id="many",
        members=members,
        configured=deferred(1300),
        departed=[Departed("gone", connectors_and_tasks=resources(700, 650))],
        history=history,
        barrier="why",
    )
    few = DescribedGroup(group_id="few", members=members[:1], configured=None, history=history[:1])
    return ConnectGroupDescribeResponse(throttle_time_ms=4, groups=[few, many, few])


def computed() -> Response:
    return ConnectGroupPrepareAssignmentResponse(
        members=[
            PreparedMember(member_id=f"m{at}", connectors_and_tasks=[PreparedResources([f"c{n}" for n in range(at)])])
            for at in range(0, 1500, 50)
        ],
        configured_connectors_and_tasks=[PreparedResources(["c"])],
    )


CASES = [
    *[(offsets_of_one_group(), version) for version in (2, 3, 5, 6, 7)],
    *[(offsets_of_groups(), version) for version in (8, 9)],
    *[(commits(), version) for version in (2, 3, 8)],
    *[(groups(), version) for version in (0, 2, 3)],
    *[(members(), version) for version in (3, 5)],
    (connect_groups(), 0),
    (computed(), 0),
]


@pytest.mark.parametrize(("message", "version"), CASES)
def test_the_pieces_are_the_whole(message: Response, version: int) -> None:
    whole, arrays = message.encode(version), large_arrays(message)
    assert arrays is not None
    pieces = list(encode_in_slices(message, version, arrays))
    assert b"".join(pieces) == whole
    assert len(pieces) > count_elements(message, arrays) // ELEMENTS_AT_ONCE


@pytest.mark.parametrize(("make", "version"), [(offsets_of_groups, 8), (connect_groups, 0), (computed, 0)])
def test_no_piece_has_more_elements_than_are_written_at_once(
    make: Callable[[], Response], version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    message = make()
    arrays = large_arrays(message)
    assert arrays is not None
    encode = type(message).encode

    def counted(self: Any, version: int) -> bytes:
        written.append(count_elements(self, arrays))
        return encode(self, version)

    monkeypatch.setattr(type(message), "encode", counted)
    assert b"".join(encode_in_slices(message, version, arrays)) == encode(make(), version)
    assert max(written) <= ELEMENTS_AT_ONCE + len(("group", "member", "entry"))


def test_what_is_deferred_is_made_once_when_its_turn_comes() -> None:
    made: list[str] = []

    def make(name: str) -> Any:
        def now() -> list[ConnectorsAndTasks]:
            made.append(name)
            return resources(ELEMENTS_AT_ONCE - 1)

        return DeferredArray(ELEMENTS_AT_ONCE, now)

    members = [Member(member_id=name, owned=make(name)) for name in ("a", "b", "c")]
    message = ConnectGroupDescribeResponse(groups=[DescribedGroup(group_id="g", members=members)])
    arrays = large_arrays(message)
    assert arrays is not None
    made_by_slice = [len(made) for _ in encode_in_slices(message, 0, arrays)]
    assert sorted(set(made_by_slice)) == [0, 1, 2, 3], "more than one was made between two slices"
    assert message.encode(0) == b"".join(encode_in_slices(message, 0, arrays))
    assert made == ["a", "b", "c"]
