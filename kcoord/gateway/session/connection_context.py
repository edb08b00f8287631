"""Contexts: what a connection needs from the gateway, and what code for passing frames needs from a client session.

They are structural protocols: the gateway and its `ClientSession` match them, and this module imports neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from kcoord.gateway.interfaces import ClientSide
from kcoord.gateway.rewriting.api_versions import ApiVersionsMemory
from kcoord.gateway.session.sasl import SaslPhase
from kcoord.gateway.session.upstream import Asker, Deliver, Dialer, Upstream
from kcoord.gateway.settings import Address, GatewaySettings
from kcoord.protocol.undecoded_call import Call

__all__ = ["ConnectionContext", "PassingContext", "PassingSession", "Spawner"]

T = TypeVar("T")


class ConnectionContext(Protocol):
    """What a connection to a broker needs from the gateway."""

    settings: GatewaySettings
    versions: ApiVersionsMemory

    now_ms: Callable[[], int]
    """The clock of the whole gateway, in ms."""

    async def dial(self, owner: Dialer, /) -> Upstream:
        """Connect to the owner's broker, or to any broker. Raises UpstreamLost."""
        ...

    async def ensure_versions(self, asker: Asker, broker: str) -> None:
        """Make sure that the versions of the broker that `asker` is connected to are known. Raises UpstreamLost."""
        ...


class Spawner(Protocol):
    """Something that runs background tasks."""

    def spawn(self, work: Coroutine[Any, Any, T], /) -> asyncio.Task[T]:
        """Start a task; an exception that it raises is logged."""
        ...


class PassingContext(ConnectionContext, Spawner, Protocol):
    """What the code that passes requests and responses needs from the gateway."""

    read_apis: frozenset[int]
    """The APIs whose requests kcoord reads."""


class PassingSession(Asker, Protocol):
    """The part of a client session that the code for passing frames uses."""

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
