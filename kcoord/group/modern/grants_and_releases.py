"""Grants and releases: how a member's current grows and shrinks as it moves towards its target.

1. A grant is written into the member's current before the answer leaves that names it (CG-1).
2. A release counts only if the member knew what it had to release: its list comes on its newest connection, after the
   answer that withdrew something (CG-3). A list that is older than a grant says nothing about what was granted.
3. The rebalance timeout runs from the answer that withdrew something (CG-7). After a load the sessions start it again.
"""

from __future__ import annotations

from kcoord.group.modern.reconcile import Progress, progress
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.modern_group import AnyGroup, M, ModernGroup
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, NO_EPOCH, Answer, AnyMember, R
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition


def standing(group: ModernGroup[M, R], member: M) -> Progress[R]:
    """How far the member can go towards its target now."""
    target = group.target_of(member)
    if target is None:  # no assignment has named the member yet: without a target it stays at its epoch
        return Progress(frozenset(), to_release=member.current)
    if member.member_id not in group.unconverged:
        return Progress(target, complete=True)  # always the same object, so that it is quick to compare
    return progress(member.current, target, group.owners)


def advance_member(
    transition: Transition, group: AnyGroup, member: AnyMember, now: Progress[R], *, has_arrived: bool
) -> None:
    """Grant the member what it can be granted now. If it `has_arrived`, it moves to the assignment epoch."""
    epoch = group.assignment_epoch if has_arrived and group.assignment_epoch > member.epoch else member.epoch
    if now.granted:
        previous = member.previous_epoch
        if epoch != member.epoch:
            previous = member.epoch if member.epoch > JOINING_EPOCH else NO_EPOCH
        records = transition.kind(group).records
        transition.write(records.current_assignment(group, member, now.assignment_sent, epoch, previous))
    else:
        member.move(epoch)


# -- what was answered ------------------------------------------------------------------------------------------------


def note_answer(transition: Transition, group: AnyGroup, member: AnyMember, answer: Answer[R]) -> None:
    """Note what the member is told now on its newest connection."""
    if member.reported is not None and not _is_covered(member, answer.assignment_sent):
        member.reported = None
    answer.reported = member.reported
    member.answer = answer
    _watch_release(transition, group, member, answer.assignment_sent)


def _is_covered(member: AnyMember, assignment_sent: frozenset[R]) -> bool:
    """Whether the member has reported all that it is told to run. If not, its report is older than a grant (CG-3)."""
    last = member.answer
    if last is not None and last.assignment_sent is assignment_sent and last.reported is member.reported:
        return True  # nothing has changed since the last answer
    return member.reported is not None and assignment_sent <= member.reported


def is_same(one: frozenset[R], other: frozenset[R]) -> bool:
    """Whether both are equal. They mostly are one object."""
    return one is other or one == other


def has_other_share(group: AnyGroup, member: AnyMember) -> bool:
    """Whether the member would be told now to run something else than in its last answer."""
    return member.answer is None or not is_same(member.answer.assignment_sent, standing(group, member).assignment_sent)


def _watch_release(transition: Transition, group: AnyGroup, member: AnyMember, assignment_sent: frozenset[R]) -> None:
    """Start the rebalance timeout with the answer that withdraws something, and again if more is withdrawn (CG-7)."""
    to_release = member.current - assignment_sent if member.member_id in group.unconverged else frozenset()
    if not to_release:
        member.releasing, member.release_due_ms = frozenset(), NEVER_MS
    elif not to_release <= member.releasing:
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)
    member.releasing = to_release


def forget_answers(member: AnyMember) -> None:
    """Forget what the member was answered, and what it reported."""
    member.answer, member.reported, member.epoch_unsure = None, None, False
    member.releasing, member.release_due_ms = frozenset(), NEVER_MS


# -- what was reported ------------------------------------------------------------------------------------------------


def note_owned(
    transition: Transition,
    group: AnyGroup,
    member: AnyMember,
    context: RequestContext,
    owned: frozenset[R] | None,
    first: bool,
) -> None:
    """Take in what the member reports as owned; None: the same as before. A valid release (CG-3) is a list without the
    resources, on the newest connection, in a request that was read after the answer that withdrew them had been sent.
    `first`: nothing has been answered on that connection yet.
    """
    if owned is not None and owned != member.reported:
        if member.reported is not None:
            group.forget(member)  # the hot path remembers an answer to another list
        member.reported = owned
    if first or member.answer is None or context.pipelined or member.reported is None or not member.releasing:
        return
    released = (member.releasing & member.current) - member.reported
    if released:
        kept = member.current - released
        records = transition.kind(group).records
        transition.write(records.current_assignment(group, member, kept, member.epoch, member.previous_epoch))
