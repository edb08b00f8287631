"""Does kcoord keep its promises to classic consumers in a consumer group, in front of a cluster, request by request?

A consumer of the new protocol shares the group, so the group has no generation that holds for all (KG-17 to KG-24).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest
from confluent_kafka.admin import NewPartitions

from kcoord.group.state.connect_settings import MigrationPolicy
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.consumer_embedded import decode_assignment, encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import OffsetCommitRequest
from kcoord.server.shards.coordinator import Coordinator
from tests.gateway.entries import SETTINGS, Entry, entries
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, subscription, until
from tests.gateway.test_consumer_groups import Consumer
from tests.kafka.cluster import KafkaCluster

NONE, REBALANCE = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS
VERSION = 0
AT_ONCE = attrs.evolve(SETTINGS, consumer=ConsumerSettings(heartbeat_wait_ms=0))
"""No answer waits for news."""


@pytest.fixture
async def entry(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[Entry]:
    """kcoord alone in front of the cluster."""
    settings = {"consumer_groups": True, "topics_interval_ms": 200}
    async with entries(kafka, tmp_path, at={}, count=1, shared=False, groups=AT_ONCE, **settings) as [entry]:
        yield entry


@pytest.fixture
async def topic(kafka: KafkaCluster, name: str) -> str:
    """A topic of two partitions."""
    return await asyncio.to_thread(kafka.create_topic, f"t-{name}", 2)


@attrs.define(eq=False)
class Classic(ScriptedMember):
    """A classic consumer of one topic: eager, so it lets everything go when it joins."""

    topic: str = ""
    has: frozenset[int] = frozenset()

    @classmethod
    async def of(cls, bootstrap: str, group: str, topic: str, instance: str | None = None) -> Classic:
        client = await connect(await coordinator_port(bootstrap, group))
        return cls(client, group, metadata=subscription(topic), instance=instance, topic=topic)

    async def come(self) -> frozenset[int]:
        """Join and sync, and again while it is called; what it has then. A leader has two partitions."""
        self.has = frozenset()

        async def attempt() -> bool:
            await self.join()
            given = {self.member_id: encode_assignment(VERSION, {self.topic: [0, 1]})} if self.leads else {}
            synced = await self.sync(given)
            error = ErrorCode(synced.error_code)
            assert error in (NONE, REBALANCE) or error.retriable, error.name
            if not error:
                self.has = frozenset(number for _, number in decode_assignment(synced.assignment).partitions)
            return not error

        await until(attempt, "it has joined and synced")
        return self.has

    async def called(self) -> None:
        """Wait until a heartbeat calls it."""

        async def attempt() -> bool:
            return await self.heartbeat() is REBALANCE

        await until(attempt, "it is called")


async def shared(entry: Entry, group: str, topic: str) -> tuple[Classic, Consumer]:
    """A classic consumer that had the group alone, and one of the new protocol: a partition each."""
    classic = await Classic.of(entry.bootstrap, group, topic)
    assert await classic.come() == {0, 1}
    new = await Consumer.at(entry.bootstrap, group, "new", topic)
    await new.join()
    assert new.owned == []
    assert await classic.commit(topic, 5) is NONE, "the generation that it knows is valid still"
    await classic.called()
    assert len(await classic.come()) == 1
    await new.has(1)
    return classic, new


async def test_a_group_is_upgraded_and_becomes_a_classic_one_again(entry: Entry, name: str, topic: str) -> None:
    """KG-23, KG-24: whatever generation a member knows, its commits land."""
    classic, new = await shared(entry, name, topic)
    known = classic.generation
    new.epoch = -1
    assert not (await new.beat()).error_code
    await classic.called()
    number = next(iter(classic.has))
    partition = OffsetCommitRequestPartition(partition_index=number, committed_offset=7)
    named = [OffsetCommitRequestTopic(name=topic, partitions=[partition])]
    commit = OffsetCommitRequest(name, known, classic.member_id, topics=named)
    answer = await ask(classic.client, commit, 8)
    assert ErrorCode(answer.topics[0].partitions[0].error_code) is NONE
    assert await classic.come() == {0, 1}
    assert classic.leads
    assert await classic.commit(topic, 9) is NONE


async def test_who_was_only_given_an_id_joins_with_it(entry: Entry, name: str, topic: str) -> None:
    """KG-23: both kinds start at once, and neither is refused."""
    classic = await Classic.of(entry.bootstrap, name, topic)
    told = await classic.try_join()
    assert told.error_code == ErrorCode.MEMBER_ID_REQUIRED
    new = await Consumer.at(entry.bootstrap, name, "new", topic)
    await new.join()
    await new.has(2)
    classic.member_id = told.member_id
    assert await classic.come() == frozenset()
    await new.has(1)
    assert not (await new.beat(topic_partitions=new.owned)).error_code, "it has let go"
    await classic.called()
    assert len(await classic.come()) == 1


async def test_who_was_replaced_commits_nothing_once_another_has_its_partitions(
    entry: Entry, name: str, topic: str
) -> None:
    """KG-19: the process before it has not left, and its commit may be on its way under the sentinel's name of then."""
    new = await Consumer.at(entry.bootstrap, name, "new", f"no-{topic}")
    await new.join()
    gone = await Classic.of(entry.bootstrap, name, topic, "one")
    assert await gone.come() == {0, 1}
    direct = await connect(await coordinator_port(entry.cluster, name))
    former = [entry.sentinel(name).identity]

    async def under_the_former_name() -> ErrorCode:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
        named = [OffsetCommitRequestTopic(name=topic, partitions=[partition])]
        late = OffsetCommitRequest(name, former[0].generation, former[0].member_id, "kcoord", topics=named)
        return ErrorCode((await ask(direct, late, 9)).topics[0].partitions[0].error_code)

    for _ in range(2):  # the second time in the same group epoch
        former[0] = entry.sentinel(name).identity
        assert await under_the_former_name() is NONE
        heir = await Classic.of(entry.bootstrap, name, topic, "one")
        assert await heir.come() == {0, 1}
        assert await under_the_former_name() is not NONE
        assert await heir.commit(topic, 9) is NONE


async def test_it_hears_of_new_partitions_also_over_a_new_connection(
    kafka: KafkaCluster, entry: Entry, name: str, topic: str
) -> None:
    """KG-17: a heartbeat does not say what its sender subscribes to. The group knows."""
    new = await Consumer.at(entry.bootstrap, name, "new", f"no-{topic}")
    await new.join()
    classic = await Classic.of(entry.bootstrap, name, topic)
    assert await classic.come() == {0, 1}
    await classic.close()
    classic.client = await connect(await coordinator_port(entry.bootstrap, name))
    assert await classic.heartbeat() is NONE
    admin = kafka.admin()  # its futures end with it
    await asyncio.to_thread(admin.create_partitions([NewPartitions(topic, 3)])[topic].result, 60)
    await classic.called()
    assert await classic.come() == {0, 1, 2}
    assert await classic.leave() is NONE
    followed = [names.topics for _, names in entry.gateway.topics._known.consumers()]
    assert frozenset({topic}) not in followed, "nobody subscribes to it any more"


async def test_an_upgrade_goes_on_after_a_load(entry: Entry, name: str, topic: str) -> None:
    """What the group goes by is a record, and each goes on with what it knows."""
    classic, new = await shared(entry, name, topic)
    coordinator = entry.gateway.groups
    assert isinstance(coordinator, Coordinator)
    for host in coordinator._hosts:
        host._fail()
    number = next(iter(classic.has))

    async def goes_on() -> bool:
        error = await classic.heartbeat()
        assert error is NONE or error.retriable, error.name
        return error is NONE

    classic.client = await connect(await coordinator_port(entry.bootstrap, name))
    await until(goes_on, "its heartbeats are answered")
    new.client = await connect(await coordinator_port(entry.bootstrap, name))
    await new.has(1)
    assert [number, *new.owned[0].partitions] in ([0, 1], [1, 0])


async def test_a_policy_that_forbids_it_is_told(kafka: KafkaCluster, tmp_path: Path, name: str, topic: str) -> None:
    """KG-23: the client reads why, and what to set."""
    consumer = attrs.evolve(AT_ONCE.consumer, migration_policy=MigrationPolicy.DISABLED)
    groups = attrs.evolve(AT_ONCE, consumer=consumer)
    async with entries(kafka, tmp_path, at={}, count=1, shared=False, groups=groups, consumer_groups=True) as [entry]:
        classic = await Classic.of(entry.bootstrap, name, topic)
        await classic.come()
        refused = await (await Consumer.at(entry.bootstrap, name, "new", topic)).beat()
        assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert "its migration policy is disabled: set group.protocol=classic" in str(refused.error_message)
        assert await classic.heartbeat() is NONE
