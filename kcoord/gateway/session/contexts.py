"""Contexts: what a connection needs of the gateway around it, and what is done with a client session as it passes.

They are structural: the gateway and its `ClientSession` fit them, and nothing here imports either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from kcoord.gateway.ports import ClientSide
from kcoord.gateway.rewriting.api_versions import ApiVersionsMemory
from kcoord.gateway.session.sasl import SaslPhase
from kcoord.gateway.session.upstream import Asker, Deliver, Dialer, Upstream
from kcoord.gateway.settings import Address, GatewaySettings
from kcoord.protocol.call import Call

__all__ = ["ConnectionContext", "PassingContext", "PassingSession", "Spawner"]

T = TypeVar("T")


class ConnectionContext(Protocol):
    """What a connection to a broker needs."""

    settings: GatewaySettings
    versions: ApiVersionsMemory

    now_ms: Callable[[], int]
    """The clock that everything in the gateway goes by, in ms."""

    async def dial(self, owner: Dialer, /) -> Upstream:
        """Connect to the owner's broker, or to any. Raises UpstreamLost."""
        ...

    async def ensure_versions(self, asker: Asker, broker: str) -> None:
        """Know the versions of the broker that `asker` is connected to. Raises UpstreamLost."""
        ...


class Spawner(Protocol):
    """Who does things on the side."""

    def spawn(self, work: Coroutine[Any, Any, T], /) -> asyncio.Task[T]:
        """Begin it; what it raises is logged."""
        ...


class PassingContext(ConnectionContext, Spawner, Protocol):
    """What is needed where requests and responses pass."""

    read_apis: frozenset[int]
    """The APIs whose requests are read."""


class PassingSession(Asker, Protocol):
    """A client session, as far as what passes by it is concerned."""

    client: ClientSide
    sasl: SaslPhase | None
    upstream: Upstream | None
    raw_frames: bool
    proving: asyncio.Task[None] | None
    told_nodes_ms: int

    @property
    def gateway(self) -> PassingContext: ...
    @property
    def is_known(self) -> bool: ...
    def pass_on(self, call: Call, deliver: Deliver | None = None, instead: bytes | None = None) -> None: ...
    def map_node(self, node_id: int, host: str, port: int) -> Address: ...
    def to_client(self, data: bytes | bytearray | memoryview) -> None: ...
    def to_client_when_known(self, data: bytes) -> None: ...
    def own_may_go(self, upstream: Upstream) -> None: ...
