"""The groups as one client may touch them: every step that a client asks of a group goes through here.

No handler reaches the groups themselves (`Gateway.groups` can only be asked), so none can forget what stands here
(GW-5 and GW-16):

1. Nothing is carried out, and no session is refreshed, for a connection whose client upstream has not proved to know.
2. Nor for a group on which the client has not proved, by upstream, the right that the request needs (`NEEDED`); a
   request that is not in that table is carried out for nobody. Those in `ASKED_OTHERWISE` are asked upstream by their
   handlers themselves, in the client's name, before or after.
3. What was waited for is not told on the strength of a right that was proved before the wait: it is proved again, if
   it is too old by then. Who has joined a group, and may not be told so any more, is taken out again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.ownership.group_ownership import groups_named
from kcoord.gateway.ownership.paused_sessions import PausedSessions
from kcoord.gateway.ownership.rights import DELETE, DESCRIBE, READ, Rights
from kcoord.gateway.ownership.sentinel import PASSING
from kcoord.gateway.ports import GroupService
from kcoord.gateway.session.authentication import proved
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.group.refuse import refuse
from kcoord.group.step import Remember, RequestContext
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.call import Call
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    AdoptGroupResponse,
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    ListGroupsRequest,
    Request,
    Response,
    SyncGroupRequest,
)

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ASKED_OTHERWISE", "NEEDED", "GuardedGroups"]

NEEDED: dict[type[Request], int] = {
    JoinGroupRequest: READ,
    SyncGroupRequest: READ,
    HeartbeatRequest: READ,
    LeaveGroupRequest: READ,
    ConnectGroupHeartbeatRequest: READ,
    ConnectGroupPrepareAssignmentRequest: READ,
    ConnectGroupInstallAssignmentRequest: READ,
    DescribeGroupsRequest: DESCRIBE,
    ConnectGroupDescribeRequest: DESCRIBE,
    DeleteGroupsRequest: DELETE,
}
"""The right that each request needs on every group that it names."""
ASKED_OTHERWISE = frozenset({ListGroupsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest})
"""Requests whose answers are upstream's own, group by group, with what is known here worked into what it shows."""


class GuardContext(Protocol):
    """What stands before the groups."""

    paused_sessions: PausedSessions
    rights: Rights
    turns: TurnQueue

    def wall_ms(self) -> int: ...


class GuardedGroups:
    """The groups behind their rights."""

    def __init__(self, gateway: GuardContext, groups: GroupService) -> None:
        self._gateway = gateway
        self._groups = groups

    async def call(
        self,
        session: ClientSession,
        call: Call,
        request: Request,
        submitted: Callable[[], None] | None = None,
        context: RequestContext | None = None,
    ) -> tuple[Response, Remember | None]:
        """The groups' response to `request`, and what the hot path may remember of it; a refusal where the client lacks
        the right. `submitted` is called when it is on its way. Raises UpstreamLost where upstream cannot say.
        """
        if NEEDED.get(type(request)) != READ:  # one call may ask for many of these, and each answer may be large
            await self._gateway.turns.give_way()
        error = await self._refusal(session, request)
        if error:
            return refuse(request, error), None
        if isinstance(request, ConnectGroupHeartbeatRequest | HeartbeatRequest | SyncGroupRequest | LeaveGroupRequest):
            self._gateway.paused_sessions.returned(request.group_id, request.member_id)
        response, remember = await self._groups.call(request, context or session.context(call), submitted)
        error = await self._refusal(session, request)
        if not error:
            return response, remember
        if isinstance(request, JoinGroupRequest) and isinstance(response, JoinGroupResponse):
            await self.undo_join(session, call, request, response)
        return refuse(request, error), None

    async def check_commit(
        self,
        session: ClientSession,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        transactional: bool,
    ) -> ErrorCode:
        """Whether this client's member may commit offsets now; its session is refreshed. Raises UpstreamLost."""
        error = await self._lacks(session, group_id, READ)
        return error or await self._groups.check_commit(group_id, member_id, instance_id, generation, transactional)

    async def undo_join(
        self,
        session: ClientSession,
        call: Call,
        request: JoinGroupRequest,
        joined: JoinGroupResponse,
        is_new: bool = False,
    ) -> None:
        """Take out whom `request` has just brought into its group, whatever rights it has by now; with `is_new` the
        group goes too, if nobody else is in it.
        """
        if not joined.error_code:
            await self.take_out(session, call, request, joined.member_id, is_new)

    async def take_out(
        self, session: ClientSession, call: Call, request: JoinGroupRequest, member_id: str, is_new: bool = False
    ) -> None:
        """Take a member that sends a JoinGroup out of its group, or the id that it was given; `is_new` as above."""
        identity = MemberIdentity(member_id=member_id, group_instance_id=request.group_instance_id)
        leave = LeaveGroupRequest(group_id=request.group_id, members=[identity])
        context = attrs.evolve(session.context(call), api_version=LeaveGroupRequest.MAX_VERSION)
        await self._groups.call(leave, context)
        if is_new:
            delete = DeleteGroupsRequest(groups_names=[request.group_id])
            await self._groups.call(delete, attrs.evolve(context, api_version=DeleteGroupsRequest.MAX_VERSION))

    async def adopt(self, request: AdoptGroupRequest) -> AdoptGroupResponse:
        """Take a group over from the cluster; no client asks for that (`adoption.py`)."""
        response, _ = await self._groups.call(request, self._own_context(0))
        assert isinstance(response, AdoptGroupResponse)
        return response

    async def member_ids(self, group_id: str) -> set[str]:
        """Who is a member here. Raises UpstreamLost where nobody coordinates the group at the moment."""
        classic = await self.describe(DescribeGroupsRequest(groups=[group_id]))
        connect = await self.describe(ConnectGroupDescribeRequest(group_ids=[group_id]))
        assert isinstance(classic, DescribeGroupsResponse)
        assert isinstance(connect, ConnectGroupDescribeResponse)
        errors = [*(each.error_code for each in classic.groups), *(each.error_code for each in connect.groups)]
        if not PASSING.isdisjoint(map(error_of, errors)):
            raise UpstreamLost(f"nobody coordinates group {group_id} at the moment")
        found = [each.member_id for group in classic.groups for each in group.members]
        return {*found, *(each.member_id for group in connect.groups for each in group.members)}

    async def give_up(self, group_id: str, members: list[MemberIdentity]) -> None:
        """Those who were taken over with a group are the cluster's still."""
        leave = LeaveGroupRequest(group_id=group_id, members=members)
        await self._groups.call(leave, self._own_context(LeaveGroupRequest.MAX_VERSION))

    async def describe(self, request: DescribeGroupsRequest | ConnectGroupDescribeRequest) -> Response:
        """What kcoord tells itself of groups; no client hears of it."""
        response, _ = await self._groups.call(request, self._own_context(0))
        return response

    def _own_context(self, version: int) -> RequestContext:
        """Of what kcoord asks for by itself."""
        return RequestContext(version, "kcoord", "", 0, self._gateway.wall_ms())

    async def _refusal(self, session: ClientSession, request: Request) -> ErrorCode:
        """Why the client may not have that done, or NONE. Raises UpstreamLost."""
        if type(request) in ASKED_OTHERWISE:
            await proved(session)
            return ErrorCode.NONE
        needed = NEEDED[type(request)]
        for group_id in groups_named(request):
            error = await self._lacks(session, group_id, needed)
            if error:
                return error
        return ErrorCode.NONE

    async def _lacks(self, session: ClientSession, group_id: str, operation: int) -> ErrorCode:
        await proved(session)
        error = await self._gateway.rights.check(session, group_id, operation)
        if not session.is_known:  # it began to authenticate again while that was asked
            raise UpstreamLost("the client authenticates anew")
        return error
