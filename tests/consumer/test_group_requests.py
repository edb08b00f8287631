"""Commits and questions for offsets, with a broker that answers as the test wants. (KG-3)"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import attrs
import pytest
from aiokafka import TopicPartition

from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError
from kcoord.consumer import CommitFailed, ConsumerError
from kcoord.consumer.group_requests import GroupRequests
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import offset_commit_response as committed
from kcoord.protocol.generated import offset_fetch_response as fetched
from kcoord.protocol.messages import OffsetCommitRequest, OffsetFetchRequest, Request, Response
from tests.consumer.hand import SETUP, Hand, member
from tests.kafka.wait import DEADLINE_S

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
QUICK = attrs.evolve(SETUP, backoff_ms=1, backoff_max_ms=1, request_timeout_ms=50)
Answer = Callable[[Any], Response] | None


class Broker:
    """Answers each request with the next of `answers`; None: not at all. Keeps what was asked."""

    host, port = "broker", 9092
    is_old = False

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    def highest(self, _api_key: int) -> int | None:
        """It has all versions that there are."""
        return None

    def serves_version(self, _request: type[Request], _version: int) -> bool:
        return not self.is_old

    def post(self, request: Request) -> asyncio.Future[Response]:
        self.asked.append(request)
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        answer = self.answers.pop(0)
        if answer is not None:
            future.set_result(answer(request))
        return future


def commit_answer(error: int = 0, only: int | None = None) -> Answer:
    """The same error for each partition of a commit, or for this one only."""

    def answer(request: OffsetCommitRequest) -> Response:
        topics = [
            committed.OffsetCommitResponseTopic(
                topic.name,
                partitions=[
                    committed.OffsetCommitResponsePartition(
                        each.partition_index, error if only in (None, each.partition_index) else 0
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return committed.OffsetCommitResponse(topics=topics)

    return answer


def fetch_answer(error: int = 0) -> Answer:
    """Offset 7 of each partition, or an error of the group."""

    def answer(request: OffsetFetchRequest) -> Response:
        [group] = request.groups
        topics = [
            fetched.OffsetFetchResponseTopics(
                each.name,
                partitions=[fetched.OffsetFetchResponsePartitions(number, 7) for number in each.partition_indexes],
            )
            for each in group.topics or []
        ]
        return fetched.OffsetFetchResponse(groups=[fetched.OffsetFetchResponseGroup("g", topics, error)])

    return answer


class Group:
    """A member at epoch 3, whose heartbeats the test answers."""

    def __init__(self, *answers: Answer) -> None:
        self.hand: Hand = member("a0 a1", QUICK, epoch=3)
        self.broker = Broker(*answers)
        self.hurries = 0
        self.disownments: list[int] = []
        self.on_hurry: Callable[[], None] = lambda: None
        self.requests = GroupRequests(self.hand.consumer, self._hurry, self.disownments.append)
        self.requests.use(cast(Connection, self.broker))
        self.held = {A0, A1}

    def _hurry(self) -> None:
        self.hurries += 1
        self.on_hurry()

    async def commit(
        self, offsets: dict[TopicPartition, int], timeout_s: float = DEADLINE_S, *, skip_unknown: bool = False
    ) -> None:
        texts = {each: (offset, "") for each, offset in offsets.items()}
        await self.requests.commit(texts, timeout_s, self.held.__contains__, skip_unknown=skip_unknown)

    def epochs(self) -> list[int]:
        return [each.generation_id_or_member_epoch for each in self.broker.asked]


async def test_a_commit_whose_epoch_is_stale_is_sent_with_the_new_one() -> None:
    group = Group(commit_answer(ErrorCode.STALE_MEMBER_EPOCH), commit_answer())

    def heartbeat() -> None:
        group.hand.put(group.hand.consumer.hurry(group.hand.now))
        group.hand.answer(4)

    group.on_hurry = heartbeat
    await group.commit({A0: 5})
    assert (group.epochs(), group.hurries) == ([3, 4], 1)


async def test_a_stale_commit_of_what_was_revoked_meanwhile_fails() -> None:
    group = Group(commit_answer(ErrorCode.STALE_MEMBER_EPOCH))
    group.on_hurry = lambda: group.held.discard(A0)
    with pytest.raises(CommitFailed, match="a-0 cannot be committed: this consumer does not have"):
        await group.commit({A0: 5})
    assert len(group.broker.asked) == 1


async def test_a_commit_that_waits_is_not_sent_for_another_membership() -> None:
    """The consumer has lost everything and has got it back: others may have committed more since."""
    group = Group(commit_answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))

    def rejoins() -> None:
        group.requests.lives += 1

    group.on_hurry = rejoins
    with pytest.raises(CommitFailed, match="a-0 cannot be committed"):
        await group.commit({A0: 5})
    assert len(group.broker.asked) == 1


async def test_only_what_failed_is_sent_again() -> None:
    group = Group(commit_answer(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, only=1), commit_answer())
    await group.commit({A0: 5, A1: 6})
    [topic] = group.broker.asked[1].topics
    assert [(each.partition_index, each.committed_offset) for each in topic.partitions] == [(1, 6)]
    assert group.hurries == 0, "no heartbeat knows more of a topic"


async def test_a_topic_that_is_gone_need_not_hold_a_commit_up() -> None:
    group = Group(commit_answer(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, only=1))
    await group.commit({A0: 5, A1: 6}, skip_unknown=True)
    assert len(group.broker.asked) == 1


@pytest.mark.parametrize(
    ("error", "disownments"),
    [(ErrorCode.UNKNOWN_MEMBER_ID, [ErrorCode.UNKNOWN_MEMBER_ID]), (ErrorCode.FENCED_INSTANCE_ID, [])],
)
async def test_the_commit_of_who_is_no_member_fails(error: ErrorCode, disownments: list[ErrorCode]) -> None:
    """The membership is told, or the next heartbeat comes at once to learn more."""
    group = Group(commit_answer(error))
    with pytest.raises(CommitFailed, match=f"these partitions any more .{error.name}"):
        await group.commit({A0: 5})
    assert (len(group.broker.asked), group.hurries, group.disownments) == (1, 1, disownments)


async def test_a_late_refusal_is_not_about_the_next_membership() -> None:
    group = Group()

    def refuses_late(request: OffsetCommitRequest) -> Response:
        group.requests.lives += 1
        answer = commit_answer(ErrorCode.UNKNOWN_MEMBER_ID)
        assert answer is not None
        return answer(request)

    group.broker.answers.append(refuses_late)
    with pytest.raises(CommitFailed):
        await group.commit({A0: 5})
    assert group.disownments == []


async def test_a_refused_commit_says_which_offset() -> None:
    group = Group(commit_answer(ErrorCode.OFFSET_METADATA_TOO_LARGE, only=1))
    with pytest.raises(CommitFailed, match="the offset 6 of a-1 is refused: OFFSET_METADATA_TOO_LARGE"):
        await group.commit({A0: 5, A1: 6})


async def test_what_is_not_held_is_not_even_sent() -> None:
    group = Group()
    group.held = {A0}
    with pytest.raises(CommitFailed, match="a-1 cannot be committed"):
        await group.commit({A0: 5, A1: 6})
    assert group.broker.asked == []


async def test_a_commit_outlives_a_lost_connection_and_a_silent_broker() -> None:
    group = Group(None, commit_answer())
    group.requests.use(None)
    asyncio.get_running_loop().call_later(0.05, group.requests.use, cast(Connection, group.broker))
    await group.commit({A0: 5})
    assert group.epochs() == [3, 3]


async def test_a_commit_that_gets_no_answer_in_time_says_why() -> None:
    group = Group(*[commit_answer(ErrorCode.NOT_COORDINATOR)] * 10_000)
    with pytest.raises(CommitFailed, match=r"a-0 were not committed within 0\.05 s: NOT_COORDINATOR. Commit again"):
        await group.commit({A0: 5}, timeout_s=0.05)


async def test_commits_reach_the_coordinator_in_order() -> None:
    """Also if the first one has to be sent again."""
    group = Group(commit_answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), commit_answer(), commit_answer())
    await asyncio.gather(group.commit({A0: 5}), group.commit({A0: 6}))
    offsets = [each.topics[0].partitions[0].committed_offset for each in group.broker.asked]
    assert offsets == [5, 5, 6]


async def test_committed_offsets_are_asked_for_until_they_are_told() -> None:
    group = Group(
        fetch_answer(ErrorCode.STALE_MEMBER_EPOCH), None, fetch_answer(ErrorCode.NOT_COORDINATOR), fetch_answer()
    )
    assert await group.requests.committed([A0, A1]) == {A0: 7, A1: 7}
    assert {each.groups[0].member_epoch for each in group.broker.asked} == {3}
    assert group.hurries == 2


async def test_offsets_of_what_is_not_wanted_any_more_are_not_asked_for() -> None:
    group = Group(fetch_answer(ErrorCode.UNSTABLE_OFFSET_COMMIT))
    wanted = [A0]
    group.on_hurry = wanted.clear
    assert await group.requests.committed([A0], wanted.__contains__) == {}


async def test_offsets_that_may_not_be_read_are_an_error() -> None:
    group = Group(fetch_answer(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(ConsumerError, match="the committed offsets of a-0 cannot be read: GROUP_AUTHORIZATION_FAILED"):
        await group.requests.committed([A0])


async def test_a_broker_that_is_too_old_for_topic_ids_is_not_asked() -> None:
    group = Group()
    group.broker.is_old = True
    with pytest.raises(ClientError, match="broker:9092 is too old to know topics by their ids"):
        await group.requests.names([bytes(16)])
