"""The instance watcher: what has changed around this instance, and which brokers it must stand before.

With several instances each listens for all brokers (GW-19): clients are sent here by the answers of the
others. So a broker that the map names gets its port here, as soon as its address is known: as the map's makers have
seen it, or as upstream says, where upstream lets kcoord ask without credentials.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from kcoord.gateway.ports import Places
from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.gateway.topology.brokers import BrokerMap
from kcoord.gateway.topology.connection_drain import ConnectionDrain
from kcoord.gateway.topology.stale_coordinators import StaleCoordinators
from kcoord.protocol.messages import MetadataRequest, MetadataResponse
from kcoord.protocol.primitives import DecodeError

__all__ = ["InstanceWatcher"]

log = logging.getLogger("kcoord.gateway")

LOOK_S = 0.25
ASK_EVERY_MS = 5_000
NO_TOPICS_FROM = 1
"""The first version of Metadata that can be asked for no topics."""


class WatcherContext(Protocol):
    """What the watcher looks after."""

    brokers: BrokerMap
    connection_drain: ConnectionDrain | None
    moves: StaleCoordinators | None
    now_ms: Callable[[], int]

    def own(self, broker_id: int | None) -> ServiceConnection | None: ...


class InstanceWatcher:
    """The watch of one gateway for where the others stand, and for brokers that they know of."""

    def __init__(self, gateway: WatcherContext, places: Places) -> None:
        self._gateway = gateway
        self._places = places
        self._asked_ms: int | None = None

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            await self._look()
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        now_ms = self._gateway.now_ms()
        if self._gateway.moves is not None and self._gateway.connection_drain is not None:
            self._gateway.moves.look(now_ms)
            self._gateway.connection_drain.look(now_ms)
        brokers = self._gateway.brokers
        named = self._places.brokers()
        seen = {broker_id: address for broker_id, address in named.items() if address is not None}
        new = {broker_id: address for broker_id, address in seen.items() if not brokers.has_port(broker_id)}
        if new:
            await brokers.learn(new)
        if not brokers.ids or any(not brokers.has_port(broker_id) for broker_id in named):
            await self._ask()

    async def _ask(self) -> None:
        gateway = self._gateway
        now_ms = gateway.now_ms()
        own = gateway.own(None)
        if own is None or (self._asked_ms is not None and now_ms - self._asked_ms < ASK_EVERY_MS):
            return
        self._asked_ms = now_ms
        try:
            version = await own.version(MetadataRequest)
            if version is None or version < NO_TOPICS_FROM:
                return
            answer = await own.ask(MetadataRequest(topics=[]), version)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("upstream does not say which brokers there are: %s", fault)
            return
        assert isinstance(answer, MetadataResponse)
        await gateway.brokers.learn({each.node_id: (each.host, each.port) for each in answer.brokers})
