"""Record batches for scripted Produce requests, made by aiokafka's encoder."""

import time

from aiokafka.record.default_records import DefaultRecordBatchBuilder

from kcoord.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kcoord.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kcoord.protocol.messages import FetchRequest, ProduceRequest

WITH_TOPIC_ID_FETCH, WITH_TOPIC_ID_PRODUCE = 13, 13
"""The first versions that name topics by id."""


def batch(*values: bytes) -> bytes:
    """One record batch with these values, of this moment: a broker deletes old ones by its retention."""
    now_ms = time.time_ns() // 1_000_000
    room = sum(len(value) for value in values) + 1000
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
        batch_size=room,
    )  # fmt: skip
    for offset, value in enumerate(values):
        builder.append(offset, timestamp=now_ms, key=None, value=value, headers=[])
    return bytes(builder.build())


def produce(
    topic: str, records: bytes, *, acks: int = 1, partition: int = 0, topic_id: bytes = bytes(16)
) -> ProduceRequest:
    """One batch for one partition; by name until version 12, by id from 13 on."""
    data = PartitionProduceData(index=partition, records=records)
    topics = [TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=10_000, topic_data=topics)


def fetch(
    topic: str,
    *,
    partitions: tuple[int, ...] = (0,),
    offset: int = 0,
    max_wait_ms: int = 0,
    max_bytes: int = 1 << 30,
    topic_id: bytes = bytes(16),
) -> FetchRequest:
    """Records of one topic; by name until version 12, by id from 13 on."""
    wanted = [
        FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=max_bytes) for number in partitions
    ]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1 if max_wait_ms else 0,
        max_bytes=max_bytes,
        topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=wanted)],
    )
