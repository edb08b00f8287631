"""The timers of a connect group, also after a load: sessions, rebalance timeouts, delays, the time to compute.

1. After a load every member has a fresh session and a fresh rebalance timeout for what it must release. A group above
   its assignment epoch computes again (CG-7, CG-14). The time of day, possibly of another host, says how much of a
   delay is left: never more than the delay was long, and never less than one session (or the whole delay, if that is
   shorter). Within a session every living member finds the coordinator that has loaded the group.
2. A heartbeat only notes when the member was seen. The sweep of the group finds the members that have gone.
"""

from __future__ import annotations

from kcoord.group.connect.computing import BACK_OFF_MS, TRIED_AGAIN, give_up_chosen, retry
from kcoord.group.connect.departed_workers import least_delay_ms
from kcoord.group.connect.epochs import bump
from kcoord.group.connect.membership import evict, remove
from kcoord.group.connect.notification import flush_held_reply, refuse_all
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.settle import settle
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import (
    NO_DEADLINE,
    PASSED_DEADLINE,
    UNKNOWN_DELAY,
    ConnectGroup,
    ConnectMember,
)
from kcoord.group.state.records.connect_records import delay_over
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def open_connect_sessions(transition: Transition, group: ConnectGroup) -> None:
    """Open the sessions of a loaded group."""
    for member in group.members.values():
        member.last_seen_ms = transition.now_ms
        member.session_timeout_ms = member.metadata.session_timeout_ms
        member.epoch, member.previous_epoch = member.recorded_epoch, member.recorded_previous
        transition.dialect(member).open_session(transition, group, member)
    if group.delay_deadline_wall_ms not in (NO_DEADLINE, PASSED_DEADLINE):
        group.delay_due_ms = transition.now_ms + _left_of_delay_ms(transition, group)
    if group.error in TRIED_AGAIN:
        group.retry_due_ms = transition.now_ms + BACK_OFF_MS
    group.touched.clear()
    transition.classic.go_on_after_load(transition, group)
    settle(transition, group)
    _ask_for_next_look(transition, group)


def _left_of_delay_ms(transition: Transition, group: ConnectGroup) -> int:
    """How much longer resources of departed members wait after a load, in ms (CG-22)."""
    left_ms = group.delay_deadline_wall_ms - transition.wall_ms
    if group.delay_ms == UNKNOWN_DELAY:  # kcoord 0.1.0 wrote it
        return max(0, min(left_ms, transition.state.settings.connect.max_rebalance_delay_ms))
    return max(least_delay_ms(transition.state, group), min(left_ms, group.delay_ms))


def sweep_connect(transition: Transition, group: ConnectGroup) -> None:
    """Do everything that is due in the group, and set the time of the next sweep."""
    now_ms = transition.now_ms
    ended = [member for member in group.members.values() if _session_ends_ms(transition, member) <= now_ms]
    if ended:
        remove(transition, group, ended, Reason.SESSION_EXPIRED)
    overdue = [member for member in group.members.values() if member.release_due_ms <= now_ms]
    stubborn = [member for member in overdue if _keeps(group, member)]
    for member in overdue:  # if it is withdrawn again, a new answer says so and starts a new timeout
        member.releasing, member.release_due_ms = frozenset(), NEVER_MS
    if stubborn:
        evict(transition, group, stubborn)
    if group.delay_due_ms <= now_ms:
        group.delay_due_ms = NEVER_MS
        transition.write(delay_over(group))
        bump(transition, group, Reason.DELAY_OVER)
    if group.retry_due_ms <= now_ms:
        retry(transition, group)
    computation = group.computation
    if computation is not None and computation.due_ms <= now_ms:
        give_up_chosen(transition, group)
    if group.classic.members:
        transition.classic.sweep(transition, group)
    settle(transition, group)
    _ask_for_next_look(transition, group)


def _keeps(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the member still has something that an answer withdrew and that no newer target has given back."""
    return not (member.releasing & member.current) <= (group.target_of(member) or frozenset())


def _session_ends_ms(transition: Transition, member: ConnectMember) -> int:
    if transition.dialect(member).is_waiting(member):
        return NEVER_MS
    return max(member.last_seen_ms + member.session_timeout_ms, member.session_holds_ms)


def _ask_for_next_look(transition: Transition, group: ConnectGroup) -> None:
    if group.dead:
        return
    at_ms = min(group.delay_due_ms, group.retry_due_ms, group.repetition.due_ms)
    if group.computation is not None:
        at_ms = min(at_ms, group.computation.due_ms)
    for member in group.members.values():
        at_ms = min(at_ms, member.release_due_ms, _session_ends_ms(transition, member))
    at_ms = min(at_ms, transition.classic.next_ms(group, transition.now_ms))
    if at_ms < NEVER_MS:
        transition.wake(group, max(at_ms, transition.now_ms + 1))


def hold_is_over(transition: Transition, member: ConnectMember) -> None:
    """Send a held answer whose time is over."""
    if member.held is not None:
        group, _ = transition.state.held[member.held.connection][member.member_id]
        flush_held_reply(transition, group, member)
        settle(transition, group)


def hold_is_over_unwritten(transition: Transition, member: ConnectMember) -> None:
    """End a held answer whose time is over, while nothing can be written. If the answer could need a record, the worker
    gets COORDINATOR_NOT_AVAILABLE and asks again.
    """
    if member.held is None:
        return
    group, _ = transition.state.held[member.held.connection][member.member_id]
    if transition.dialect(member).needs_no_record(transition, group, member):
        flush_held_reply(transition, group, member)
    else:
        refuse_all(transition, group, member, ErrorCode.COORDINATOR_NOT_AVAILABLE)
