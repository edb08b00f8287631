"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of a group that is kcoord's.

Rules (GW-11, GW-12, GW-16):

1. Before anything is done to a group, or told of it, the client's right to it is known, and that its connection ends
   at the group's coordinator. So nobody takes a group, or speaks for it upstream, who may not read it.
2. A group's first JoinGroup takes the group upstream first. Upstream refuses at once; what it accepts may take its
   initial rebalance delay, and kcoord's own delay runs meanwhile.
3. A successful JoinGroup answer of generation N leaves only when upstream has a generation for N. Connect's workers,
   whose generations move for each of them where they are managed one by one, commit nothing under their group: for them
   it is enough that kcoord takes the group; a commit all the same is placed when it comes (`offsets.py`).
4. A call of a group that upstream refused goes upstream, and so does one of a group without members here that the
   cluster is to have (`gateway.owner`), and one, but JoinGroup, of a group that nobody here knows. While a group is
   given back, `release.py` says what becomes of its calls.
5. A join that is refused leaves nothing behind: neither a member, or a new group, here where upstream refuses late, nor
   the sentinel upstream where the group here refuses its first member. Only who is told to join again at once, with
   another member id, finds the sentinel still there.
6. Who is unknown here may be known to the cluster: that is not said while upstream may yet refuse the group.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.handlers.handler_context import HandlerContext
from kcoord.gateway.ownership.cluster_groups import ClusterGroups
from kcoord.gateway.ownership.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.group_appearances import GroupAppearances
from kcoord.gateway.ownership.group_ownership import facts_of, is_here, is_the_clusters, members_named, when_taken
from kcoord.gateway.ownership.paused_sessions import PausedSessions
from kcoord.gateway.ownership.release import Releases
from kcoord.gateway.ownership.rights import READ
from kcoord.gateway.ownership.sentinel import LOST, PASSING, Sentinel, is_refusal
from kcoord.gateway.ownership.sentinel_appearance import CONNECT, Appearance
from kcoord.gateway.session.connection_context import Spawner
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.group.refuse import refuse
from kcoord.group.step import Remember
from kcoord.protocol.call import Call
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    Response,
    SyncGroupRequest,
)

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["admit", "answer", "is_elsewhere", "join_group", "member_call"]

REFUSED_WITHIN_S = 0.2
"""Upstream refuses a group within milliseconds; if nothing has come by then, counted from the first one who asks, it
has accepted, and lets the empty group wait for more members. A refusal that comes later is undone."""

PASSING_ON = PASSING | {ErrorCode.GROUP_AUTHORIZATION_FAILED}
"""Errors that say nothing to another client that waits for the same group to be taken."""

JOIN_AGAIN = frozenset({ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.UNKNOWN_MEMBER_ID})
"""What is answered to those who join again at once with another member id."""

MemberRequest = SyncGroupRequest | HeartbeatRequest | LeaveGroupRequest


class GroupCallContext(HandlerContext, Spawner, Protocol):
    """What handlers need that take a group, or keep it."""

    appearances: GroupAppearances
    cluster_groups: ClusterGroups
    former_ids: FormerMemberIds
    paused_sessions: PausedSessions
    releases: Releases


async def join_group(gateway: GroupCallContext, session: ClientSession, call: Call, request: JoinGroupRequest) -> None:
    """Answer a JoinGroup, or pass it on. Raises UpstreamLost."""
    group_id = request.group_id
    await session.ready()
    error = await gateway.rights.check(session, group_id, READ)
    if is_refusal(error) and not await is_here(gateway, group_id):
        session.pass_on(call)  # upstream refuses it too
        return
    if error:
        session.answer(call, refuse(request, error))
        return
    if not (request.protocol_type and request.protocols):  # nobody takes it in, here or upstream
        session.answer(call, refuse(request, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        return
    if gateway.releases.concerns(group_id):
        await gateway.releases.join(session, call, request)
        return
    if gateway.former_ids.has_gone(group_id, request.member_id):  # nobody knows it by that id now
        request = attrs.evolve(request, member_id="")
    sentinel = gateway.sentinels.of(group_id)
    if not sentinel.is_joined and await is_the_clusters(gateway, group_id):
        if sentinel.inherited:  # it may be there still, and nobody else would be let in
            await sentinel.leave(session, _always)
        await _pass_on(gateway, session, call, request)
        return
    is_new = not sentinel.is_joined and not (await facts_of(gateway, group_id)).generation
    error = await admit(gateway, session, sentinel, request.protocol_type)
    if not error and sentinel.is_taking and sentinel.comes_back:  # whoever joins here would wait for those members
        await when_taken(gateway, group_id)
        error = await admit(gateway, session, sentinel, request.protocol_type)
    if is_refusal(error):
        _heed(gateway, session, group_id, error)
        if is_new and request.member_id:  # it may have been given that id here, before upstream had said so
            await gateway.guarded.take_out(session, call, request, request.member_id, is_new)
        await _pass_on(gateway, session, call, request)
        return
    session.add_member(group_id, request.member_id)
    if error:
        session.answer(call, refuse(request, error))
        return
    told = await gateway.releases.or_none(group_id, gateway.guarded.call(session, call, request))
    if told is None:
        session.answer(call, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return
    response, _ = told
    assert isinstance(response, JoinGroupResponse)
    if await is_elsewhere(gateway, session, group_id, error_of(response.error_code)):
        await _pass_on(gateway, session, call, request)
        return
    if response.error_code == ErrorCode.NONE:
        session.add_member(group_id, response.member_id)
        commits = request.protocol_type != CONNECT
        error = await _hold(gateway, session, sentinel, response) if commits else ErrorCode.NONE
        if error:
            await _undo(gateway, session, call, request, response, error, is_new)
            return
        gateway.cluster_groups.taken(group_id)
    elif _is_final(response):
        gateway.spawn(gateway.sentinels.give_back(sentinel))
    session.answer(call, response)


async def _always() -> bool:
    return True


async def _pass_on(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: JoinGroupRequest | MemberRequest
) -> None:
    """Pass on a call of a group that is the cluster's now, though it is kcoord's to take (AD-6)."""
    deliver = await gateway.cluster_groups.reader(session, request)
    if deliver is not None and isinstance(request, JoinGroupRequest) and not request.member_id:
        session.pass_changed(call, request, deliver)  # its frame may have an old id
    else:
        session.pass_on(call, deliver)


async def admit(gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, protocol_type: str) -> ErrorCode:
    """Take the group for a member of that protocol type, or begin to: NONE, a refusal, or what hinders now.

    Raises UpstreamLost.
    """
    first = gateway.appearances.of_first(protocol_type)
    is_well = not sentinel.IS_SHARED and sentinel.is_of_type(first.protocol_type)
    if sentinel.is_joined and (is_well or (await facts_of(gateway, sentinel.group_id)).has_members):
        return ErrorCode.NONE
    return await _take(gateway, session, sentinel, first)


async def _take(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, first: Appearance | None
) -> ErrorCode:
    """Take the group; `first`: how to look for its first member, where it has none here. Raises UpstreamLost."""
    begun_here = not sentinel.is_taking
    if begun_here:
        sentinel.taking = gateway.spawn(_taken(gateway, session, sentinel, first))
        sentinel.taking_since_ms = gateway.now_ms()
    assert sentinel.taking is not None
    waited_s = (gateway.now_ms() - sentinel.taking_since_ms) / 1000
    done, _ = await asyncio.wait({sentinel.taking}, timeout=max(0.0, REFUSED_WITHIN_S - waited_s))
    error = ErrorCode.NONE
    if done:
        error = done.pop().result()
        sentinel.taking = None
    if error in PASSING_ON and not begun_here:
        return await sentinel.keep(session, (await facts_of(gateway, sentinel.group_id)).generation or 0)
    return error


async def _taken(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, first: Appearance | None
) -> ErrorCode:
    """`take` for those who share its outcome: what is lost meanwhile counts as COORDINATOR_NOT_AVAILABLE."""
    try:
        facts = await facts_of(gateway, sentinel.group_id)
        sentinel.comes_back = facts.has_members
        return await sentinel.take(session, facts.generation or 0, None if facts.has_members else first)
    except UpstreamLost:
        if first is not None and not sentinel.is_joined:
            sentinel.inherited = True  # it may be in the group, or come into it
        return ErrorCode.COORDINATOR_NOT_AVAILABLE


async def _hold(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, joined: JoinGroupResponse
) -> ErrorCode:
    """`hold` for a member that has joined here, with a lost connection as an error that the client tries again on. Its
    session stands still meanwhile: it waits for its answer, and cannot heartbeat.
    """
    group_id, paused = sentinel.group_id, gateway.paused_sessions

    async def current() -> int | None:
        return (await facts_of(gateway, group_id)).generation

    paused.pause(group_id, [joined.member_id], gateway.now_ms())
    try:
        await session.ready()
        return await sentinel.hold(session, joined.generation_id, current)
    except UpstreamLost:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    finally:
        paused.returned(group_id, joined.member_id)


def _is_final(response: JoinGroupResponse) -> bool:
    """Whether whoever is refused like that does not simply join again."""
    error = ErrorCode(response.error_code)
    return not error.retriable and error not in JOIN_AGAIN


async def _undo(
    gateway: GroupCallContext,
    session: ClientSession,
    call: Call,
    request: JoinGroupRequest,
    joined: JoinGroupResponse,
    error: ErrorCode,
    is_new: bool,
) -> None:
    """The member has joined here, maybe a new group, but its generation could not be held upstream."""
    if is_refusal(error) or not request.member_id:
        await gateway.guarded.undo_join(session, call, request, joined, is_new)
    _heed(gateway, session, request.group_id, error)
    if is_refusal(error):
        gateway.former_ids.note(request, request.member_id, has_gone=False)
        await _pass_on(gateway, session, call, request)
    else:
        session.answer(call, refuse(request, error))


def _heed(gateway: GroupCallContext, session: ClientSession, group_id: str, error: ErrorCode) -> None:
    """Upstream may have said that this client's right is gone."""
    if error == ErrorCode.GROUP_AUTHORIZATION_FAILED:
        gateway.rights.refused(session, group_id)


async def member_call(gateway: GroupCallContext, session: ClientSession, call: Call, request: MemberRequest) -> None:
    """Answer a SyncGroup, Heartbeat or LeaveGroup, or pass it on. Raises UpstreamLost."""
    group_id = request.group_id
    gateway.releases.hear(group_id, *members_named(request))
    if not await is_here(gateway, group_id):
        await _pass_on(gateway, session, call, request)
        return
    error = await gateway.rights.check(session, group_id, READ)
    if not error and gateway.releases.concerns(group_id):
        await gateway.releases.member_call(session, call, request)
        return
    if not error:
        error = await keep(gateway, session, group_id)
    if is_refusal(error) and not await is_here(gateway, group_id):
        await _pass_on(gateway, session, call, request)
        return
    if error:
        session.answer(call, refuse(request, error))
        return
    member_id = request.member_id
    when_more = None
    if isinstance(request, HeartbeatRequest):  # a legacy worker's, which its group may keep back
        when_more = partial(
            session.client.when_more, call, partial(gateway.groups.let_go, group_id, session.client.serial)
        )
    response, remember = await gateway.guarded.call(session, call, request, when_more)
    if await is_elsewhere(gateway, session, group_id, _error(response)):
        await _pass_on(gateway, session, call, request)
        return
    if isinstance(request, LeaveGroupRequest):
        session.drop_members(group_id, members_named(request))
    elif _ok(response):
        session.add_member(group_id, member_id)
        gateway.cluster_groups.taken(group_id)
    answer(gateway, session, call, response, remember, group_id)


async def is_elsewhere(gateway: GroupCallContext, session: ClientSession, group_id: str, error: ErrorCode) -> bool:
    """Whether the cluster has the group of a member that is unknown here, as `error` says: upstream is asked, if it has
    not been yet (rule 6 above). What is known here may be of before a restart. Raises UpstreamLost, also where upstream
    has not said who has the group.
    """
    sentinel = gateway.sentinels.of(group_id)
    if error not in LOST or sentinel.is_joined:
        return False
    await when_taken(gateway, group_id)  # that may fail with the connection of whoever takes it
    await keep(gateway, session, group_id)
    await when_taken(gateway, group_id)
    is_upstreams = not await is_here(gateway, group_id)
    has_no_sentinel = is_upstreams and not sentinel.inherited
    if not (has_no_sentinel or sentinel.refused or sentinel.mark is not None):
        raise UpstreamLost(f"upstream has not said yet who has group {group_id}")
    return is_upstreams


async def keep(gateway: GroupCallContext, session: ClientSession, group_id: str) -> ErrorCode:
    """The sentinel is in the group, or joins anew: after a restart of kcoord it takes over what its predecessor left.

    While upstream cannot be asked, or is not ready, the group is still taken.
    """
    sentinel = gateway.sentinels.of(group_id)
    if sentinel.is_joined or sentinel.is_taking or session.upstream is None:
        return ErrorCode.NONE
    try:
        error = await _take(gateway, session, sentinel, None)
    except UpstreamLost:
        return ErrorCode.NONE
    return error if is_refusal(error) or error == ErrorCode.NOT_COORDINATOR else ErrorCode.NONE


def answer(
    gateway: GroupCallContext,
    session: ClientSession,
    call: Call,
    response: Response,
    remember: Remember | None,
    group_id: str,
) -> None:
    """Answer, and let the hot path repeat the answer for as long as the client's right to the group is known."""
    session.end_call(call)
    valid_until_ms = gateway.rights.valid_until_ms(session, group_id) if remember is not None else None
    session.client.answer(call, response, remember, valid_until_ms)


def _error(response: Response) -> ErrorCode:
    """What a SyncGroup, Heartbeat or LeaveGroup was answered; of several that leave the first."""
    if isinstance(response, LeaveGroupResponse) and response.members:
        return error_of(response.members[0].error_code)
    return error_of(getattr(response, "error_code", 0))


def _ok(response: Response) -> bool:
    return getattr(response, "error_code", None) in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
