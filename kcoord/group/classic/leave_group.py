"""LeaveGroup of members of a classic group."""

from __future__ import annotations

from kcoord.group.classic.join_phase import evict
from kcoord.group.classic.member_checks import check_member
from kcoord.group.classic.state_table import GONE, PENDING_GONE
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.leave_group_response import MemberResponse
from kcoord.protocol.messages import LeaveGroupRequest, LeaveGroupResponse

BATCH_VERSION = 3


def leave_classic(transition: Transition, request: LeaveGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle a LeaveGroup. If several members leave, the group rebalances once."""
    batched = context.api_version >= BATCH_VERSION
    leavers = request.members if batched else [MemberIdentity(request.member_id)]
    group = transition.state.groups.get(request.group_id) or ClassicGroup(request.group_id)
    responses = _leave(transition, group, leavers)
    if batched:
        transition.answer(token, LeaveGroupResponse(members=responses))
    else:
        transition.answer(token, LeaveGroupResponse(error_code=responses[0].error_code))


def _leave(transition: Transition, group: ClassicGroup, leavers: list[MemberIdentity]) -> list[MemberResponse]:
    gone: list[str] = []
    reason = None
    pending_gone = False
    responses = []
    for leaver in leavers:
        error = ErrorCode.NONE
        if group.pending.pop(leaver.member_id, None) is not None:
            pending_gone = True
        else:
            member_id = _member_id(group, leaver)
            error = check_member(group, member_id, leaver.group_instance_id)
            if not error:
                evict(transition, group, group.members[member_id])
                gone.append(member_id)
                reason = reason or leaver.reason
        responses.append(MemberResponse(leaver.member_id, leaver.group_instance_id, error))
    if gone:
        GONE[group.state](transition, group, tell(Reason.LEFT, gone, reason))
    elif pending_gone:
        PENDING_GONE[group.state](transition, group)
    return responses


def _member_id(group: ClassicGroup, leaver: MemberIdentity) -> str:
    """The member id that is meant: an admin names a static member by its group.instance.id alone."""
    if leaver.member_id or leaver.group_instance_id is None:
        return leaver.member_id
    return group.static_ids.get(leaver.group_instance_id, leaver.member_id)
