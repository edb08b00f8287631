"""What does an instance do that its group does not hear of any more, and when it is heard of again?

Cut from a real Kafka by a proxy before its brokers. Nothing answers for its partitions then, because of the lease,
which is not in question here; what is, is that it gives them up, and takes over from nobody when it comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kcoord.instances.membership import Membership
from tests.faults.proxy import KafkaProxy
from tests.instances.standing import SESSION_MS, Authorization, Shards, until
from tests.kafka.cluster import KafkaCluster

LONG_MS = 60_000
Break = Callable[[KafkaProxy], None]


@asynccontextmanager
async def two(
    kafka: KafkaCluster, name: str, session_ms: int = SESSION_MS
) -> AsyncIterator[tuple[Authorization, KafkaProxy, list[Membership], list[Shards]]]:
    """Two instances that share; the first goes by the proxy."""
    async with KafkaProxy.opened(kafka.ports) as proxy, Authorization(kafka, name) as standing:
        try:
            first, one = standing.come(1, bootstrap=proxy.bootstrap, session_ms=session_ms)
            second, other = standing.come(2, session_ms=session_ms)
            await until(lambda: standing.is_served(one, other), "two share")
            yield standing, proxy, [first, second], [one, other]
        finally:
            proxy.mend()


@pytest.mark.parametrize("how", [KafkaProxy.cut, KafkaProxy.silence], ids=["cut", "silent"])
async def test_who_is_cut_off_gives_everything_up_and_comes_back_as_somebody_else(
    how: Break, kafka: KafkaCluster
) -> None:
    name = f"cut-off-{how.__name__}"
    async with two(kafka, name) as (standing, proxy, (first, second), (one, other)):
        standing.ledger.trusts_leases = True
        place = first.member.place
        mine = min(one.serves())
        how(proxy)
        asked = asyncio.create_task(first.confirm(mine))
        await until(lambda: standing.is_served(other), "the other has everything")
        await until(lambda: not one.holds, "the first has given everything up")
        assert not await asked, "nobody could say that it is still there"
        standing.ledger.trusts_leases = False
        loses = other.loses
        proxy.mend()
        await until(lambda: first.member.place not in ("", place), "it has another place")
        await until(lambda: standing.is_served(one, other), "two share again")
        assert other.loses > loses, "the other has let go of what the first has again"
        assert second.map == first.map


async def test_a_moment_without_kafka_moves_nothing(kafka: KafkaCluster) -> None:
    async with two(kafka, "moment", LONG_MS) as (standing, proxy, (first, _), (one, other)):
        epoch, place = first.map.epoch, first.member.place
        before = one.serves(), other.serves()
        moved = len(standing.ledger.history)
        mine = min(one.serves())
        proxy.cut()
        asked = asyncio.create_task(first.confirm(mine))
        await asyncio.sleep(1.0)
        assert not asked.done(), "it asks until it is answered"
        proxy.mend()
        assert await asked
        await until(lambda: first.member.place == place, "it is heard of again")
        assert first.map.epoch == epoch
        assert (one.serves(), other.serves()) == before
        assert len(standing.ledger.history) == moved


async def test_when_nobody_reaches_the_group_places_hold_and_everything_is_taken_up_again(kafka: KafkaCluster) -> None:
    """As after an outage of the group's coordinator, which gives everybody a fresh session: here its session is simply
    longer than the silence that the instance bears.
    """
    async with KafkaProxy.opened(kafka.ports) as proxy, Authorization(kafka, "bears-less") as standing:
        membership, shards = standing.come(1, bootstrap=proxy.bootstrap, session_ms=LONG_MS)
        await until(lambda: standing.is_served(shards), "it serves everything")
        place = membership.member.place
        membership._settings = standing.bears(membership._settings, 1_000)
        proxy.cut()
        await until(lambda: not shards.holds, "it has given everything up")
        proxy.mend()
        await until(lambda: standing.is_served(shards), "it serves everything again")
        assert membership.member.place == place, "from the same place"
