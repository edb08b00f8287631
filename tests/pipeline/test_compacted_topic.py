"""What does Spark make of a topic as Kafka keeps it: compacted, so with holes, with a transaction that was aborted, and
one that is open still?
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from kcoord.log.kafka.history import TopicHistory
from kcoord.pipeline.history.entry import Entry
from kcoord.pipeline.schemas import AUDIT, EPOCHS, OWNERSHIP, QUARANTINE, RECORDS, SESSIONS
from kcoord.pipeline.spark.history import Outcome, run_batch, run_stream
from kcoord.pipeline.spark.sources import TopicSource
from kcoord.pipeline.spark.store import Store
from kcoord.protocol.records import decode_record
from tests.gateway.scripted import until
from tests.group.connect.world import GROUP
from tests.kafka.cluster import KafkaCluster
from tests.log.places import PARTITIONS, Topic, opened
from tests.pipeline.on_topic import raw
from tests.pipeline.spark import read, read_all
from tests.pipeline.story import ALL, entries, fleet_of_two, home, tables
from tests.pipeline.test_history import current, said_by_w9

BROKER = {"log.cleaner.backoff.ms": 100}
KIND = {
    "cleanup.policy": "compact",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "500",
    "min.cleanable.dirty.ratio": "0.001",
    "delete.retention.ms": "100",
    "segment.ms": "300",
    "max.message.bytes": "33554432",
}
KEPT = {"min.compaction.lag.ms": "86400000", "max.compaction.lag.ms": "9223372036854775807"}
TWICE = raw([said_by_w9(), current("W9", "AT1", 3)])
"""A second owner: the audit would find it."""


@attrs.frozen
class Compacted:
    """The topic, what is left in it, and how many records were written."""

    topic: Topic
    left: list[Entry]
    written: int


async def _write(producer: AIOKafkaProducer, topic: str, records: list[tuple[bytes, bytes | None]]) -> None:
    await producer.begin_transaction()
    for key, value in records:
        await producer.send_and_wait(topic, value, key, partition=home(GROUP))


async def _left(topic: Topic) -> list[Entry]:
    async with TopicHistory(topic.settings()) as history:
        found = [each async for step in history.read(home(GROUP)) for each in step]
    return [Entry(each.partition, each.position, each.at_ms, decode_record(each.key, each.value)) for each in found]


async def _play(topic: Topic, producer: AIOKafkaProducer) -> Compacted:
    """The small fleet, in its middle what was undone; then W2 goes on until the beginning is compacted away."""
    steps = [raw(records) for _, records in fleet_of_two().written]
    written = sum(map(len, steps))
    async with opened(topic.make(), home(GROUP)) as log:
        for step in steps[:-1]:
            await log.append(home(GROUP), step)
        await _write(producer, topic.name, TWICE)
        await producer.abort_transaction()
        await log.append(home(GROUP), steps[-1])

        async def compacted() -> bool:
            nonlocal written
            written += 1
            await log.append(home(GROUP), raw([current("W2", ALL, 3)]))
            return len(await _left(topic)) < written - 20

        await until(compacted, "the topic is compacted", every_s=0.2)
    resource = ConfigResource(ResourceType.TOPIC, topic.name)
    resource.incremental_configs = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in KEPT.items()
    ]
    admin = topic.cluster.admin()  # its futures end with it
    [altered] = admin.incremental_alter_configs([resource]).values()
    await asyncio.to_thread(altered.result, 30)
    last: list[Entry] = []

    async def stands() -> bool:
        nonlocal last
        before, last = last, await _left(topic)
        return bool(last) and before == last

    await until(stands, "nothing more is compacted", every_s=2)
    return Compacted(topic, last, written)


@pytest.mark.proof  # Kafka compacts when it likes
def test_what_is_left_is_read_and_nothing_that_was_not_committed(
    start_kafka: Callable[..., KafkaCluster], spark: Any, tmp_path: Path
) -> None:
    cluster = start_kafka(overrides=BROKER)
    topic = Topic(cluster)
    cluster.create_topic(topic.name, PARTITIONS, KIND)

    async def story() -> Compacted:
        producer = AIOKafkaProducer(
            bootstrap_servers=cluster.bootstrap, transactional_id="somebody-else", transaction_timeout_ms=900_000
        )
        await producer.start()
        try:
            found = await _play(topic, producer)
            await _write(producer, topic.name, TWICE)  # and leaves it open
            await asyncio.to_thread(_must_hold, found, spark, tmp_path)
            await producer.abort_transaction()
        finally:
            await producer.stop()
        return found

    asyncio.run(story())


def _must_hold(found: Compacted, spark: Any, tmp_path: Path) -> None:
    source = TopicSource.look(found.topic.settings())
    place = tmp_path / "batch"
    assert run_batch(Store(spark, str(place)), source) == Outcome(len(found.left), 0, 0)
    assert sorted(row["offset"] for row in read(place, RECORDS)) == [each.offset for each in found.left]
    offsets = [each.offset for each in found.left]
    assert len(offsets) < offsets[-1], "there are holes"
    expected = tables(found.left)
    for table, columns in {
        EPOCHS: ("epoch", "offset", "reason"),
        SESSIONS: ("member_id", "from_offset", "to_offset", "whole"),
        OWNERSHIP: ("member_id", "connector", "task", "from_offset", "to_offset", "ended", "whole"),
    }.items():
        assert sorted(tuple(row[each] for each in columns) for row in read(place, table)) == sorted(
            tuple(row[each] for each in columns) for row in expected[table.name]
        ), table.name
    assert read(place, AUDIT) == read(place, QUARANTINE) == []
    streamed = tmp_path / "stream"
    run_stream(Store(spark, str(streamed)), source, at_once=25)
    assert read_all(streamed) == read_all(place)


def test_the_forged_owner_would_be_found() -> None:
    """Or the test above would prove nothing of what was undone."""
    story = fleet_of_two().written
    forged = [said_by_w9(), current("W9", "AT1", 3)]
    assert "audit" in tables(entries([*story, (story[-1][0] + 5, forged)]))
