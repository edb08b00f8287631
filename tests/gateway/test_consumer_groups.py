"""Does kcoord keep its promises to consumers of the new protocol, in front of a cluster, request by request?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from confluent_kafka.admin import NewPartitions

from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.topology.topic_watch import TopicsRefused
from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    LeaveGroupRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
)
from kcoord.server.shards.coordinator import Coordinator
from tests.connectgroups.configs import asked, change
from tests.gateway.entries import SETTINGS, Entry, entries
from tests.gateway.scripted import (
    ScriptedMember,
    ask,
    close_all,
    connect,
    coordinator_port,
    describe,
    subscription,
    until,
)
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client
from tests.server.test_client_software import NAMED, SOFTWARE

QUICK = attrs.evolve(
    SETTINGS,
    consumer=ConsumerSettings(
        session_timeout_ms=1_500,
        min_session_timeout_ms=1_500,
        heartbeat_interval_ms=300,
        min_heartbeat_interval_ms=300,
        heartbeat_wait_ms=0,
    ),
)


@pytest.fixture
async def entry(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Entry]:
    """kcoord alone in front of the cluster."""
    settings = {"consumer_groups": True, "topics_interval_ms": 200}
    async with entries(kafka, tmp_path, at={}, count=1, shared=False, groups=QUICK, **settings) as [entry]:
        yield entry


@pytest.fixture
async def topic(kafka: KafkaCluster, name: str) -> str:
    """A topic of two partitions."""
    return await asyncio.to_thread(kafka.create_topic, f"t-{name}", 2)


@attrs.define
class Consumer:
    """A consumer that makes one step at a time."""

    client: Client
    group: str
    member_id: str
    topics: list[str]
    epoch: int = 0
    owned: list[Any] = attrs.Factory(list)

    @classmethod
    async def at(cls, bootstrap: str, group: str, member_id: str, *topics: str) -> Consumer:
        return cls(await connect(await coordinator_port(bootstrap, group)), group, member_id, list(topics))

    async def beat(self, *, is_full: bool = False, **fields: Any) -> ConsumerGroupHeartbeatResponse:
        """One heartbeat, whatever comes of it."""
        if is_full or not self.epoch:
            fields = {
                "rebalance_timeout_ms": 60_000,
                "subscribed_topic_names": self.topics,
                "topic_partitions": self.owned,
                **fields,
            }
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id=self.member_id, member_epoch=self.epoch, **fields
        )
        answer: ConsumerGroupHeartbeatResponse = await ask(self.client, request)
        if not answer.error_code:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = answer.assignment.topic_partitions
        return answer

    async def join(self) -> None:
        """Heartbeats until it has joined: a cluster's coordinator may not be ready at once."""

        async def attempt() -> bool:
            error = ErrorCode((await self.beat()).error_code)
            assert error == ErrorCode.NONE or error.retriable, error.name
            return not error

        await until(attempt, "it has joined")

    async def has(self, count: int) -> None:
        """Heartbeats until it has so many partitions."""

        async def attempt() -> bool:
            assert not (await self.beat(topic_partitions=self.owned)).error_code
            return sum(len(each.partitions) for each in self.owned) == count

        await until(attempt, f"it has {count} partitions")

    async def commit(self, offset: int, *, topic: str | None = None) -> ErrorCode:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        named = OffsetCommitRequestTopic(name=topic or self.topics[0], partitions=[partition])
        request = OffsetCommitRequest(self.group, self.epoch, self.member_id, topics=[named])
        answer = await ask(self.client, request, 9)
        return ErrorCode(answer.topics[0].partitions[0].error_code)


async def test_kcoord_offers_what_these_consumers_need(entry: Entry) -> None:
    """KG-18."""
    offered = {each.api_key: each for each in (await ask(await connect(entry.port), ApiVersionsRequest(), 2)).api_keys}
    for request in (ConsumerGroupHeartbeatRequest, ConsumerGroupDescribeRequest):
        assert (offered[request.API_KEY].min_version, offered[request.API_KEY].max_version) == (0, 1)
    assert offered[MetadataRequest.API_KEY].max_version >= 12


async def test_a_metadata_that_the_cluster_can_answer_itself_passes(entry: Entry) -> None:
    """KG-18: kcoord need not read it, so it may name more than kcoord reads (`request.max.elements`)."""
    names = [f"no-{number}" for number in range(25_000)]
    topics = [MetadataRequestTopic(name=each) for each in names]
    client = await connect(entry.port)
    await ask(client, ApiVersionsRequest(), 2)
    answer = await ask(client, MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12)
    assert sorted(each.name for each in answer.topics) == sorted(names)


async def test_a_join_has_its_share_in_its_first_answer(entry: Entry, name: str, topic: str) -> None:
    """KG-17: the topic is looked at before the group is asked. One that does not exist is no error."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic, f"no-{topic}")
    await consumer.join()
    assert [sorted(each.partitions) for each in consumer.owned] == [[0, 1]]
    [member] = (await describe(await connect(entry.cluster), name)).members
    assert member.group_instance_id == "kcoord", "the cluster sees kcoord's own member"
    assert await consumer.commit(7) == ErrorCode.NONE
    assert await consumer.commit(7, topic=f"no-{topic}") != ErrorCode.NONE


async def test_who_is_removed_commits_nothing_once_another_has_its_partitions(
    entry: Entry, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KG-19: its commit may have been checked before, and be on its way under the sentinel's name of then."""
    gone = await Consumer.at(entry.bootstrap, name, "gone", topic)
    await gone.join()
    assert await gone.commit(5) == ErrorCode.NONE
    former = entry.sentinel(name).identity
    direct = await connect(await coordinator_port(entry.cluster, name))

    async def under_the_former_name() -> ErrorCode:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
        named = [OffsetCommitRequestTopic(name=topic, partitions=[partition])]
        late = OffsetCommitRequest(name, former.generation, former.member_id, "kcoord", topics=named)
        return ErrorCode((await ask(direct, late, 9)).topics[0].partitions[0].error_code)

    assert await under_the_former_name() == ErrorCode.NONE
    holds, hold, asked, may_go = [], Sentinel.hold, asyncio.Event(), asyncio.Event()

    async def held_up(self: Sentinel, *args: Any) -> ErrorCode:
        holds.append(args[1])
        asked.set()
        await may_go.wait()
        return await hold(self, *args)

    monkeypatch.setattr(Sentinel, "hold", held_up)
    heir = await Consumer.at(entry.bootstrap, name, "heir", topic)
    await heir.join()
    getting = asyncio.create_task(heir.has(2))
    await asked.wait()
    assert not getting.done(), "no answer with its partitions leaves before the cluster knows"
    may_go.set()
    await getting
    assert await under_the_former_name() != ErrorCode.NONE
    assert await gone.commit(1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert await heir.commit(9) == ErrorCode.NONE
    assert len(set(holds)) == 1, "one removal is one new generation of the sentinel"


async def test_a_consumer_that_goes_on_over_a_new_connection_hears_of_new_partitions(
    kafka: KafkaCluster, entry: Entry, name: str, topic: str
) -> None:
    """KG-17: its next heartbeat does not say what it subscribes to. The group knows."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()
    consumer.client = await connect(await coordinator_port(entry.bootstrap, name))
    await consumer.has(2)
    admin = kafka.admin()  # its futures end with it
    await asyncio.to_thread(admin.create_partitions([NewPartitions(topic, 3)])[topic].result, 60)
    await consumer.has(3)


async def test_a_broker_that_knows_less_takes_nothing_from_a_regular_expression(
    entry: Entry, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KG-17: it has just started, or shows less to this client than to the one before."""
    consumer = await Consumer.at(entry.bootstrap, name, "a")
    matching: dict[str, Any] = {"subscribed_topic_names": [], "subscribed_topic_regex": topic[:-1] + ".*"}
    assert not (await consumer.beat(**matching)).error_code
    assert [len(each.partitions) for each in consumer.owned] == [2]
    consumer.client = await connect(await coordinator_port(entry.bootstrap, name))

    async def knows_none(_asker: object, _names: object) -> MetadataResponse:
        return MetadataResponse(cluster_id="c")

    monkeypatch.setattr("kcoord.gateway.topology.topic_watch._ask", knows_none)
    epoch = consumer.epoch
    for _ in range(2):
        assert not (await consumer.beat(is_full=True, **matching)).error_code
    assert ([len(each.partitions) for each in consumer.owned], consumer.epoch) == ([2], epoch)


async def test_after_a_load_a_consumer_is_made_to_come_by_a_new_connection(entry: Entry, name: str, topic: str) -> None:
    """CG-4: else Java's would go on asking by the old one until its session ends."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()
    epoch, coordinator = consumer.epoch, entry.gateway.groups
    assert isinstance(coordinator, Coordinator)
    for host in coordinator._hosts:
        host._fail()

    async def is_sent_away() -> bool:
        return bool((await consumer.beat()).error_code == ErrorCode.NOT_COORDINATOR)

    await until(is_sent_away, "it is told that it must come again")
    assert await consumer.client.read_frame() == b""
    consumer.client = await connect(await coordinator_port(entry.bootstrap, name))
    await consumer.has(2)
    assert consumer.epoch == epoch


async def test_one_description_is_enough_for_all_that_go_on_after_a_restart(
    entry: Entry, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KG-17: to describe a group takes as long as it has members."""
    port = await coordinator_port(entry.bootstrap, name)
    consumers = [await Consumer.at(entry.bootstrap, name, f"c{number}", topic) for number in range(5)]
    for consumer in consumers:
        await consumer.join()
        consumer.client = await connect(port)
    described, describe = [], entry.gateway.guarded.describe

    async def noted(request: Any) -> Any:
        described.append(request)
        return await describe(request)

    monkeypatch.setattr(entry.gateway.guarded, "describe", noted)
    await asyncio.gather(*(consumer.beat() for consumer in consumers))
    known = entry.gateway.topics._known
    await until(lambda: _returns(len(known.consumers()) == 10), "all are followed over their new connections, too")
    of_consumers = [each for each in described if isinstance(each, ConsumerGroupDescribeRequest)]
    assert len(of_consumers) <= 2, "one for all, and one for the sentinel's topics at most"


async def test_settings_of_consumers_are_kcoords(entry: Entry, name: str) -> None:
    """Rule 38: they count for the group here. The cluster has settings of those names too, which do not."""
    here = await connect(await coordinator_port(entry.bootstrap, name))
    there = await connect(await coordinator_port(entry.cluster, name))
    wanted = {"consumer.session.timeout.ms": "50000", "share.heartbeat.interval.ms": "7000"}
    answer = await ask(here, IncrementalAlterConfigsRequest([change(name, wanted)]))
    assert [each.error_message for each in answer.responses] == [None]

    async def values(client: Client) -> dict[str, list[str]]:
        [described] = (await ask(client, DescribeConfigsRequest([asked(name)]))).results
        found: dict[str, list[str]] = {}
        for each in described.configs:
            found.setdefault(each.name, []).append(each.value)
        return found

    ours, theirs = await values(here), await values(there)
    assert (ours["consumer.session.timeout.ms"], ours["share.heartbeat.interval.ms"]) == (["50000"], ["7000"])
    assert ours["consumer.migration.policy"] == ["bidirectional"]
    assert theirs["share.heartbeat.interval.ms"] == ["7000"]
    assert theirs["consumer.session.timeout.ms"] != ["50000"]
    assert {each for each in theirs if each.startswith("consumer.")} <= ours.keys()


async def test_a_static_consumer_that_comes_back_costs_the_cluster_nothing(entry: Entry, name: str, topic: str) -> None:
    """KG-19: nobody lost anything, so the sentinel's name stays."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    assert not (await consumer.beat(instance_id="one")).error_code
    before, owned = entry.sentinel(name).identity, consumer.owned
    consumer.epoch = -2
    assert not (await consumer.beat(instance_id="one")).error_code
    again = await Consumer.at(entry.bootstrap, name, "b", topic)
    assert not (await again.beat(instance_id="one")).error_code
    assert (again.owned, entry.sentinel(name).identity) == (owned, before)


async def test_a_description_names_members_and_topics(entry: Entry, name: str, topic: str) -> None:
    """KG-20."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()
    answer = await ask(consumer.client, ConsumerGroupDescribeRequest(group_ids=[name, f"no-{name}"]))
    ours, missing = answer.groups
    assert [each.member_id for each in ours.members] == ["a"]
    assert ours.members[0].assignment.topic_partitions[0].topic_name == topic
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND


async def test_a_group_that_the_cluster_itself_has_goes_on_there(entry: Entry, name: str, topic: str) -> None:
    """KG-18: its id matches `--groups`, but its members came by the brokers first."""
    there = await Consumer.at(entry.cluster, name, "there", topic)
    await there.join()
    there.client = await connect(await coordinator_port(entry.bootstrap, name))
    await there.has(2)
    [described] = (await ask(there.client, ConsumerGroupDescribeRequest(group_ids=[name]))).groups
    assert [each.member_id for each in described.members] == ["there"]
    by_kcoord = await Consumer.at(entry.bootstrap, name, "by-kcoord", topic)
    await by_kcoord.join()

    async def both_share() -> bool:
        for each in (there, by_kcoord):
            assert not (await each.beat(topic_partitions=each.owned)).error_code
        return sum(len(each.partitions) for each in by_kcoord.owned) == 1

    await until(both_share, "both share at the cluster")
    assert not entry.gateway.topics._known.consumers(), "kcoord does not look at topics for them"
    by_kcoord.epoch = -1
    assert not (await by_kcoord.beat()).error_code
    await there.has(2)


async def test_an_error_of_the_sentinel_alone_ends_no_member(
    entry: Entry, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upstream has forgotten the sentinel, and nobody else is in the group."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()
    entry.sentinel(name).mark = None

    async def is_fenced(*_args: object) -> ErrorCode:
        return ErrorCode.FENCED_INSTANCE_ID

    with monkeypatch.context() as patch:
        patch.setattr(Sentinel, "take", is_fenced)
        patch.setattr(Sentinel, "hold", is_fenced)
        assert not (await consumer.beat(topic_partitions=consumer.owned)).error_code
        assert ErrorCode((await consumer.beat(is_full=True)).error_code).retriable, "no partitions before it is back"
    await consumer.has(2)
    assert await consumer.commit(3) == ErrorCode.NONE


async def test_a_member_is_fenced_once_the_cluster_has_the_group(entry: Entry, name: str, topic: str) -> None:
    """KG-18: an admin removed the sentinel, and a classic consumer has all partitions now."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()
    direct = await connect(await coordinator_port(entry.cluster, name))
    removed = [MemberIdentity(group_instance_id="kcoord")]
    assert not (await ask(direct, LeaveGroupRequest(group_id=name, members=removed))).members[0].error_code
    joining = asyncio.create_task(ScriptedMember(direct, name).join())

    async def is_fenced() -> bool:
        return bool((await consumer.beat()).error_code == ErrorCode.FENCED_MEMBER_EPOCH)

    await until(is_fenced, "it must give up what it has")
    await joining
    consumer.epoch = 0
    assert (await consumer.beat(is_full=True)).error_code, "the cluster has another kind of group"


async def test_who_may_not_describe_a_topic_of_a_group_does_not_learn_its_name(
    entry: Entry, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KG-20."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()

    async def check(_session: object, names: frozenset[str]) -> None:
        raise TopicsRefused(f"topic {next(iter(names))} may not be described")

    monkeypatch.setattr(entry.gateway.topics, "check", check)
    [described] = (await ask(consumer.client, ConsumerGroupDescribeRequest(group_ids=[name]))).groups
    assert (described.error_code, described.members) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, [])
    assert topic not in described.error_message


@pytest.mark.parametrize(("whose", "software", "interval_ms"), SOFTWARE)
async def test_rule_10_and_25_clients_are_known_by_the_name_that_they_tell_the_cluster(
    kafka: KafkaCluster, tmp_path: Path, name: str, whose: str, software: str, interval_ms: int
) -> None:
    async with entries(kafka, tmp_path, at={}, count=1, shared=False, groups=SETTINGS, consumer_groups=True) as [entry]:
        consumer = await Consumer.at(entry.bootstrap, name, "a", "t")
        named = ApiVersionsRequest(client_software_name=software, client_software_version="1")
        assert (await ask(consumer.client, named, NAMED)).api_keys, "the cluster's answer comes as ever"
        await consumer.join()
        assert (await consumer.beat(is_full=True)).heartbeat_interval_ms == interval_ms, whose
        await close_all()


async def test_topics_of_a_refused_heartbeat_are_not_watched(entry: Entry, name: str, topic: str) -> None:
    """KG-17: nor is what the group goes by changed by them."""
    consumer = await Consumer.at(entry.bootstrap, name, "a", topic)
    await consumer.join()
    consumer.epoch += 7
    assert (await consumer.beat(subscribed_topic_names=["other"])).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert not entry.gateway.topics._known.consumers()
    consumer.epoch -= 7
    await consumer.has(2)
    await until(lambda: _returns(entry.gateway.topics._known.consumers()), "what the group knows is watched again")


@pytest.mark.parametrize(("kind", "watched"), [("consumer", 1), ("connect", 0)])
async def test_rule_26_of_members_that_are_no_consumers_nobody_looks_for_topics(
    kafka: KafkaCluster, tmp_path: Path, name: str, topic: str, kind: str, watched: int
) -> None:
    """What they say of themselves may happen to read like a subscription."""
    groups = attrs.evolve(QUICK, consumer=attrs.evolve(QUICK.consumer, classic_mode=ClassicMode.INDIVIDUAL))
    settings = {"consumer_groups": True, "topics_interval_ms": 200}
    async with entries(kafka, tmp_path, at={}, count=1, shared=False, groups=groups, **settings) as [entry]:
        await coordinator_port(entry.bootstrap, name)
        member = await entry.member(name, protocol_type=kind, metadata=subscription(topic))
        await member.join()
        assert len(entry.gateway.topics._known.consumers()) == watched
        await close_all()


async def _returns(value: object) -> object:
    return value


async def test_20_a_start_without_consumer_groups_says_whose_consumers_are_refused(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], name: str, topic: str
) -> None:
    front = start_kcoord(kafka, group_consumer_enable="true")
    consumer = await Consumer.at(front.bootstrap, name, "a" * 22, topic)
    await consumer.join()
    front.stop()
    front.settings = {each: value for each, value in front.settings.items() if each != "group.consumer.enable"}
    front.start()
    front.wait_for_line(f"(KIP-848) in 1 groups ({name}) are refused from now on")
    again = await Consumer.at(front.bootstrap, name, "a" * 22, topic)
    refused = await again.beat()
    assert ErrorCode(refused.error_code) == ErrorCode.UNSUPPORTED_VERSION
    assert str(refused.error_message).startswith(
        "the group is one of kcoord's consumer groups, which it does not serve"
    )
