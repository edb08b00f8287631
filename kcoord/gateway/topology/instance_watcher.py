"""The instance watcher: it notices changes of the instances around this one, and opens the ports of their brokers.

Each of several instances listens for all brokers (GW-19), because the answers of the others send clients here. So
kcoord opens a port here for each broker that the map of the instances names, as soon as it knows the broker's address.
The address is there if this instance has looked at the cluster for the map (`instances/offsets_topic_leaders.py`).
Otherwise kcoord asks upstream, if upstream needs no credentials.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from kcoord.gateway.interfaces import Places
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
"""The first version of Metadata that can ask for no topics."""


class WatcherContext(Protocol):
    """What the watcher needs from the gateway."""

    brokers: BrokerMap
    connection_drain: ConnectionDrain | None
    moves: StaleCoordinators | None
    now_ms: Callable[[], int]

    def own(self, broker_id: int | None) -> ServiceConnection | None: ...


class InstanceWatcher:
    """Watches for one gateway where the other instances stand, and which brokers they know."""

    def __init__(self, gateway: WatcherContext, places: Places) -> None:
        self._gateway = gateway
        self._places = places
        self._asked_ms: int | None = None

    async def watch(self) -> None:
        """Look every `LOOK_S` seconds, for ever."""
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
