"""Do several instances serve consumer groups as one kcoord, also when one dies? (KG-17, KG-19, GW-21)

Each group has two consumers. In every other one of the first fleet one of the two speaks the classic protocol (KG-21,
KG-23). The second fleet has classic consumers only, which are led one by one (KG-26).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import NewPartitions

from tests.clients.consumer_group_settings import SETTINGS
from tests.clients.members import Librdkafka, Member
from tests.clients.test_consumers_alone import NEW_PROTOCOL, wait_until_shared
from tests.gateway.fleet import Fleet, fleet
from tests.kafka.cluster import KafkaCluster
from tests.kafka.topics import write_topic
from tests.kafka.wait import eventually

OTHER_THAN_THE_CLUSTERS = 7
"""Partitions of offsets: owners are not where clients come by."""
GROUPS = 8
CLASSIC = {"partition.assignment.strategy": "cooperative-sticky"}


PAIRS = {"barrier": ((CLASSIC, NEW_PROTOCOL), (NEW_PROTOCOL, NEW_PROTOCOL)), "individual": ((CLASSIC, CLASSIC),)}
"""By `group.consumer.classic.mode`, which two consumers a group has."""


@pytest.mark.parametrize("mode", PAIRS)
async def test_consumers_share_grow_and_go_on_when_an_instance_dies(
    start_kafka: Callable[..., KafkaCluster], tmp_path: Path, name: str, mode: str
) -> None:
    cluster = await asyncio.to_thread(start_kafka, 2)
    own: dict[str, Any] = {"offsets_topic_num_partitions": OTHER_THAN_THE_CLUSTERS, "group_consumer_classic_mode": mode}
    with fleet(cluster, tmp_path, **SETTINGS, **own) as pair:
        await pair.settled(0, 1)
        await asyncio.to_thread(_share_and_go_on, cluster, pair, name, mode)
        await pair.settled(0, 1)
        await pair.stop()


def assignments(members: Mapping[str, Sequence[Member]]) -> dict[str, list[int]]:
    """By group, how many assignments its consumers have had."""
    return {group: [each.assignments for each in both] for group, both in members.items()}


def _share_and_go_on(cluster: KafkaCluster, pair: Fleet, name: str, mode: str) -> None:
    topic = cluster.create_topic(f"work-{name}", partitions=4)
    groups = [f"{name}-{number}" for number in range(GROUPS)]
    with ExitStack() as stack:
        members = {
            group: [
                stack.enter_context(Librdkafka(pair.bootstrap, group, [topic], options=options))
                for options in PAIRS[mode][number % len(PAIRS[mode])]
            ]
            for number, group in enumerate(groups)
        }

        def all_share(partitions: int) -> None:
            what = frozenset((topic, number) for number in range(partitions))
            for both in members.values():
                wait_until_shared(both, [partitions // 2] * 2, what)

        all_share(4)
        pair.instances[0].stop()
        pair.instances[0].start()
        all_share(4)
        before = assignments(members)
        pair.instances[0].kill()
        values = {f"v{number}" for number in range(30)}
        write_topic(cluster, topic, values)
        for group, both in members.items():
            eventually(partial(_have_read, both, values), f"{group} reads all")
            for each in both:
                each.commit()
            assert sum(cluster.committed(group).values()) == 30
        all_share(4)
        assert assignments(members) == before
        pair.instances[0].start()
        admin = cluster.admin()
        admin.create_partitions([NewPartitions(topic, 6)])[topic].result(60)
        all_share(6)
        pair.instances[0].stop()
        pair.instances[0].start()
        all_share(6)


def _have_read(members: Sequence[Member], values: set[str]) -> bool:
    return set().union(*(each.values for each in members)) == values
