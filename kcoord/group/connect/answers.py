"""The answer to a ConnectGroupHeartbeat: the assignment in it, when it is held, and the timeouts that begin with it.

1. The answer carries an assignment when the assignment differs from the last one on this connection, when the member
   has not reached the assignment epoch, and when the worker sent all its fields.
2. A grant is written into the member's current before the answer leaves (CG-1). This module writes it.
3. COMPUTE_ASSIGNMENT is no error: everything else in that answer is valid (CG-17).
4. An answer is held only if it would repeat the last one on this connection (CG-26). A new epoch alone does not end the
   wait: otherwise an install would wake members that nothing changes for.
5. A member that is told a new epoch will repeat its heartbeat at that epoch, and the answer has nothing new. So the hot
   path remembers that heartbeat before it comes.
6. The rebalance timeout runs from the answer that withdrew something. A member that has not released it when the
   timeout ends is excluded (CG-7).
"""

from __future__ import annotations

from kcoord.group.connect.held_replies import hold, take_held
from kcoord.group.modern.reconcile import Progress, progress
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, NO_EPOCH, Answer
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.step import CachedReply, PredictedReply, RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_response import Assignment, ConnectorsAndTasks, ConnectorTaskId
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import pack
from kcoord.resource import Resource

NOTHING: Resources = frozenset()


def refuse_heartbeat(transition: Transition, token: Token, error: ErrorCode, message: str | None = None) -> None:
    """Answer a heartbeat with an error. Nothing else changes."""
    transition.state.counters.refused[error.name] += 1
    transition.answer(
        token, ConnectGroupHeartbeatResponse(error_code=error, error_message=message and bounded_text(message))
    )


def standing(group: ConnectGroup, member: ConnectMember) -> Progress[Resource]:
    """How far the member can go towards its target now."""
    target = group.target_of(member)
    if target is None:  # no assignment has named the member yet: without a target it stays at its epoch
        return Progress(NOTHING, to_release=member.current)
    if member.member_id not in group.unconverged:
        return Progress(target, complete=True)  # always the same object, so that it is quick to compare
    return progress(member.current, target, group.owners)


def advance_member(transition: Transition, group: ConnectGroup, member: ConnectMember) -> Resources:
    """Move the member as far towards its target as it can go now. Return what it is to run."""
    now = standing(group, member)
    epoch = group.assignment_epoch if now.complete and group.assignment_epoch > member.epoch else member.epoch
    if now.granted:
        previous = member.previous_epoch
        if epoch != member.epoch:
            previous = member.epoch if member.epoch > JOINING_EPOCH else NO_EPOCH
        transition.write(records.current_assignment(group, member, now.assignment_sent, epoch, previous))
    else:
        member.move(epoch)
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
    assignment_sent = advance_member(transition, group, member)
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
        and _is_same(last.assignment_sent, assignment_sent)
        and last.computes == (group.chosen() == member.member_id)
        and last.heartbeat_interval_ms == limits.heartbeat_interval_ms
        and last.session_timeout_ms == limits.session_timeout_ms
    )


def _is_covered(member: ConnectMember, last: Answer[Resource] | None, assignment_sent: Resources) -> bool:
    """Whether the member has reported all that it is told to run. If not, its report is older than a grant (CG-3)."""
    if last is not None and last.assignment_sent is assignment_sent and last.reported is member.reported:
        return True  # nothing has changed since the last answer
    return member.reported is not None and assignment_sent <= member.reported


def _is_same(one: Resources, other: Resources) -> bool:
    return one is other or one == other


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
        or not _is_same(last.assignment_sent, assignment_sent)
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
    if member.reported is not None and not _is_covered(member, last, assignment_sent):
        member.reported = None
    member.answer = Answer(
        member.epoch,
        assignment_sent,
        computes,
        limits.heartbeat_interval_ms,
        limits.session_timeout_ms,
        member.reported,
    )
    _watch_release(transition, group, member, assignment_sent)
    if computes:
        _watch_computation(transition, group, member)
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


def _watch_release(
    transition: Transition, group: ConnectGroup, member: ConnectMember, assignment_sent: Resources
) -> None:
    """Start the rebalance timeout with the answer that withdraws something, and again if more is withdrawn (CG-7)."""
    to_release = member.current - assignment_sent if member.member_id in group.unconverged else NOTHING
    if not to_release:
        member.releasing, member.release_due_ms = NOTHING, NEVER_MS
    elif not to_release <= member.releasing:
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)
    member.releasing = to_release


def _watch_computation(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Start the time to compute with the first answer that asks for it: the worker cannot have begun before (CG-20)."""
    computation = group.computation
    assert computation is not None
    if computation.due_ms == NEVER_MS:
        computation.due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, computation.due_ms)


# -- held answers -----------------------------------------------------------------------------------------------------


def flush_held_heartbeat(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Send the held answer as it is now."""
    token = take_held(transition.state, member)
    if token is not None:
        assignment_sent = advance_member(transition, group, member)
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
    last = member.answer
    computes = group.chosen() == member.member_id
    return (
        last is None
        or last.computes != computes
        or not _is_same(last.assignment_sent, standing(group, member).assignment_sent)
    )
