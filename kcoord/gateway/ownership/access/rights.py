"""Rights: what a client may do with a group, as upstream says, and how often kcoord asks.

kcoord asks DescribeGroups v3 to v5 with authorized operations, on the client's own connection (GW-16). This question
serves four purposes:

1. It tells the rights of the client that is authenticated there.
2. It fails with NOT_COORDINATOR if the connection does not end at the group's coordinator.
3. It keeps the broker from closing a member's connection as idle (GW-6).
4. It shows whether a predecessor of this process left kcoord's own member there, or the group is the cluster's
   (`Sentinel.recognise`).

From v6 on DescribeGroups answers a missing group with an error and without rights, so kcoord does not use it.

A right holds for `GatewaySettings.rights_hold_ms` from the moment when kcoord asked, and no longer. That is so for all
that depends on it: an answer now, an answer that the hot path repeats, and an answer that is held back. While upstream
cannot say, the right holds longer, for the time of an outage (GW-10). A client that upstream refuses to read a group is
at once no member by that connection any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.acl_operation import AclOperation
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["DELETE", "DESCRIBE", "READ", "Rights"]

READ, DELETE, DESCRIBE = AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE

LOWEST, HIGHEST = 3, 5
RETRY_S = 0.1
BYTES_A_CONNECTION = 128 * 1024
"""Size limit, in bytes, of the rights remembered for one connection."""
COMMON_BYTES = 8 << 20
"""Size limit, in bytes, of the rights remembered for all clients together, if upstream cannot tell them apart."""

NOT_READY = frozenset({ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE})


class Rights:
    """What upstream has said about the rights of all clients."""

    def __init__(
        self,
        settings: GatewaySettings,
        now_ms: Callable[[], int],
        on_described: Callable[[ClientSession, DescribedGroup], None],
    ) -> None:
        """`on_described` is called with each description of a group that the client may describe."""
        self._on_described = on_described
        self._settings = settings
        self._now_ms = now_ms
        self._common: BoundedCache[str, Authorization] = BoundedCache(COMMON_BYTES)

    def known(self, session: ClientSession, group_id: str) -> Authorization | None:
        """What upstream said last about this client and group.

        Without SASL all clients are the same to upstream. So if nothing is known for a detached connection, the last
        answer to any client counts.
        """
        known = session.authorizations.get(group_id) if session.authorizations is not None else None
        if known is None and session.upstream is None and session.sasl is None:
            return self._common.get(group_id)
        return known

    def may_read(self, session: ClientSession, group_id: str) -> bool:
        """Whether this client may read the group, by what upstream said last."""
        known = self.known(session, group_id)
        return known is not None and known.allows(READ)

    def holds(self, authorization: Authorization, longer_ms: int = 0) -> bool:
        """Whether the authorization still holds; `longer_ms` is added to the usual time."""
        return self._now_ms() - authorization.asked_ms < self._settings.rights_hold_ms + longer_ms

    def valid_until_ms(self, session: ClientSession, group_id: str) -> int:
        """Until when, in ms, the hot path may repeat an answer that depends on this client's right to the group."""
        authorization = self.known(session, group_id)
        until_ms = self._now_ms() if authorization is None else authorization.asked_ms + self._settings.rights_hold_ms
        if session.sasl is not None and session.sasl.expires_ms is not None:
            until_ms = min(until_ms, session.sasl.expires_ms)
        return until_ms

    def remember(self, session: ClientSession, group_id: str, authorization: Authorization) -> None:
        """Remember what upstream said. If it is that the client may not read the group, forget the client's member."""
        if session.authorizations is None:
            session.authorizations = BoundedCache(BYTES_A_CONNECTION)
        session.authorizations[group_id] = authorization
        if session.sasl is None:
            self._common[group_id] = authorization
        if not authorization.allows(READ):
            session.forget_member(group_id)

    def forget(self, session: ClientSession, group_id: str) -> None:
        """Forget what is known on this connection about the group, because it may no longer hold."""
        if session.authorizations is not None:
            session.authorizations.pop(group_id)

    def refused(self, session: ClientSession, group_id: str) -> None:
        """Upstream has said that this client may do nothing with the group, or may not read it."""
        self.forget(session, group_id)
        if session.sasl is None:
            self._common.pop(group_id)
        session.forget_member(group_id)

    async def check(self, session: ClientSession, group_id: str, operation: int) -> ErrorCode:
        """NONE if this client may do `operation` and its connection ends at the group's coordinator, else the error.

        Raises UpstreamLost.
        """
        found = await self.authorization(session, group_id)
        if not isinstance(found, Authorization):
            return found
        return ErrorCode.NONE if found.allows(operation) else ErrorCode.GROUP_AUTHORIZATION_FAILED

    async def authorization(self, session: ClientSession, group_id: str) -> Authorization | ErrorCode:
        """The client's authorization, or the error that upstream answered. kcoord asks again if the known one is old.

        Raises UpstreamLost if upstream cannot be asked and no known authorization holds.
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
        """Ask upstream now, and remember what it says; returns that, or the error. Raises UpstreamLost."""
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
            self._on_described(session, described)
            return found
        if described.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
            self.refused(session, group_id)
        else:
            self.forget(session, group_id)
        return error_of(described.error_code)
