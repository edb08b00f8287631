"""What do clients of a kcoord without a cluster hear of its topics? (KG-14)"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.group.acl_operation import AclOperation
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_topics_request import CreatableTopic
from kcoord.protocol.generated.create_topics_response import CreatableTopicResult
from kcoord.protocol.generated.declared_topics_response import DeclaredTopic
from kcoord.protocol.generated.delete_topics_request import DeleteTopicState
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConsumerGroupHeartbeatRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeclaredTopicsRequest,
    DeclaredTopicsResponse,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    FetchRequest,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
    Request,
    Response,
)
from kcoord.server import standalone_topics
from kcoord.server.standalone_topics import StandaloneTopics
from tests.gateway.scripted import ask, close_all, connect
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client, over

TOPIC, GROUP = 2, 32
LONG_MS = 25_000
FOR_EVER_MS = 2**31 - 1
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.fixture(scope="module")
def kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    process = Kcoord(tmp_path_factory.mktemp("topics"), settings={"topics": "work:3, one:1"})
    yield process.start()
    process.remove()


@pytest.fixture
async def client(kcoord: Kcoord) -> AsyncIterator[Client]:
    yield await connect(kcoord.bootstrap)
    await close_all()


async def topic_id(client: Client, name: str) -> bytes:
    answer = await ask(client, MetadataRequest([MetadataRequestTopic(name=name)]), 12)
    found: bytes = answer.topics[0].topic_id
    return found


# -- Metadata ----------------------------------------------------------------------------------------------------------


async def test_topics_of_the_settings_are_there_with_the_first_answer(client: Client) -> None:
    answer = await ask(client, MetadataRequest(None))
    assert {each.name: len(each.partitions) for each in answer.topics} == {"work": 3, "one": 1}
    [work] = [each for each in answer.topics if each.name == "work"]
    assert [(each.partition_index, each.leader_id, each.error_code) for each in work.partitions] == [
        (number, answer.brokers[0].node_id, 0) for number in range(3)
    ]


@pytest.mark.parametrize("version", range(MetadataRequest.MIN_VERSION, MetadataRequest.MAX_VERSION + 1))
async def test_each_version_knows_them_by_name(client: Client, version: int) -> None:
    asked = [MetadataRequestTopic(name=name) for name in ("work", "nowhere")]
    answer = await ask(client, MetadataRequest(asked), version)
    assert [(each.name, each.error_code, len(each.partitions)) for each in answer.topics] == [
        ("work", 0, 3),
        ("nowhere", UNKNOWN, 0),
    ]


async def test_they_are_known_by_id_and_the_oldest_version_means_all_by_none(client: Client) -> None:
    by_id = [MetadataRequestTopic(each, None) for each in (await topic_id(client, "work"), b"x" * 16)]
    answer = await ask(client, MetadataRequest(by_id), 12)
    assert [(each.name, each.error_code) for each in answer.topics] == [
        ("work", 0),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
    ]
    assert len((await ask(client, MetadataRequest([]), 0)).topics) == 2
    assert (await ask(client, MetadataRequest([]), 1)).topics == []


# -- offsets and records -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(ListOffsetsRequest.MIN_VERSION, ListOffsetsRequest.MAX_VERSION + 1))
async def test_a_partition_begins_and_ends_at_0(client: Client, version: int) -> None:
    times = {-1: 0, -2: 0, -3: -1, -4: 0, -5: -1, 1_700_000_000_000: -1}
    for time_ms, offset in times.items():
        asked = [ListOffsetsPartition(number, timestamp=time_ms) for number in (0, 3)]
        answer = await ask(client, ListOffsetsRequest(-1, topics=[ListOffsetsTopic("work", asked)]), version)
        assert [(each.offset, each.error_code) for each in answer.topics[0].partitions] == [(offset, 0), (-1, UNKNOWN)]


def fetch(topic: FetchTopic, wait_ms: int, min_bytes: int = 1) -> FetchRequest:
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=min_bytes, topics=[topic])


@pytest.mark.parametrize("version", range(FetchRequest.MIN_VERSION, FetchRequest.MAX_VERSION + 1))
async def test_nothing_is_fetched_at_any_offset(client: Client, version: int) -> None:
    wanted = FetchTopic(
        "work", await topic_id(client, "work"), [FetchPartition(number, fetch_offset=7) for number in range(3)]
    )
    answer = await ask(client, fetch(wanted, 1), version)
    assert (answer.error_code, answer.session_id) == (0, 0)
    [topic] = answer.responses
    assert [(each.error_code, each.high_watermark, bytes(each.records)) for each in topic.partitions] == [
        (0, 7, b"")
    ] * 3


async def test_what_is_not_there_is_said_at_once(client: Client) -> None:
    known = await topic_id(client, "work")
    for wanted, version, error in (
        (FetchTopic("nowhere", partitions=[FetchPartition(0)]), 12, UNKNOWN),
        (FetchTopic("work", partitions=[FetchPartition(3)]), 12, UNKNOWN),
        (FetchTopic("work", partitions=[FetchPartition(-1)]), 12, UNKNOWN),
        (FetchTopic(topic_id=b"x" * 16, partitions=[FetchPartition(0)]), 13, ErrorCode.UNKNOWN_TOPIC_ID),
        (FetchTopic(topic_id=known, partitions=[FetchPartition(3)]), 13, UNKNOWN),
    ):
        answer = await ask(client, fetch(wanted, LONG_MS), version)
        assert [part.error_code for topic in answer.responses for part in topic.partitions] == [error]
    nothing = await ask(client, fetch(FetchTopic("work", partitions=[FetchPartition(0)]), LONG_MS, min_bytes=0), 12)
    assert nothing.responses[0].partitions[0].error_code == 0


async def test_a_waiting_fetch_ends_when_something_else_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standalone_topics, "LONGEST_WAIT_MS", FOR_EVER_MS)
    log = EmbeddedLog(tmp_path, partitions=1)
    wanted = FetchTopic("work", partitions=[FetchPartition(0)])
    async with over(log, topics={"work": 3}) as running, await Client.connect(running.port) as client:
        _, first = client.frame(fetch(wanted, FOR_EVER_MS), 12)
        _, second = client.frame(MetadataRequest(None), 12)
        client.writer.write(first)
        await client.writer.drain()
        client.writer.write(second)
        assert [len(await client.read_frame()) > 0 for _ in range(2)] == [True, True]


async def test_producers_are_refused(kcoord: Kcoord, client: Client) -> None:
    data = [TopicProduceData("work", partition_data=[PartitionProduceData(0, b"")])]
    answer = await ask(client, ProduceRequest(acks=-1, topic_data=data), 12)
    [refused] = answer.responses[0].partition_responses
    assert (refused.error_code, refused.base_offset) == (ErrorCode.POLICY_VIOLATION, -1)
    assert "keeps no data" in refused.error_message
    _, frame = client.frame(ProduceRequest(acks=0, topic_data=data), 12)
    client.writer.write(frame)
    assert await client.read_frame() == b""
    kcoord.wait_for_line("it produces without waiting for an answer")


# -- settings, features, changes ---------------------------------------------------------------------------------------


async def test_topics_have_no_settings(client: Client) -> None:
    described = await ask(
        client, DescribeConfigsRequest([DescribeConfigsResource(TOPIC, each) for each in ("work", "x")])
    )
    assert [(each.error_code, each.configs) for each in described.results] == [(0, []), (UNKNOWN, [])]
    change = AlterConfigsResource(TOPIC, "work", [AlterableConfig("retention.ms", 0, "1")])
    assert [each.error_code for each in (await ask(client, IncrementalAlterConfigsRequest([change]))).responses] == [
        UNKNOWN
    ]


async def test_the_feature_of_consumer_groups_is_told(client: Client) -> None:
    answer = await ask(client, ApiVersionsRequest("test", "1"))
    assert [(each.name, each.min_version, each.max_version) for each in answer.supported_features] == [
        ("group.version", 0, 1)
    ]
    assert [(each.name, each.max_version_level) for each in answer.finalized_features] == [("group.version", 1)]


async def test_who_has_changed_a_topic_sees_it_at_once(client: Client) -> None:
    created = await ask(client, CreateTopicsRequest([CreatableTopic("new", 2, -1)]))
    assert created.topics[0].error_code == 0
    assert await topic_id(client, "new") == created.topics[0].topic_id
    await ask(client, DeleteTopicsRequest([DeleteTopicState("new")]))
    answer = await ask(client, MetadataRequest([MetadataRequestTopic(name="new")]))
    assert answer.topics[0].error_code == UNKNOWN


@attrs.frozen
class AllowNothing:
    """Nobody may do anything."""

    holds_ms: int | None = None

    def allows(self, client: object, operation: AclOperation, group_id: str) -> bool:
        return False


@pytest.mark.parametrize(
    ("authorizer", "error"),
    [(None, ErrorCode.INVALID_REGULAR_EXPRESSION), (AllowNothing(), ErrorCode.GROUP_AUTHORIZATION_FAILED)],
    ids=["may", "may not"],
)
async def test_a_regular_expression_is_looked_at_for_who_may_have_it(
    tmp_path: Path, authorizer: AllowNothing | None, error: ErrorCode
) -> None:
    join = ConsumerGroupHeartbeatRequest(
        "g", "a", 0, rebalance_timeout_ms=60_000, subscribed_topic_regex="(", topic_partitions=[]
    )
    log = EmbeddedLog(tmp_path, partitions=1)
    async with over(log, topics={}, authorizer=authorizer) as running, await Client.connect(running.port) as client:
        assert (await ask(client, join)).error_code == error


# -- before it is known which there are --------------------------------------------------------------------------------


class Owner:
    """The shard that has the topics, as another instance reaches it: it may not answer yet."""

    def __init__(self) -> None:
        self.topics: list[DeclaredTopic] | None = None
        self.created: list[tuple[str, int]] = []

    async def ask(self, request: Request, _context: RequestContext) -> tuple[Response, Any]:
        if self.topics is None:
            error = ErrorCode.NOT_COORDINATOR
            if isinstance(request, DeclaredTopicsRequest):
                return DeclaredTopicsResponse(error), None
            assert isinstance(request, CreateTopicsRequest)
            return CreateTopicsResponse(
                topics=[CreatableTopicResult(each.name, error_code=error, configs=None) for each in request.topics]
            ), None
        if isinstance(request, CreateTopicsRequest):
            self.created += [(each.name, each.num_partitions) for each in request.topics]
            self.topics += [
                DeclaredTopic(each.name, each.name.encode().ljust(16), each.num_partitions) for each in request.topics
            ]
            return CreateTopicsResponse(topics=[CreatableTopicResult(each.name) for each in request.topics]), None
        assert not isinstance(request, CreatePartitionsRequest)
        return DeclaredTopicsResponse(topics=list(self.topics)), None


class Shards:
    """The shards of an instance: what they subscribe to by regular expressions, and what they are told."""

    def __init__(self) -> None:
        self.subscribed: set[str] = set()
        self.learned: list[dict[str, Topic]] = []
        self.resolutions: Mapping[str, frozenset[str]] = {}

    def patterns(self) -> set[str]:
        return self.subscribed

    def learn_topics(self, topics: Mapping[str, Topic], resolutions: Mapping[str, frozenset[str]], /) -> None:
        self.learned.append(dict(topics))
        self.resolutions = resolutions


async def test_regular_expressions_are_resolved_with_each_change_and_when_they_are_new() -> None:
    owner, shards = Owner(), Shards()
    owner.topics = [DeclaredTopic("a1", b"1" * 16, 1)]
    topics = StandaloneTopics(owner.ask, shards)
    shards.subscribed = {"a.*", "("}
    await topics.look()
    assert shards.resolutions == {"a.*": {"a1"}}, "what cannot be resolved is left out"
    owner.topics.append(DeclaredTopic("a2", b"2" * 16, 1))
    await topics.look()
    assert shards.resolutions == {"a.*": {"a1", "a2"}}
    shards.subscribed = {"a.*", ".*2"}
    await topics.look()
    assert shards.resolutions == {"a.*": {"a1", "a2"}, ".*2": {"a2"}}
    assert await topics.resolve("a1|b") == {"a1"}


async def test_nothing_is_told_before_it_is_known_and_the_settings_count_once() -> None:
    owner, shards = Owner(), Shards()
    learned = shards.learned
    topics = StandaloneTopics(owner.ask, shards, {"work": 3, "there": 1})
    following = asyncio.create_task(topics.follow())
    try:
        await asyncio.sleep(0)
        assert not topics.has_heard.is_set()
        owner.topics = [DeclaredTopic("there", b"t" * 16, 2)]
        await asyncio.wait_for(topics.has_heard.wait(), 60)
        assert owner.created == [("work", 3)], "what has more partitions than the settings say stays as it is"
        assert {name: topic.partitions for name, topic in learned[-1].items()} == {"there": 2, "work": 3}
        owner.topics.clear()
        await topics.look()
        assert topics.known == learned[-1] == {}, "what was deleted later is not created again"
    finally:
        following.cancel()


async def test_a_topic_that_cannot_be_is_named_in_the_log(tmp_path: Path) -> None:
    process = Kcoord(tmp_path, settings={"topics": "a b:1,good:1"}).start()
    try:
        process.wait_for_line("topics=a b:1: a topic's name has 1 to 249 letters")
        client = await connect(process.bootstrap)
        assert [each.name for each in (await ask(client, MetadataRequest(None))).topics] == ["good"]
    finally:
        await close_all()
        process.remove()
