"""An instance among others: its parts put together, and the order in which they start and stop.

A start opens the internal port, because the other instances must reach it from the first map on, and then begins to
join. A planned stop releases all partitions and leaves the group while everything else still runs. So clients are told
to look for the coordinator elsewhere, and find it.
"""

from __future__ import annotations

import logging
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from kcoord.instances.instance_map import Address, Instance
from kcoord.instances.instances_group_member import GroupMemberSettings
from kcoord.instances.link import Link, LinkLost, Myself
from kcoord.instances.listener import InternalListener
from kcoord.instances.membership import Membership
from kcoord.instances.offsets_topic_leaders import LeadersWatch, Surroundings
from kcoord.instances.peer_watch import PeerWatch
from kcoord.instances.relayed_calls import LocalGroups
from kcoord.instances.request_routing import SharedGroups
from kcoord.instances.secret import Secret
from kcoord.instances.tls import InternalTls, TlsUnusable
from kcoord.protocol.record_levels import RECORD_LEVEL

__all__ = ["Instances", "InstancesError", "InstancesSettings", "InternalSettings", "InternalTls"]

log = logging.getLogger("kcoord.instances")

WILDCARDS = ("0.0.0.0", "::", "")
FOUND_AGAIN_MS = 5_000
"""How long clients may take to find their instance by a new map."""


class InstancesError(Exception):
    """An instance cannot take part with its settings. The text says what is wrong and what to do."""


@attrs.frozen(kw_only=True)
class InternalSettings:
    """The settings of the port for other instances. Times are in ms."""

    listen: Address
    advertise: Address | None = None
    """The address by which the others reach it; None: the same as `listen`."""
    secret: str | None = attrs.field(default=None, repr=False)
    tls: InternalTls | None = None
    request_timeout_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(1))
    """How long another instance may be silent before calls to it fail."""
    frame_bytes: int = attrs.field(default=100 << 20, validator=attrs.validators.ge(1))
    """The largest frame, in bytes."""


@attrs.frozen(kw_only=True)
class InstancesSettings:
    """The settings of an instance among others. Times are in ms."""

    instance_id: int = attrs.field(validator=attrs.validators.ge(0))
    group: str
    topic: str
    partitions: int
    kafka: Mapping[str, Any]
    """aiokafka's arguments: `bootstrap_servers` and security."""
    host: str
    port: int
    """The port that clients use first (bootstrap)."""
    port_offset: int = 1
    broker_ports: Mapping[int, int] = attrs.Factory(dict)
    """Ports for single brokers that differ from the rule (GW-1)."""
    lease_ms: int
    session_timeout_ms: int = 6_000
    heartbeat_interval_ms: int = 300
    record_level: int = RECORD_LEVEL
    """The record level that this instance reports as readable."""
    began_new: bool = False
    """Whether this instance knows that the installation began with a kcoord that adopts groups."""
    watch_leaders: bool = False
    """Whether the log's cluster is also the upstream cluster, so that the leaders of `__consumer_offsets` there
    matter.
    """
    internal: InternalSettings | None = None


class Instances:
    """This instance among the others. `local` coordinates its own groups; `serials` gives the next serial number of a
    client's connection; `known_brokers` returns the brokers that a gateway knows.
    """

    def __init__(
        self,
        settings: InstancesSettings,
        local: LocalGroups,
        serials: Callable[[], int],
        known_brokers: Callable[[], Iterable[int]] = lambda: (),
    ) -> None:
        """Raises InstancesError."""
        self._settings = settings
        self._links: dict[tuple[int, int], Link] = {}
        self._listener: InternalListener | None = None
        self._myself: Myself | None = None
        self._known_brokers = known_brokers
        self._leaders: LeadersWatch | None = None
        instance = Instance(
            instance_id=settings.instance_id,
            started_ms=time.time_ns() // 1_000_000,
            host=settings.host,
            port=settings.port,
            port_offset=settings.port_offset,
            broker_ports=dict(settings.broker_ports),
            lease_ms=settings.lease_ms,
            record_level=settings.record_level,
            began_new=settings.began_new,
        )
        member = GroupMemberSettings(
            group=settings.group,
            topic=settings.topic,
            kafka=settings.kafka,
            client_id=f"kcoord-instance-{settings.instance_id}",
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
        )
        self.membership = Membership(
            instance, settings.partitions, member, local, self._surroundings, self._look_around, self._is_own_address
        )
        self._watch = PeerWatch(self._peers, self._way_to, self.membership.died, self.membership.lives)
        self.membership.on_change += [self._close_links, self._watch.follow]
        if settings.watch_leaders:
            self._leaders = LeadersWatch(self.membership.member.ask_any_broker)
        timeout_s = 0.0
        if settings.internal is not None:
            timeout_s = settings.internal.request_timeout_ms / 1000
            self._prepare(settings.internal, local, serials)
        self.groups = SharedGroups(local, self.membership, self._way_to, timeout_s)

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self, handed_down: Sequence[socket.socket] = ()) -> None:
        """Open the internal port and begin to join. `handed_down`: sockets that listen there already. Raises OSError
        (the port).
        """
        instance = self.membership.instance
        internal = self._settings.internal
        if self._listener is not None and internal is not None:
            host, port = internal.listen
            port = await self._listener.listen(host, port, handed_down)
            instance = attrs.evolve(instance, internal=internal.advertise or (host, port))
        self.membership.start(instance)

    async def joined(self) -> None:
        """Wait for the first map. From then on partitions are loaded."""
        await self.membership.joined()

    async def stop(self) -> None:
        """Hand all partitions over, leave the group, and close the links to other instances and the internal port."""
        await self.membership.stop()
        self._watch.stop()
        relayed = ", ".join(f"{count} {name}" for name, count in sorted(self.groups.relayed.items()))
        log.info("calls that went to other instances: %s", relayed or "none")
        if self._leaders is not None:
            await self._leaders.stop()
        for link in self._links.values():
            link.close()
        self._links.clear()
        if self._listener is not None:
            self._listener.close()

    # -- the others ---------------------------------------------------------------------------------------------------

    def _prepare(self, internal: InternalSettings, local: LocalGroups, serials: Callable[[], int]) -> None:
        if internal.secret is None and internal.tls is None:
            raise InstancesError(
                "internal.listen would take calls from everybody: set internal.secret (the same on all instances), or "
                "internal.ssl.certificate.location, internal.ssl.key.location and internal.ssl.ca.location"
            )
        if internal.listen[0] in WILDCARDS and internal.advertise is None:
            raise InstancesError(
                f"internal.listen={internal.listen[0]}:{internal.listen[1]} is not an address that others can call: "
                "set internal.advertise to the one by which they reach this instance"
            )
        try:
            secret = Secret(internal.secret)
            called = None if internal.tls is None else internal.tls.of_called()
            caller = None if internal.tls is None else internal.tls.of_caller()
        except (ValueError, TlsUnusable) as error:
            raise InstancesError(str(error)) from None
        number = self._settings.instance_id
        away_ms = self._settings.session_timeout_ms + FOUND_AGAIN_MS
        self._listener = InternalListener(number, local, serials, secret, called, internal.frame_bytes, away_ms)
        timeout_s = internal.request_timeout_ms / 1000
        self._myself = Myself(number, uuid.uuid4().hex, secret, caller, timeout_s, internal.frame_bytes)

    def _way_to(self, instance: Instance) -> Link | None:
        """The link to another instance, made when it is first needed; None if one of the two has no internal port."""
        if instance.internal is None or self._myself is None:
            return None
        key = (instance.instance_id, instance.started_ms)
        link = self._links.get(key)
        if link is None:
            link = self._links[key] = Link(self._myself, instance.instance_id, instance.internal)
        return link

    def _peers(self) -> list[Instance]:
        """The other instances of the map; none if this instance is refused."""
        membership = self.membership
        if membership.is_refused:
            return []
        return [each for each in membership.map.instances.values() if not membership.is_self(each)]

    async def _is_own_address(self, address: Address) -> bool:
        """Whether a call to `address` reaches this process."""
        listener, myself = self._listener, self._myself
        if listener is None or myself is None:
            return False
        link = Link(myself, myself.instance_id, address)
        try:
            await link.connect()
        except LinkLost:
            return False
        finally:
            link.close()
        return listener.runs.get(myself.instance_id) == myself.run

    def _close_links(self) -> None:
        """Close the links to instances that are no longer in the map. Calls that wait there end."""
        there = {(each.instance_id, each.started_ms) for each in self.membership.map.instances.values()}
        for key in self._links.keys() - there:
            self._links.pop(key).close()

    # -- the upstream cluster -----------------------------------------------------------------------------------------

    def _surroundings(self) -> Surroundings:
        seen = self._leaders.seen() if self._leaders is not None else Surroundings()
        return attrs.evolve(seen, brokers=seen.brokers | frozenset(self._known_brokers()))

    def addresses_of_brokers(self) -> Mapping[int, Address]:
        """The brokers' own addresses as the upstream cluster gives them; empty if this instance does not ask it."""
        return self._leaders.seen().addresses if self._leaders is not None else {}

    async def _look_around(self) -> None:
        if self._leaders is not None:
            await self._leaders.start()
