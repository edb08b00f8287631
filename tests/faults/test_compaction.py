"""Does everything stay while Kafka compacts the topic all the time? Small segments, no lag, tombstones soon gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.faults.instances import PARTITIONS, loaded
from tests.faults.length import rounds
from tests.kafka.cluster import KafkaCluster
from tests.kafka.wait import NotYet, eventually

TOPIC = {
    "cleanup.policy": "compact",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "500",
    "min.cleanable.dirty.ratio": "0.001",
    "delete.retention.ms": "100",
    "segment.ms": "500",
    "max.message.bytes": "33554432",
}
BROKER = {"log.cleaner.backoff.ms": 100}


@pytest.mark.proof
async def test_the_topic_is_compacted_all_the_time(start_kafka: Callable[..., KafkaCluster], tmp_path: Path) -> None:
    kafka = start_kafka(overrides=BROKER)
    topic = kafka.create_topic("compacted", PARTITIONS, TOPIC)
    async with loaded(kafka, tmp_path, settings={"log.topic": topic}, reload=True) as (all_, on):
        for _ in range(rounds(1, 20)):
            await on.go_on(60)
            owner = await all_.owner(on.load.groups[0].onlooker.caller.group)
            owner.kill()
            await all_.start(owner)
        await asyncio.to_thread(eventually, lambda: _was_compacted(kafka, topic), f"{topic} was compacted")


def _was_compacted(kafka: KafkaCluster, topic: str) -> bool:
    """Whether records are missing: the first offset that is left in a partition is not its first."""
    settings = {"group.id": "not-joined", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, **settings})
    try:
        gone = 0
        for number in range(PARTITIONS):
            partition = TopicPartition(topic, number, 0)
            low, high = consumer.get_watermark_offsets(partition, timeout=120)
            if high > low:
                consumer.assign([partition])
                message = consumer.poll(5)
                gone += 1 if message is None else message.offset() or 0  # None: nothing but markers is left
        if not gone:
            raise NotYet("the first records of all partitions are there")
        return True
    finally:
        consumer.close()
