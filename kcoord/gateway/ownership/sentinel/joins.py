"""The sentinel's join: JoinGroup and SyncGroup until it is in the group, and what may stand in its way.

The caller holds the sentinel's `lock`. All coroutines raise UpstreamLost.
"""

from __future__ import annotations

import asyncio
import logging

import attrs

from kcoord.gateway.ownership.sentinel import requests
from kcoord.gateway.ownership.sentinel.appearance import OF_0_1_0
from kcoord.gateway.ownership.sentinel.described_groups import COMPLETING, PREPARING, described_group, other_members
from kcoord.gateway.ownership.sentinel.state import PROTOCOL, SentinelState
from kcoord.gateway.ownership.sentinel.upstream_errors import is_refusal
from kcoord.gateway.session.upstream import Asker, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import JoinGroupRequest

__all__ = ["attempt", "find_appearance", "join", "join_over", "make_room"]

log = logging.getLogger("kcoord.gateway")

ATTEMPTS = 16
"""Most attempts of one join: enough for every step down to the session that upstream allows."""
CHOICE_WITHIN_S = 5.0
"""How long kcoord waits, in seconds, for upstream to say who leads the group. The group's calls wait meanwhile."""


async def join(sentinel: SentinelState, asker: Asker, mark: int, *, is_released: bool = False) -> ErrorCode:
    """Join, or join again, with that mark. `is_released`: the group is, or was until now, being released.

    In a release its JoinGroup may wait for a member id that nobody uses, and upstream answers nothing else on that
    connection meanwhile. So it goes over a connection of its own, if upstream lets kcoord in without credentials.
    """
    apart = sentinel.apart(sentinel.group_id) if is_released or sentinel.offers else None
    if apart is None:
        return await join_over(sentinel, asker, mark)
    try:
        return await join_over(sentinel, apart, mark)
    finally:
        apart.close()


async def join_over(sentinel: SentinelState, asker: Asker, mark: int) -> ErrorCode:
    """As `join`, over the connection `asker` in any case.

    COORDINATOR_LOAD_IN_PROGRESS: it does not join, because members of a group that is being released are in it already.
    It might have to lead them. That is no refusal: the release goes on, or is taken back.
    """
    sentinel.has_acted = True
    if sentinel.offers and other_members(await described_group(asker, sentinel.group_id)):
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    await find_appearance(sentinel, asker, mark)
    before, sentinel.mark = sentinel.identity, None
    version = await asker.version(JoinGroupRequest)
    if version is None or version < requests.STATIC_JOIN:
        log.error(
            "upstream is too old for groups to be taken: JoinGroup v%d is needed (Kafka 2.3)", requests.STATIC_JOIN
        )
        return ErrorCode.UNSUPPORTED_VERSION
    error = ErrorCode.NONE
    may_evict = True
    for _ in range(ATTEMPTS):
        error = await attempt(sentinel, asker, mark)
        if error == ErrorCode.NONE:
            sentinel.note_join(asker, mark)
            return error
        if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and sentinel.offers:
            await requests.evict(sentinel, asker)  # members have come meanwhile: it must not hold them up
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and may_evict:
            may_evict, sentinel.member_id = False, ""
            if await make_room(sentinel, asker) == ErrorCode.NONE:
                continue
        if not _can_mend(sentinel, error):
            break
    if _has_others(sentinel, error):
        sentinel.note_refusal()
    is_as_before = bool(before.member_id) and sentinel.identity == attrs.evolve(before, mark=None)
    if error == ErrorCode.GROUP_AUTHORIZATION_FAILED and is_as_before:
        sentinel.mark = before.mark  # this client lacks the right: the sentinel is still there
    return error


async def find_appearance(sentinel: SentinelState, asker: Asker, mark: int) -> None:
    """Find out the appearance, unless it is known."""
    if sentinel.appearance is None:
        told = await sentinel.appearance_source.of(sentinel.group_id, asker)
        sentinel.appearance = OF_0_1_0 if told is None else told.appearance
        sentinel.appearance_for = mark if told is not None and told.is_settled else None


async def attempt(sentinel: SentinelState, asker: Asker, mark: int) -> ErrorCode:
    """Try once to join and to sync."""
    assert sentinel.appearance is not None
    if sentinel.has_room is None or sentinel.has_room.is_set():
        joined = await requests.join(sentinel, asker, mark)
    else:
        looking = asyncio.ensure_future(requests.look_for_room(sentinel, asker, mark, sentinel.has_room))  # sent first
        joining = asyncio.ensure_future(requests.join(sentinel, asker, mark))
        _, joined = await asyncio.gather(looking, joining)
    error = error_of(joined.error_code)
    if error == ErrorCode.MEMBER_ID_REQUIRED:
        sentinel.member_id = joined.member_id
    if error != ErrorCode.NONE:
        return error
    sentinel.member_id, sentinel.generation = joined.member_id, joined.generation_id
    if sentinel.offers and joined.protocol_name != PROTOCOL:
        return ErrorCode.NONE  # in a release others have come first: they wait for its sync until all have joined
    error = await requests.sync(sentinel, asker, sentinel.appearance, requests.leads(joined))
    if error == ErrorCode.REBALANCE_IN_PROGRESS and sentinel.offers:
        return ErrorCode.NONE  # in a release a member has come: it must wait for all the others
    return error


async def make_room(sentinel: SentinelState, asker: Asker) -> ErrorCode:
    """Remove what prevents a join: members that a release let in before it was taken back, a newcomer in the last
    moment of an adoption (AD-10), or a sentinel of another type.

    If some of those members are members here by the same ids, the group was never adopted: it is the cluster's.
    """
    described = await described_group(asker, sentinel.group_id)
    others = [each.member_id for each in other_members(described)]
    here = await sentinel.members_of(sentinel.group_id)
    waits = 0 < len(others) < len(described.members) and await _have_nothing(sentinel, described)
    if not waits or not here or not here.isdisjoint(others):
        return await requests.evict(sentinel, asker)
    return await requests.remove(sentinel, asker, [MemberIdentity(each) for each in others])


async def _have_nothing(sentinel: SentinelState, described: DescribedGroup) -> bool:
    """Whether those that came into the group beside the sentinel have been given nothing: they wait for others to join,
    or for the leader's SyncGroup. In an adoption one of them may lead, and then the group is the cluster's (AD-10):
    only the answer to the sentinel's own JoinGroup tells, since the description may be older than the choice. In a
    release the sentinel leads, whether this process has let them in or one before it.
    """
    if described.group_state not in (PREPARING, COMPLETING):
        return False
    parked = sentinel.parked
    if parked is None:
        return True
    await asyncio.wait({parked}, timeout=CHOICE_WITHIN_S)
    is_told = parked.done() and not parked.cancelled() and parked.exception() is None
    return is_told and requests.leads(parked.result())


def _has_others(sentinel: SentinelState, error: ErrorCode) -> bool:
    """Whether this error of upstream's means that the group has other members."""
    is_about_this_client = error == ErrorCode.GROUP_AUTHORIZATION_FAILED
    return is_refusal(error) and not is_about_this_client and error not in sentinel.OVERTAKEN


def _can_mend(sentinel: SentinelState, error: ErrorCode) -> bool:
    """Whether another attempt may succeed after one that failed with `error`."""
    if error in sentinel.OVERTAKEN:
        return False
    match error:
        case ErrorCode.INVALID_SESSION_TIMEOUT:
            return sentinel.session_limit.lower()
        case ErrorCode.REBALANCE_IN_PROGRESS | ErrorCode.MEMBER_ID_REQUIRED | ErrorCode.ILLEGAL_GENERATION:
            return True
        case ErrorCode.UNKNOWN_MEMBER_ID | ErrorCode.FENCED_INSTANCE_ID:
            if error == ErrorCode.FENCED_INSTANCE_ID:
                sentinel.note_fenced()
            known, sentinel.member_id = sentinel.member_id, ""
            return bool(known)
    return False
