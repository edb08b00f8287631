"""DescribeGroups, ListGroups and DeleteGroups, which may concern kcoord's groups and others.

Rules (GW-13, GW-16 to GW-18):

1. A request that names several groups is split. kcoord answers for its own groups, asks upstream for the rest in one
   request, and merges the answers in the order of the question.
2. kcoord asks upstream for ListGroups without filters, at the client's version or the highest that upstream has. A
   group that is here is listed once, with kcoord's state, type and protocol type in place of the sentinel's. Where
   upstream tells no types, all its groups are classic. kcoord applies the filters to the result. A connect or consumer
   group without members has no sentinel upstream, so kcoord adds it.
3. A group of kcoord's is deleted in four steps: kcoord checks it, the sentinel leaves, upstream deletes it, kcoord
   deletes it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

import attrs

from kcoord.gateway.handlers.handler_context import HandlerContext
from kcoord.gateway.ownership.access.group_ownership import Unanswered, described_here, is_here, may_be_here
from kcoord.gateway.ownership.access.rights import DELETE, DESCRIBE
from kcoord.gateway.ownership.sentinel.appearance import OF_0_1_0
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.group.request_slices import ROWS
from kcoord.group.state.metrics import CLASSIC
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.delete_groups_response import DeletableGroupResult
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.generated.list_groups_response import ListedGroup
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["delete_groups", "delete_slice", "describe_groups", "describe_groups_slice", "list_groups"]

STATES_FILTER, TYPES_FILTER = 4, 5
"""The first versions of ListGroups with states and with types."""
NEWEST_LIST = 5
LOADING_S = 0.05
"""The pause, in seconds, between two looks whether all groups are loaded."""


async def describe_groups(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DescribeGroupsRequest
) -> None:
    """Answer a DescribeGroups, or pass it on. Raises UpstreamLost."""
    here = await described_here(gateway, request.groups)
    if not here:
        session.pass_on(call)
        return
    session.answer(call, await _described(gateway, session, call, request, here))


async def describe_groups_slice(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DescribeGroupsRequest
) -> DescribeGroupsResponse:
    """The answer for the groups in `request`, which are some of those in `call`. Raises UpstreamLost."""
    return await _described(gateway, session, call, request, await described_here(gateway, request.groups))


async def _described(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DescribeGroupsRequest, here: set[str]
) -> DescribeGroupsResponse:
    ours = [group_id for group_id in request.groups if group_id in here]
    theirs = [group_id for group_id in request.groups if group_id not in here]
    described: dict[str, DescribedGroup] = {}
    throttle_ms = 0
    if theirs:
        await session.ready()
        there = await session.ask(attrs.evolve(request, groups=theirs), call.header.api_version, call.header.client_id)
        assert isinstance(there, DescribeGroupsResponse)
        throttle_ms = there.throttle_time_ms
        described = {each.group_id: each for each in there.groups}
    for group_id in ours:
        described[group_id] = await _describe_here(gateway, session, call, request, group_id)
    groups = [described[group_id] for group_id in request.groups if group_id in described]
    return DescribeGroupsResponse(throttle_time_ms=throttle_ms, groups=groups)


async def _describe_here(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DescribeGroupsRequest, group_id: str
) -> DescribedGroup:
    try:
        found = await gateway.rights.authorization(session, group_id)
    except UpstreamLost:
        found = ErrorCode.COORDINATOR_NOT_AVAILABLE
    if not isinstance(found, Authorization):
        return DescribedGroup(error_code=found, group_id=group_id)
    if not found.allows(DESCRIBE):
        return DescribedGroup(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id)
    response, _ = await gateway.guarded.call(session, call, attrs.evolve(request, groups=[group_id]))
    assert isinstance(response, DescribeGroupsResponse)
    described = response.groups[0]
    if request.include_authorized_operations and described.error_code == ErrorCode.NONE:
        described.authorized_operations = found.operations
    return described


async def list_groups(gateway: HandlerContext, session: ClientSession, call: Call, request: ListGroupsRequest) -> None:
    """Answer a ListGroups. Raises UpstreamLost."""
    await session.ready()
    version = call.header.api_version
    asked = min(version, await session.version(ListGroupsRequest) or 0)
    there = await session.ask(ListGroupsRequest(), asked, call.header.client_id)
    assert isinstance(there, ListGroupsResponse)
    here = await _listed_here(gateway, session, call)
    ours: dict[str, ListedGroup] = {}
    async for some in _in_turns(gateway.turns, here.groups):
        ours |= {each.group_id: each for each in some if may_be_here(gateway, each.group_id)}
    kept: list[ListedGroup] = []
    async for some in _in_turns(gateway.turns, there.groups):
        kept += _kept([_ours_or_theirs(each, ours, asked) for each in some], request, version)
    kept += _kept(await _only_here(gateway, session, ours, {each.group_id for each in there.groups}), request, version)
    session.answer(call, attrs.evolve(there, groups=kept))


async def _in_turns(turns: TurnQueue, groups: Sequence[ListedGroup]) -> AsyncIterator[Sequence[ListedGroup]]:
    """The groups, `ROWS` at a time. Other clients have their turns in between."""
    for at in range(0, len(groups), ROWS):
        yield groups[at : at + ROWS]
        await turns.give_way()


async def _listed_here(gateway: HandlerContext, session: ClientSession, call: Call) -> ListGroupsResponse:
    """The groups of all shards, after those that are being loaded have been loaded.

    Raises Unanswered if that takes longer than `gateway.patience.ms`.
    """
    context = attrs.evolve(session.context(call), api_version=NEWEST_LIST)
    until_ms = gateway.now_ms() + gateway.settings.patience_ms
    while True:
        here, _ = await gateway.guarded.call(session, call, ListGroupsRequest(), context=context)
        assert isinstance(here, ListGroupsResponse)
        if here.error_code in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR):
            missing = "groups are still being loaded"
        elif here.error_code and gateway.places is not None:
            missing = "an instance does not say which groups it has"
        else:
            return here  # a kcoord alone leaves out a partition that it cannot serve
        if gateway.now_ms() >= until_ms:
            raise Unanswered(missing)
        await asyncio.sleep(LOADING_S)


async def _only_here(
    gateway: HandlerContext, session: ClientSession, ours: dict[str, ListedGroup], there: set[str]
) -> list[ListedGroup]:
    """Groups of the newer kinds without members. Upstream does not keep those that have no offsets there either.

    kcoord lists each of them at the port of its coordinator, if the client may describe it.
    """
    found = []
    for group_id, listed in ours.items():
        is_here = group_id not in there and gateway.coordinators.of(group_id) in (session.broker_id, None)
        if not is_here or listed.group_type == CLASSIC:
            continue
        with contextlib.suppress(UpstreamLost):
            known = await gateway.rights.authorization(session, group_id)
            if isinstance(known, Authorization) and known.allows(DESCRIBE):
                found.append(listed)
    return found


def _ours_or_theirs(theirs: ListedGroup, ours: dict[str, ListedGroup], version: int) -> ListedGroup:
    """The group as kcoord lists it, or as upstream has listed it in that version."""
    mine = ours.get(theirs.group_id)
    if mine is not None:
        return mine
    if version < TYPES_FILTER:
        theirs = attrs.evolve(theirs, group_type=CLASSIC)
    if theirs.protocol_type == OF_0_1_0.protocol_type:  # the type of a sentinel that left; no member has come since
        return attrs.evolve(theirs, protocol_type="")
    return theirs


def _kept(groups: Sequence[ListedGroup], request: ListGroupsRequest, version: int) -> list[ListedGroup]:
    """The groups that the client asks for, without the fields that its version does not have."""
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    kept = [
        each for each in groups
        if (not states or each.group_state.lower() in states) and (not types or each.group_type.lower() in types)
    ]  # fmt: skip
    for each in kept:
        each.group_state = each.group_state if version >= STATES_FILTER else ""
        each.group_type = each.group_type if version >= TYPES_FILTER else ""
    return kept


async def delete_groups(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DeleteGroupsRequest
) -> None:
    """Answer a DeleteGroups, or pass it on. Raises UpstreamLost."""
    if any(map(gateway.owns, request.groups_names)):
        session.answer(call, await delete_slice(gateway, session, call, request))
    else:
        session.pass_on(call)


async def delete_slice(
    gateway: HandlerContext, session: ClientSession, call: Call, request: DeleteGroupsRequest
) -> DeleteGroupsResponse:
    """The answer for the groups in `request`, which are all or some of those in `call`. Raises UpstreamLost."""
    ours = {group_id for group_id in request.groups_names if gateway.owns(group_id)}
    await session.ready()
    results: dict[str, DeletableGroupResult] = {}
    for group_id in ours:
        error = await _make_way(gateway, session, group_id)
        if error:
            results[group_id] = DeletableGroupResult(group_id=group_id, error_code=error)
    ask = [group_id for group_id in request.groups_names if group_id not in results]
    throttle_ms = 0
    if ask:
        there = await session.ask(
            attrs.evolve(request, groups_names=ask), call.header.api_version, call.header.client_id
        )
        assert isinstance(there, DeleteGroupsResponse)
        throttle_ms = there.throttle_time_ms
        for each in there.results:
            results[each.group_id] = await _delete_here(gateway, session, call, each) if each.group_id in ours else each
    answers = [results[group_id] for group_id in dict.fromkeys(request.groups_names) if group_id in results]
    return DeleteGroupsResponse(throttle_time_ms=throttle_ms, results=answers)


async def _make_way(gateway: HandlerContext, session: ClientSession, group_id: str) -> ErrorCode:
    """Check whether the group may be deleted; if so, the sentinel leaves. Returns the error.

    NONE: upstream decides the rest.
    """
    error = await gateway.groups.check_delete(group_id)
    if error == ErrorCode.GROUP_ID_NOT_FOUND and not await is_here(gateway, group_id):
        return ErrorCode.NONE
    found = await gateway.rights.authorization(session, group_id)
    if not isinstance(found, Authorization):
        return found
    if not found.allows(DELETE):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    sentinel = gateway.sentinels.of(group_id)
    if sentinel.refused:
        return ErrorCode.NONE

    async def may_go() -> bool:
        nonlocal error
        error = await gateway.groups.check_delete(group_id)
        return error in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND)

    if not await may_go():
        return error
    left = await gateway.sentinels.speak(sentinel, lambda asker: sentinel.make_way(asker, may_go), session)
    return error if left == ErrorCode.NON_EMPTY_GROUP else left


async def _delete_here(
    gateway: HandlerContext, session: ClientSession, call: Call, there: DeletableGroupResult
) -> DeletableGroupResult:
    """Delete the group here too, if upstream has deleted it or does not have it. Returns the client's answer."""
    if there.error_code not in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND):
        return there
    response, _ = await gateway.guarded.call(session, call, DeleteGroupsRequest(groups_names=[there.group_id]))
    assert isinstance(response, DeleteGroupsResponse)
    here = response.results[0]
    return here if here.error_code == ErrorCode.NONE else there
