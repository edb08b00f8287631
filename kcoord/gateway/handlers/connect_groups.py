"""The connect groups' own APIs, in front of a cluster that does not know them.

GW-11, GW-13 and GW-16 hold as for classic groups. Rules (CG-26, CG-29, CG-30):

1. kcoord never passes these requests on, because upstream has no connect groups and could not answer. If kcoord may not
   take the group, the answer is GROUP_ID_NOT_FOUND.
2. The first member that joins takes the group upstream, with the same sentinel as for a classic group. So no worker
   that is connected to the cluster directly can run the same connectors under that name. Upstream refuses the sentinel
   while it has members of its own in the group. The answer is GROUP_ID_NOT_FOUND then, too.
3. Workers of connect groups commit no offsets under their group. So a new epoch here needs no new generation upstream,
   and the sentinel joins once.
4. Upstream says what the client may do with the group, and whether its connection ends at the coordinator.
5. If a described group is no connect group, the description says who has it (`group_owner_words.py`): kcoord or the
   cluster. For the cluster it names the members there, and which of them come through kcoord (AD-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs

from kcoord.gateway.handlers.group_calls import GroupCallContext, admit, answer, keep
from kcoord.gateway.ownership.access.group_ownership import facts_of, is_here, is_the_clusters
from kcoord.gateway.ownership.access.rights import DESCRIBE, READ
from kcoord.gateway.ownership.maintenance.group_appearances import DEAD
from kcoord.gateway.ownership.sentinel.appearance import CONNECT
from kcoord.gateway.ownership.sentinel.upstream_errors import is_refusal
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.group.error_responses import refuse
from kcoord.group_owner_words import AT_CLUSTER, AT_KCOORD
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_describe_response import DescribedGroup, Member
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    Response,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["describe", "describe_slice", "heartbeat", "member_call"]

JOINING_EPOCH = 0
LEAVING_EPOCHS = frozenset({-1, -2})
NOT_OURS = "this group is not among those that kcoord coordinates (its setting groups), and the cluster has none"
NOT_MATCHED = "this group is not among those that kcoord coordinates (its setting groups): the cluster coordinates it"
TAKEN = (
    "the cluster behind kcoord has this group: it has members at the cluster, or was given to it "
    "(gateway.owner=cluster). kcoord groups describe says which; kcoord groups adopt brings it to kcoord"
)
GIVEN = "this group has no members here; it was given to the cluster (gateway.owner=cluster)"

MemberCall = ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest
MemberResponse = (
    ConnectGroupHeartbeatResponse | ConnectGroupPrepareAssignmentResponse | ConnectGroupInstallAssignmentResponse
)


async def heartbeat(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: ConnectGroupHeartbeatRequest
) -> None:
    """Answer a ConnectGroupHeartbeat. Raises UpstreamLost."""
    group_id, member_id = request.group_id, request.member_id
    if not gateway.owns(group_id):
        session.answer(call, _refused(request, ErrorCode.GROUP_ID_NOT_FOUND, NOT_OURS))
        return
    error = await gateway.rights.check(session, group_id, READ) or await _take(gateway, session, request)
    if error == ErrorCode.GROUP_ID_NOT_FOUND:
        session.answer(call, _refused(request, error, TAKEN))
        return
    if error:
        session.answer(call, refuse(request, error))
        return
    held = partial(gateway.groups.flush_held_reply, group_id, session.client.serial)
    when_more = partial(session.client.when_more, call, held) if request.max_wait_ms > 0 else None
    response, cached = await gateway.guarded.call(session, call, request, when_more)
    assert isinstance(response, ConnectGroupHeartbeatResponse)
    if response.error_code in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT):
        if request.member_epoch in LEAVING_EPOCHS:
            session.drop_members(group_id, {member_id})
        else:
            session.add_member(group_id, member_id)
            gateway.cluster_groups.taken(group_id)
    elif request.member_epoch == JOINING_EPOCH and not ErrorCode(response.error_code).retriable:
        session.drop_members(group_id, {member_id})
        gateway.spawn(gateway.sentinels.give_back(gateway.sentinels.of(group_id)))
    answer(gateway, session, call, response, cached, group_id)


async def _take(gateway: GroupCallContext, session: ClientSession, request: ConnectGroupHeartbeatRequest) -> ErrorCode:
    """Take the group for a member that joins; for any other heartbeat keep it, if it is here.

    GROUP_ID_NOT_FOUND: the cluster shall have the group, or upstream refuses the sentinel. A heartbeat that does not
    join takes nothing: if the group is not here, the group's coordinator answers it. Raises UpstreamLost.
    """
    group_id = request.group_id
    sentinel = gateway.sentinels.of(group_id)
    if not sentinel.is_joined and await is_the_clusters(gateway, group_id):
        return ErrorCode.GROUP_ID_NOT_FOUND
    if request.member_epoch == JOINING_EPOCH and (sentinel.IS_SHARED or not sentinel.is_joined):
        await session.ready()
        session.add_member(group_id, request.member_id)
        error = await admit(gateway, session, sentinel, CONNECT)
    elif await is_here(gateway, group_id):
        error = await keep(gateway, session, group_id)
    else:
        return ErrorCode.NONE
    if is_refusal(error) and error != ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return error


async def member_call(gateway: GroupCallContext, session: ClientSession, call: Call, request: MemberCall) -> None:
    """Answer a ConnectGroupPrepareAssignment or ConnectGroupInstallAssignment. Raises UpstreamLost."""
    if not gateway.owns(request.group_id):
        session.answer(call, _refused(request, ErrorCode.GROUP_ID_NOT_FOUND, NOT_OURS))
        return
    response, _ = await gateway.guarded.call(session, call, request)
    session.answer(call, response)


def _refused(request: ConnectGroupHeartbeatRequest | MemberCall, error: ErrorCode, message: str) -> Response:
    response = refuse(request, error)
    assert isinstance(response, MemberResponse)
    response.error_message = message
    return response


async def describe(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: ConnectGroupDescribeRequest
) -> None:
    """Answer a ConnectGroupDescribe, group by group. Raises UpstreamLost."""
    session.answer(call, await describe_slice(gateway, session, call, request))


async def describe_slice(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: ConnectGroupDescribeRequest
) -> ConnectGroupDescribeResponse:
    """The answer for the groups in `request`, which are all or some of those in `call`. Raises UpstreamLost."""
    groups = [await _described(gateway, session, call, request, group_id) for group_id in request.group_ids]
    return ConnectGroupDescribeResponse(groups=groups)


async def _described(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: ConnectGroupDescribeRequest, group_id: str
) -> DescribedGroup:
    if not gateway.owns(group_id):
        return _at_cluster(group_id, NOT_MATCHED)
    try:
        found = await gateway.rights.authorization(session, group_id)
    except UpstreamLost:
        found = ErrorCode.COORDINATOR_NOT_AVAILABLE
    if isinstance(found, Authorization) and not found.allows(DESCRIBE):
        found = ErrorCode.GROUP_AUTHORIZATION_FAILED
    if not isinstance(found, Authorization):
        return DescribedGroup(error_code=found, group_id=group_id)
    response, _ = await gateway.guarded.call(session, call, attrs.evolve(request, group_ids=[group_id]))
    assert isinstance(response, ConnectGroupDescribeResponse)
    described = response.groups[0]
    if request.include_authorized_operations and described.error_code == ErrorCode.NONE:
        described.authorized_operations = found.operations
    try:
        return await _with_owner(gateway, session, described)
    except UpstreamLost:
        return DescribedGroup(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, group_id=group_id)


async def _with_owner(gateway: GroupCallContext, session: ClientSession, described: DescribedGroup) -> DescribedGroup:
    """Add who has the group, if it has no members as a connect group. Raises UpstreamLost."""
    group_id = described.group_id
    if described.error_code not in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND) or described.members:
        return described
    if not await is_here(gateway, group_id):
        there = await gateway.cluster_groups.look(session, group_id)
        if there is not None:
            return _at_cluster(group_id, there.told, [_member(each, way) for each, way in there.ways()])
    if await is_the_clusters(gateway, group_id):
        return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, GIVEN, group_id, group_state=DEAD)
    if described.error_code and (await facts_of(gateway, group_id)).generation is not None:
        described.group_state = AT_KCOORD
    return described


def _at_cluster(group_id: str, message: str, members: Sequence[Member] = ()) -> DescribedGroup:
    error = ErrorCode.GROUP_ID_NOT_FOUND
    return DescribedGroup(error, message, group_id, group_state=AT_CLUSTER, members=list(members))


def _member(described: DescribedGroupMember, way: str) -> Member:
    return Member(
        member_id=described.member_id,
        instance_id=described.group_instance_id,
        client_id=described.client_id,
        client_host=described.client_host,
        state=way,
    )
