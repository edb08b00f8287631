"""Heartbeat (12): a member is alive, and learns whether it must join again.

v0-v2 are alike. v3 adds group.instance.id. v4 is flexible. If a heartbeat is answered 0 in a stable group, the hot path
may repeat that answer until the group's version changes.
"""

from __future__ import annotations

from kcoord.group.generic.states import State
from kcoord.group.generic.syncing import has_synced
from kcoord.group.generic.table import HEARTBEAT
from kcoord.group.generic.who import check_member
from kcoord.group.step import Remember, RequestContext, Token
from kcoord.group.translation.heartbeat import heartbeat_translated
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse


def heartbeat(turn: Turn, request: HeartbeatRequest, context: RequestContext, token: Token) -> None:
    """Handle a Heartbeat. It refreshes the session in every state, also when the answer is that a rebalance is on
    (GW-23).
    """
    connect = turn.contents.connect.get(request.group_id)
    if connect is not None:
        heartbeat_translated(turn, connect, request, context, token)
        return
    group = turn.contents.groups.get(request.group_id)
    if group is None:
        error = ErrorCode.UNKNOWN_MEMBER_ID if request.group_id else ErrorCode.INVALID_GROUP_ID
        turn.answer(token, HeartbeatResponse(error_code=error))
        return
    error = check_member(group, request.member_id, request.group_instance_id)
    if not error and not group.may_know(request.generation_id):
        error = ErrorCode.ILLEGAL_GENERATION
    if error:
        turn.answer(token, HeartbeatResponse(error_code=error))
        return
    member = group.members[request.member_id]
    member.last_seen_ms = turn.now_ms
    remember = None
    if group.state is State.STABLE:
        if group.heartbeat_is_sync:
            has_synced(group, member.member_id)
        remember = Remember(group, group.version, member)
    turn.answer(token, HeartbeatResponse(error_code=HEARTBEAT[group.state]), remember)
