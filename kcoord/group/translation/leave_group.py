"""LeaveGroup (13) of workers in a connect group.

A worker that leaves has not always stopped. Connect also leaves when it could not read its configuration in time, or
when it does not poll, and runs on for a while (CM-13). The worker's resources are free at once only if the reason (v5)
says that it has stopped in order. Otherwise they stay reserved, as those of an evicted worker, until the worker would
have stopped by itself, or comes back.
"""

from __future__ import annotations

from kcoord.group.connect.departed_workers import runs_on_ms
from kcoord.group.connect.membership import evict, remove
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.settle import settle
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.rounds.look_policy import keep_lead
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.leave_group_response import MemberResponse
from kcoord.protocol.messages import LeaveGroupRequest, LeaveGroupResponse

BATCH_VERSION = 3
STOPPED = "the consumer is being closed"
"""The reason that a Connect worker gives when it has stopped its connectors and tasks before it leaves (Connect 4.3).
"""


def leave_translated(
    transition: Transition, group: ConnectGroup, request: LeaveGroupRequest, context: RequestContext, token: Token
) -> None:
    """Handle a LeaveGroup."""
    batched = context.api_version >= BATCH_VERSION
    leavers = request.members if batched else [MemberIdentity(request.member_id)]
    stopped: list[ConnectMember] = []
    running: list[ConnectMember] = []
    responses = []
    for leaver in leavers:
        error = _go(transition, group, leaver, stopped, running)
        responses.append(MemberResponse(leaver.member_id, leaver.group_instance_id, error))
    if stopped:
        keep_lead(transition, group, stopped)
        remove(transition, group, stopped, Reason.LEFT)
    if running:
        for member in running:
            _reserve(transition, group, member)
        evict(transition, group, running, Reason.LEFT)
    if batched:
        transition.answer(token, LeaveGroupResponse(members=responses))
    else:
        transition.answer(token, LeaveGroupResponse(error_code=responses[0].error_code))
    settle(transition, group)


def _go(
    transition: Transition,
    group: ConnectGroup,
    leaver: MemberIdentity,
    stopped: list[ConnectMember],
    running: list[ConnectMember],
) -> ErrorCode:
    newcomers = transition.state.newcomers
    if newcomers.has(group.group_id, leaver.member_id, transition.now_ms):
        newcomers.forget(group.group_id, leaver.member_id)
        return ErrorCode.NONE
    member = group.members.get(leaver.member_id)
    if member is None or member.classic is None or member in stopped or member in running:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if member.evicted and not has_stopped(leaver.reason):
        _reserve(transition, group, member)  # its rebalance timeout ended here earlier than at the worker
        return ErrorCode.UNKNOWN_MEMBER_ID
    (stopped if not member.current or has_stopped(leaver.reason) else running).append(member)
    return ErrorCode.NONE


def _reserve(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """The worker runs on for a while. Until that is over nobody else is given what it has (CM-45)."""
    member.session_holds_ms = max(member.session_holds_ms, transition.now_ms + runs_on_ms(transition, group))
    transition.wake(group, member.session_holds_ms)


def has_stopped(reason: str | None) -> bool:
    """Whether the reason says that the worker has stopped everything."""
    return reason == STOPPED
