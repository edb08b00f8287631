"""What does kcoord's client of a Kafka cluster do on connections that are lost, and aiokafka does not know it yet?

uvloop closes a connection a few turns of the loop before aiokafka hears of it, so these tests bring the news later.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import attrs
import pytest
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.metadata import MetadataRequest

from kcoord.log.kafka.kafka_client import KafkaClient, admin_client
from kcoord.server.run import loop_factory
from tests.kafka.cluster import KafkaCluster

Story = Callable[[KafkaClient, int], Awaitable[None]]


@attrs.define(eq=False)
class LateNews(asyncio.Protocol):
    """Keeps from aiokafka that its connection was lost, until it is told."""

    aiokafka: asyncio.BaseProtocol

    def connection_lost(self, _error: Exception | None) -> None:
        """uvloop has closed the connection."""

    def tell(self) -> None:
        """aiokafka hears of it."""
        self.aiokafka.connection_lost(None)


@contextlib.asynccontextmanager
async def lost_unnoticed(client: KafkaClient) -> AsyncIterator[None]:
    """For so long, all connections of `client` are closed, and aiokafka does not know."""
    assert await client.force_metadata_update()
    assert client._conns
    news = []
    for connection in client._conns.values():
        transport = connection._writer.transport
        news.append(LateNews(transport.get_protocol()))
        transport.set_protocol(news[-1])
        transport.abort()
    await asyncio.sleep(0)
    yield
    for each in news:
        each.tell()


async def a_request_fails_and_the_next_one_is_answered(client: KafkaClient, broker: int) -> None:
    async with lost_unnoticed(client):
        with pytest.raises(KafkaConnectionError, match="the connection was lost"):
            await client.send(broker, MetadataRequest([]))
    while not await client.force_metadata_update():
        await asyncio.sleep(0.01)
    assert (await client.send(broker, MetadataRequest([]))).brokers


async def a_refresh_fails_and_the_next_one_does_not(client: KafkaClient, _broker: int) -> None:
    async with lost_unnoticed(client):
        assert not await client.force_metadata_update()
    while not await client.force_metadata_update():
        await asyncio.sleep(0.01)


async def a_client_is_closed_after_a_refresh_that_failed(client: KafkaClient, _broker: int) -> None:
    async with lost_unnoticed(client):
        assert not await client.force_metadata_update()
    await client.close()


STORIES = [
    a_request_fails_and_the_next_one_is_answered,
    a_refresh_fails_and_the_next_one_does_not,
    a_client_is_closed_after_a_refresh_that_failed,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: str(story.__name__))
def test_a_lost_connection_costs_one_request(story: Story, kafka: KafkaCluster) -> None:
    async def run() -> None:
        client = KafkaClient(bootstrap_servers=kafka.bootstrap)
        await client.bootstrap()
        try:
            await story(client, min(kafka.runners))
        finally:
            await client.close_in_time()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(run())


async def test_an_admin_client_asks_by_such_a_client(kafka: KafkaCluster) -> None:
    admin = admin_client(bootstrap_servers=kafka.bootstrap)
    assert isinstance(admin._client, KafkaClient)
    await admin.start()
    assert await admin.list_topics() is not None
    await admin.close()
