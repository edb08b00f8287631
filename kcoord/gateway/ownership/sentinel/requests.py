"""The sentinel's requests to upstream, one function each: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

All of them raise UpstreamLost. What an answer means for the sentinel is for the caller to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import attrs

from kcoord.gateway.ownership.sentinel.appearance import Appearance
from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID
from kcoord.gateway.ownership.sentinel.state import PROTOCOL, SentinelState
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST
from kcoord.gateway.session.upstream import Asker, UpstreamLost, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.primitives import DecodeError

__all__ = [
    "REBALANCE_TIMEOUT_MS",
    "STATIC_JOIN",
    "STATIC_LEAVE",
    "evict",
    "heartbeat",
    "join",
    "leads",
    "look_for_room",
    "remove",
    "sync",
]

REBALANCE_TIMEOUT_MS = 60_000
STATIC_JOIN, STATIC_SYNC, STATIC_HEARTBEAT, STATIC_LEAVE = 5, 3, 3, 3
"""The first versions with a group instance id (KIP-345)."""


async def join(
    sentinel: SentinelState,
    asker: Asker,
    mark: int,
    others: Sequence[JoinGroupRequestProtocol] = (),
    in_place_of: Sequence[MemberIdentity] = (),
) -> JoinGroupResponse:
    """Send JoinGroup with the protocol that nobody else speaks, and with `others`; just before it, LeaveGroup of
    `in_place_of`.
    """
    leaving = asyncio.ensure_future(remove(sentinel, asker, in_place_of)) if in_place_of else None
    version = await asker.version(JoinGroupRequest)
    joining = asyncio.ensure_future(asker.ask(_join_request(sentinel, mark, others), version or STATIC_JOIN))
    joined, *_ = await asyncio.gather(joining, *filter(None, [leaving]))
    assert isinstance(joined, JoinGroupResponse)
    return joined


def _join_request(
    sentinel: SentinelState, mark: int, others: Sequence[JoinGroupRequestProtocol] = ()
) -> JoinGroupRequest:
    assert sentinel.appearance is not None
    metadata = sentinel.appearance.metadata(mark)
    own = [JoinGroupRequestProtocol(name=name, metadata=metadata) for name in (PROTOCOL, sentinel.own_protocol)]
    return JoinGroupRequest(
        group_id=sentinel.group_id,
        session_timeout_ms=sentinel.session_limit.session_timeout_ms,
        rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
        member_id=sentinel.member_id,
        group_instance_id=INSTANCE_ID,
        protocol_type=sentinel.appearance.protocol_type,
        protocols=[*own, *sentinel.offers, *others],
    )


def leads(joined: JoinGroupResponse) -> bool:
    """Whether the member that got this answer leads its generation, and is to assign."""
    return joined.leader == joined.member_id != "" and not joined.skip_assignment


async def look_for_room(sentinel: SentinelState, asker: Asker, mark: int, has_room: asyncio.Event) -> None:
    """Set `has_room` if upstream says that nobody in the group keeps the sentinel out (rule 7 of `sentinel.py`).

    Does not raise UpstreamLost: the join itself tells.
    """
    request = attrs.evolve(_join_request(sentinel, mark), member_id=sentinel.own_protocol, group_instance_id=None)
    try:
        version = await asker.version(JoinGroupRequest)
        response = await asker.ask(request, version or STATIC_JOIN)
    except (UpstreamLost, DecodeError):
        return
    assert isinstance(response, JoinGroupResponse)
    if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
        has_room.set()


async def sync(sentinel: SentinelState, asker: Asker, appearance: Appearance, leads: bool) -> ErrorCode:
    """Send SyncGroup. A sentinel that leads assigns its generation to itself, where other instances read it."""
    version = await asker.version(SyncGroupRequest)
    if version is None or version < STATIC_SYNC:
        return ErrorCode.UNSUPPORTED_VERSION
    assignment = SyncGroupRequestAssignment(
        member_id=sentinel.member_id, assignment=appearance.assignment(sentinel.generation)
    )
    request = SyncGroupRequest(
        group_id=sentinel.group_id,
        generation_id=sentinel.generation,
        member_id=sentinel.member_id,
        group_instance_id=INSTANCE_ID,
        protocol_type=appearance.protocol_type,
        protocol_name=PROTOCOL,
        assignments=[assignment] if leads else [],
    )
    response = await asker.ask(request, version)
    assert isinstance(response, SyncGroupResponse)
    return error_of(response.error_code)


async def heartbeat(sentinel: SentinelState, asker: Asker) -> ErrorCode:
    """Send a heartbeat, if it is in the group and upstream's version knows static members; else NONE."""
    version = await asker.version(HeartbeatRequest)
    if sentinel.mark is None or version is None or version < STATIC_HEARTBEAT:
        return ErrorCode.NONE
    request = HeartbeatRequest(
        group_id=sentinel.group_id,
        generation_id=sentinel.generation,
        member_id=sentinel.member_id,
        group_instance_id=INSTANCE_ID,
    )
    response = await asker.ask(request, version)
    assert isinstance(response, HeartbeatResponse)
    return error_of(response.error_code)


async def evict(
    sentinel: SentinelState, asker: Asker, member_id: str = "", right_after: Callable[[], None] | None = None
) -> ErrorCode:
    """Remove the sentinel from the group; without a member id, any sentinel that is there.

    `right_after` is called when the request has been sent.
    """
    sentinel.has_acted = True
    version = await asker.version(LeaveGroupRequest)
    if version is None or version < STATIC_LEAVE:
        return ErrorCode.UNSUPPORTED_VERSION
    may_have_been_there = sentinel.is_joined or sentinel.inherited or sentinel.is_put_out
    sentinel.is_put_out = True
    identity = MemberIdentity(member_id=member_id, group_instance_id=INSTANCE_ID, reason="no members here")
    asking = asyncio.ensure_future(asker.ask(LeaveGroupRequest(sentinel.group_id, members=[identity]), version))
    if right_after is not None:
        await asyncio.sleep(0)  # the task has sent it
        right_after()
    response = await asking
    assert isinstance(response, LeaveGroupResponse)
    error = error_of(response.error_code)
    if error == ErrorCode.NONE and response.members:
        error = error_of(response.members[0].error_code)
    sentinel.is_put_out = may_have_been_there or error not in LOST
    return error


async def remove(sentinel: SentinelState, asker: Asker, members: Sequence[MemberIdentity]) -> ErrorCode:
    """Remove members from the group."""
    version = await asker.version(LeaveGroupRequest)
    request = LeaveGroupRequest(group_id=sentinel.group_id, members=list(members))
    response = await asker.ask(request, version or STATIC_LEAVE)
    assert isinstance(response, LeaveGroupResponse)
    return error_of(response.error_code)
