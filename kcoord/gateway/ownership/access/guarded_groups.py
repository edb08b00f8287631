"""Guarded groups: the groups as one client may use them. Every step that a client asks of a group goes through here.

No handler reaches the groups themselves (`Gateway.groups` can only be asked), so no handler can forget these rules
(GW-5, GW-16):

1. kcoord carries out nothing, and refreshes no session, for a connection before upstream has proved that it knows the
   client.
2. kcoord carries out nothing on a group before upstream has said that the client has the right for it. `NEEDED` says
   which right a request needs. A request that is not in that table is carried out for nobody. For the requests in
   `ASKED_OTHERWISE` the handlers themselves ask upstream in the client's name, before or after.
3. After a wait kcoord checks the right again before it answers. If what it knows is too old by then, it asks upstream
   again. If a member has joined a group and its client no longer has the right, kcoord removes the member again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.interfaces import GroupService
from kcoord.gateway.ownership.access.group_ownership import groups_named
from kcoord.gateway.ownership.access.paused_sessions import PausedSessions
from kcoord.gateway.ownership.access.rights import READ, Rights
from kcoord.gateway.ownership.sentinel.upstream_errors import PASSING
from kcoord.gateway.session.authentication import proved
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.group.acl_operation import AclOperation
from kcoord.group.api_handlers_and_rights import API_TABLE, InFront
from kcoord.group.consumer.offset_checks import Named
from kcoord.group.error_responses import refuse
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.group.translation.leave_group import STOPPED
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    AdoptGroupResponse,
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    Request,
    Response,
    SyncGroupRequest,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ASKED_OTHERWISE", "NEEDED", "GuardedGroups"]

NEEDED: dict[type[Request], AclOperation] = {
    row.request: row.right for row in API_TABLE if row.in_front is InFront.GUARDED and row.right is not None
}
"""The right that each request needs on every group that it names."""
ASKED_OTHERWISE = frozenset(row.request for row in API_TABLE if row.in_front is InFront.COMPLETED and row.relayed)
"""Requests that upstream answers itself: kcoord puts what it knows about its groups into upstream's answer."""

Heartbeat = ConnectGroupHeartbeatRequest | ConsumerGroupHeartbeatRequest | HeartbeatRequest
SignOfLife = Heartbeat | SyncGroupRequest | LeaveGroupRequest
"""The requests with which a paused session begins afresh."""


class GuardContext(Protocol):
    """What `GuardedGroups` needs from the gateway."""

    paused_sessions: PausedSessions
    rights: Rights
    turns: TurnQueue

    def wall_ms(self) -> int: ...


class GuardedGroups:
    """The groups, behind a check of the client's rights."""

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
    ) -> tuple[Response, CachedReply | None]:
        """The groups' response to `request`, and what the hot path may remember of it; a refusal if the client lacks
        the right. `submitted` is called when it is submitted. Raises UpstreamLost if upstream cannot say.
        """
        if NEEDED.get(type(request)) != READ:  # one call may name many groups, and each answer may be large
            await self._gateway.turns.give_way()
        error = await self._refusal(session, request)
        if error:
            return refuse(request, error), None
        if isinstance(request, SignOfLife):
            self._gateway.paused_sessions.returned(request.group_id, request.member_id)
        response, cached = await self._groups.call(request, context or session.context(call), submitted)
        error = await self._refusal(session, request)
        if not error:
            return response, cached
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
        partitions: Sequence[Named] = (),
    ) -> ErrorCode:
        """The error for a commit of offsets by this client's member now. Raises UpstreamLost.

        NONE: it may commit, and its session is refreshed, but not in a consumer group of the new protocol. There
        `partitions` count, which it commits.
        """
        error = await self._lacks(session, group_id, READ)
        return error or await self._groups.check_commit(
            group_id, member_id, instance_id, generation, transactional, partitions=partitions
        )

    async def undo_join(
        self,
        session: ClientSession,
        call: Call,
        request: JoinGroupRequest,
        joined: JoinGroupResponse,
        is_new: bool = False,
    ) -> None:
        """Remove the member that `request` has just brought into its group, whatever rights the client has by now.

        `is_new`: also delete the group, if it has no other members.
        """
        if not joined.error_code:
            await self.take_out(session, call, request, joined.member_id, is_new)

    async def take_out(
        self, session: ClientSession, call: Call, request: JoinGroupRequest, member_id: str, is_new: bool = False
    ) -> None:
        """Remove a member that sends a JoinGroup, or the member id that it was given; `is_new` as in `undo_join`."""
        identity = MemberIdentity(member_id=member_id, group_instance_id=request.group_instance_id)
        leave = LeaveGroupRequest(group_id=request.group_id, members=[identity])
        context = attrs.evolve(session.context(call), api_version=LeaveGroupRequest.MAX_VERSION)
        await self._groups.call(leave, context)
        if is_new:
            delete = DeleteGroupsRequest(groups_names=[request.group_id])
            await self._groups.call(delete, attrs.evolve(context, api_version=DeleteGroupsRequest.MAX_VERSION))

    async def adopt(self, request: AdoptGroupRequest) -> AdoptGroupResponse:
        """Let a group's coordinator take it over from the cluster (`adoption.py`); no client can ask for that."""
        response, _ = await self._groups.call(request, self._own_context(0))
        assert isinstance(response, AdoptGroupResponse)
        return response

    async def member_ids(self, group_id: str) -> set[str]:
        """The ids of the members here. Raises UpstreamLost if nobody coordinates the group at the moment."""
        return set(await self.members(group_id))

    async def members(self, group_id: str) -> dict[str, str | None]:
        """The members here, by id: the instance id of each, None for a dynamic member. Raises UpstreamLost if nobody
        coordinates the group at the moment.
        """
        classic = await self.describe(DescribeGroupsRequest(groups=[group_id]))
        connect = await self.describe(ConnectGroupDescribeRequest(group_ids=[group_id]))
        consumer = await self.describe(ConsumerGroupDescribeRequest(group_ids=[group_id]))
        assert isinstance(classic, DescribeGroupsResponse)
        assert isinstance(connect, ConnectGroupDescribeResponse)
        assert isinstance(consumer, ConsumerGroupDescribeResponse)
        errors = [each.error_code for each in classic.groups]
        errors += [each.error_code for each in connect.groups] + [each.error_code for each in consumer.groups]
        if not PASSING.isdisjoint(map(error_of, errors)):
            raise UpstreamLost(f"nobody coordinates group {group_id} at the moment")
        found = {each.member_id: each.group_instance_id for group in classic.groups for each in group.members}
        found |= {each.member_id: each.instance_id for group in connect.groups for each in group.members}
        return found | {each.member_id: each.instance_id for group in consumer.groups for each in group.members}

    async def give_up(self, group_id: str, members: list[MemberIdentity]) -> None:
        """Remove members here that the cluster has: still, when an adoption fails, or by now, in a release.

        Nothing stays reserved for them here, because the cluster says now what they run.
        """
        leave = LeaveGroupRequest(group_id=group_id, members=[attrs.evolve(each, reason=STOPPED) for each in members])
        await self._groups.call(leave, self._own_context(LeaveGroupRequest.MAX_VERSION))

    async def describe(
        self, request: DescribeGroupsRequest | ConnectGroupDescribeRequest | ConsumerGroupDescribeRequest
    ) -> Response:
        """Descriptions of groups for kcoord itself; no client gets them."""
        response, _ = await self._groups.call(request, self._own_context(request.MIN_VERSION))
        return response

    def _own_context(self, version: int) -> RequestContext:
        """The context of kcoord's own requests."""
        return RequestContext(version, "kcoord", "", 0, self._gateway.wall_ms())

    async def _refusal(self, session: ClientSession, request: Request) -> ErrorCode:
        """The error if the client may not make `request`; NONE if it may. Raises UpstreamLost."""
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
        if not session.is_known:  # it began to authenticate again meanwhile
            raise UpstreamLost("the client authenticates anew")
        return error
