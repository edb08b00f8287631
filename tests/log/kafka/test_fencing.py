"""Who has a partition, when two think that they do?"""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AsyncExitStack

import pytest
from confluent_kafka import Producer

from kcoord.log.clock import lease_now_ms
from kcoord.log.interface import AppendFailed, PartitionLost
from tests.kafka.cluster import KafkaCluster
from tests.log.places import Topic, loaded, opened


async def test_who_loads_takes_over_and_the_elder_can_write_nothing_more(kafka: KafkaCluster) -> None:
    topic = Topic(kafka)
    async with opened(topic.make(), 0, 1) as predecessor, opened(topic.make()) as successor:
        await predecessor.append(0, [(b"a", b"predecessor")])
        assert await loaded(successor) == [(b"a", b"predecessor")]
        with pytest.raises(PartitionLost, match=f"partition 0 of topic {topic.name} was taken over by another"):
            await predecessor.append(0, [(b"a", b"zombie")])
        assert predecessor.lease(0).until_ms < lease_now_ms()
        await predecessor.append(1, [(b"b", b"predecessor")])  # its other partitions are still its own
        await successor.append(0, [(b"c", b"successor")])
        assert await loaded(successor) == [(b"a", b"predecessor"), (b"c", b"successor")]


async def test_a_tick_shows_that_a_partition_was_lost(kafka: KafkaCluster) -> None:
    """CG-27: a commit that succeeds proves that nobody had fenced it, one that does not the rest."""
    topic = Topic(kafka)
    async with opened(topic.make(), 0) as predecessor, opened(topic.make(), 0):
        assert predecessor.lease(0).until_ms > lease_now_ms()  # it cannot know yet: this is what the lease is for
        with pytest.raises(PartitionLost):
            await predecessor.tick(0)
        assert predecessor.lease(0).until_ms < lease_now_ms()


async def test_all_that_waits_behind_a_fence_fails(kafka: KafkaCluster) -> None:
    topic = Topic(kafka)
    async with opened(topic.make(), 0) as predecessor, opened(topic.make(), 0) as successor:
        first = predecessor.append(0, [(b"a", b"1")])
        await asyncio.sleep(0)
        behind = [predecessor.append(0, [(b"%d" % n, b"1")]) for n in range(10)]
        with pytest.raises(PartitionLost):
            await first
        for each in behind:
            with pytest.raises(PartitionLost):
                await each
        with pytest.raises(AppendFailed, match="must be loaded again first"):
            await predecessor.append(0, [(b"a", b"2")])
        assert await loaded(successor) == []


async def test_a_partition_goes_to_and_fro(kafka: KafkaCluster) -> None:
    """Whatever is acknowledged is there for the next owner, however they fight for the partition."""
    topic = Topic(kafka)
    acknowledged: list[bytes] = []

    async def fight(name: bytes, stack: AsyncExitStack) -> None:
        log = await stack.enter_async_context(opened(topic.make()))
        for turn in range(8):
            with contextlib.suppress(AppendFailed):  # it was lost, or an answer did not come in time
                await loaded(log)
                for n in range(20):
                    key = b"%s-%d-%d" % (name, turn, n)
                    await log.append(0, [(key, b"1"), (key + b"'", b"2")])
                    acknowledged.append(key)

    async with AsyncExitStack() as stack:
        await asyncio.gather(*(fight(name, stack) for name in (b"x", b"y", b"z")))
    async with opened(topic.make()) as log:
        found = [key for key, _ in await loaded(log)]
    assert set(acknowledged) <= set(found)
    assert acknowledged == [key for key in found if key in set(acknowledged)]
    halves = [key.rstrip(b"'") for key in found]
    assert halves[::2] == halves[1::2], "each step is there whole or not at all"


async def test_what_an_elder_left_open_is_undone(kafka: KafkaCluster) -> None:
    topic = Topic(kafka)
    async with opened(topic.make(), 0) as log:
        await log.append(0, [(b"a", b"1")])
    predecessor = _transaction(kafka, topic, f"{topic.name}-0")
    async with opened(topic.make()) as successor:
        assert await loaded(successor) == [(b"a", b"1")]
        await successor.append(0, [(b"b", b"1")])
        assert await loaded(successor) == [(b"a", b"1"), (b"b", b"1")]
    del predecessor


async def test_a_foreign_transaction_hides_nothing(kafka: KafkaCluster, caplog: pytest.LogCaptureFixture) -> None:
    """Behind a transaction that somebody else has open the broker shows nothing as committed: the load waits."""
    topic = Topic(kafka)
    async with opened(topic.make(), 0) as log:
        await log.append(0, [(b"a", b"1")])
        foreigner = _transaction(kafka, topic, f"somebody-else-{topic.name}")
        await log.append(0, [(b"b", b"1")])
        loading = asyncio.create_task(loaded(log))
        while "waits for a transaction that is open there" not in caplog.text:
            await asyncio.sleep(0.05)
        assert not loading.done()
        await asyncio.to_thread(foreigner.abort_transaction, 30)
        assert await loading == [(b"a", b"1"), (b"b", b"1")]


def _transaction(cluster: KafkaCluster, topic: Topic, transactional_id: str) -> Producer:
    """Somebody with a record written in a transaction that is open."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": transactional_id})
    producer.init_transactions(120)
    producer.begin_transaction()
    producer.produce(topic.name, b"open", key=b"open", partition=0)
    assert producer.flush(30) == 0
    return producer
