"""What may a client do with a group? Upstream knows; how often do we ask?

One question serves three ends: DescribeGroups v3-5 with authorized operations, on the client's own connection (gateway
rule 16). It tells the rights of whoever is authenticated there, it fails with NOT_COORDINATOR where the connection does
not end at the group's coordinator, and it is the something small that keeps a member's connection from being cut as
idle (gateway rule 6). From v6 on a group that is not there would be an error without rights, so it is not used.

A known right holds for a while, and while upstream cannot say, for as long as an outage is borne (gateway rule 10).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import attrs

from kcoord.gateway.upstream import UpstreamLost, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

if TYPE_CHECKING:
    from kcoord.gateway.leg import Leg

__all__ = ["DELETE", "DESCRIBE", "READ", "Standing", "ask_standing", "check", "standing"]

READ, DELETE, DESCRIBE = 3, 6, 8
"""Bits of authorized operations: Kafka's numbers of AclOperation."""

LOWEST, HIGHEST = 3, 5
RETRY_S = 0.1

NOT_READY = frozenset({ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE})


@attrs.frozen(slots=True)
class Standing:
    """What upstream said of one client and one group."""

    operations: int
    """A bit for each operation that is allowed."""
    asked_ms: int

    def allows(self, operation: int) -> bool:
        return bool(self.operations >> operation & 1)


async def check(leg: Leg, group_id: str, operation: int) -> ErrorCode:
    """NONE when this client may do that, and its connection ends at the group's coordinator. Raises UpstreamLost."""
    found = await standing(leg, group_id)
    if not isinstance(found, Standing):
        return found
    return ErrorCode.NONE if found.allows(operation) else ErrorCode.GROUP_AUTHORIZATION_FAILED


async def standing(leg: Leg, group_id: str) -> Standing | ErrorCode:
    """The client's standing, asked anew when what is known is old. Raises UpstreamLost when nothing is known."""
    settings, now_ms = leg.gateway.settings, leg.gateway.now_ms()
    known = leg.gateway.known_standing(leg, group_id)
    if known is not None and now_ms - known.asked_ms < settings.rights_ttl_ms:
        return known
    until_ms = now_ms + settings.patience_ms
    while True:
        try:
            await leg.ready()
            found = await ask_standing(leg, group_id)
        except UpstreamLost:
            if known is not None and now_ms - known.asked_ms < settings.rights_ttl_ms + settings.outage_ms:
                return known
            raise
        if isinstance(found, Standing) or found not in NOT_READY or leg.gateway.now_ms() >= until_ms:
            return found
        await asyncio.sleep(RETRY_S)


async def ask_standing(leg: Leg, group_id: str) -> Standing | ErrorCode:
    """Ask upstream now, and remember what it says. Raises UpstreamLost."""
    version = await leg.version(DescribeGroupsRequest, HIGHEST)
    if version is None or version < LOWEST:
        return ErrorCode.UNSUPPORTED_VERSION
    request = DescribeGroupsRequest(groups=[group_id], include_authorized_operations=True)
    response = await leg.ask(request, version)
    assert isinstance(response, DescribeGroupsResponse)
    if len(response.groups) != 1:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    described = response.groups[0]
    if described.error_code != ErrorCode.NONE:
        leg.gateway.forget_standing(leg, group_id)
        return error_of(described.error_code)
    found = Standing(described.authorized_operations, leg.gateway.now_ms())
    leg.gateway.remember_standing(leg, group_id, found)
    return found
