"""The timers of a connect group, also after a load: sessions, rebalance timeouts, delays, the time to compute.

1. After a load, sessions and rebalance timeouts begin afresh (`modern/sessions.py`). A group above its assignment epoch
   computes again (CG-14). The time of day, possibly of another host, says how much of a delay is left: never more than
   the delay was long, and never less than one session (or the whole delay, if that is shorter). Within a session every
   living member finds the coordinator that has loaded the group.
2. A heartbeat only notes when the member was seen. The sweep of the group finds the members that have gone.
"""

from __future__ import annotations

from kcoord.group.connect.computing import BACK_OFF_MS, TRIED_AGAIN, give_up_chosen, retry
from kcoord.group.connect.departed_workers import least_delay_ms
from kcoord.group.connect.membership import evict, remove
from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.connect.settle import settle
from kcoord.group.modern.sessions import ended_sessions, next_end_ms, open_session, take_stubborn
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import (
    NO_DEADLINE,
    PASSED_DEADLINE,
    UNKNOWN_DELAY,
    ConnectGroup,
)
from kcoord.group.state.records.connect_records import delay_over
from kcoord.group.state.transition import Transition


def open_connect_sessions(transition: Transition, group: ConnectGroup) -> None:
    """Open the sessions of a loaded group."""
    for member in group.members.values():
        open_session(transition, group, member, member.metadata.session_timeout_ms)
    if group.delay_deadline_wall_ms not in (NO_DEADLINE, PASSED_DEADLINE):
        group.delay_due_ms = transition.now_ms + _left_of_delay_ms(transition, group)
    if group.error in TRIED_AGAIN:
        group.retry_due_ms = transition.now_ms + BACK_OFF_MS
    group.touched.clear()
    transition.connect.classic.go_on_after_load(transition, group)
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
    ended = ended_sessions(transition, group)
    if ended:
        remove(transition, group, ended, Reason.SESSION_EXPIRED)
    stubborn = take_stubborn(transition, group)
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
        transition.connect.classic.sweep(transition, group)
    settle(transition, group)
    _ask_for_next_look(transition, group)


def _ask_for_next_look(transition: Transition, group: ConnectGroup) -> None:
    if group.dead:
        return
    at_ms = min(group.delay_due_ms, group.retry_due_ms, group.repetition.due_ms)
    if group.computation is not None:
        at_ms = min(at_ms, group.computation.due_ms)
    at_ms = min(at_ms, next_end_ms(transition, group), transition.connect.classic.next_ms(group, transition.now_ms))
    if at_ms < NEVER_MS:
        transition.wake(group, max(at_ms, transition.now_ms + 1))
