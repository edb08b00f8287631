"""Requests about offsets, and what their answers mean. (KG-3)"""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka import TopicPartition

from kcoord.consumer import ConsumerError
from kcoord.consumer.offsets import (
    Verdict,
    check_commit,
    commit_errors,
    commit_request,
    fetch_request,
    fetched_offsets,
    verdict,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import offset_commit_response as committed
from kcoord.protocol.generated import offset_fetch_response as fetched
from kcoord.protocol.messages import OffsetFetchRequest, OffsetFetchResponse
from tests.consumer.hand import SETUP, STATIC

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
VERDICTS = {
    ErrorCode.NONE: Verdict.DONE,
    ErrorCode.NOT_COORDINATOR: Verdict.AGAIN,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Verdict.AGAIN,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Verdict.AGAIN,
    ErrorCode.REQUEST_TIMED_OUT: Verdict.AGAIN,
    ErrorCode.UNSTABLE_OFFSET_COMMIT: Verdict.AGAIN,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: Verdict.AGAIN,
    ErrorCode.STALE_MEMBER_EPOCH: Verdict.STALE,
    ErrorCode.UNKNOWN_MEMBER_ID: Verdict.FENCED,
    ErrorCode.FENCED_INSTANCE_ID: Verdict.FENCED,
    ErrorCode.GROUP_ID_NOT_FOUND: Verdict.FENCED,
    ErrorCode.ILLEGAL_GENERATION: Verdict.FENCED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: Verdict.REFUSED,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: Verdict.REFUSED,
    ErrorCode.OFFSET_METADATA_TOO_LARGE: Verdict.REFUSED,
}


@pytest.mark.parametrize(("error", "meaning"), VERDICTS.items(), ids=[each.name for each in VERDICTS])
def test_what_an_error_means(error: ErrorCode, meaning: Verdict) -> None:
    assert verdict(error) is meaning


def test_an_unknown_error_is_not_tried_again() -> None:
    assert verdict(9_999) is Verdict.REFUSED


def test_a_commit_has_the_member_its_epoch_and_all_offsets() -> None:
    request = commit_request(STATIC, 7, {B0: (5, ""), A1: (2, "text"), A0: (1, "")})
    assert (request.group_id, request.member_id, request.group_instance_id) == ("g", "c1", "i1")
    assert request.generation_id_or_member_epoch == 7
    listed = {
        (topic.name, each.partition_index): (each.committed_offset, each.committed_metadata)
        for topic in request.topics
        for each in topic.partitions
    }
    assert listed == {("a", 0): (1, ""), ("a", 1): (2, "text"), ("b", 0): (5, "")}


def test_each_partition_has_its_own_error() -> None:
    partitions = [
        committed.OffsetCommitResponsePartition(0, 0),
        committed.OffsetCommitResponsePartition(1, ErrorCode.STALE_MEMBER_EPOCH),
    ]
    response = committed.OffsetCommitResponse(topics=[committed.OffsetCommitResponseTopic("a", partitions=partitions)])
    assert commit_errors(response) == {A0: 0, A1: ErrorCode.STALE_MEMBER_EPOCH}


def test_a_fetch_is_a_members_or_nobodys() -> None:
    [group] = fetch_request(SETUP, 4, [B0, A1, A0]).groups
    assert (group.group_id, group.member_id, group.member_epoch) == ("g", "c1", 4)
    assert [(each.name, each.partition_indexes) for each in group.topics or []] == [("a", [0, 1]), ("b", [0])]
    [group] = fetch_request(SETUP, None, [A0]).groups
    assert (group.member_id, group.member_epoch) == (None, -1)
    assert fetch_request(SETUP, None, [A0]).require_stable


def answer(*partitions: tuple[int, int, int], error: int = 0) -> fetched.OffsetFetchResponse:
    """An answer for topic a: number, offset, error."""
    listed = [
        fetched.OffsetFetchResponsePartitions(number, offset, error_code=code) for number, offset, code in partitions
    ]
    topic = fetched.OffsetFetchResponseTopics("a", partitions=listed)
    return fetched.OffsetFetchResponse(groups=[fetched.OffsetFetchResponseGroup("g", [topic], error)])


def test_where_nothing_was_committed_there_is_no_offset() -> None:
    assert fetched_offsets(answer((0, 5, 0), (1, -1, 0))) == (0, {A0: 5, A1: None})


def test_no_offset_is_believed_beside_an_error() -> None:
    assert fetched_offsets(answer((0, 5, 0), error=ErrorCode.STALE_MEMBER_EPOCH)) == (ErrorCode.STALE_MEMBER_EPOCH, {})
    unstable = answer((0, 5, 0), (1, -1, ErrorCode.UNSTABLE_OFFSET_COMMIT))
    assert fetched_offsets(unstable) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, {})


@pytest.mark.parametrize("highest", [9, 8, 7, 6])
def test_older_brokers_are_asked_as_they_can_answer(highest: int) -> None:
    asked = fetch_request(SETUP, 4, [B0, A1, A0], highest)
    again = OffsetFetchRequest.decode(asked.encode(highest), highest)
    assert again.require_stable == (highest >= 7)
    if highest >= 8:
        assert [each.member_id for each in again.groups] == [SETUP.member_id if highest >= 9 else None]
        return
    assert (again.group_id, [each.name for each in again.topics or ()]) == (SETUP.group_id, ["a", "b"])
    partitions = [fetched.OffsetFetchResponsePartition(0, 5), fetched.OffsetFetchResponsePartition(1, -1)]
    answer = OffsetFetchResponse(topics=[fetched.OffsetFetchResponseTopic("a", partitions)])
    told = OffsetFetchResponse.decode(answer.encode(highest), highest)
    assert fetched_offsets(told) == (0, {A0: 5, A1: None})


def test_an_offset_may_have_a_text() -> None:
    assert check_commit({A0: 5, A1: (6, "saved")}) == {A0: (5, ""), A1: (6, "saved")}


@pytest.mark.parametrize("offset", [-1, -5, 1 << 63, "abc", None, 1.5, (-1, "x"), (1,), ("a", "b"), (1, 2)])
def test_what_is_no_offset_cannot_be_committed(offset: Any) -> None:
    with pytest.raises(ConsumerError, match=r"^a-0: there is no offset "):
        check_commit({A0: offset})
