"""aiokafka's client as a consumer uses it: it creates no topics.

aiokafka asks for metadata in such a way that a broker creates the topic if it does not exist. A consumer asks for a
topic that has just been deleted, because it has not been told yet that its partitions are gone: the topic would be back
at once, empty. As with librdkafka, and with Java's consumer under allow.auto.create.topics=false, it is not.
"""

from __future__ import annotations

from typing import Any

from aiokafka.protocol.metadata import MetadataRequest

from kcoord.log.kafka.kafka_client import KafkaClient


class FetchClient(KafkaClient):
    """A client of a Kafka cluster that creates no topics."""

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
