"""What is in a topic? Read directly from Kafka, without a group."""

from collections.abc import Iterable

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from tests.kafka.cluster import KafkaCluster


def read_topic(cluster: KafkaCluster, topic: str, *, committed: bool = True) -> list[str]:
    """The values of all records that are in the topic now; with `committed` only those of committed transactions."""
    isolation = "read_committed" if committed else "read_uncommitted"
    settings = {
        "group.id": "not-joined",
        "enable.auto.commit": False,
        "isolation.level": isolation,
        "enable.partition.eof": True,
    }
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, **settings, **cluster.client().librdkafka()})
    try:
        partitions = consumer.list_topics(topic, timeout=120).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
        open_ends = set(partitions)
        values: list[str] = []
        while open_ends:
            message = consumer.poll(120)
            assert message is not None, f"no more records of {topic}, whose end was not reached"
            error = message.error()
            if error is None:
                values.append((message.value() or b"").decode())
            elif error.code() == error._PARTITION_EOF:
                open_ends.discard(message.partition())
            else:
                raise AssertionError(f"reading {topic}: {error}")
        return values
    finally:
        consumer.close()


def write_topic(cluster: KafkaCluster, topic: str, values: Iterable[str]) -> None:
    """Add records to the topic, spread over its partitions, and wait until Kafka has them."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0, **cluster.client().librdkafka()})
    for number, value in enumerate(values):
        producer.produce(topic, value.encode(), key=str(number).encode())
    assert producer.flush(120) == 0, f"{topic} did not take all records"
