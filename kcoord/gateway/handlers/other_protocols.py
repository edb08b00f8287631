"""Heartbeats of the newer protocols (KIP-848 consumers, share, streams) for a group that kcoord may take.

A group id belongs to one protocol at a time (GW-15). Rules:

1. If the group has no members here, the heartbeat passes. The sentinel leaves first, because upstream would refuse the
   heartbeat while it is there. So a group whose members were all stopped can change its protocol.
2. If the group has members here, and cannot become a group of that protocol, the answer is UNSUPPORTED_VERSION. At this
   error Java says "set group.protocol=classic", and franz-go falls back by itself. Upstream's own answer would be
   GROUP_ID_NOT_FOUND, which misleads.
3. Describe requests of these protocols need no handler. While kcoord has a group, upstream answers them
   GROUP_ID_NOT_FOUND, and clients then ask DescribeGroups.
4. When a user upgrades a group one client at a time, only that client's own log shows the refusal. So kcoord's log has
   a line too. It has at most one in `PAUSE_MS` for each group and kind of client, because a refused client may come
   again at once and for ever.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.handlers.handler_context import HandlerContext
from kcoord.gateway.ownership.access.group_ownership import facts_of, is_here
from kcoord.gateway.ownership.access.rights import READ
from kcoord.group.state.bounded_text import bounded_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["OTHERS", "NewerHeartbeat", "RefusedUpgrades", "UpgradeContext", "newer_heartbeat"]

log = logging.getLogger("kcoord.gateway")

NewerHeartbeat = ConsumerGroupHeartbeatRequest | ShareGroupHeartbeatRequest | StreamsGroupHeartbeatRequest

OTHERS = "the group is kcoord's, and its members speak another protocol"
SWITCHED_OFF = (
    "the group is one of kcoord's consumer groups, which it does not serve without group.consumer.enable=true"
)
HINT = "set group.protocol=classic"
PAUSE_MS = 60_000
SAID_BYTES = 4 << 20
"""Size limit, in bytes, of the memory of what the log has said about groups."""
ADVICE = {
    ConsumerGroupHeartbeatRequest: (
        "a consumer with group.protocol=consumer (KIP-848)",
        "Set group.protocol=classic there. To change the protocol of the whole group, let kcoord have consumer groups "
        "(group.consumer.enable=true), or stop all its members first: then the group is the cluster's",
    ),
    ShareGroupHeartbeatRequest: ("a share consumer", "Give it a group id of its own"),
    StreamsGroupHeartbeatRequest: (
        "a streams application with group.protocol=streams",
        "Set group.protocol=classic there. To change the protocol of the whole group, stop all its members first, or "
        "leave it out of --groups: kcoord does not coordinate groups of that protocol",
    ),
}
"""By heartbeat: the kind of client that is refused, and advice for the user."""


@attrs.define
class _Said:
    """What the log has said about one kind of client in a group."""

    next_ms: int
    left_out: int = 0


class RefusedUpgrades:
    """Logs that clients of newer protocols are refused."""

    def __init__(self) -> None:
        self._said: BoundedCache[tuple[str, str], _Said] = BoundedCache(SAID_BYTES)

    def note(self, request: NewerHeartbeat, client: str, now_ms: int, why: str = OTHERS) -> None:
        """Note that this client was refused, and why. `now_ms` is monotonic."""
        who, advice = ADVICE[type(request)]
        if why not in (OTHERS, SWITCHED_OFF):
            advice = "Set group.protocol=classic there, or change that first (kcoord config describe GROUP)"
        said = self._said.get((request.group_id, who))
        if said is not None and now_ms < said.next_ms:
            said.left_out += 1
            return
        times = f" ({said.left_out} more times since the last such line)" if said is not None and said.left_out else ""
        self._said[request.group_id, who] = _Said(now_ms + PAUSE_MS)
        log.warning(
            "group %s: %s was refused, %s%s: %s. %s",
            request.group_id,
            who,
            client,
            times,
            why,
            advice,
        )


class UpgradeContext(HandlerContext, Protocol):
    """What the handlers of other protocols need from the gateway."""

    refused_upgrades: RefusedUpgrades


async def _judge(gateway: UpgradeContext, session: ClientSession, group_id: str) -> ErrorCode:
    """The error for a heartbeat of a newer protocol. Raises UpstreamLost.

    NONE: upstream must answer, because kcoord does not have the group, or the group has no members here any more.
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


async def newer_heartbeat(
    gateway: UpgradeContext, session: ClientSession, call: Call, request: NewerHeartbeat, why: str = OTHERS
) -> None:
    """Answer a heartbeat of a newer protocol, or pass it on. `why` its sender cannot join, if the group has members
    here. Raises UpstreamLost.
    """
    error = await _judge(gateway, session, request.group_id)
    if error == ErrorCode.NONE:
        session.pass_on(call)
        return
    message = f"{why}: {HINT}" if error == ErrorCode.UNSUPPORTED_VERSION else None
    if message is not None:
        client = f"{bounded_name(call.header.client_id or '')} ({session.client.client_host.removeprefix('/')})"
        gateway.refused_upgrades.note(request, client.lstrip(), gateway.now_ms(), why)
    match request:
        case ConsumerGroupHeartbeatRequest():
            session.answer(call, ConsumerGroupHeartbeatResponse(error_code=error, error_message=message))
        case ShareGroupHeartbeatRequest():
            session.answer(call, ShareGroupHeartbeatResponse(error_code=error, error_message=message))
        case StreamsGroupHeartbeatRequest():
            session.answer(call, StreamsGroupHeartbeatResponse(error_code=error, error_message=message))
