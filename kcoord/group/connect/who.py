"""May this worker prepare or install an assignment? Whatever is wrong never removes it nor makes it join anew
(CG-19): FENCED_MEMBER_EPOCH means after the next heartbeat, UNKNOWN_MEMBER_ID give up computing.
"""

from __future__ import annotations

from kcoord.group.connect.found import Refused, check_newer, check_newest
from kcoord.group.connect.group import Computation, ConnectGroup, Member
from kcoord.group.step import RequestContext
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupInstallAssignmentRequest, ConnectGroupPrepareAssignmentRequest


def check_member(
    turn: Turn,
    request: ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest,
    context: RequestContext,
) -> tuple[ConnectGroup, Member]:
    """The group and the member; raises Refused unless both are there and the epoch is the member's."""
    check_newer(turn, request.group_id, context)
    group = turn.contents.connect.get(request.group_id)
    if group is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no connect group {request.group_id}")
    member = group.members.get(request.member_id)
    if member is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {request.member_id}")
    check_newest(turn, group, member, context)
    if member.put_out or member.epoch_unsure or request.member_epoch != member.epoch:
        raise Refused(
            ErrorCode.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}: ask again after the next heartbeat"
        )
    return group, member


def check_computing(
    turn: Turn,
    request: ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest,
    context: RequestContext,
) -> tuple[ConnectGroup, Member, Computation]:
    """The same, and what it computes; raises Refused unless it is the chosen one."""
    group, member = check_member(turn, request, context)
    computation = group.computation
    if computation is None or computation.chosen != member.member_id:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"member {member.member_id} was not chosen to compute")
    return group, member, computation
