"""Which topics does a kcoord without a cluster have, and what does it say to changes of them? (KG-14)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from kcoord.group.error_responses import refuse
from kcoord.group.shard import Shard
from kcoord.group.state import transition
from kcoord.group.state.records.topic_records import TOPICS
from kcoord.group.state.replay import replay as real_replay
from kcoord.group.state.settings import GroupLimits, GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_partitions_request import CreatePartitionsAssignment, CreatePartitionsTopic
from kcoord.protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kcoord.protocol.generated.delete_topics_request import DeleteTopicState
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeclaredTopicsRequest,
    DeleteTopicsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    Request,
)
from kcoord.protocol.records import Record, decode_record

MOST = 100
"""The partitions that all topics together may have here."""
NO_ID = bytes(16)


class World:
    """A shard that has the topics, and what it wrote."""

    def __init__(self) -> None:
        self._settings = GroupSettings(limits=GroupLimits(offsets=MOST))
        self._numbers = iter(range(1, 1_000))
        self.log: list[Record] = []
        self.shard = Shard(self._settings, lambda: f"id-{next(self._numbers)}")
        self.shard.loaded(0, 0)

    def ask(self, request: Request, version: int | None = None) -> Any:
        version = request.MAX_VERSION if version is None else version
        request = type(request).decode(request.encode(version), version)
        step = self.shard.handle(request, RequestContext(version, "admin", "/here", 1, 0), object(), 0)
        self.log += [decode_record(*each) for each in step.encoded]
        return step.replies[0].response

    def create(self, name: str, partitions: int = 3, **more: Any) -> Any:
        return self.ask(CreateTopicsRequest([CreatableTopic(name, partitions, -1, **more)])).topics[0]

    def grow(self, name: str, count: int, *assignments: CreatePartitionsAssignment) -> Any:
        return self.ask(CreatePartitionsRequest([CreatePartitionsTopic(name, count, list(assignments))])).results[0]

    def topics(self) -> dict[str, tuple[bytes, int]]:
        return {each.name: (each.topic_id, each.partitions) for each in self.ask(DeclaredTopicsRequest(TOPICS)).topics}

    def counts(self) -> dict[str, int]:
        return {name: count for name, (_, count) in self.topics().items()}

    def learn(self) -> None:
        """Tell the shard of its own topics, as the process around it does."""
        self.shard.learn_topics({name: Topic(name, *what) for name, what in self.topics().items()}, 0, 0)

    def load(self) -> None:
        """Another process loads the log."""
        self.shard = Shard(self._settings, lambda: f"id-{next(self._numbers)}")
        for record in self.log:
            self.shard.replay(record)
        self.shard.loaded(0, 0)


def test_topics_come_grow_and_go_and_a_load_knows_them() -> None:
    world = World()
    created = world.create("orders", 3)
    assert (created.error_code, created.num_partitions, created.replication_factor) == (0, 3, 1)
    assert world.create("one", -1).num_partitions == 1
    assert world.grow("orders", 5).error_code == 0
    assert world.topics()["orders"] == (created.topic_id, 5), "it is the same topic"
    world.load()
    assert world.counts() == {"orders": 5, "one": 1}
    gone = world.ask(DeleteTopicsRequest([DeleteTopicState("one"), DeleteTopicState(None, created.topic_id)]))
    assert [(each.name, each.error_code) for each in gone.responses] == [("one", 0), ("orders", 0)]
    world.load()
    assert world.counts() == {}
    assert world.create("orders").topic_id != created.topic_id, "another topic of that name"


def test_older_versions_delete_by_name() -> None:
    world = World()
    world.create("orders")
    gone = world.ask(DeleteTopicsRequest(topic_names=["orders", "nowhere"]), 5).responses
    assert [(each.name, each.error_code) for each in gone] == [
        ("orders", 0),
        ("nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_what_is_only_checked_changes_nothing() -> None:
    world = World()
    assert world.ask(CreateTopicsRequest([CreatableTopic("a", 2, 1)], validate_only=True)).topics[0].error_code == 0
    world.create("b", 1)
    grown = world.ask(CreatePartitionsRequest([CreatePartitionsTopic("b", 2, None)], validate_only=True)).results[0]
    assert grown.error_code == 0
    assert world.counts() == {"b": 1}


@pytest.mark.parametrize(
    ("name", "partitions", "more", "error"),
    [
        ("there", 1, {}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("..", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a b", 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a" * 250, 1, {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a", 0, {}, ErrorCode.INVALID_PARTITIONS),
        ("a", -2, {}, ErrorCode.INVALID_PARTITIONS),
        ("a", MOST - 2, {}, ErrorCode.INVALID_PARTITIONS),
        ("a", 2**31 - 1, {}, ErrorCode.INVALID_PARTITIONS),
        ("a", -1, {"assignments": [CreatableReplicaAssignment(0, [1])]}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("a", 1, {"configs": [CreatableTopicConfig("retention.ms", "1")]}, ErrorCode.INVALID_CONFIG),
    ],
)
def test_a_topic_that_cannot_be_is_refused_with_the_reason(
    name: str, partitions: int, more: dict[str, Any], error: ErrorCode
) -> None:
    world = World()
    world.create("there", 3)
    refused = world.create(name, partitions, **more)
    assert (refused.error_code, bool(refused.error_message)) == (error, True)
    assert world.counts() == {"there": 3}


def test_more_than_one_replica_and_a_name_twice_are_refused() -> None:
    world = World()
    asked = [CreatableTopic("a", 1, 3), CreatableTopic("b", 1, 1), CreatableTopic("c", 1, 1), CreatableTopic("c", 2, 1)]
    answered = world.ask(CreateTopicsRequest(asked)).topics
    assert {each.name: each.error_code for each in answered} == {
        "a": ErrorCode.INVALID_REPLICATION_FACTOR,
        "b": ErrorCode.NONE,
        "c": ErrorCode.INVALID_REQUEST,
    }
    grown = world.ask(CreatePartitionsRequest([CreatePartitionsTopic("b", 2), CreatePartitionsTopic("b", 3)])).results
    assert [each.error_code for each in grown] == [ErrorCode.INVALID_REQUEST]
    assert world.counts() == {"b": 1}


@pytest.mark.parametrize(
    ("name", "count", "assignments", "error"),
    [
        ("nowhere", 4, [], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("there", 3, [], ErrorCode.INVALID_PARTITIONS),
        ("there", 2, [], ErrorCode.INVALID_PARTITIONS),
        ("there", MOST + 1, [], ErrorCode.INVALID_PARTITIONS),
        ("there", 4, [CreatePartitionsAssignment([1])], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_topic_only_grows(
    name: str, count: int, assignments: list[CreatePartitionsAssignment], error: ErrorCode
) -> None:
    world = World()
    world.create("there", 3)
    refused = world.grow(name, count, *assignments)
    assert (refused.error_code, bool(refused.error_message)) == (error, True)
    assert world.counts() == {"there": 3}


def _breaks_off_at(name: str) -> Callable[[ShardState, Record], None]:
    def replay(state: ShardState, record: Record) -> None:
        real_replay(state, record)
        if getattr(record.key, "name", None) == name:
            raise RuntimeError("broken off")

    return replay


def test_a_request_that_breaks_off_has_changed_nothing() -> None:
    world = World()
    world.create("there", 3)
    request = CreateTopicsRequest([CreatableTopic("a", 1, 1), CreatableTopic("b", 1, 1)])
    with patch.object(transition, "replay", _breaks_off_at("b")):
        step = world.shard.handle(request, RequestContext(7, "admin", "/here", 1, 0), object(), 0)
    assert len(step.faults) == 1
    assert not step.encoded
    answer: Any = step.replies[0].response
    assert [each.error_code for each in answer.topics] == [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 2
    assert world.counts() == {"there": 3}


def test_offsets_of_declared_topics_are_named_by_id_too() -> None:
    world = World()
    orders = world.create("orders", 3).topic_id
    world.learn()
    partitions = [OffsetCommitRequestPartition(0, 17)]
    asked = [OffsetCommitRequestTopic(topic_id=each, partitions=partitions) for each in (orders, b"x" * 16)]
    committed = world.ask(OffsetCommitRequest("g", topics=asked)).topics
    assert [(each.topic_id, each.partitions[0].error_code) for each in committed] == [
        (orders, 0),
        (b"x" * 16, ErrorCode.UNKNOWN_TOPIC_ID),
    ]
    by_name = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("undeclared", NO_ID, partitions)])
    assert world.ask(by_name, 9).topics[0].partitions[0].error_code == 0
    for wanted, expected in (
        ([orders, b"x" * 16], [(orders, 17, 0), (b"x" * 16, -1, ErrorCode.UNKNOWN_TOPIC_ID)]),
        (None, [(orders, 17, 0)]),
    ):
        topics = None if wanted is None else [OffsetFetchRequestTopics("", each, [0]) for each in wanted]
        fetched = world.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)])).groups[0]
        found = [
            (each.topic_id, each.partitions[0].committed_offset, each.partitions[0].error_code)
            for each in fetched.topics
        ]
        assert found == expected


def test_who_cannot_be_served_now_hears_so_for_each_topic() -> None:
    for request, parts in (
        (CreateTopicsRequest([CreatableTopic("a", 1, 1)]), "topics"),
        (CreatePartitionsRequest([CreatePartitionsTopic("a", 2)]), "results"),
        (DeleteTopicsRequest([DeleteTopicState("a")]), "responses"),
        (DeleteTopicsRequest(topic_names=["a"]), "responses"),
    ):
        refused = getattr(refuse(request, ErrorCode.NOT_COORDINATOR), parts)
        assert [(each.name, each.error_code) for each in refused] == [("a", ErrorCode.NOT_COORDINATOR)]
