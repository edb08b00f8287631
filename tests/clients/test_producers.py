"""Do producers that want no answer, consumers that wait long, and very large records pass through kcoord?"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import aiokafka
import confluent_kafka
import kafka as kafka_python
import pytest

from tests.clients.members import LIBRARIES, Member
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, front_of
from tests.kafka.topics import read_topic, write_topic
from tests.kafka.wait import eventually

VALUES = [f"v{n}" for n in range(40)]
MIB = 1024 * 1024
LARGE = 90 * MIB


def librdkafka(bootstrap: str, topic: str, values: Sequence[str]) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "acks": 0})
    for value in values:
        producer.produce(topic, value.encode())
    assert producer.flush(30) == 0


def of_kafka_python(bootstrap: str, topic: str, values: Sequence[str]) -> None:
    producer = kafka_python.KafkaProducer(bootstrap_servers=bootstrap, acks=0, enable_idempotence=False)
    for value in values:
        producer.send(topic, value.encode())
    producer.flush()
    producer.close()


def of_aiokafka(bootstrap: str, topic: str, values: Sequence[str]) -> None:
    async def produce() -> None:
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, acks=0) as producer:
            for value in values:
                await producer.send(topic, value.encode())
            await producer.flush()

    asyncio.run(produce())


@pytest.mark.parametrize("produce", [librdkafka, of_kafka_python, of_aiokafka])
def test_produce_without_an_answer(
    produce: Callable[[str, str, Sequence[str]], None], kafka: KafkaCluster, front: Front, topic: str
) -> None:
    confirmed = [f"before-{value}" for value in VALUES]
    write_topic(
        kafka, topic, confirmed
    )  # now the partitions' leader knows that it is: else it drops what wants no answer
    produce(front.bootstrap, topic, VALUES)
    eventually(lambda: sorted(read_topic(kafka, topic)) == sorted([*confirmed, *VALUES]), "all arrived")


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.library)
def test_fetch_that_waits_is_answered_when_there_is_something(
    library: type[Member], kafka: KafkaCluster, front: Front, name: str
) -> None:
    """The fetch would wait longer than the test does."""
    topic = kafka.create_topic(f"topic-{name}")
    wait = {"fetch_max_wait_ms": 300_000}
    options: dict[str, dict[str, int]] = {
        "librdkafka": {"fetch.wait.max.ms": 290_000, "socket.timeout.ms": 300_000},
        "kafka-python": {**wait, "request_timeout_ms": 310_000},
        "aiokafka": wait,
    }
    with library(front.bootstrap, name, [topic], options=options[library.library]) as member:
        member.wait_for_partitions(1)
        for value in VALUES[:3]:
            write_topic(kafka, topic, [value])
            member.wait_for_values({value})
        member.commit()
    assert kafka.committed(name) == {(topic, 0): 3}


def test_large_record(start_kafka: Callable[..., KafkaCluster], tmp_path: Path) -> None:
    limits = {"message.max.bytes": LARGE + MIB, "socket.request.max.bytes": LARGE + 2 * MIB}
    kafka = start_kafka(overrides=limits, heap_mb=800)
    front = front_of(kafka, tmp_path)
    kafka.create_topic("large")
    value = hashlib.sha256(b"kcoord").digest() * (LARGE // 32)
    try:
        at = {"bootstrap.servers": front.bootstrap, "socket.timeout.ms": 300_000}
        producer = confluent_kafka.Producer({**at, "message.max.bytes": LARGE + MIB, "request.timeout.ms": 120_000})
        producer.produce("large", value)
        assert producer.flush(120) == 0
        limits = {"fetch.max.bytes": LARGE + MIB, "receive.message.max.bytes": LARGE + 2 * MIB}
        consumer = confluent_kafka.Consumer({**at, "group.id": "large", **limits})
        consumer.assign([confluent_kafka.TopicPartition("large", 0, 0)])
        message = consumer.poll(120)
        assert message is not None
        assert message.value() == value
        consumer.close()
    finally:
        front.remove()
