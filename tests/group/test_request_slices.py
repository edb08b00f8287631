"""A large request for one group in slices: nothing is lost, and its answer is the one that the whole would have got."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kcoord.group.error_responses import refuse
from kcoord.group.request_slices import ROWS, merge_slices, slices_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.leave_group_response import MemberResponse
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kcoord.protocol.messages import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Request,
)

SIZES = [1, 0, ROWS - 1, ROWS, 3, ROWS * 2 + 7, 1]


def commit(sizes: list[int]) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            name=f"topic-{at}",
            partitions=[OffsetCommitRequestPartition(partition_index=number) for number in range(size)],
        )
        for at, size in enumerate(sizes)
    ]
    return OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=7, topics=topics)


def fetch(sizes: list[int]) -> OffsetFetchRequest:
    return OffsetFetchRequest(
        group_id="g",
        topics=[OffsetFetchRequestTopic(name=f"t{at}", partition_indexes=list(range(n))) for at, n in enumerate(sizes)],
    )


def _rows(topic: Any) -> int:
    """How many partitions a topic of either request names."""
    return len(topic.partitions if hasattr(topic, "partitions") else topic.partition_indexes)


@pytest.mark.parametrize("request_", [commit(SIZES), fetch(SIZES)], ids=["OffsetCommit", "OffsetFetch"])
def test_answers_to_slices_are_the_answer_to_the_whole(request_: Request) -> None:
    slices: Any = slices_of(request_)
    sizes = [sum(map(_rows, each.topics)) for each in slices]
    assert max(sizes) <= ROWS
    assert sum(sizes) == sum(SIZES)
    assert all(attrs.evolve(each, topics=[]) == attrs.evolve(request_, topics=[]) for each in slices)  # type: ignore[misc]
    answers = [refuse(each, ErrorCode.NONE) for each in slices]
    assert merge_slices(answers) == refuse(request_, ErrorCode.NONE)


def test_a_group_of_the_newer_versions_of_offset_fetch() -> None:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=list(range(ROWS * 3)))]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=topics)], require_stable=True)
    slices: Any = slices_of(request)
    assert [len(each.groups[0].topics[0].partition_indexes) for each in slices] == [ROWS] * 3
    refused: Any = merge_slices([refuse(slices[0], ErrorCode.NOT_COORDINATOR)])
    assert isinstance(refused, OffsetFetchResponse)
    assert refused.groups[0].error_code == ErrorCode.NOT_COORDINATOR


def test_members_that_leave() -> None:
    identities = [MemberIdentity(member_id=f"m{at}", group_instance_id=None) for at in range(ROWS + 1)]
    slices: Any = slices_of(LeaveGroupRequest(group_id="g", members=identities))
    assert [len(each.members) for each in slices] == [ROWS, 1]
    answers = [
        LeaveGroupResponse(members=[MemberResponse(member_id=member.member_id) for member in each.members])
        for each in slices
    ]
    merged: Any = merge_slices(answers)
    assert [each.member_id for each in merged.members] == [each.member_id for each in identities]


def test_small_requests_and_others_are_whole() -> None:
    assert slices_of(commit([3, 4])) is None
    assert slices_of(OffsetFetchRequest(group_id="g", topics=None)) is None
    assert slices_of(LeaveGroupRequest(group_id="g", member_id="m")) is None
