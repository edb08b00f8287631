"""LeaveGroup (13): members leave.

v0-v2 have one member, and its error at the top of the answer. v3 allows several members, and removal by
group.instance.id alone (by an admin). v4 is flexible. v5 adds reasons (KIP-800).
"""

from __future__ import annotations

from kcoord.group.classic.leave_group import leave_classic
from kcoord.group.consumer.leave_group import leave_consumers
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.leave_group import leave_translated
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import LeaveGroupRequest, LeaveGroupResponse


def leave_group(transition: Transition, request: LeaveGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle a LeaveGroup."""
    if not request.group_id:
        transition.answer(token, LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        return
    connect = transition.state.connect.get(request.group_id)
    consumer = transition.state.consumer.get(request.group_id)
    if connect is not None:
        leave_translated(transition, connect, request, context, token)
    elif consumer is not None:
        leave_consumers(transition, consumer, request, context, token)
    else:
        leave_classic(transition, request, context, token)
