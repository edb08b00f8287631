"""A service connection: kcoord's own connection to one broker, for questions where no client's connection can be used.

It exists only if upstream lets kcoord in without credentials. There is one per broker. kcoord opens it when it is
needed, and closes it when it has not been used for a while.
"""

from __future__ import annotations

import asyncio

from kcoord.gateway.session.connection_context import ConnectionContext
from kcoord.gateway.session.upstream import Upstream, UpstreamLost
from kcoord.protocol.messages import Request, Response

__all__ = ["ReleaseConnection", "ServiceConnection"]


class ServiceConnection:
    """kcoord's own connection to one broker."""

    in_flight = 0

    def __init__(self, gateway: ConnectionContext, broker_id: int | None) -> None:
        self.broker_id = broker_id
        self.used_ms = 0
        self._gateway = gateway
        self._upstream: Upstream | None = None
        self._connecting = asyncio.Lock()

    async def ask(self, request: Request, version: int, client_id: str | None = "kcoord") -> Response:
        """Ask the broker. Raises UpstreamLost, DecodeError."""
        upstream = await self._connected()
        return await upstream.ask(request, version, client_id, self._gateway.settings.request_timeout_ms)

    async def version(self, request: type[Request], highest: int | None = None) -> int | None:
        """The version for a request; None: the broker does not have that API. Raises UpstreamLost."""
        upstream = await self._connected()
        await self._gateway.ensure_versions(self, upstream.name)
        return self._gateway.versions.version(upstream.name, request, highest)

    def close(self) -> None:
        if self._upstream is not None:
            self._upstream.close("not needed any more", is_fault=False)

    async def _connected(self) -> Upstream:
        self.used_ms = self._gateway.now_ms()
        async with self._connecting:
            if self._upstream is None:
                self._upstream = await self._gateway.dial(self)
            return self._upstream

    # -- as the owner of an Upstream: there is no client ---------------------------------------------------------------

    def to_client(self, data: bytes | bytearray | memoryview) -> None:
        raise UpstreamLost("a response that nobody asked for")

    def to_client_when_known(self, data: bytes) -> None:
        self.to_client(data)

    def map_node(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        return host, port

    def answered(self) -> None: ...
    def upstream_full(self) -> None: ...
    def upstream_drained(self) -> None: ...

    def upstream_lost(self, reason: str, is_fault: bool) -> None:
        self._upstream = None


class ReleaseConnection(ServiceConnection):
    """A connection for one JoinGroup of kcoord's own in a release, which may have to wait for others."""
