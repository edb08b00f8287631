"""The heartbeats of the newer protocols (KIP-848 consumers, share, streams) for a group id that is kcoord's.

A group id belongs to one protocol at a time (GW-15). Without members here the heartbeat is upstream's, and
the sentinel leaves at once, or upstream would refuse it: so a group whose members were all stopped can change its
protocol. With members here it gets UNSUPPORTED_VERSION: Java says then "set group.protocol=classic", franz-go falls
back by itself; upstream's own answer would be a misleading GROUP_ID_NOT_FOUND. Describing needs nothing: while kcoord
has a group, upstream says GROUP_ID_NOT_FOUND to the newer protocols' describe requests, on which clients ask
DescribeGroups.

Whoever upgrades a group one client at a time sees it refused in the client's log only, so kcoord's log has a line too:
one a group in `PAUSE_MS`, for a refused client may come again at once and for ever.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.handlers.handler_context import HandlerContext
from kcoord.gateway.ownership.group_ownership import facts_of, is_here
from kcoord.gateway.ownership.rights import READ
from kcoord.group.bounded_text import bounded_name
from kcoord.protocol.call import Call
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["NewerHeartbeat", "RefusedUpgrades", "newer_heartbeat"]

log = logging.getLogger("kcoord.gateway")

NewerHeartbeat = ConsumerGroupHeartbeatRequest | ShareGroupHeartbeatRequest | StreamsGroupHeartbeatRequest

HINT = "this group is coordinated by kcoord and has members of another protocol: set group.protocol=classic"
PAUSE_MS = 60_000
SAID_BYTES = 4 << 20
"""Groups of which it is remembered when their last line was written."""
ADVICE = {
    ConsumerGroupHeartbeatRequest: (
        "a consumer with group.protocol=consumer (KIP-848)",
        "Set group.protocol=classic there. To change the protocol of the whole group, stop all its members first, or "
        "leave it out of --groups: kcoord does not coordinate groups of that protocol",
    ),
    ShareGroupHeartbeatRequest: ("a share consumer", "Give it a group id of its own"),
    StreamsGroupHeartbeatRequest: (
        "a streams application with group.protocol=streams",
        "Set group.protocol=classic there. To change the protocol of the whole group, stop all its members first, or "
        "leave it out of --groups: kcoord does not coordinate groups of that protocol",
    ),
}
"""Who was refused, and what to do about it."""


@attrs.define
class _Said:
    """What was written of a group."""

    next_ms: int
    left_out: int = 0


class RefusedUpgrades:
    """The log's lines about clients of newer protocols that were refused."""

    def __init__(self) -> None:
        self._said: BoundedCache[tuple[str, str], _Said] = BoundedCache(SAID_BYTES)

    def note(self, request: NewerHeartbeat, client: str, now_ms: int) -> None:
        """That client was refused. `now_ms` is monotonic."""
        who, advice = ADVICE[type(request)]
        said = self._said.get((request.group_id, who))
        if said is not None and now_ms < said.next_ms:
            said.left_out += 1
            return
        times = f" ({said.left_out} more times since the last such line)" if said is not None and said.left_out else ""
        self._said[request.group_id, who] = _Said(now_ms + PAUSE_MS)
        log.warning(
            "group %s: %s was refused, %s%s: the group is kcoord's, and its members speak another protocol. %s",
            request.group_id,
            who,
            client,
            times,
            advice,
        )


class UpgradeContext(HandlerContext, Protocol):
    """What handlers of other protocols need."""

    refused_upgrades: RefusedUpgrades


async def _judge(gateway: UpgradeContext, session: ClientSession, group_id: str) -> ErrorCode:
    """NONE where upstream is to answer: kcoord does not have the group, or nobody is in it any more. Raises
    UpstreamLost.
    """
    if not await is_here(gateway, group_id):
        return ErrorCode.NONE
    error = await gateway.rights.check(session, group_id, READ)
    if error:
        return error if (await facts_of(gateway, group_id)).has_members else ErrorCode.NONE
    sentinel = gateway.sentinels.known(group_id)
    if sentinel is not None:
        await gateway.sentinels.give_back(sentinel)  # it does nothing if there are members
    has_members = (await facts_of(gateway, group_id)).has_members
    return ErrorCode.UNSUPPORTED_VERSION if has_members else ErrorCode.NONE


async def newer_heartbeat(gateway: UpgradeContext, session: ClientSession, call: Call, request: NewerHeartbeat) -> None:
    """Answer a heartbeat of a newer protocol, or pass it on. Raises UpstreamLost."""
    error = await _judge(gateway, session, request.group_id)
    if error == ErrorCode.NONE:
        session.pass_on(call)
        return
    message = HINT if error == ErrorCode.UNSUPPORTED_VERSION else None
    if message is not None:
        client = f"{bounded_name(call.header.client_id or '')} ({session.client.client_host.removeprefix('/')})"
        gateway.refused_upgrades.note(request, client.lstrip(), gateway.now_ms())
    match request:
        case ConsumerGroupHeartbeatRequest():
            session.answer(call, ConsumerGroupHeartbeatResponse(error_code=error, error_message=message))
        case ShareGroupHeartbeatRequest():
            session.answer(call, ShareGroupHeartbeatResponse(error_code=error, error_message=message))
        case StreamsGroupHeartbeatRequest():
            session.answer(call, StreamsGroupHeartbeatResponse(error_code=error, error_message=message))
