"""The gateway: it puts its parts together, and starts and stops them.

The server builds one `Gateway`. The gateway makes a `ClientSession` for each client connection, and knows which groups
kcoord may take. `handlers/request_dispatch.py` gives each request that kcoord reads to its handler.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import re
import time
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.handlers import other_protocols
from kcoord.gateway.handlers.request_dispatch import RequestDispatch
from kcoord.gateway.interfaces import ClientSide, GroupReader, GroupService, Places
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.access.member_sessions import MemberSessions
from kcoord.gateway.ownership.access.outage import Outages
from kcoord.gateway.ownership.access.paused_sessions import PausedSessions
from kcoord.gateway.ownership.access.rights import Rights
from kcoord.gateway.ownership.handover.adoption import Adoptions
from kcoord.gateway.ownership.handover.calls_during_release import ReleaseCalls
from kcoord.gateway.ownership.handover.cluster_groups import ClusterGroups
from kcoord.gateway.ownership.handover.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.handover.group_traffic import GroupTraffic
from kcoord.gateway.ownership.handover.release import Releases
from kcoord.gateway.ownership.maintenance.group_appearances import GroupAppearances
from kcoord.gateway.ownership.maintenance.left_by_0_1_0 import GroupsLeftBy010
from kcoord.gateway.ownership.maintenance.orphaned_groups import OrphanedGroups
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.gateway.rewriting.api_versions import ApiVersionsMemory, merge, of_cluster, read_apis
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.commits_under_way import CommitsUnderWay
from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.gateway.session.upstream import Asker, Deliver, Dialer, Upstream, UpstreamLost, dial
from kcoord.gateway.settings import Address, GatewaySettings
from kcoord.gateway.tls import upstream_context, warn_of_costs
from kcoord.gateway.topology.brokers import BrokerMap, OpenPort
from kcoord.gateway.topology.connection_drain import ConnectionDrain
from kcoord.gateway.topology.coordinators import Coordinators
from kcoord.gateway.topology.instance_watcher import InstanceWatcher
from kcoord.gateway.topology.stale_coordinators import StaleCoordinators
from kcoord.gateway.topology.topic_watch import TopicWatch
from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.owner_setting import Owner
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    api_name,
)
from kcoord.protocol.undecoded_call import Call

__all__ = ["Gateway"]

log = logging.getLogger("kcoord.gateway")

T = TypeVar("T")

TICK_S = 1.0
OWN_IDLE_MS = 60_000
MAP_PATIENCE_S = 10.0
"""How long, in seconds, a client waits for the first map of several instances."""
MATCHES_BYTES = 4 << 20
"""Size limit, in bytes, of the memory of which group ids match `--groups`."""
FINDERS_A_GROUP = 4
FINDERS_BYTES, FINDERS_ENTRY_BYTES = 8 << 20, 1_024
"""Size limit, in bytes, of the memory of connections that may ask for a group's coordinator, and the size of one entry.
"""


class Gateway:
    """The gateway in front of one cluster."""

    def __init__(self, settings: GatewaySettings, groups: GroupService, places: Places | None = None) -> None:
        """`places`: where several instances stand; None for a kcoord that is alone.

        Raises ValueError if TLS files do not fit, or the kept broker map is damaged.
        """
        self.settings = settings
        self.groups: GroupReader = groups
        self.guarded = GuardedGroups(self, groups)
        self.places = places
        self.authenticated_at_once = not settings.uses_sasl
        self.read_apis = read_apis(settings.connect_groups, settings.consumer_groups)
        self.brokers = BrokerMap(settings)
        self.versions = ApiVersionsMemory()
        self.coordinators = Coordinators()
        self.moves = StaleCoordinators(places) if places is not None else None
        self.connection_drain = ConnectionDrain(lambda: self.now_ms(), places) if places is not None else None
        self.appearances = GroupAppearances(self)
        self.sentinels = Sentinels(self)
        self.cluster_groups = ClusterGroups(self)
        self.traffic = GroupTraffic(self.owns)
        self.adoptions = Adoptions(self)
        self.former_ids = FormerMemberIds(self)
        self.releases = Releases(self)
        self.release_calls = ReleaseCalls(self)
        self.refused_upgrades = other_protocols.RefusedUpgrades()
        self.outages = Outages(self)
        self.topics = TopicWatch(self)
        self.now_ms: Callable[[], int] = groups.now_ms
        self.turns = TurnQueue()
        self.rights = Rights(settings, lambda: self.now_ms(), self.sentinels.recognise)
        self.paused_sessions = PausedSessions(groups, settings.outage_ms)
        self.commits = CommitsUnderWay()
        self._requests = RequestDispatch(self)
        self._patterns = [re.compile(pattern) for pattern in settings.groups]
        self._matches: BoundedCache[str, bool] = BoundedCache(MATCHES_BYTES)
        self._tls = upstream_context(settings)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._member_sessions = MemberSessions(self)
        self._own: dict[int | None, ServiceConnection] = {}
        self._finders: BoundedCache[str, weakref.WeakSet[ClientSession]] = BoundedCache(
            FINDERS_BYTES, FINDERS_ENTRY_BYTES
        )
        self._turn = itertools.count()
        self._unreachable: set[str] = set()

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self, open_port: OpenPort) -> None:
        """Open the ports of all known brokers, and begin the gateway's own work. Raises what `open_port` raises."""
        warn_of_costs(self.settings)
        await self.brokers.start(open_port)
        self.spawn(self._tend())
        self.spawn(OrphanedGroups(self).watch())
        self.spawn(GroupsLeftBy010(self).watch())
        if self.settings.consumer_groups:
            self.spawn(self.topics.watch())
        if self.places is not None:
            self.spawn(InstanceWatcher(self, self.places).watch())

    @property
    def adopts(self) -> bool:
        """Whether kcoord adopts a group as soon as all its members come through kcoord (`gateway.adopt`)."""
        if self.settings.adopts is not None:
            return self.settings.adopts
        return self.places is not None and self.places.began_new()

    def leave(self) -> None:
        """This instance is about to stop: from now on tell clients only of the other instances."""
        if self.places is not None:
            self.places.leave()

    async def send_away(self) -> None:
        """Before a stop, while the ports are still open: make sure that clients know the other instances."""
        if self.connection_drain is not None:
            await self.connection_drain.send_away()

    async def stop(self) -> None:
        """Stop all work. Sentinels stay in groups that have members, so the groups are there again after a restart."""
        await self.sentinels.leave_empty_groups()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for own in self._own.values():
            own.close()

    def session(self, connection: ClientSide) -> ClientSession:
        """The client session of a new client connection."""
        session = ClientSession(self, connection)
        if self.connection_drain is not None:
            self.connection_drain.add(session)
        return session

    def check(self, api_key: int, api_version: int) -> None:
        """Never called: each connection has a client session, which judges frames itself. Raises FrameRefused."""
        raise FrameRefused(f"{api_name(api_key)} v{api_version} came by a connection without a client session")

    def dispatch(self, connection: object, call: Call) -> None:
        """Never called, for the same reason. Raises FrameRefused."""
        self.check(call.header.api_key, call.header.api_version)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` in a task of its own. An exception from it is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a fault in the gateway", exc_info=task.exception())

    @staticmethod
    def wall_ms() -> int:
        """Unix time in ms."""
        return time.time_ns() // 1_000_000

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.tend()

    def tend(self) -> None:
        """Begin the work of the gateway's own that is due. Called about once a second."""
        now_ms = self.now_ms()
        self.spawn(self.sentinels.tend())
        self.adoptions.tend()
        self.paused_sessions.forget_over(now_ms)
        self._member_sessions.tend(now_ms)
        for own in self._own.values():
            if now_ms - own.used_ms > OWN_IDLE_MS:
                own.close()

    # -- upstream -----------------------------------------------------------------------------------------------------

    def name_of(self, broker_id: int | None) -> str:
        """The name of a broker in log lines and in the memory of versions."""
        return "cluster" if broker_id is None else f"broker {broker_id}"

    def address_of(self, broker_id: int, reached: str) -> Address | None:
        """Host and port by which a client that reached kcoord by host `reached` gets to a broker; None without a port.

        They are the same in every answer of every instance (GW-19).
        """
        mapped = self.places.address_of(broker_id, reached) if self.places is not None else None
        return mapped or self.settings.advertised_of(broker_id, reached)

    async def placed(self) -> None:
        """Wait until the gateway knows where other instances stand, for `MAP_PATIENCE_S` at most.

        So all instances tell clients the same.
        """
        if self.places is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.places.known(), MAP_PATIENCE_S)

    async def dial(self, owner: Dialer) -> Upstream:
        """Connect to the owner's broker, or to any broker if it has none. Raises UpstreamLost."""
        name = self.name_of(owner.broker_id)
        if owner.broker_id is not None:
            known = self.brokers.address(owner.broker_id)
            addresses = [] if known is None else [known]
        else:
            addresses = self.brokers.addresses()
            first = next(self._turn) % len(addresses)
            addresses = addresses[first:] + addresses[:first]
        lost = UpstreamLost(f"upstream {name} was never seen")
        for address in addresses:
            try:
                upstream = await dial(owner, address, name, self._tls, self.settings.connection_setup_timeout_ms)
            except UpstreamLost as error:
                lost = error
                continue
            self._unreachable.discard(name)
            return upstream
        if name not in self._unreachable:
            self._unreachable.add(name)
            log.warning("%s", lost)
        raise lost

    async def ensure_versions(self, asker: Asker, broker: str) -> None:
        """Ask the broker of `asker` for its API versions, unless they are known. Raises UpstreamLost."""
        if not self.versions.knows(broker):
            response = await asker.ask(ApiVersionsRequest(), 0)
            assert isinstance(response, ApiVersionsResponse)
            self.versions.remember(broker, merge(response, self.read_apis), of_cluster(response))

    def own(self, broker_id: int | None) -> ServiceConnection | None:
        """kcoord's own connection to that broker (None: to any broker). Returns None if upstream needs credentials."""
        if self.settings.uses_sasl:
            return None
        found = self._own.get(broker_id)
        if found is None:
            found = self._own[broker_id] = ServiceConnection(self, broker_id)
        return found

    def any_broker(self, session: ClientSession) -> int | None:
        """The broker of the session's port. On the bootstrap port, any known broker; None if kcoord knows none."""
        return session.broker_id if session.broker_id is not None else next(iter(self.brokers.ids), None)

    def owns(self, group_id: str) -> bool:
        """Whether kcoord may take the group, or could take it earlier and still has its members, to release them."""
        return self.matches(group_id) or self.groups.known_facts(group_id).has_members

    def owner_of(self, group_id: str, facts: GroupFacts) -> str:
        """Who shall have the group (`gateway.owner`); the cluster, if kcoord may not take it any more."""
        return facts.owner if self.matches(group_id) else Owner.CLUSTER

    def matches(self, group_id: str) -> bool:
        """Whether kcoord may take the group (`--groups`)."""
        known = self._matches.get(group_id)
        if known is None:
            known = bool(group_id) and any(pattern.fullmatch(group_id) for pattern in self._patterns)
            self._matches[group_id] = known
        return known

    def finder(self, group_id: str, session: ClientSession) -> None:
        """Note that `session` may ask where that group's coordinator is, because upstream has just told it."""
        if self.settings.uses_sasl:
            sessions = self._finders.get(group_id)
            if sessions is None:
                sessions = self._finders[group_id] = weakref.WeakSet()
            if len(sessions) >= FINDERS_A_GROUP:
                sessions.pop()
            sessions.add(session)

    def finders(self, groups: Iterable[str], away: int | None) -> list[tuple[Asker, list[str]]]:
        """Connections that can ask for the coordinators of these groups while the broker `away` cannot, each with its
        groups.
        """
        if not self.settings.uses_sasl:
            own = self.own(None)
            return [(own, list(groups))] if own is not None else []
        found: dict[ClientSession, list[str]] = {}
        for group_id in groups:
            asker = next(
                (
                    session
                    for session in self._finders.get(group_id) or ()
                    if session.may_ask and session.broker_id != away
                ),
                None,
            )
            if asker is not None:
                found.setdefault(asker, []).append(group_id)
        return list(found.items())

    # -- what client sessions tell -------------------------------------------------------------------------------------

    def client_lost(self, session: ClientSession) -> None:
        """The client has gone. End its connection upstream too, unless a sentinel needs it for the farewell."""
        self.outages.discard(session)
        self.topics.drop(session)
        if self.moves is not None:
            self.moves.gone(session)
        if session.upstream is None or not self.sentinels.is_last_carrier(session):
            self.flush_held_reply(session)

    def flush_held_reply(self, session: ClientSession) -> None:
        """If the client of this session has gone, end its connection upstream: nobody needs it any more."""
        if session.gone:
            self._member_sessions.discard(session)
            self.sentinels.drop(session)
            if session.upstream is not None:
                session.upstream.finish("the client has gone")

    def upstream_lost(self, session: ClientSession, reason: str, is_fault: bool, had_open_requests: bool) -> None:
        """The connection to the broker has ended. End the client's too, unless kcoord keeps it (`outage.py`)."""
        self.traffic.lost(session)
        if session.gone:
            self.flush_held_reply(session)
        elif not is_fault and self.outages.may_stay(session, had_open_requests):
            self.outages.add(session)
        else:
            self.pause_members(session)
            if is_fault:
                session.client.close(reason)
            else:
                session.client.end()

    def member_came(self, session: ClientSession, group_id: str) -> None:
        """The session carries a member of that group, as it did before or from now on.

        It speaks for the group, and its connection upstream must not be cut as idle.
        """
        sentinel = self.sentinels.of(group_id)
        if session in sentinel.carriers:
            return
        self._member_sessions.add(session)
        self.coordinators.joined(group_id)
        self.sentinels.carry(sentinel, session)

    def member_forgotten(self, session: ClientSession, group_id: str) -> None:
        """The session no longer carries a member of that group."""
        self.sentinels.drop(session, group_id)

    def may_read(self, session: ClientSession, group_id: str) -> bool:
        """Whether this client may read the group, by upstream's last answer."""
        return self.rights.may_read(session, group_id)

    def keeps_detached(self, session: ClientSession) -> bool:
        """Whether a new connection stays, detached, although kcoord cannot reach its broker."""
        stays = self.outages.may_begin_detached(session)
        if stays:
            self.outages.add(session)
        return stays

    def passing(self, session: ClientSession, call: Call, deliver: Deliver | None) -> Deliver | None:
        """The session passes a request on. Returns the function that takes the response; None: it passes as bytes."""
        return self.traffic.passing(session, call, deliver)

    async def learn_nodes(self, nodes: Mapping[int, Address]) -> None:
        """Open ports for these brokers."""
        await self.brokers.learn(nodes)

    def is_new_node(self, node_id: int, address: Address) -> bool:
        """Whether that broker has no port yet, or has another address than the known one."""
        return self.brokers.is_new(node_id, address)

    def member_sessions(self, group_id: str) -> list[ClientSession]:
        """The connections of members of that group."""
        return self._member_sessions.of(group_id)

    def pause_members(self, session: ClientSession) -> None:
        """Pause the sessions of the members on this connection until they are back (GW-10)."""
        self.paused_sessions.pause_all_of(session, self.now_ms())

    def handle(self, session: ClientSession, call: Call) -> None:
        """Handle a request that kcoord reads. Raises DecodeError, FrameRefused."""
        self._requests.handle(session, call)
