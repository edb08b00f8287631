"""Does a topic tell when nobody coordinated a partition of it?"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

from confluent_kafka import Producer

from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.silent_times import SPARE_MS, silences
from tests.kafka.cluster import KafkaCluster
from tests.log.places import PARTITIONS, Topic, opened

HOUR_MS = 3_600_000
LEASE_MS = 5_000


def written(kafka: KafkaCluster, topic: Topic, partition: int, *times_ms: int) -> None:
    """Records of these times, each in a batch of its own."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for at_ms in times_ms:
        producer.produce(topic.name, b"value", b"key", partition, timestamp=at_ms)
        assert producer.flush(60) == 0


async def test_a_silence_longer_than_the_lease_is_found_and_no_other(kafka: KafkaCluster) -> None:
    """Partition 1 has two of them, and a last sign that nothing follows; partition 2 is never silent for long."""
    topic = Topic(kafka)
    async with opened(topic.make()):
        pass
    now_ms = time.time_ns() // 1_000_000
    began_ms, most_ms = now_ms - HOUR_MS, LEASE_MS + SPARE_MS
    first, second, third = began_ms + most_ms, began_ms + 2 * most_ms + 1, began_ms + 2 * most_ms + 61_001
    await asyncio.to_thread(written, kafka, topic, 1, began_ms, first, second, third)
    await asyncio.to_thread(written, kafka, topic, 2, *range(began_ms, began_ms + 30_000, LEASE_MS))
    found = await silences(topic.settings(lease_ms=LEASE_MS), now_ms)
    assert found == [(1, first, second), (1, second, third)]
    late = topic.settings(lease_ms=LEASE_MS, history_retention_ms=now_ms - second)
    assert await silences(late, now_ms) == [(1, second, third)], "compaction may have taken what was before"
    assert not await silences(topic.settings(lease_ms=LEASE_MS, history_retention_ms=1_000), now_ms)


async def test_ticks_are_signs_of_life(kafka: KafkaCluster) -> None:
    """A tick leaves nothing to read, and is seen all the same."""
    topic = Topic(kafka)
    async with opened(topic.make(), *range(PARTITIONS)) as log:
        await log.append(0, [(b"key", b"value")])
        for _ in range(3):
            await log.tick(0)
    async with TopicHistory(topic.settings()) as history:
        records = [each async for step in history.read(0) for each in step]
        async with aclosing(history.signs(0, 0)) as signs:
            times = [each async for each in signs]
        async with aclosing(history.signs(0, times[-1] + HOUR_MS)) as none:
            assert [each async for each in none] == []
    assert len(records) == 1
    assert len(times) >= len(records) + 1 + 3, "the record, its transaction's end, and three ticks"
    assert times == sorted(times)
