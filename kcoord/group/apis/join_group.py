"""JoinGroup (11): a member joins, or joins again.

v0 has no rebalance timeout: the session timeout is used. v1 adds the rebalance timeout. v2 and v3 are as v1. v4: a
newcomer must join twice, the second time with the member id that it was given (KIP-394). v5 adds group.instance.id
(KIP-345). v6 is flexible. v7 adds the protocol type to the answer, v8 a reason (KIP-800), v9 SkipAssignment (KIP-814).
"""

from __future__ import annotations

from kcoord.group.classic.answers import join_error
from kcoord.group.classic.join_and_sync_calls import join_of, new_member_id, protocols_of
from kcoord.group.classic.join_group import join_classic
from kcoord.group.classic_consumers.join_group import group_to_join, join_consumers
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.group_choice import group_to_join_translated
from kcoord.group.translation.join_group import join_translated
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupRequest, JoinGroupResponse


def join_group(transition: Transition, request: JoinGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle a JoinGroup; it may stay parked."""
    error = _check_request(request, transition.state.settings)
    if error:
        join_error(transition, token, error, request.member_id)
        return
    protocols = protocols_of(request)
    consumers = group_to_join(transition.state, request.group_id, request.protocol_type, protocols, context)
    if consumers is not None:
        member_id = request.member_id or new_member_id(transition, request, context)
        join = join_of(request, context, token, protocols, member_id)
        join_consumers(transition, consumers, join, context, is_new=not request.member_id)
        return
    connect = group_to_join_translated(transition, request.group_id, request.protocol_type, protocols)
    if connect is None:
        join_classic(transition, request, protocols, context, token)
        return
    member_id = request.member_id or new_member_id(transition, request, context)
    join = join_of(request, context, token, protocols, member_id)
    join_translated(transition, connect, join, context, is_new=not request.member_id)


def _check_request(request: JoinGroupRequest, settings: GroupSettings) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE


def refuse_join_group(request: JoinGroupRequest, error: ErrorCode) -> JoinGroupResponse:
    """The answer with an error and nothing else: as in Kafka, the member keeps the id that it gave."""
    return JoinGroupResponse(
        error_code=error, generation_id=-1, protocol_name="", leader="", member_id=request.member_id
    )
