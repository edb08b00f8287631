"""How often does a consumer ask for metadata of what is not there?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kcoord.consumer.fetch_client import FetchClient
from kcoord.log.kafka.kafka_client import KafkaClient


class Cluster:
    """Answers questions for metadata, and notes which topics they name, and when."""

    def __init__(self) -> None:
        self.asked: list[tuple[frozenset[str], float]] = []

    async def update(self, client: KafkaClient, _metadata: Any, topics: set[str]) -> bool:
        self.asked.append((frozenset(topics), asyncio.get_running_loop().time()))
        return True

    def times(self) -> list[float]:
        """When each question came after the first one, in tenths of a second."""
        return [round(10 * (at - self.asked[0][1])) for _, at in self.asked]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(
        KafkaClient, "_metadata_update", lambda client, metadata, topics: made.update(client, metadata, topics)
    )
    return made


@contextlib.asynccontextmanager
async def client_of(*topics: str) -> AsyncIterator[FetchClient]:
    """A client that keeps its metadata up to date."""
    client = FetchClient(bootstrap_servers="localhost:1")
    synchronizer = asyncio.create_task(client._md_synchronizer())
    await client.set_topics(topics)
    yield client
    synchronizer.cancel()


async def ask(client: FetchClient, until_s: float) -> None:
    """Want metadata again as soon as there are some, as aiokafka does while there is no leader."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(until_s):
            while True:
                await client.force_metadata_update()


async def test_what_is_not_there_is_asked_for_at_longer_and_longer_intervals(cluster: Cluster) -> None:
    async with client_of("gone") as client:
        await ask(client, 1.0)
    assert cluster.times() == [0, 1, 3, 7]


async def test_other_topics_are_asked_for_at_once(cluster: Cluster) -> None:
    async with client_of("gone") as client:
        await ask(client, 0.4)  # the next question would come 0.7 s after the first one
        await client.set_topics(["there"])
    assert [sorted(topics) for topics, _ in cluster.asked][-1] == ["there"]
    assert cluster.times()[-1] <= 5


async def test_who_asks_after_a_calm_time_is_answered_at_once(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcoord.consumer.fetch_client._CALM_S", 0.2)
    async with client_of("there") as client:
        for _ in range(3):
            await asyncio.sleep(0.25)
            before = asyncio.get_running_loop().time()
            await client.force_metadata_update()
            assert asyncio.get_running_loop().time() - before < 0.09
