"""A message that is written in slices is the same bytes as one that is written whole."""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember
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
    DescribeGroupsResponse,
    ListGroupsResponse,
    OffsetCommitResponse,
    OffsetFetchResponse,
    Response,
)
from kcoord.protocol.sliced_encoding import ELEMENTS_AT_ONCE, count_elements, encode_in_slices

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
    group = DescribedGroup(group_id="g", members=described, authorized_operations=77)
    return DescribeGroupsResponse(throttle_time_ms=1, groups=[DescribedGroup(group_id="f"), group])


PARTITIONS = ("topics", "partitions")
CASES = [
    *[(offsets_of_one_group(), version, PARTITIONS) for version in (2, 3, 5, 6, 7)],
    *[(offsets_of_groups(), version, ("groups", *PARTITIONS)) for version in (8, 9)],
    *[(commits(), version, PARTITIONS) for version in (2, 3, 8)],
    *[(groups(), version, ("groups",)) for version in (0, 2, 3)],
    *[(members(), version, ("groups", "members")) for version in (3, 5)],
]


@pytest.mark.parametrize(("message", "version", "path"), CASES)
def test_the_pieces_are_the_whole(message: Response, version: int, path: tuple[str, ...]) -> None:
    whole = message.encode(version)
    pieces = list(encode_in_slices(message, version, path))
    assert b"".join(pieces) == whole
    assert len(pieces) > count_elements(message, path) // ELEMENTS_AT_ONCE


def test_no_piece_has_more_elements_than_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    encode = OffsetFetchResponse.encode

    def counted(self: Any, version: int) -> bytes:
        written.append(count_elements(self, ("groups", *PARTITIONS)))
        return encode(self, version)

    message = offsets_of_groups()
    monkeypatch.setattr(OffsetFetchResponse, "encode", counted)
    assert b"".join(encode_in_slices(message, 8, ("groups", *PARTITIONS))) == encode(message, 8)
    assert max(written) <= ELEMENTS_AT_ONCE + 2
