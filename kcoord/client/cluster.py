"""A cluster of brokers: finding any broker, all brokers, or the coordinator of a group."""

import asyncio
from types import TracebackType
from typing import Self

import attrs

from kcoord.client.connection import Connection, error_name
from kcoord.client.errors import ClientError
from kcoord.client.security import Security
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

_PATIENCE_S = 15.0
_PAUSE_S = 0.2
_GROUP_KEY = 0
_KEYS_FROM = 4
"""The first version of FindCoordinator in which a request names several keys."""
_PASSING = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS})
"""The errors of a broker while it creates the topic in which groups are kept. They pass."""


@attrs.frozen
class Broker:
    """A broker and its address."""

    node_id: int
    host: str
    port: int


@attrs.define(eq=False)
class Cluster:
    """A cluster, reached through the first address in `bootstrap` that answers. An async context manager."""

    bootstrap: list[tuple[str, int]]
    security: Security = attrs.field(factory=Security)
    timeout: float = 10.0
    _connections: dict[tuple[str, int], Connection] = attrs.field(factory=dict, init=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))

    async def any(self) -> Connection:
        """A connection to any broker. Raises ClientError if none can be reached."""
        for number, address in enumerate(self.bootstrap, 1):
            try:
                return await self._connect(*address)
            except ClientError:
                if number == len(self.bootstrap):
                    raise
        raise ClientError("no address to connect to; give --bootstrap-server HOST:PORT")

    async def to(self, broker: Broker) -> Connection:
        """The connection to `broker`. Raises ClientError."""
        return await self._connect(broker.host, broker.port)

    async def brokers(self) -> list[Broker]:
        """All brokers. Raises ClientError."""
        connection = await self.any()
        response = await connection.send(MetadataRequest(topics=[]), MetadataResponse)
        return [Broker(each.node_id, each.host, each.port) for each in response.brokers]

    async def coordinator(self, group: str) -> Broker:
        """The broker that coordinates `group`. Waits up to 15 s until one is known. Raises ClientError."""
        connection = await self.any()
        by_keys = connection.serves_version(FindCoordinatorRequest, _KEYS_FROM)
        asked = {"coordinator_keys": [group]} if by_keys else {"key": group}
        request = FindCoordinatorRequest(key_type=_GROUP_KEY, **asked)
        deadline = asyncio.get_running_loop().time() + _PATIENCE_S
        while True:
            found = await self._find(connection, request, group)
            if isinstance(found, Broker):
                return found
            if found not in _PASSING or asyncio.get_running_loop().time() > deadline:
                raise ClientError(f"no coordinator for group {group}: {error_name(found)}")
            await asyncio.sleep(_PAUSE_S)

    async def _find(self, connection: Connection, request: FindCoordinatorRequest, group: str) -> Broker | int:
        response = await connection.send(request, FindCoordinatorResponse)
        if request.key:  # a broker before Kafka 3.0
            return response.error_code or Broker(response.node_id, response.host, response.port)
        for each in response.coordinators:
            if each.key == group:
                return each.error_code or Broker(each.node_id, each.host, each.port)
        raise ClientError(f"{connection.host}:{connection.port} names no coordinator for group {group}")

    async def _connect(self, host: str, port: int) -> Connection:
        connection = self._connections.get((host, port))
        if connection is None:
            connection = self._connections[host, port] = await Connection.open(host, port, self.security, self.timeout)
        return connection
