"""How is a scenario of a consumer group played twice, against a broker and against a shard?"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from kcoord.group.state.topic import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, MetadataRequest
from tests.gateway.scripted import ask, connect, coordinator_port, until
from tests.group.consumer.sides import V1, Group, KafkaSide, OurSide
from tests.kafka.cluster import KafkaCluster

G = TypeVar("G", bound=Group)

COUNTS = {"A": 4, "B": 2}
"""The topics, and how many partitions each has."""


def broker_with_topics(start_kafka: Callable[..., KafkaCluster], interval_ms: int = 0) -> KafkaCluster:
    """A broker with these topics. `interval_ms`: the shortest time between two assignments."""
    settings = {"group.consumer.assignment.interval.ms": interval_ms, "group.initial.rebalance.delay.ms": 0}
    cluster = start_kafka(overrides=settings)
    for name, count in COUNTS.items():
        cluster.create_topic(name, count)
    return cluster


async def play(
    scenario: Callable[[G], Awaitable[None]], kind: type[G], broker: KafkaCluster, interval_ms: int = 0
) -> None:
    """Play the scenario on both sides, and compare all answers."""
    metadata = await ask(await connect(broker.bootstrap), MetadataRequest(topics=None))
    known = [Topic(each.name, each.topic_id, COUNTS[each.name]) for each in metadata.topics if each.name in COUNTS]
    names = {each.id: each.name for each in known}
    group_id = f"{scenario.__name__}-{uuid.uuid4()}"
    kafka = KafkaSide(await connect(await coordinator_port(broker.bootstrap, group_id)))
    await until(partial(_is_served, kafka, group_id), "the group's partition is loaded")
    theirs, ours = kind(kafka, group_id, names), kind(OurSide(known, interval_ms), group_id, names)
    await scenario(theirs)
    await scenario(ours)
    for at, (our, their) in enumerate(zip(ours.seen, theirs.seen, strict=True)):
        assert our == their, f"answer {at + 1}"


async def _is_served(kafka: KafkaSide, group_id: str) -> bool:
    told = await kafka.answer(ConsumerGroupHeartbeatRequest(group_id, "nobody", 1), V1)
    return bool(told.error_code == ErrorCode.GROUP_ID_NOT_FOUND)
