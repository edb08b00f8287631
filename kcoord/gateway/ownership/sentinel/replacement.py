"""The replacement of a group's members by the sentinel, when kcoord adopts a live group (AD-8, AD-11, AD-14).

`Sentinel.adopt` holds the sentinel's `lock` meanwhile. All coroutines raise UpstreamLost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from kcoord.gateway.ownership.sentinel import joins, requests
from kcoord.gateway.ownership.sentinel.described_groups import (
    INSTANCE_ID,
    PREPARING,
    described_group,
    other_members,
)
from kcoord.gateway.ownership.sentinel.state import Identity, SentinelState
from kcoord.gateway.session.upstream import Asker, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import JoinGroupResponse, LeaveGroupRequest

__all__ = ["adopt", "find_stand_in", "replace"]

LOOKS, LOOK_AGAIN_S = 200, 0.002
"""How often, and at which pause in seconds, kcoord checks whether a join waits for the group's members."""


async def adopt(
    sentinel: SentinelState,
    asker: Asker,
    parker: Asker | None,
    members: list[MemberIdentity],
    generation: int,
    as_joined: JoinGroupRequestProtocol,
) -> ErrorCode:
    """See `Sentinel.adopt`."""
    sentinel.has_acted, sentinel.appearance = True, None
    await joins.find_appearance(sentinel, asker, generation)
    if parker is None:
        return await replace(sentinel, asker, members, generation)
    parked = _park(sentinel, requests.join(sentinel, parker, generation, [as_joined]))
    try:
        error = await _is_parked_among(sentinel, asker, members, parked)
        while error == ErrorCode.INVALID_SESSION_TIMEOUT and sentinel.session_limit.lower():
            parked = _park(sentinel, requests.join(sentinel, parker, generation, [as_joined]))
            error = await _is_parked_among(sentinel, asker, members, parked)
        if error == ErrorCode.GROUP_MAX_SIZE_REACHED:
            parked = _park(sentinel, requests.join(sentinel, parker, generation, [as_joined], members[:1]))
            error = await _is_parked_among(sentinel, asker, members, parked)
        if not error:
            return await replace(sentinel, asker, members, generation)
        await requests.evict(sentinel, asker)
        sentinel.forget()
        return error
    finally:
        sentinel.parked = None
        parked.cancel()
        await asyncio.gather(parked, return_exceptions=True)


def _park(sentinel: SentinelState, join: Coroutine[None, None, JoinGroupResponse]) -> asyncio.Future[JoinGroupResponse]:
    """Send the join that waits for the group's members."""
    parked = sentinel.parked = asyncio.ensure_future(join)
    return parked


async def _is_parked_among(
    sentinel: SentinelState, asker: Asker, members: list[MemberIdentity], parked: asyncio.Future[JoinGroupResponse]
) -> ErrorCode:
    """NONE once the group waits for these members to join again because of the sentinel's own JoinGroup, `parked`."""
    known = {each.member_id for each in members}
    for _ in range(LOOKS):
        if parked.done() and parked.result().error_code:
            return error_of(parked.result().error_code)
        described = await described_group(asker, sentinel.group_id)
        others = {each.member_id for each in other_members(described)}
        if described.error_code or others - known:
            return error_of(described.error_code) or ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if described.group_state == PREPARING and len(described.members) > len(others):
            return ErrorCode.NONE
        await asyncio.sleep(LOOK_AGAIN_S)
    return ErrorCode.INCONSISTENT_GROUP_PROTOCOL


async def replace(sentinel: SentinelState, asker: Asker, members: list[MemberIdentity], mark: int) -> ErrorCode:
    """Remove the members and join, with nothing in between."""
    sentinel.member_id, sentinel.refused = "", False
    version = await asker.version(LeaveGroupRequest)
    if version is None or version < requests.STATIC_LEAVE:
        return ErrorCode.UNSUPPORTED_VERSION
    leaving = asyncio.ensure_future(_remove(sentinel, asker, members))
    joining = asyncio.ensure_future(joins.join_over(sentinel, asker, mark))
    try:
        left, error = await asyncio.gather(leaving, joining)
    finally:
        sentinel.stand_in = None
    return error or left


async def _remove(sentinel: SentinelState, asker: Asker, members: list[MemberIdentity]) -> ErrorCode:
    error = await requests.remove(sentinel, asker, members)
    if error == ErrorCode.NONE:
        sentinel.note_removal()
    return error


async def find_stand_in(sentinel: SentinelState, asker: Asker, generation: int) -> None:
    """See `Sentinel.find_stand_in`."""
    described = await described_group(asker, sentinel.group_id)
    own = [each.member_id for each in described.members if each.group_instance_id == INSTANCE_ID]
    is_alone = described.group_state == PREPARING and len(own) == len(described.members) == 1
    if is_alone and sentinel.is_taking:
        sentinel.stand_in = Identity(own[0], generation, generation)
