"""Outages: what happens to members while their broker is away.

A fleet must outlive a restart of the cluster behind it: Connect stops all its tasks when it cannot reach its
coordinator for one heartbeat interval. Rules (GW-9, GW-10):

1. If a member's broker goes away, kcoord keeps the member's connection open: it is *detached*. kcoord answers what it
   can answer truthfully without upstream: the member's heartbeats, SyncGroup and LeaveGroup, FindCoordinator of groups
   that are here, and ApiVersions with the broker's last answer. Nobody can join past kcoord meanwhile, because the
   group's coordinator is away. JoinGroup, commits and OffsetFetch wait a moment for the broker, then get a retriable
   error. kcoord never makes up Metadata: if a request must pass and the broker does not come back within a moment,
   kcoord closes the connection.
2. Without SASL a new connection may begin detached, if it comes by the port of a broker that coordinates groups with
   members here. With SASL it may not, because kcoord cannot tell who the client is.
3. When the broker is back, kcoord makes new connections behind the detached ones. With SASL it closes these instead,
   because only the client can authenticate, and pauses the members' sessions, so that nobody expires on the way.
4. When the coordinator has moved to another broker, kcoord closes these connections too, and the clients find it there.
5. All this ends after `outage_ms`. Then kcoord closes the connections, and sessions run again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from kcoord.gateway.interfaces import GroupReader
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.access.paused_sessions import PausedSessions
from kcoord.gateway.ownership.access.rights import NOT_READY, READ, Rights
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.connection_context import ConnectionContext, Spawner
from kcoord.gateway.session.upstream import Asker, UpstreamLost, error_of
from kcoord.gateway.topology.coordinators import KEYS_FROM, Coordinators
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["Outages", "find"]

log = logging.getLogger("kcoord.gateway")

FIRST_PAUSE_S, LONGEST_PAUSE_S, SLOWER = 0.05, 1.0, 1.5
AT_ONCE = 64
"""How many connections kcoord makes again at the same time."""
SETTLING_S = 0.2


class OutageContext(ConnectionContext, Spawner, Protocol):
    """What `Outages` needs from the gateway."""

    coordinators: Coordinators
    groups: GroupReader
    guarded: GuardedGroups
    paused_sessions: PausedSessions
    rights: Rights

    def finders(self, groups: Iterable[str], away: int | None) -> list[tuple[Asker, list[str]]]: ...
    def name_of(self, broker_id: int | None) -> str: ...
    def pause_members(self, session: ClientSession) -> None: ...


class Outages:
    """The detached connections, by broker."""

    def __init__(self, gateway: OutageContext) -> None:
        self._gateway = gateway
        self._away: dict[int | None, dict[ClientSession, None]] = {}
        self._said: set[int | None] = set()

    def may_stay(self, session: ClientSession, had_open_requests: bool) -> bool:
        """Whether kcoord keeps a connection that has lost its broker."""
        return (
            bool(session.members)
            and not had_open_requests
            and session.is_known
            and self._gateway.settings.outage_ms > 0
        )

    def may_begin_detached(self, session: ClientSession) -> bool:
        """Whether kcoord keeps a new connection although it cannot reach the broker."""
        gateway = self._gateway
        if session.sasl is not None or gateway.settings.outage_ms == 0:
            return False
        at_it = gateway.coordinators.groups_at(session.broker_id)
        return any(gateway.groups.known_facts(group).has_members for group in at_it)

    def add(self, session: ClientSession) -> None:
        """`session` is detached from now on: watch its broker."""
        away = self._away.get(session.broker_id)
        if away is None:
            if session.broker_id not in self._said:
                self._said.add(session.broker_id)
                log.warning("upstream %s is away: members are kept", self._gateway.name_of(session.broker_id))
            self._away[session.broker_id] = {session: None}
            self._gateway.spawn(self._watch(session.broker_id))
        else:
            away[session] = None

    def discard(self, session: ClientSession) -> None:
        """`session` is not detached any more."""
        away = self._away.get(session.broker_id)
        if away is not None:
            away.pop(session, None)

    async def keep_loaded(self, group_ids: list[str]) -> None:
        """These groups were just loaded. If upstream is away, pause the sessions of their members, because these cannot
        come back yet."""
        gateway = self._gateway
        if not group_ids or await self._is_there(None):
            return
        described = await gateway.guarded.describe(DescribeGroupsRequest(groups=group_ids))
        assert isinstance(described, DescribeGroupsResponse)
        for each in described.groups:
            gateway.paused_sessions.pause(
                each.group_id, [member.member_id for member in each.members], gateway.now_ms()
            )
        connect = await gateway.guarded.describe(ConnectGroupDescribeRequest(group_ids=group_ids))
        assert isinstance(connect, ConnectGroupDescribeResponse)
        for connect_group in connect.groups:
            members = [member.member_id for member in connect_group.members]
            gateway.paused_sessions.pause(connect_group.group_id, members, gateway.now_ms())
        consumer = await gateway.guarded.describe(ConsumerGroupDescribeRequest(group_ids=group_ids))
        assert isinstance(consumer, ConsumerGroupDescribeResponse)
        for consumer_group in consumer.groups:
            members = [member.member_id for member in consumer_group.members]
            gateway.paused_sessions.pause(consumer_group.group_id, members, gateway.now_ms())
        log.warning("upstream is away: members that were here before are kept until it is back")

    async def _watch(self, broker_id: int | None) -> None:
        """Try the broker until it has no detached connections any more, or the time is over."""
        gateway = self._gateway
        away = self._away[broker_id]
        began_ms = gateway.now_ms()
        pause_s = FIRST_PAUSE_S
        try:
            while away:
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * SLOWER, LONGEST_PAUSE_S)
                if gateway.now_ms() - began_ms > gateway.settings.outage_ms:
                    self._give_up(away)
                    return
                if await self._is_there(broker_id):
                    self._said.discard(broker_id)
                    log.info("upstream %s is back", gateway.name_of(broker_id))
                    await self._return(away)
                else:
                    await self._look_for_movers(away, broker_id)
        finally:
            del self._away[broker_id]

    async def _is_there(self, broker_id: int | None) -> bool:
        """Whether the broker answers. An open port proves nothing: a forwarder may accept while no broker is there."""
        try:
            probe = await self._gateway.dial(_Nobody(broker_id))
        except UpstreamLost:
            return False
        try:
            await probe.ask(ApiVersionsRequest(), 0, None, self._gateway.settings.connection_setup_timeout_ms)
        except (UpstreamLost, DecodeError):
            return False
        finally:
            probe.close("it was tried", is_fault=False)
        return True

    async def _return(self, away: dict[ClientSession, None]) -> None:
        while away:
            some = list(islice(away, AT_ONCE))
            for session in some:
                del away[session]
            await asyncio.gather(*(self._reattach(session) for session in some))
            if any(session in away for session in some):
                return

    async def _reattach(self, session: ClientSession) -> None:
        if session.sasl is not None:
            self._send_home(session)
            return
        try:
            upstream = await self._gateway.dial(session)
        except UpstreamLost:
            self._away.setdefault(session.broker_id, {})[session] = None
            return
        if session.gone:
            upstream.close("the client has gone", is_fault=False)
            return
        session.attach(upstream)
        for group_id in list(session.members or ()):
            self._gateway.spawn(self._verify(session, group_id))

    async def _verify(self, session: ClientSession, group_id: str) -> None:
        """Close the connection if its broker no longer coordinates the group, or the client may not read the group.

        A broker that has just started may need a moment to know.
        """
        gateway = self._gateway
        until_ms = gateway.now_ms() + gateway.settings.outage_ms
        try:
            while not session.gone and session.upstream is not None and gateway.now_ms() < until_ms:
                found = await gateway.rights.ask(session, group_id)
                if isinstance(found, Authorization):
                    if not found.allows(READ):
                        self._send_home(session)
                    return
                if found == ErrorCode.GROUP_AUTHORIZATION_FAILED:
                    self._send_home(session)
                    return
                if found not in NOT_READY:
                    at = await find(session, [group_id])
                    if at.get(group_id, session.broker_id) != session.broker_id:
                        self._send_home(session)
                        return
                await asyncio.sleep(SETTLING_S)
        except (UpstreamLost, DecodeError) as lost:
            log.debug("group %s could not be verified: %s", group_id, lost)

    async def _look_for_movers(self, away: Collection[ClientSession], broker_id: int | None) -> None:
        """Close the connections of members whose groups another broker coordinates by now."""
        groups = {group_id for session in away for group_id in session.members or ()}
        for asker, asked in self._gateway.finders(groups, broker_id):
            try:
                at = await find(asker, asked)
            except (UpstreamLost, DecodeError):
                continue
            for group_id, node_id in at.items():
                self._gateway.coordinators.learn(group_id, node_id)
            moved = {group_id for group_id, node_id in at.items() if node_id != broker_id}
            for session in [session for session in away if not moved.isdisjoint(session.members or ())]:
                self._send_home(session)

    def _send_home(self, session: ClientSession) -> None:
        """Close without a log line. The client finds its coordinator again, and its members do not expire meanwhile."""
        self.discard(session)
        self._gateway.pause_members(session)
        session.client.end()

    def _give_up(self, away: dict[ClientSession, None]) -> None:
        log.warning("upstream has been away for %d ms: members are on their own", self._gateway.settings.outage_ms)
        for session in list(away):
            away.pop(session, None)
            session.client.end()


async def find(asker: Asker, groups: list[str]) -> dict[str, int]:
    """The coordinators of these groups by upstream's answer, if it knows them: group → broker. Raises UpstreamLost."""
    version = await asker.version(FindCoordinatorRequest)
    if version is None:
        return {}
    if version >= KEYS_FROM:
        response = await asker.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=groups), version)
        assert isinstance(response, FindCoordinatorResponse)
        return {each.key: each.node_id for each in response.coordinators if error_of(each.error_code) == ErrorCode.NONE}
    found = {}
    for group_id in groups:
        response = await asker.ask(FindCoordinatorRequest(key=group_id, key_type=0), version)
        assert isinstance(response, FindCoordinatorResponse)
        if error_of(response.error_code) == ErrorCode.NONE:
            found[group_id] = response.node_id
    return found


class _Nobody:
    """The owner of a connection that only tries whether a broker is there."""

    in_flight = 0

    def __init__(self, broker_id: int | None) -> None:
        self.broker_id = broker_id

    def to_client(self, data: bytes | bytearray | memoryview) -> None: ...
    def to_client_when_known(self, data: bytes) -> None: ...
    def answered(self) -> None: ...
    def upstream_lost(self, reason: str, is_fault: bool) -> None: ...
    def upstream_full(self) -> None: ...
    def upstream_drained(self) -> None: ...
    def map_node(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        return host, port
