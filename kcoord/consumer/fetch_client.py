"""aiokafka's client as a consumer uses it: it creates no topics, and asks for what is not there in measure.

aiokafka asks for metadata in such a way that a broker creates the topic if it does not exist. A consumer asks for a
topic that has just been deleted, because it has not been told yet that its partitions are gone: the topic would be back
at once, empty. As with librdkafka, and with Java's consumer under allow.auto.create.topics=false, it is not.

While a partition has no leader, or its topic does not exist, aiokafka asks for metadata without a pause, and logs each
answer. Here it waits from one such question to the next, as Java's consumer does: longer and longer, up to a second.
Other partitions are read meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

from aiokafka.protocol.metadata import MetadataRequest

from kcoord.log.kafka.kafka_client import KafkaClient

_BACKOFF_S, _BACKOFF_MAX_S = 0.1, 1.0
_CALM_S = 2.0
"""If nobody has asked for so long, the last answer had all that was wanted."""


class FetchClient(KafkaClient):
    """A client of a Kafka cluster that creates no topics, and waits from one question for metadata to the next."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._pause_s = 0.0
        self._answered_at = 0.0
        self._asked_for: set[str] = set()
        self._are_other_topics = asyncio.Event()

    def set_topics(self, topics: Iterable[str]) -> Any:
        """From now on metadata of these topics are wanted. Those of others are asked for at once."""
        if set(topics) != self._topics:
            self._are_other_topics.set()
        return super().set_topics(topics)

    async def _metadata_update(self, cluster_metadata: Any, topics: Any) -> bool:
        await self._pause(set(topics))
        try:
            return await super()._metadata_update(cluster_metadata, topics)
        finally:
            self._answered_at = asyncio.get_running_loop().time()

    async def _pause(self, topics: set[str]) -> None:
        """Wait, if the same was asked for a moment ago."""
        self._are_other_topics.clear()
        is_calm = asyncio.get_running_loop().time() - self._answered_at > _CALM_S
        if is_calm or topics != self._asked_for:
            self._asked_for, self._pause_s = topics, 0.0
            return
        self._pause_s = min(max(2 * self._pause_s, _BACKOFF_S), _BACKOFF_MAX_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause_s):
                await self._are_other_topics.wait()

    async def _get_conn(self, *arguments: Any, **options: Any) -> Any:
        connection = await super()._get_conn(*arguments, **options)
        return None if connection is None else _Connection(connection)


class _Connection:
    """One of aiokafka's connections."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def send(self, request: Any, **options: Any) -> Any:
        """Send a request, as aiokafka does."""
        if isinstance(request, MetadataRequest):
            request._allow_auto_topic_creation = False
        return self._connection.send(request, **options)
