"""How does this process become one of several instances, and what do the others and the clients know of it?

Only with a log that several can share. Order of a start: the ports are open, then the group of the instances is joined,
which makes a map in which this instance is; then what the map gives it is gained. A stop goes the other way: all is
lost in good order and the group is left, so that others have it at once, and only then the connections end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from kcoord.config import Settings
from kcoord.instances.group_member import GroupMemberSettings
from kcoord.instances.leaders import NOTHING_KNOWN, LeadersWatch, Surroundings
from kcoord.instances.map import Instance, InstanceMap
from kcoord.instances.membership import Membership
from kcoord.instances.places import MapPlaces
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.server.clock import wall_ms
from kcoord.server.coordinator import Coordinator

log = logging.getLogger("kcoord.server")

TELL_EVERY_S = 10.0
"""How often an instance that waits for its place among the others says so."""


class Several:
    """This process among the instances."""

    def __init__(self, settings: Settings, store: KafkaLogSettings, coordinator: Coordinator) -> None:
        self._settings = settings
        self._store = store
        self._watches_leaders = bool(settings.upstream)
        self._known_brokers: Callable[[], frozenset[int]] = frozenset
        self._leaders: LeadersWatch | None = None
        self.instance = Instance(
            instance_id=settings.instance_id,
            started_ms=wall_ms(),
            host=(settings.advertise or settings.listen)[0],
            port=(settings.advertise or settings.listen)[1],
            port_offset=settings.gateway_port_offset,
            broker_ports=settings.gateway_broker_ports,
            internal=settings.internal_advertise or settings.internal_listen,
            lease_ms=settings.coordinator_lease_ms,
        )
        self._member = Membership(
            self.instance,
            settings.offsets_topic_num_partitions,
            GroupMemberSettings(
                group=settings.instances_group,
                topic=store.topic,
                kafka={"bootstrap_servers": store.bootstrap, **store.security.aiokafka()},
                client_id=store.client_id,
                session_timeout_ms=settings.instances_session_timeout_ms,
                heartbeat_interval_ms=settings.instances_heartbeat_interval_ms,
            ),
            coordinator,
            self._surroundings,
        )
        self.places = MapPlaces(self._member)
        coordinator.confirm = self._member.confirm

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Join; comes back when there is a map."""
        self._member.start()
        joined = asyncio.ensure_future(self._member.joined())
        try:
            while not (await asyncio.wait({joined}, timeout=TELL_EVERY_S))[0]:
                log.warning(
                    "waiting for a place in group %s of the instances at %s",
                    self._settings.instances_group,
                    self._store.bootstrap,
                )
        finally:
            joined.cancel()
        if self._watches_leaders:
            self._leaders = LeadersWatch(self._member.member.ask_any_broker, lambda: self._known_brokers())
            await self._leaders.start()

    async def stop(self) -> None:
        """Let all go in good order, and leave."""
        if self._leaders is not None:
            await self._leaders.stop()
        await self._member.stop()

    # -- what others ask ----------------------------------------------------------------------------------------------

    def map(self) -> InstanceMap:
        """The map that holds now; empty before the first."""
        return self._member.map

    def _surroundings(self) -> Surroundings:
        return NOTHING_KNOWN if self._leaders is None else self._leaders.seen()
