"""LeaveGroup of members of a consumer group: classic members leave, or an admin removes members.

Consumers of the new protocol leave by their heartbeats.
"""

from __future__ import annotations

from kcoord.group.consumer.membership import remove
from kcoord.group.consumer.reasons import Reason
from kcoord.group.consumer.settle import settle
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.leave_group_response import MemberResponse
from kcoord.protocol.messages import LeaveGroupRequest, LeaveGroupResponse

BATCH_VERSION = 3


def leave_consumers(
    transition: Transition, group: ConsumerGroup, request: LeaveGroupRequest, context: RequestContext, token: Token
) -> None:
    """Handle a LeaveGroup. If several members are removed, the group epoch moves once."""
    batched = context.api_version >= BATCH_VERSION
    named = request.members if batched else [MemberIdentity(request.member_id)]
    gone: dict[str, ConsumerMember] = {}
    responses = []
    for each in named:
        member = _meant(group, each)
        error = member if isinstance(member, ErrorCode) else ErrorCode.NONE
        if isinstance(member, ConsumerMember):
            gone[member.member_id] = member
        responses.append(MemberResponse(each.member_id, each.group_instance_id, error))
    if gone:
        leave = all(member.is_classic for member in gone.values()) and all(each.member_id for each in named)
        remove(transition, group, list(gone.values()), Reason.LEFT if leave else Reason.REMOVED)
        settle(transition, group)
    if batched:
        transition.answer(token, LeaveGroupResponse(members=responses))
    else:
        transition.answer(token, LeaveGroupResponse(error_code=responses[0].error_code))


def _meant(group: ConsumerGroup, named: MemberIdentity) -> ConsumerMember | ErrorCode:
    """The member that is meant, or why there is none."""
    if named.group_instance_id is None:
        return group.members.get(named.member_id) or ErrorCode.UNKNOWN_MEMBER_ID
    holder = group.static_ids.get(named.group_instance_id)
    if holder is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if named.member_id not in ("", holder):
        return ErrorCode.FENCED_INSTANCE_ID
    return group.members[holder]
