"""Rights: what a client may do with a group, as upstream says, and how often it is asked.

One question serves three ends: DescribeGroups v3-5 with authorized operations, on the client's own connection
(GW-16). It tells the rights of whoever is authenticated there, it fails with NOT_COORDINATOR where the connection does
not end at the group's coordinator, and it is the something small that keeps a member's connection from being cut as
idle (GW-6). From v6 on a group that is not there would be an error without rights, so it is not used.

A right holds from the moment at which it was asked for, for `GatewaySettings.rights_hold_ms` and no longer, whatever
rests on it: an answer now, one that the hot path repeats, one that is held back. While upstream cannot say, it holds
for as long as an outage is borne (GW-10). Who is told that it may not read a group is no member by that
connection any more, at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.gateway.settings import GatewaySettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["DELETE", "DESCRIBE", "READ", "Rights"]

READ, DELETE, DESCRIBE = 3, 6, 8
"""Bits of authorized operations: Kafka's numbers of AclOperation."""

LOWEST, HIGHEST = 3, 5
RETRY_S = 0.1
BYTES_A_CONNECTION = 128 * 1024
"""Rights that are remembered of one connection."""
COMMON_BYTES = 8 << 20
"""Rights that are remembered of all clients together, where upstream cannot tell them apart."""

NOT_READY = frozenset({ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE})


class Rights:
    """What upstream has said of the clients of all connections."""

    def __init__(self, settings: GatewaySettings, now_ms: Callable[[], int]) -> None:
        self._settings = settings
        self._now_ms = now_ms
        self._common: BoundedCache[str, Authorization] = BoundedCache(COMMON_BYTES)

    def known(self, session: ClientSession, group_id: str) -> Authorization | None:
        """What was said last. Without SASL all clients are the same to upstream."""
        known = session.authorizations.get(group_id) if session.authorizations is not None else None
        if known is None and session.upstream is None and session.sasl is None:
            return self._common.get(group_id)
        return known

    def may_read(self, session: ClientSession, group_id: str) -> bool:
        """Whether upstream said last that this client may read the group."""
        known = self.known(session, group_id)
        return known is not None and known.allows(READ)

    def holds(self, authorization: Authorization, longer_ms: int = 0) -> bool:
        """Whether that was asked lately enough to build upon."""
        return self._now_ms() - authorization.asked_ms < self._settings.rights_hold_ms + longer_ms

    def valid_until_ms(self, session: ClientSession, group_id: str) -> int:
        """Until when an answer that rests on this client's right to the group may be repeated."""
        authorization = self.known(session, group_id)
        until_ms = self._now_ms() if authorization is None else authorization.asked_ms + self._settings.rights_hold_ms
        if session.sasl is not None and session.sasl.expires_ms is not None:
            until_ms = min(until_ms, session.sasl.expires_ms)
        return until_ms

    def remember(self, session: ClientSession, group_id: str, authorization: Authorization) -> None:
        """Upstream has said this."""
        if session.authorizations is None:
            session.authorizations = BoundedCache(BYTES_A_CONNECTION)
        session.authorizations[group_id] = authorization
        if session.sasl is None:
            self._common[group_id] = authorization
        if not authorization.allows(READ):
            session.forget_member(group_id)

    def forget(self, session: ClientSession, group_id: str) -> None:
        """What is known may be so no more."""
        if session.authorizations is not None:
            session.authorizations.pop(group_id)

    def refused(self, session: ClientSession, group_id: str) -> None:
        """Upstream has said that this client may do nothing, or may not read, with the group."""
        self.forget(session, group_id)
        if session.sasl is None:
            self._common.pop(group_id)
        session.forget_member(group_id)

    async def check(self, session: ClientSession, group_id: str, operation: int) -> ErrorCode:
        """NONE when this client may do that, and its connection ends at the group's coordinator.

        Raises UpstreamLost.
        """
        found = await self.authorization(session, group_id)
        if not isinstance(found, Authorization):
            return found
        return ErrorCode.NONE if found.allows(operation) else ErrorCode.GROUP_AUTHORIZATION_FAILED

    async def authorization(self, session: ClientSession, group_id: str) -> Authorization | ErrorCode:
        """The client's authorization. Upstream is asked again when what is known is old.

        Raises UpstreamLost when nothing is known.
        """
        known = self.known(session, group_id)
        if known is not None and self.holds(known):
            return known
        until_ms = self._now_ms() + self._settings.patience_ms
        holds_in_outage = known is not None and self.holds(known, longer_ms=self._settings.outage_ms)
        while True:
            try:
                if session.upstream is None and known is not None and holds_in_outage and session.is_known:
                    return known
                await session.ready()
                found = await self.ask(session, group_id)
            except UpstreamLost:
                if known is not None and holds_in_outage and session.is_known:
                    return known
                raise
            if isinstance(found, Authorization) or found not in NOT_READY or self._now_ms() >= until_ms:
                return found
            await asyncio.sleep(RETRY_S)

    async def ask(self, session: ClientSession, group_id: str) -> Authorization | ErrorCode:
        """Ask upstream now, and remember what it says. Raises UpstreamLost."""
        version = await session.version(DescribeGroupsRequest, HIGHEST)
        if version is None or version < LOWEST:
            return ErrorCode.UNSUPPORTED_VERSION
        asked_ms = self._now_ms()
        request = DescribeGroupsRequest(groups=[group_id], include_authorized_operations=True)
        response = await session.ask(request, version)
        assert isinstance(response, DescribeGroupsResponse)
        if len(response.groups) != 1:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        described = response.groups[0]
        if described.error_code == ErrorCode.NONE:
            found = Authorization(described.authorized_operations, asked_ms)
            self.remember(session, group_id, found)
            return found
        if described.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
            self.refused(session, group_id)
        else:
            self.forget(session, group_id)
        return error_of(described.error_code)
