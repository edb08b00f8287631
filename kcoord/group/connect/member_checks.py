"""The checks whether a worker may prepare or install an assignment (CG-19).

No error here removes the member or makes it join again. FENCED_MEMBER_EPOCH means: ask again after the next heartbeat.
UNKNOWN_MEMBER_ID means: give up computing.
"""

from __future__ import annotations

from kcoord.group.connect.group_lookup import Refused, check_newer, check_newest
from kcoord.group.state.groups.connect_group import Computation, ConnectGroup, ConnectMember
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupInstallAssignmentRequest, ConnectGroupPrepareAssignmentRequest


def check_member(
    transition: Transition,
    request: ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest,
    context: RequestContext,
) -> tuple[ConnectGroup, ConnectMember]:
    """The group and the member. Raises Refused unless both exist and the request has the member's epoch."""
    check_newer(transition, request.group_id, context)
    group = transition.state.connect.get(request.group_id)
    if group is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no connect group {request.group_id}")
    member = group.members.get(request.member_id)
    if member is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {request.member_id}")
    check_newest(transition, group, member, context)
    if member.evicted or member.epoch_unsure or request.member_epoch != member.epoch:
        raise Refused(
            ErrorCode.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}: ask again after the next heartbeat"
        )
    return group, member


def check_computing(
    transition: Transition,
    request: ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest,
    context: RequestContext,
) -> tuple[ConnectGroup, ConnectMember, Computation]:
    """The group, the member and its computation. Raises Refused unless this member is chosen to compute."""
    group, member = check_member(transition, request, context)
    computation = group.computation
    if computation is None or computation.chosen != member.member_id:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"member {member.member_id} was not chosen to compute")
    return group, member, computation
