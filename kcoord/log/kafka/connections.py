"""Connections of the log to its Kafka cluster: finding the right broker and sending requests.

All partitions share one aiokafka client, because each client has connections and metadata of its own, and an instance
may have fifty partitions. In that client each partition has its own connections. A broker answers the requests of one
connection in order, and a write that waits for replicas must not delay another partition's write. Every wait here ends
after some time and can be cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import attrs
from aiokafka.client import CoordinationType
from aiokafka.conn import collect_hosts, create_conn
from aiokafka.errors import (
    BrokerResponseError,
    IncompatibleBrokerVersion,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
)
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.structs import TopicPartition

from kcoord.log.interface import LogUnusable
from kcoord.log.kafka.broker_errors import Refused, Then, said, then
from kcoord.log.kafka.kafka_client import KafkaClient
from kcoord.log.kafka.settings import KafkaLogSettings

_log = logging.getLogger(__name__)

_ANEW_S = 2.0
"""The shortest interval at which the bootstrap addresses are tried while no known broker answers."""


class Unreachable(Exception):
    """A broker cannot be reached at the moment. The text says why."""


class Unheard(Unreachable):
    """The request may have reached the broker, but no answer came."""


@attrs.define(eq=False)
class Connections:
    """The connections to the cluster that holds the log."""

    settings: KafkaLogSettings
    _security: dict[str, Any] = attrs.field(factory=dict, init=False)
    _client: Any = attrs.field(default=None, init=False)
    _follows: bool = attrs.field(default=False, init=False)
    _anew_at: float = attrs.field(default=0.0, init=False)
    _closing: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    async def open(self) -> None:
        """Reach the cluster. Raises LogUnusable."""
        self._security = self.settings.security.aiokafka()
        try:
            self._client = await self._reached()
        except Unreachable:
            raise LogUnusable(
                f"the cluster of the log (log.bootstrap={self.settings.bootstrap}) cannot be used: "
                f"{await self._why_not()}. See that these brokers run, and that "
                f"log.security.protocol={self.settings.security.protocol} and the other log.sasl and log.ssl settings "
                "are what their listener wants"
            ) from None

    def follow_topic(self) -> None:
        """Keep track of the topic's leaders from now on. The topic must exist, because brokers might create a topic
        when they are asked for it by name.
        """
        self._follows = True
        self._client.set_topics([self.settings.topic])

    async def close(self) -> None:
        """Close all connections, within a bounded time."""
        if self._client is not None:
            self._retire(self._client)
            self._client = None
        if self._closing:
            await asyncio.wait(self._closing)

    @property
    def broker_ids(self) -> list[int]:
        """The ids of the known brokers."""
        return sorted(broker.nodeId for broker in self._client.cluster.brokers())

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments for another aiokafka client to the same cluster."""
        return {
            "bootstrap_servers": self.settings.bootstrap,
            "client_id": self.settings.client_id,
            "request_timeout_ms": self.settings.request_timeout_ms,
            **self._security,
        }

    async def send(self, node_id: int, request: Any, partition: int) -> Any:
        """The answer of a broker to `request`, by `partition`'s own connection. Raises Unreachable, Unheard."""
        try:
            return await self._client.send(node_id, request, group=f"partition {partition}")
        except IncompatibleBrokerVersion:
            raise
        except NodeNotReadyError as error:
            raise Unreachable(f"broker {node_id} cannot be reached: {reason(error)}") from None
        except (KafkaError, OSError, TimeoutError) as error:
            raise Unheard(f"broker {node_id} does not answer: {reason(error)}") from None

    async def leader(self, partition: int) -> int:
        """The broker that leads `partition`. Raises Unreachable."""
        tp = TopicPartition(self.settings.topic, partition)
        leader = self._client.cluster.leader_for_partition(tp)
        if leader is None or leader < 0:
            await self.refresh()
            leader = self._client.cluster.leader_for_partition(tp)
        if leader is None or leader < 0:
            raise Unreachable(f"partition {partition} of {self.settings.topic} has no leader")
        assert isinstance(leader, int)
        return leader

    async def coordinator(self, transactional_id: str) -> int:
        """The broker that coordinates the transactions of `transactional_id`. Raises Unreachable, Refused."""
        try:
            node: int = await self._client.coordinator_lookup(CoordinationType.TRANSACTION, transactional_id)
        except (KafkaError, OSError, TimeoutError, AssertionError) as error:
            if isinstance(error, BrokerResponseError) and then(error.errno) is Then.FINAL:
                raise Refused(f"FindCoordinator for {transactional_id}: {said(error.errno)}") from None
            await self.refresh()
            raise Unreachable(f"no coordinator for transactional id {transactional_id}: {reason(error)}") from None
        if self._client.cluster.broker_metadata(node) is None:
            await self.refresh()
        return node

    async def refresh(self) -> None:
        """Refresh the metadata: brokers and leaders. If no known broker answers, start from the bootstrap addresses."""
        client = self._client
        known = False
        with contextlib.suppress(TimeoutError, KafkaError, OSError):
            async with asyncio.timeout(self.settings.request_timeout_ms / 1000):
                known = await client.force_metadata_update()
        if known or client is not self._client:
            return
        now = asyncio.get_running_loop().time()
        if now < self._anew_at:
            return
        self._anew_at = now + _ANEW_S
        with contextlib.suppress(Unreachable):
            found = await self._reached()
            if self._client is client:
                self._client = found
                self._retire(client)
            else:
                self._retire(found)

    # Inside

    async def _reached(self) -> Any:
        client = KafkaClient(**self.arguments, retry_backoff_ms=50)
        try:
            await client.bootstrap()
            if self._follows:
                client.set_topics([self.settings.topic])
        except (KafkaError, OSError, TimeoutError) as error:
            self._retire(client)
            raise Unreachable(reason(error)) from None
        except BaseException:
            self._retire(client)
            raise
        return client

    def _retire(self, client: Any) -> None:
        task = asyncio.get_running_loop().create_task(client.close_in_time(), name="close connections of the log")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _why_not(self) -> str:
        """What happens at each bootstrap address when kcoord connects, as text. aiokafka itself only logs that."""
        hosts = [(host, port) for host, port, _ in collect_hosts(self.settings.bootstrap)]
        return "; ".join(await asyncio.gather(*(self._try(host, port) for host, port in hosts)))

    async def _try(self, host: str, port: int) -> str:
        timeout_ms = self.settings.request_timeout_ms
        try:
            connection = await create_conn(host, port, request_timeout_ms=timeout_ms, **self._security)
            try:
                await connection.send(MetadataRequest([]))
            finally:
                connection.close()
        except Exception as error:  # any error is shown to the user
            return f"{host}:{port}: {reason(error)}"
        return f"{host}:{port} answers now"


def reason(error: BaseException) -> str:
    """The text of `error` in one line."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    cause = error.__cause__
    if isinstance(error, KafkaConnectionError) and isinstance(cause, asyncio.IncompleteReadError | ConnectionError):
        return "it closed the connection (as a broker does when security.protocol is not what its listener speaks)"
    text = " ".join(str(error).split())
    return text or type(error).__name__
