"""What of the newer protocols' heartbeats (KIP-848 consumers, share, streams) for a group id that is kcoord's?

A group id belongs to one protocol at a time (gateway rule 15). Without members here the heartbeat is upstream's. With
members here it gets UNSUPPORTED_VERSION: Java says then "set group.protocol=classic", franz-go falls back by itself;
upstream's own answer would be a misleading GROUP_ID_NOT_FOUND. Describing needs nothing: while kcoord has a group,
upstream says GROUP_ID_NOT_FOUND to the newer protocols' describe requests, on which clients ask DescribeGroups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcoord.gateway.here import facts_of, is_here
from kcoord.gateway.rights import READ, check
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
    from kcoord.gateway.leg import Leg

__all__ = ["NewerHeartbeat", "newer_heartbeat"]

NewerHeartbeat = ConsumerGroupHeartbeatRequest | ShareGroupHeartbeatRequest | StreamsGroupHeartbeatRequest

HINT = "this group is coordinated by kcoord and has members of another protocol: set group.protocol=classic"


async def newer_heartbeat(leg: Leg, call: Call, request: NewerHeartbeat) -> None:
    """Answer a heartbeat of a newer protocol, or pass it on. Raises UpstreamLost."""
    gateway = leg.gateway
    group_id = request.group_id
    if not await is_here(gateway, group_id) or not (await facts_of(gateway, group_id)).has_members:
        leg.pass_on(call)
        return
    error = await check(leg, request.group_id, READ) or ErrorCode.UNSUPPORTED_VERSION
    message = HINT if error == ErrorCode.UNSUPPORTED_VERSION else None
    match request:
        case ConsumerGroupHeartbeatRequest():
            leg.answer(call, ConsumerGroupHeartbeatResponse(error_code=error, error_message=message))
        case ShareGroupHeartbeatRequest():
            leg.answer(call, ShareGroupHeartbeatResponse(error_code=error, error_message=message))
        case StreamsGroupHeartbeatRequest():
            leg.answer(call, StreamsGroupHeartbeatResponse(error_code=error, error_message=message))
