"""Heartbeat of a member of a classic group.

If it is answered 0 in a stable group, the hot path may repeat that answer until the group's version changes.
"""

from __future__ import annotations

from kcoord.group.classic.member_checks import check_member
from kcoord.group.classic.state_table import HEARTBEAT
from kcoord.group.classic.sync_phase import has_synced
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.step import CachedReply, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse


def heartbeat_classic(
    transition: Transition, request: HeartbeatRequest, token: Token, *, is_repeatable: bool = True
) -> None:
    """Handle a Heartbeat. It refreshes the session in every state, also when the answer is that a rebalance is on
    (GW-23). `is_repeatable`: the hot path may repeat the answer.
    """
    group = transition.state.groups.get(request.group_id)
    if group is None:
        error = ErrorCode.UNKNOWN_MEMBER_ID if request.group_id else ErrorCode.INVALID_GROUP_ID
        transition.answer(token, HeartbeatResponse(error_code=error))
        return
    error = check_member(group, request.member_id, request.group_instance_id)
    if not error and not group.may_know(request.generation_id):
        error = ErrorCode.ILLEGAL_GENERATION
    if error:
        transition.answer(token, HeartbeatResponse(error_code=error))
        return
    member = group.members[request.member_id]
    member.last_seen_ms = transition.now_ms
    cached = None
    if group.state is ClassicState.STABLE:
        if group.heartbeat_is_sync:
            has_synced(group, member.member_id)
        cached = CachedReply(group, group.version, member) if is_repeatable else None
    transition.answer(token, HeartbeatResponse(error_code=HEARTBEAT[group.state]), cached)
