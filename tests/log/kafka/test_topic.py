"""What is the topic like that kcoord makes, and which are refused?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType

from kcoord.log.interface import AppendFailed, LogIncompatible, LogUnusable
from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.log.kafka.topic import configs_of
from tests.kafka.cluster import KafkaCluster
from tests.log.places import Topic, loaded, opened

COMPACT = {"cleanup.policy": "compact"}


async def test_a_topic_that_is_missing_is_made(kafka: KafkaCluster) -> None:
    """As docs/log.md says, "What it is like"."""
    topic = Topic(kafka)
    async with opened(topic.make(history_retention_ms=123_456)):
        pass
    assert len(kafka.admin().list_topics(topic.name, timeout=120).topics[topic.name].partitions) == 4
    assert _configs(kafka, topic) >= {
        ("cleanup.policy", "compact"),
        ("min.compaction.lag.ms", "123456"),
        ("max.message.bytes", str(32 << 20)),
    }


async def test_instances_that_start_at_once_make_one_topic(kafka: KafkaCluster) -> None:
    topic = Topic(kafka)

    async def start(partition: int) -> None:
        async with opened(topic.make(), partition) as log:
            await log.append(partition, [(b"a", b"1")])

    await asyncio.gather(*map(start, range(4)))


@pytest.mark.parametrize(
    ("brokers", "wanted", "copies", "in_sync"),
    [(1, None, 1, None), (2, None, 2, None), (3, None, 3, "2"), (7, None, 3, "2"), (7, 5, 5, "2"), (3, 1, 1, None)],
)
def test_how_many_replicas(brokers: int, wanted: int | None, copies: int, in_sync: str | None) -> None:
    made, configs = configs_of(KafkaLogSettings(bootstrap="kafka:9092", replication_factor=wanted), brokers)
    assert (made, configs.get("min.insync.replicas")) == (copies, in_sync)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "has cleanup.policy=delete: its old records are deleted, and groups with them. .* log.topic"),
        ({"cleanup.policy": "compact,delete"}, r"has cleanup.policy=(compact,delete|delete,compact): its old records"),
        ({**COMPACT, "compression.type": "zstd"}, "has compression.type=zstd, which needs the Python package cramjam"),
    ],
)
async def test_a_topic_of_another_kind_is_refused(kafka: KafkaCluster, config: dict[str, str], says: str) -> None:
    topic = Topic(kafka)
    kafka.create_topic(topic.name, 4, config)
    with pytest.raises(LogIncompatible, match=f"topic {topic.name} {says}"):
        async with opened(topic.make()):
            pass


async def test_another_number_of_partitions_is_refused(kafka: KafkaCluster) -> None:
    topic = Topic(kafka)
    kafka.create_topic(topic.name, 3, COMPACT)
    with pytest.raises(LogIncompatible, match=r"has 3 partitions, and offsets.topic.num.partitions=4 is set"):
        async with opened(topic.make()):
            pass


async def test_a_name_that_no_topic_can_have(kafka: KafkaCluster) -> None:
    with pytest.raises(LogUnusable, match="topic a/b cannot be made: INVALID_TOPIC_EXCEPTION"):
        async with opened(Topic(kafka, "a/b").make()):
            pass


async def test_more_replicas_than_brokers(kafka: KafkaCluster) -> None:
    with pytest.raises(LogUnusable, match=r"cannot be made: INVALID_REPLICATION_FACTOR .*: 4 partitions, 3 replicas, "):
        async with opened(Topic(kafka).make(replication_factor=3)):
            pass


async def test_records_larger_than_the_topic_takes_are_compressed_or_refused(
    kafka: KafkaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """A group of 5,000 members has one record with all of them; a topic that somebody made takes 1 MiB."""
    topic = Topic(kafka)
    kafka.create_topic(topic.name, 4, COMPACT)
    async with opened(topic.make(), 0) as log:
        assert f"topic {topic.name} takes messages of 1048588 bytes only (max.message.bytes)" in caplog.text
        members = b"".join(b"member-%d-%s of host 10.0.0.1 " % (n, os.urandom(4).hex().encode()) for n in range(50_000))
        assert len(members) > 1 << 20
        records = [(b"before", b"1"), (b"group", members), (b"after", b"1")]
        await log.append(0, records)
        assert await loaded(log) == records
        noise = log.append(0, [(b"noise", os.urandom(2 << 20))])
        with pytest.raises(AppendFailed, match=r"2\d+ bytes when compressed, and the topic takes 1048588; raise"):
            await noise
        with pytest.raises(AppendFailed, match="must be loaded again first"):
            await log.append(0, records)
        assert await loaded(log) == records


async def test_compaction_takes_nothing_that_counts(start_kafka: Callable[..., KafkaCluster]) -> None:
    """The topic's own settings made small: segments roll and are compacted while kcoord writes and ticks."""
    cluster = start_kafka(
        overrides={
            "log.cleaner.backoff.ms": 50,
            "log.cleaner.min.cleanable.ratio": 0.01,
            "log.segment.delete.delay.ms": 100,
            "log.cleaner.delete.retention.ms": 100,
        }
    )
    topic = Topic(cluster)
    kind = {**COMPACT, "segment.ms": "200", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "100"}
    cluster.create_topic(topic.name, 4, {**kind, "segment.bytes": str(1 << 20)})
    live: dict[bytes, bytes] = {}
    async with opened(topic.make(), 0) as log:
        written, kept = 0, 0
        while written < 600 or kept > written // 2:  # until most of what was written is gone
            for _ in range(50):
                key, value = b"%d" % (written % 23), None if written % 7 == 3 else b"%d" % written
                live.pop(key, None)
                if value is not None:
                    live[key] = value
                await log.append(0, [(key, value), (b"other", b"%d" % written)])
                await log.tick(0)
                written += 1
            await asyncio.sleep(0.2)
            assert dict(await loaded(log)) == {**live, b"other": b"%d" % (written - 1)}
            async with TopicHistory(topic.settings()) as history:
                kept = sum([len(entries) async for entries in history.read(0)])


def _configs(cluster: KafkaCluster, topic: Topic) -> set[tuple[str, str | None]]:
    admin = cluster.admin()  # its futures end with it
    [answer] = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic.name)]).values()
    return {(name, entry.value) for name, entry in answer.result(120).items()}
