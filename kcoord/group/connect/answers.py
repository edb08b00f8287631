"""What is a member told at its heartbeat, and when is the answer kept back?

1. The answer carries an assignment when that differs from the last one told on this connection, when the member has not
   reached the assignment epoch, and when it brought all its fields.
2. What it is told to run is written into its current before the answer leaves (CG-1); so the member grows here.
3. COMPUTE_ASSIGNMENT is no error: all else in the answer is valid beside it (CG-17).
4. An answer is kept back only when it would repeat the last one on this connection (CG-26). The epoch alone does not
   let a kept answer go: else an install would wake members that nothing happens to.
5. Who is told a new epoch will say the same at that epoch, and then be told nothing new: so the hot path remembers that
   already.
6. A member that keeps what it must release is put out after its rebalance timeout, counted from the answer that told it
   (CG-7).
"""

from __future__ import annotations

from kcoord.group.bounded_text import bounded_text
from kcoord.group.connect import records
from kcoord.group.connect.group import ConnectGroup, Member, Resources
from kcoord.group.connect.held import hold, take_held
from kcoord.group.connect.settings import Effective
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.modern.member import JOINING_EPOCH, NO_EPOCH, Answer
from kcoord.group.modern.reconcile import Progress, progress
from kcoord.group.step import Ahead, Remember, RequestContext, Token
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_response import Assignment, ConnectorsAndTasks, ConnectorTaskId
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import Resource, pack

NOTHING: Resources = frozenset()


def refuse_heartbeat(turn: Turn, token: Token, error: ErrorCode, message: str | None = None) -> None:
    """Answer a heartbeat with an error that changes nothing."""
    turn.contents.counters.refused[error.name] += 1
    turn.answer(token, ConnectGroupHeartbeatResponse(error_code=error, error_message=message and bounded_text(message)))


def standing(group: ConnectGroup, member: Member) -> Progress[Resource]:
    """Where a member stands now."""
    target = group.target_of(member)
    if target is None:  # no assignment has named it yet: it has no whole target, and so no epoch but its own
        return Progress(NOTHING, to_release=member.current)
    if member.member_id not in group.unconverged:
        return Progress(target, complete=True)  # the same object every time, which is quickly told to be the same
    return progress(member.current, target, group.owners)


def advance_member(turn: Turn, group: ConnectGroup, member: Member) -> Resources:
    """Move the member as far as it can go now; returns what it is to run."""
    now = standing(group, member)
    epoch = group.assignment_epoch if now.complete and group.assignment_epoch > member.epoch else member.epoch
    if now.granted:
        previous = member.previous_epoch
        if epoch != member.epoch:
            previous = member.epoch if member.epoch > JOINING_EPOCH else NO_EPOCH
        turn.write(records.current_assignment(group, member, now.told, epoch, previous))
    else:
        member.move(epoch)
    return now.told


def answer_or_hold(
    turn: Turn,
    group: ConnectGroup,
    member: Member,
    request: ConnectGroupHeartbeatRequest,
    context: RequestContext,
    token: Token,
    full: bool,
) -> None:
    """Answer the heartbeat that was just taken in, or keep the answer back."""
    max_wait_ms = request.max_wait_ms
    limits = turn.contents.effective(group.group_id)
    told = advance_member(turn, group, member)
    if max_wait_ms > 0 and not full and _repeats(group, member, told, limits):
        hold(turn, group, member, context.connection, token, min(max_wait_ms, _longest_wait_ms(limits)))
    else:
        answer(turn, group, member, told, token, limits, full, request if max_wait_ms <= 0 else None)


def _longest_wait_ms(limits: Effective) -> int:
    return min(limits.heartbeat_interval_ms, limits.session_timeout_ms // 3)


def _repeats(group: ConnectGroup, member: Member, told: Resources, limits: Effective) -> bool:
    """Whether the answer would say what the last one on this connection said."""
    last = member.answer
    return (
        last is not None
        and last.epoch == member.epoch
        and _is_same(last.told, told)
        and last.computes == (group.chosen() == member.member_id)
        and last.heartbeat_interval_ms == limits.heartbeat_interval_ms
        and last.session_timeout_ms == limits.session_timeout_ms
    )


def _is_covered(member: Member, last: Answer[Resource] | None, told: Resources) -> bool:
    """Whether the member reported all that it is told to run; else its report is of before a grant (CG-3)."""
    if last is not None and last.told is told and last.reported is member.reported:
        return True  # as it was the last time
    return member.reported is not None and told <= member.reported


def _is_same(one: Resources, other: Resources) -> bool:
    return one is other or one == other


def answer(
    turn: Turn,
    group: ConnectGroup,
    member: Member,
    told: Resources,
    token: Token,
    limits: Effective,
    full: bool,
    asked: ConnectGroupHeartbeatRequest | None,
) -> None:
    """Tell the member where it stands. `asked` is given where the hot path may take over from here."""
    last, computes = member.answer, group.chosen() == member.member_id
    whole = last is None or full or not _is_same(last.told, told) or last.epoch < group.assignment_epoch
    response = ConnectGroupHeartbeatResponse(
        error_code=ErrorCode.COMPUTE_ASSIGNMENT if computes else ErrorCode.NONE,
        member_epoch=member.epoch,
        heartbeat_interval_ms=limits.heartbeat_interval_ms,
        assignment=_assignment(group, member, told) if whole else None,
        session_timeout_ms=limits.session_timeout_ms,
    )
    _bind_session(turn, group, member, limits)
    if member.reported is not None and not _is_covered(member, last, told):
        member.reported = None
    member.answer = Answer(
        member.epoch, told, computes, limits.heartbeat_interval_ms, limits.session_timeout_ms, member.reported
    )
    _watch_release(turn, group, member, told)
    if computes:
        _watch_computation(turn, group, member)
    turn.answer(token, response, None if asked is None else _remember(group, member, asked, response))


def _assignment(group: ConnectGroup, member: Member, told: Resources) -> Assignment:
    target = group.targets.get(member.member_id)
    return Assignment(
        connectors_and_tasks=pack(told, ConnectorsAndTasks, ConnectorTaskId),
        version=0 if target is None else target.version,
        metadata=b"" if target is None else target.metadata,
    )


def _remember(
    group: ConnectGroup, member: Member, request: ConnectGroupHeartbeatRequest, response: ConnectGroupHeartbeatResponse
) -> Remember | None:
    """The hot path may repeat this answer while the member's version stands (CG-25). Also while the next assignment
    is being computed: its install moves the version, as the choice of who computes does.
    """
    converged = member.epoch == group.assignment_epoch and member.member_id not in group.unconverged
    if not converged or response.error_code:
        return None
    if response.assignment is None:
        return Remember(member, member.version, member)
    ahead = _ahead(member, request, response)
    return None if ahead is None else Remember(member, member.version, member, ahead)


def _ahead(
    member: Member, request: ConnectGroupHeartbeatRequest, response: ConnectGroupHeartbeatResponse
) -> Ahead | None:
    """What the member says next, at the epoch that it is told now, if it said nothing but who and where it is and what
    it owns, which is its whole target: then it has its assignment already.
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
    return Ahead(same, short)


def _bind_session(turn: Turn, group: ConnectGroup, member: Member, limits: Effective) -> None:
    """What the member is told binds it from now on, but a session that it was told to be longer may run on to its end:
    whether this answer arrives, and when, nobody knows here (CG-8). A longer one is written first, so that a load
    does not cut it short.
    """
    timeout_ms = limits.session_timeout_ms
    if timeout_ms < member.session_timeout_ms:
        member.session_holds_ms = max(member.session_holds_ms, turn.now_ms + member.session_timeout_ms)
    if timeout_ms > member.said.session_timeout_ms:
        said = records.with_session_timeout(member.said, timeout_ms)
        turn.write(records.member_said(group.group_id, member.member_id, said))
    member.session_timeout_ms = timeout_ms
    turn.wake(group, turn.now_ms + timeout_ms)


def _watch_release(turn: Turn, group: ConnectGroup, member: Member, told: Resources) -> None:
    """The rebalance timeout runs from the answer that withdrew something (CG-7), anew when more is withdrawn."""
    to_release = member.current - told if member.member_id in group.unconverged else NOTHING
    if not to_release:
        member.releasing, member.release_due_ms = NOTHING, NEVER_MS
    elif not to_release <= member.releasing:
        member.release_due_ms = turn.now_ms + member.said.rebalance_timeout_ms
        turn.wake(group, member.release_due_ms)
    member.releasing = to_release


def _watch_computation(turn: Turn, group: ConnectGroup, member: Member) -> None:
    """The time to compute runs from the answer that first asks for it (CG-20): until then nobody can have begun."""
    computation = group.computation
    assert computation is not None
    if computation.due_ms == NEVER_MS:
        computation.due_ms = turn.now_ms + member.said.rebalance_timeout_ms
        turn.wake(group, computation.due_ms)


# -- held answers -----------------------------------------------------------------------------------------------------


def let_go_heartbeat(turn: Turn, group: ConnectGroup, member: Member) -> None:
    """Give the kept answer as it is now."""
    token = take_held(turn.contents, member)
    if token is not None:
        told = advance_member(turn, group, member)
        answer(turn, group, member, told, token, turn.contents.effective(group.group_id), full=False, asked=None)


def has_news(group: ConnectGroup, member: Member) -> bool:
    """Whether what is kept back would say something else than the last answer; its epoch alone does not count."""
    last = member.answer
    computes = group.chosen() == member.member_id
    return last is None or last.computes != computes or not _is_same(last.told, standing(group, member).told)
