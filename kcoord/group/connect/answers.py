"""The answer to a ConnectGroupHeartbeat: the assignment in it, when it is held, and the session that begins with it.

1. The answer carries an assignment when the assignment differs from the last one on this connection, when the member
   has not reached the assignment epoch, and when the worker sent all its fields.
2. COMPUTE_ASSIGNMENT is no error: everything else in that answer is valid (CG-17).
3. An answer is held only if it would repeat the last one on this connection (CG-26). A new epoch alone does not end the
   wait: otherwise an install would wake members that nothing changes for.
4. A member that is told a new epoch will repeat its heartbeat at that epoch, and the answer has nothing new. So the hot
   path remembers that heartbeat before it comes.
"""

from __future__ import annotations

from kcoord.group.modern.client_assignors import watch_computation
from kcoord.group.modern.grants_and_releases import advance_member, has_other_share, is_same, note_answer, standing
from kcoord.group.modern.held_replies import hold, take_held
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.groups.modern_member import Answer
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.step import CachedReply, PredictedReply, RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_response import Assignment, ConnectorsAndTasks, ConnectorTaskId
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import pack


def refuse_heartbeat(transition: Transition, token: Token, error: ErrorCode, message: str | None = None) -> None:
    """Answer a heartbeat with an error. Nothing else changes."""
    transition.state.counters.refused[error.name] += 1
    transition.answer(
        token, ConnectGroupHeartbeatResponse(error_code=error, error_message=message and bounded_text(message))
    )


def advance(transition: Transition, group: ConnectGroup, member: ConnectMember) -> Resources:
    """Move the member as far towards its target as it can go now. Return what it is to run. It reaches the assignment
    epoch with its whole target (CG-10).
    """
    now = standing(group, member)
    advance_member(transition, group, member, now, has_arrived=now.complete)
    return now.assignment_sent


def answer_or_hold(
    transition: Transition,
    group: ConnectGroup,
    member: ConnectMember,
    request: ConnectGroupHeartbeatRequest,
    context: RequestContext,
    token: Token,
    full: bool,
) -> None:
    """Answer a heartbeat that was just accepted, or hold its answer."""
    max_wait_ms = request.max_wait_ms
    limits = transition.state.effective(group.group_id)
    assignment_sent = advance(transition, group, member)
    if max_wait_ms > 0 and not full and _repeats(group, member, assignment_sent, limits):
        hold(transition, group, member, context.connection, token, min(max_wait_ms, _longest_wait_ms(limits)))
    else:
        answer(transition, group, member, assignment_sent, token, limits, full, request if max_wait_ms <= 0 else None)


def _longest_wait_ms(limits: Effective) -> int:
    return min(limits.heartbeat_interval_ms, limits.session_timeout_ms // 3)


def _repeats(group: ConnectGroup, member: ConnectMember, assignment_sent: Resources, limits: Effective) -> bool:
    """Whether the answer would repeat the last one on this connection."""
    last = member.answer
    return (
        last is not None
        and last.epoch == member.epoch
        and is_same(last.assignment_sent, assignment_sent)
        and last.computes == (group.chosen() == member.member_id)
        and last.heartbeat_interval_ms == limits.heartbeat_interval_ms
        and last.session_timeout_ms == limits.session_timeout_ms
    )


def answer(
    transition: Transition,
    group: ConnectGroup,
    member: ConnectMember,
    assignment_sent: Resources,
    token: Token,
    limits: Effective,
    full: bool,
    asked: ConnectGroupHeartbeatRequest | None,
) -> None:
    """Answer the heartbeat. `asked`: the request, if the hot path may remember this answer."""
    last, computes = member.answer, group.chosen() == member.member_id
    whole = (
        last is None
        or full
        or not is_same(last.assignment_sent, assignment_sent)
        or last.epoch < group.assignment_epoch
    )
    response = ConnectGroupHeartbeatResponse(
        error_code=ErrorCode.COMPUTE_ASSIGNMENT if computes else ErrorCode.NONE,
        member_epoch=member.epoch,
        heartbeat_interval_ms=limits.heartbeat_interval_ms,
        assignment=_assignment(group, member, assignment_sent) if whole else None,
        session_timeout_ms=limits.session_timeout_ms,
    )
    _bind_session(transition, group, member, limits)
    now = Answer(member.epoch, assignment_sent, computes, limits.heartbeat_interval_ms, limits.session_timeout_ms)
    note_answer(transition, group, member, now)
    if computes:
        watch_computation(transition, group, member)
    transition.answer(token, response, None if asked is None else _cached(group, member, asked, response))


def _assignment(group: ConnectGroup, member: ConnectMember, assignment_sent: Resources) -> Assignment:
    target = group.targets.get(member.member_id)
    return Assignment(
        connectors_and_tasks=pack(assignment_sent, ConnectorsAndTasks, ConnectorTaskId),
        version=0 if target is None else target.version,
        metadata=b"" if target is None else target.metadata,
    )


def _cached(
    group: ConnectGroup,
    member: ConnectMember,
    request: ConnectGroupHeartbeatRequest,
    response: ConnectGroupHeartbeatResponse,
) -> CachedReply | None:
    """What the hot path may remember: it may repeat this answer while the member's version is the same (CG-25). That
    holds also while the next assignment is computed: the install moves the version, and so does being chosen.
    """
    converged = member.epoch == group.assignment_epoch and member.member_id not in group.unconverged
    if not converged or response.error_code:
        return None
    if response.assignment is None:
        return CachedReply(member, member.version, member)
    predicted = _predicted(member, request, response)
    return None if predicted is None else CachedReply(member, member.version, member, predicted)


def _predicted(
    member: ConnectMember, request: ConnectGroupHeartbeatRequest, response: ConnectGroupHeartbeatResponse
) -> PredictedReply | None:
    """The member's next heartbeat, at the epoch that this answer tells it, and the answer to that. None if this
    heartbeat had more fields than the member's ids, its epoch and what it owns. The member owns its whole target, so
    the next answer needs no assignment.
    """
    same = ConnectGroupHeartbeatRequest(
        request.group_id,
        request.member_id,
        request.member_epoch,
        request.instance_id,
        connectors_and_tasks=request.connectors_and_tasks,
    )
    if request != same:
        return None
    same.member_epoch = response.member_epoch
    short = ConnectGroupHeartbeatResponse(
        member_epoch=response.member_epoch,
        heartbeat_interval_ms=response.heartbeat_interval_ms,
        session_timeout_ms=response.session_timeout_ms,
    )
    return PredictedReply(same, short)


def _bind_session(transition: Transition, group: ConnectGroup, member: ConnectMember, limits: Effective) -> None:
    """Note the session timeout that the answer tells the member (CG-8). After a shorter timeout, the longer session
    that the member was told earlier still runs to its end, because nobody here knows whether this answer arrives. A
    longer timeout is written to the log first, so that a load does not shorten it.
    """
    timeout_ms = limits.session_timeout_ms
    if timeout_ms < member.session_timeout_ms:
        member.session_holds_ms = max(member.session_holds_ms, transition.now_ms + member.session_timeout_ms)
    if timeout_ms > member.metadata.session_timeout_ms:
        metadata = records.with_session_timeout(member.metadata, timeout_ms)
        transition.write(records.member_metadata(group.group_id, member.member_id, metadata))
    member.session_timeout_ms = timeout_ms
    transition.wake(group, transition.now_ms + timeout_ms)


# -- held answers -----------------------------------------------------------------------------------------------------


def flush_held_heartbeat(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Send the held answer as it is now."""
    token = take_held(transition.state, member)
    if token is not None:
        assignment_sent = advance(transition, group, member)
        answer(
            transition,
            group,
            member,
            assignment_sent,
            token,
            transition.state.effective(group.group_id),
            full=False,
            asked=None,
        )


def has_news(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the held answer would differ from the last one. A new epoch alone does not count."""
    computes = group.chosen() == member.member_id
    return member.answer is None or member.answer.computes != computes or has_other_share(group, member)
