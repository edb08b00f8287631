"""Is a group ever lost between the cluster and kcoord, whenever kcoord is killed? AD-7, AD-9, AD-15, AD-17."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from kcoord.group_owner_words import AT_CLUSTER, AT_KCOORD
from tests.gateway.live_member import LiveMember
from tests.gateway.moving_groups import owned_by
from tests.gateway.scripted import close_all, connect, coordinator_port, until
from tests.gateway.test_cluster_groups import owner
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

GROUPS, MEMBERS = 8, 2
SETTLE_S = 1.0


class Crowd:
    """Groups of members that live; where they begin can be changed, and they move when their connection ends."""

    def __init__(self, kafka: KafkaCluster, name: str) -> None:
        self.kafka = kafka
        self.where = kafka.bootstrap
        self.groups = [f"{name}-{number}" for number in range(GROUPS)]
        self.members = {group: [self._member(group, at) for at in range(MEMBERS)] for group in self.groups}

    def _member(self, group: str, at: int) -> LiveMember:
        return LiveMember(group, lambda: self.where, f"{group}-{at}")

    @property
    def all(self) -> list[LiveMember]:
        return [each for members in self.members.values() for each in members]

    async def start(self) -> None:
        for each in self.all:
            await asyncio.to_thread(self.kafka.create_topic, each.topic)
        for each in self.all:
            each.start()
        await self.are_stable()

    async def are_stable(self) -> None:
        """All beat and commit, and go on to do so."""

        async def all_stable() -> bool:
            before = [(each.joins, each.committed) for each in self.all]
            await asyncio.sleep(SETTLE_S)
            return all(
                each.is_stable and each.joins == joins and each.committed > committed
                for each, (joins, committed) in zip(self.all, before, strict=True)
            )

        await until(all_stable, "all groups are stable, and commit")

    async def stop(self) -> None:
        await asyncio.gather(*(each.stop() for each in self.all))

    def unknown(self) -> list[str]:
        """Who heard that it is unknown."""
        return [each.topic for each in self.all if each.answers["UNKNOWN_MEMBER_ID"]]

    async def check_commits(self) -> None:
        """What was acknowledged is there, and nothing that nobody tried."""
        for each in self.all:
            acknowledged = each.committed
            found = (await asyncio.to_thread(self.kafka.committed, each.group))[each.topic, 0]
            assert acknowledged <= found <= each.tried, f"{each.topic}: {found}, acknowledged {acknowledged}"


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(2, 12))])
async def test_kcoord_is_killed_while_it_adopts_and_releases(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], name: str, seed: int
) -> None:
    """All groups at once, so that each kill finds them at different steps."""
    rng = random.Random(seed)
    front = await asyncio.to_thread(start_kcoord, kafka, gateway_adopt="manual")
    crowd = Crowd(kafka, name)
    crowd.where = front.bootstrap
    await take_all(crowd, front, "cluster")
    await crowd.start()
    for wanted in ("kcoord", "cluster", "kcoord"):
        await take_all(crowd, front, wanted)
        await asyncio.sleep(rng.uniform(0.0, 2.5))
        await asyncio.to_thread(front.kill)
        await asyncio.to_thread(front.start)
        await take_all(crowd, front, wanted)
        await crowd.are_stable()
        await are_at(crowd, front, AT_KCOORD if wanted == "kcoord" else AT_CLUSTER)
        assert crowd.unknown() == []
    await crowd.check_commits()
    await crowd.stop()
    await close_all()


async def are_at(crowd: Crowd, front: Kcoord, whose: str) -> None:
    """Wait until all groups are at kcoord, or at the cluster."""
    for group in crowd.groups:
        client = await connect(await coordinator_port(front.bootstrap, group))

        async def is_there(client: Client = client, group: str = group) -> bool:
            return (await owner(client, group))[0] == whose

        await until(is_there, f"{group} is {whose}")
        await client.close()


async def take_all(crowd: Crowd, front: Kcoord, wanted: str) -> None:
    client = await connect(front.bootstrap)
    for group in crowd.groups:
        await owned_by(client, group, wanted)
    await client.close()
