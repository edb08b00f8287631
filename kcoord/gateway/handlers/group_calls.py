"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of groups that kcoord may take.

Rules (GW-11, GW-12, GW-16):

1. kcoord does nothing to a group, and tells nothing about it, before it knows that the client has the right to it and
   that the client's connection ends at the group's coordinator. So a client that may not read a group cannot take it,
   or speak for it upstream.
2. kcoord takes a group upstream before it handles the group's first JoinGroup. Upstream refuses at once. If it accepts,
   it may answer only after its initial rebalance delay. The first JoinGroup goes on as soon as upstream has said that
   nobody keeps the sentinel out, so both delays begin at the same time.
3. kcoord sends a successful JoinGroup answer of generation N only when upstream has a generation for N. Connect workers
   are the exception. They commit nothing under their group, and where kcoord manages them one by one, each of them
   moves the generation. For them it is enough that kcoord takes the group. If a worker commits all the same, the
   sentinel gets its mark then (`offsets.py`).
4. A call goes upstream if upstream has refused the sentinel, or if the group has no members here and the cluster shall
   have it (`gateway.owner`). A call other than JoinGroup also goes upstream if the group has neither members here nor a
   sentinel upstream. While a group is being released, `calls_during_release.py` handles them.
5. A refused join leaves nothing behind. If upstream refuses late, kcoord takes the member out again, and removes a
   group that is new. If the group here refuses its first member, the sentinel leaves upstream. It stays only if the
   client is told to join again: with another member id, or after a retriable error.
6. In a consumer group each classic member is led alone, with a generation of its own. So the sentinel stands for the
   group's fence epoch instead, as for members of the new protocol, and what is seen of a member's topics goes to the
   group with its calls (`consumer_topics.py`).
7. A member that is unknown here may be known to the cluster. So kcoord does not tell a member that it is unknown while
   upstream may still refuse the group.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from kcoord.gateway.handlers.consumer_topics import (
    ConsumerTopicsContext,
    find_out,
    is_of_consumers,
    seen_by_classic,
    stand,
    with_news,
)
from kcoord.gateway.handlers.handler_context import HandlerContext
from kcoord.gateway.ownership.access.group_ownership import (
    facts_of,
    is_here,
    is_the_clusters,
    members_named,
    seems_here,
    when_taken,
)
from kcoord.gateway.ownership.access.rights import READ
from kcoord.gateway.ownership.handover.calls_during_release import NEEDS_ID_VERSION, ReleaseCalls
from kcoord.gateway.ownership.handover.cluster_groups import ClusterGroups
from kcoord.gateway.ownership.handover.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.handover.release import Releases
from kcoord.gateway.ownership.sentinel.appearance import CONNECT, Appearance
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST, PASSING, is_refusal
from kcoord.gateway.session.commits_under_way import CommitsUnderWay
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.group.error_responses import refuse
from kcoord.group.state.step import CachedReply
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    Response,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["admit", "answer", "is_elsewhere", "join_group", "member_call"]

REFUSED_WITHIN_S = 0.2
"""How long kcoord waits for a refusal, in seconds, from the moment when it began to take the group.

Upstream refuses within milliseconds, and kcoord knows as soon that it does not (`Sentinel.has_room`). If neither has
come by then, kcoord counts the group as taken. If upstream refuses later, kcoord undoes the join.
"""

PASSING_ON = PASSING | {ErrorCode.GROUP_AUTHORIZATION_FAILED}
"""Errors for one client that say nothing to another client that waits for the same group to be taken."""

JOIN_AGAIN = frozenset({ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.UNKNOWN_MEMBER_ID})
"""Errors after which a client joins again at once with another member id."""

MemberRequest = SyncGroupRequest | HeartbeatRequest | LeaveGroupRequest


class GroupCallContext(HandlerContext, ConsumerTopicsContext, Protocol):
    """What the handlers that take or keep a group need from the gateway."""

    cluster_groups: ClusterGroups
    commits: CommitsUnderWay
    former_ids: FormerMemberIds
    release_calls: ReleaseCalls
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
    if not (request.protocol_type and request.protocols):  # neither kcoord nor upstream would accept it
        session.answer(call, refuse(request, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        return
    if gateway.releases.concerns(group_id):
        await gateway.release_calls.join(session, call, request)
        return
    if gateway.former_ids.has_gone(group_id, request.member_id):  # no member has that id any more
        request = attrs.evolve(request, member_id="")
    sentinel = gateway.sentinels.of(group_id)
    if not sentinel.is_joined and await is_the_clusters(gateway, group_id):
        if sentinel.inherited:  # it may still be there, and then nobody else gets in
            await sentinel.leave(session, _always)
        await _pass_on(gateway, session, call, request)
        return
    is_new = not sentinel.is_joined and not (await facts_of(gateway, group_id)).generation
    error = await admit(gateway, session, sentinel, request.protocol_type)
    if not error and sentinel.is_taking and sentinel.comes_back:  # a join here would wait for those members
        await when_taken(gateway, group_id)
        error = await admit(gateway, session, sentinel, request.protocol_type)
    _check_known(sentinel)
    if is_refusal(error):
        _heed(gateway, session, group_id, error)
        if is_new and request.member_id:  # kcoord may have given out that id before upstream refused
            await gateway.guarded.take_out(session, call, request, request.member_id, is_new)
        await _pass_on(gateway, session, call, request)
        return
    session.add_member(group_id, request.member_id)
    if error:
        session.answer(call, refuse(request, error))
        return
    told = await gateway.releases.or_none(group_id, _joined_here(gateway, session, call, request))
    if told is None:
        session.answer(call, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return
    response = told
    if await is_elsewhere(gateway, session, group_id, error_of(response.error_code)):
        await _pass_on(gateway, session, call, request)
        return
    if response.error_code == ErrorCode.NONE:
        session.add_member(group_id, response.member_id)
        error = await _held(gateway, session, sentinel, request, response)
        if error:
            await _undo(gateway, session, call, request, response, error, is_new)
            return
        gateway.cluster_groups.taken(group_id)
    elif _is_final(response):
        gateway.spawn(gateway.sentinels.give_back(sentinel))
    session.answer(call, response)


async def _joined_here(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: JoinGroupRequest
) -> JoinGroupResponse:
    """The group's answer. A member that came by a former id is given a new one and
    joins with it in one go: told nothing but a new id, librdkafka takes its partitions for lost (AD-15).
    """
    context = with_news(session.context(call), await seen_by_classic(gateway, session, request))
    response, _ = await gateway.guarded.call(session, call, request, context=context)
    assert isinstance(response, JoinGroupResponse)
    if response.error_code == ErrorCode.MEMBER_ID_REQUIRED and not request.member_id and _named(call):
        with_it = attrs.evolve(request, member_id=response.member_id)
        response, _ = await gateway.guarded.call(session, call, with_it, context=context)
        assert isinstance(response, JoinGroupResponse)
    if response.error_code:
        gateway.topics.forget(session, request.group_id)
    return response


async def _always() -> bool:
    return True


async def _pass_on(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: JoinGroupRequest | MemberRequest
) -> None:
    """Pass on a call of a group that kcoord may take, but that the cluster has now (AD-6)."""
    if isinstance(request, JoinGroupRequest):
        request = await _with_new_id(session, call, request)
    deliver = await gateway.cluster_groups.reader(session, call, request)
    if deliver is not None and isinstance(request, JoinGroupRequest) and request.member_id != _named(call):
        session.pass_changed(call, request, deliver)
    else:
        session.pass_on(call, deliver)


def _named(call: Call) -> str:
    """The member id in the frame of a JoinGroup."""
    return JoinGroupRequest.decode(call.frame, call.header.api_version, call.body_pos).member_id


async def _with_new_id(session: ClientSession, call: Call, request: JoinGroupRequest) -> JoinGroupRequest:
    """The request with an id that the cluster gives now, if the member came by a former id (AD-15). Otherwise the same.

    Raises UpstreamLost.
    """
    version = call.header.api_version
    is_static = request.group_instance_id is not None
    if request.member_id or is_static or version < NEEDS_ID_VERSION or not _named(call):
        return request
    response = await session.ask(request, version, call.header.client_id)
    assert isinstance(response, JoinGroupResponse)
    is_given = response.error_code == ErrorCode.MEMBER_ID_REQUIRED
    return attrs.evolve(request, member_id=response.member_id) if is_given else request


async def admit(gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, protocol_type: str) -> ErrorCode:
    """Take the group for a member of that protocol type, or begin to take it.

    Returns NONE, a refusal, or the error that prevents it now. Raises UpstreamLost.
    """
    first = gateway.appearances.of_first(protocol_type)
    is_well = not sentinel.IS_SHARED and sentinel.is_of_type(first.protocol_type)
    if sentinel.is_joined and (is_well or (await facts_of(gateway, sentinel.group_id)).has_members):
        return ErrorCode.NONE
    return await _take(gateway, session, sentinel, first)


async def _take(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, first: Appearance | None
) -> ErrorCode:
    """Take the group. `first`: the sentinel's appearance for the first member, if the group has no members here.

    Raises UpstreamLost.
    """
    begun_here = not sentinel.is_taking
    if begun_here:
        sentinel.has_room = None if first is None else asyncio.Event()
        sentinel.taking = gateway.spawn(_taken(gateway, session, sentinel, first))
        sentinel.taking_since_ms = gateway.now_ms()
    error = await _known_soon(gateway, sentinel)
    if sentinel.taking is not None and sentinel.taking.done():
        sentinel.taking = None
    if error in PASSING_ON and not begun_here:
        return await sentinel.keep(session, (await facts_of(gateway, sentinel.group_id)).generation or 0)
    return error


async def _known_soon(gateway: GroupCallContext, sentinel: Sentinel) -> ErrorCode:
    """The result of taking the group, if upstream refuses or answers the join first of all. NONE if it only says that
    nobody keeps the sentinel out, or nothing within `REFUSED_WITHIN_S` of the beginning. If the group is contested,
    kcoord waits as long as a request may wait.
    """
    within_s = gateway.settings.patience_ms / 1000 if sentinel.is_contested else REFUSED_WITHIN_S
    taking, has_room = sentinel.taking, sentinel.has_room
    assert taking is not None
    waited_s = (gateway.now_ms() - sentinel.taking_since_ms) / 1000
    known: set[asyncio.Future[Any]] = {taking}
    if has_room is not None:
        known.add(asyncio.ensure_future(has_room.wait()))
    try:
        await asyncio.wait(known, timeout=max(0.0, within_s - waited_s), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in known - {taking}:
            each.cancel()
    return taking.result() if taking.done() else ErrorCode.NONE


async def _taken(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, first: Appearance | None
) -> ErrorCode:
    """As `Sentinel.take`, for all clients that wait for it. A lost connection counts as COORDINATOR_NOT_AVAILABLE."""
    try:
        facts = await facts_of(gateway, sentinel.group_id)
        sentinel.comes_back = facts.has_members
        if sentinel.comes_back:
            sentinel.has_room = None  # it is probably still there, so its join is answered at once
        elif first is None:
            return await sentinel.look(session)  # nobody here needs it
        return await sentinel.take(session, facts.generation or 0, None if facts.has_members else first)
    except UpstreamLost:
        if first is not None and not sentinel.is_joined:
            sentinel.inherited = True  # it may be in the group, or get in later
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    finally:
        sentinel.has_room = None


async def _held(
    gateway: GroupCallContext,
    session: ClientSession,
    sentinel: Sentinel,
    request: JoinGroupRequest,
    joined: JoinGroupResponse,
) -> ErrorCode:
    """Make sure that upstream has a generation for what a member is told that has joined here (rules 3 and 6 above)."""
    if is_of_consumers(gateway, sentinel.group_id):
        return await stand(gateway, session, sentinel, joined.member_id)
    if request.protocol_type == CONNECT:
        return ErrorCode.NONE
    return await _hold(gateway, session, sentinel, joined)


async def _hold(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, joined: JoinGroupResponse
) -> ErrorCode:
    """As `Sentinel.hold`, for a member that has joined here. After a lost connection the client is told to try again.

    The member's session is paused meanwhile, because a member that waits for its answer cannot send heartbeats.
    """
    group_id = sentinel.group_id

    async def current() -> int | None:
        return (await facts_of(gateway, group_id)).generation

    with gateway.paused_sessions.waiting(group_id, joined.member_id, gateway.now_ms()):
        try:
            await session.ready()
            return await sentinel.hold(session, joined.generation_id, current)
        except UpstreamLost:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def _is_final(response: JoinGroupResponse) -> bool:
    """Whether a client that is refused with this response does not simply join again."""
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
    """End a call whose join succeeded here, but whose generation could not be held upstream.

    If upstream refuses, or the member came without an id, kcoord takes the member out again; with `is_new` the group
    goes too, if nobody else is in it. A call that upstream refuses is passed on. Any other gets `error`.
    """
    if is_refusal(error) or not request.member_id:
        await gateway.guarded.undo_join(session, call, request, joined, is_new)
    _heed(gateway, session, request.group_id, error)
    if is_refusal(error):
        gateway.former_ids.note(request, request.member_id, has_gone=False)
        await _pass_on(gateway, session, call, request)
    else:
        session.answer(call, refuse(request, error))


def _heed(gateway: GroupCallContext, session: ClientSession, group_id: str, error: ErrorCode) -> None:
    """If upstream says that the client may not read the group, forget the right that kcoord knew."""
    if error == ErrorCode.GROUP_AUTHORIZATION_FAILED:
        gateway.rights.refused(session, group_id)


async def member_call(gateway: GroupCallContext, session: ClientSession, call: Call, request: MemberRequest) -> None:
    """Answer a SyncGroup, Heartbeat or LeaveGroup, or pass it on. Raises UpstreamLost."""
    group_id = request.group_id
    gateway.release_calls.hear(group_id, *members_named(request))
    if not await is_here(gateway, group_id):
        await _pass_on(gateway, session, call, request)
        return
    error = await gateway.rights.check(session, group_id, READ)
    if not await is_here(gateway, group_id):  # the check has shown its members at the cluster
        await _pass_on(gateway, session, call, request)
        return
    if not error and gateway.releases.concerns(group_id):
        await gateway.release_calls.member_call(session, call, request)
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
    if isinstance(request, HeartbeatRequest | SyncGroupRequest):  # the group may hold back its answer
        when_more = partial(
            session.client.when_more, call, partial(gateway.groups.flush_held_reply, group_id, session.client.serial)
        )
    news = await seen_by_classic(gateway, session, request) if isinstance(request, HeartbeatRequest) else None
    context = with_news(session.context(call), news)
    was_of_consumers = is_of_consumers(gateway, group_id)
    response, cached = await gateway.guarded.call(session, call, request, when_more, context)
    if await is_elsewhere(gateway, session, group_id, _error(response)):
        await _pass_on(gateway, session, call, request)
        return
    if was_of_consumers or is_of_consumers(gateway, group_id):
        error = await _in_consumer_group(gateway, session, request, response)
        if error:
            session.answer(call, refuse(request, error))
            return
    if isinstance(request, LeaveGroupRequest):
        session.drop_members(group_id, members_named(request))
    elif _ok(response):
        session.add_member(group_id, member_id)
        gateway.cluster_groups.taken(group_id)
    answer(gateway, session, call, response, cached, group_id)


async def _in_consumer_group(
    gateway: GroupCallContext, session: ClientSession, request: MemberRequest, response: Response
) -> ErrorCode:
    """What follows from a classic member's call in a consumer group (rule 6 above)."""
    group_id = request.group_id
    if isinstance(request, LeaveGroupRequest) or not _ok(response):
        gateway.topics.forget(session, group_id)
        return ErrorCode.NONE
    find_out(gateway, session, group_id, request.member_id)
    if isinstance(response, SyncGroupResponse) and response.assignment:
        return await stand(gateway, session, gateway.sentinels.of(group_id), request.member_id)
    return ErrorCode.NONE


async def is_elsewhere(gateway: GroupCallContext, session: ClientSession, group_id: str, error: ErrorCode) -> bool:
    """Whether the cluster has the group of a member that is unknown here, as `error` says (rule 7 above).

    If upstream has not been asked yet, kcoord asks it now, because what kcoord knows may be from before a restart.
    Raises UpstreamLost, also if upstream has not said who has the group.
    """
    sentinel = gateway.sentinels.of(group_id)
    if error not in LOST or sentinel.is_joined:
        return False
    await when_taken(gateway, group_id)  # it may fail with the connection over which it is taken
    await keep(gateway, session, group_id)
    await when_taken(gateway, group_id)
    is_upstreams = not await is_here(gateway, group_id)
    has_no_sentinel = is_upstreams and not sentinel.inherited
    if not (has_no_sentinel or sentinel.refused or sentinel.mark is not None):
        raise UpstreamLost(f"upstream has not said yet who has group {group_id}")
    return is_upstreams


async def keep(gateway: GroupCallContext, session: ClientSession, group_id: str) -> ErrorCode:
    """Make sure that the sentinel is in the group. After a restart it takes over what kcoord's predecessor left there.

    Returns NONE, a refusal or NOT_COORDINATOR. While upstream cannot be asked, or is not ready, the group counts as
    taken, unless it is contested. Raises UpstreamLost if a contested group still is.
    """
    sentinel = gateway.sentinels.of(group_id)
    error = await _kept(gateway, session, sentinel)
    _check_known(sentinel)
    return error if is_refusal(error) or error == ErrorCode.NOT_COORDINATOR else ErrorCode.NONE


def _check_known(sentinel: Sentinel) -> None:
    """Raises UpstreamLost if upstream has not said yet who has the group."""
    if sentinel.is_contested:
        raise UpstreamLost(f"upstream has not said yet whether kcoord has adopted group {sentinel.group_id}")


async def _kept(gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel) -> ErrorCode:
    if sentinel.is_joined or session.upstream is None:
        return ErrorCode.NONE
    try:
        known_soon = _known_soon(gateway, sentinel) if sentinel.is_taking else _take(gateway, session, sentinel, None)
        return await known_soon
    except UpstreamLost:
        return ErrorCode.NONE


def answer(
    gateway: GroupCallContext,
    session: ClientSession,
    call: Call,
    response: Response,
    cached: CachedReply | None,
    group_id: str,
) -> None:
    """Answer the call. The hot path may repeat the answer while the client's right to the group holds, unless the
    group has gone to the cluster, or began to go, since kcoord was asked.
    """
    session.end_call(call)
    if not seems_here(gateway, group_id) or gateway.releases.concerns(group_id):
        cached = None
    valid_until_ms = gateway.rights.valid_until_ms(session, group_id) if cached is not None else None
    session.client.answer(call, response, cached, valid_until_ms)


def _error(response: Response) -> ErrorCode:
    """The error of a SyncGroup, Heartbeat or LeaveGroup response. If several members leave, that of the first."""
    if isinstance(response, LeaveGroupResponse) and response.members:
        return error_of(response.members[0].error_code)
    return error_of(getattr(response, "error_code", 0))


def _ok(response: Response) -> bool:
    return getattr(response, "error_code", None) in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
