"""How do the parts of an instance among others hang together, and in which order do they start and stop?

A start opens the internal port, because the others must reach it from the first map on, and begins to join. A planned
stop lets go of all partitions and leaves the group while everything else still runs: so clients are told to look for
the coordinator elsewhere, and find it.
"""

from __future__ import annotations

import logging
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from kcoord.instances.calls import LocalGroups
from kcoord.instances.group_member import GroupMemberSettings
from kcoord.instances.groups import SharedGroups
from kcoord.instances.leaders import LeadersWatch, Surroundings
from kcoord.instances.link import Link, LinkLost, Myself
from kcoord.instances.listener import InternalListener
from kcoord.instances.map import Address, Instance
from kcoord.instances.membership import Membership
from kcoord.instances.peer_watch import PeerWatch
from kcoord.instances.secret import Secret
from kcoord.instances.tls import InternalTls, TlsUnusable
from kcoord.protocol.record_levels import RECORD_LEVEL

__all__ = ["Instances", "InstancesError", "InstancesSettings", "InternalSettings", "InternalTls"]

log = logging.getLogger("kcoord.instances")

WILDCARDS = ("0.0.0.0", "::", "")
FOUND_AGAIN_MS = 5_000
"""How long clients may take to find the way that a new map shows."""


class InstancesError(Exception):
    """An instance cannot take part as it was told to; the text says what is wrong and what to do."""


@attrs.frozen(kw_only=True)
class InternalSettings:
    """The port for other instances. Times are in ms."""

    listen: Address
    advertise: Address | None = None
    """By which the others reach it; None: as `listen`."""
    secret: str | None = attrs.field(default=None, repr=False)
    tls: InternalTls | None = None
    request_timeout_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(1))
    """How long another instance may be silent before calls to it have failed."""
    frame_bytes: int = attrs.field(default=100 << 20, validator=attrs.validators.ge(1))
    """The largest frame."""


@attrs.frozen(kw_only=True)
class InstancesSettings:
    """What an instance is told of itself and the others. Times are in ms."""

    instance_id: int = attrs.field(validator=attrs.validators.ge(0))
    group: str
    topic: str
    partitions: int
    kafka: Mapping[str, Any]
    """aiokafka's arguments: `bootstrap_servers` and security."""
    host: str
    port: int
    """By which clients reach this instance first."""
    port_offset: int = 1
    broker_ports: Mapping[int, int] = attrs.Factory(dict)
    """Ports by which clients reach single brokers, where the rule does not fit (GW-1)."""
    lease_ms: int
    session_timeout_ms: int = 6_000
    heartbeat_interval_ms: int = 300
    record_level: int = RECORD_LEVEL
    """Which records it says that it reads."""
    watch_leaders: bool = False
    """Whether the log's cluster is the one that this instance stands before, so that it is worth looking who leads
    `__consumer_offsets` there."""
    internal: InternalSettings | None = None


class Instances:
    """This instance among the others. `local` coordinates its own groups; `serials` gives the next serial of a client's
    connection; `known_brokers` are those that a gateway knows of.
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
        """Returns when this instance has the first map; partitions are loaded from then on."""
        await self.membership.joined()

    async def stop(self) -> None:
        """Hand everything over, leave the others, and close what leads to them."""
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
                f"internal.listen={internal.listen[0]}:{internal.listen[1]} is no address that others can call: set "
                "internal.advertise to the one by which they reach this instance"
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
        """The link to another instance, made when it is first needed; None where there can be none."""
        if instance.internal is None or self._myself is None:
            return None
        key = (instance.instance_id, instance.started_ms)
        link = self._links.get(key)
        if link is None:
            link = self._links[key] = Link(self._myself, instance.instance_id, instance.internal)
        return link

    def _peers(self) -> list[Instance]:
        """The other instances, as long as this one is one of them."""
        membership = self.membership
        if membership.is_refused:
            return []
        return [each for each in membership.map.instances.values() if not membership.is_self(each)]

    async def _is_own_address(self, address: Address) -> bool:
        """Whether who calls that address reaches this process."""
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
        """Whoever is in the map no more is asked no more: calls that wait there are over."""
        there = {(each.instance_id, each.started_ms) for each in self.membership.map.instances.values()}
        for key in self._links.keys() - there:
            self._links.pop(key).close()

    # -- the cluster behind -------------------------------------------------------------------------------------------

    def _surroundings(self) -> Surroundings:
        seen = self._leaders.seen() if self._leaders is not None else Surroundings()
        return attrs.evolve(seen, brokers=seen.brokers | frozenset(self._known_brokers()))

    def addresses_of_brokers(self) -> Mapping[int, Address]:
        """Where the cluster behind says that its brokers are, if it is asked by this instance itself."""
        return self._leaders.seen().addresses if self._leaders is not None else {}

    async def _look_around(self) -> None:
        if self._leaders is not None:
            await self._leaders.start()
