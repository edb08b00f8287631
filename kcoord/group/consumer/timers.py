"""The timers of a consumer group, also after a load: sessions, the time to let go of something, the next assignment
and the time to compute it.

A member whose session ends is removed, and what it had is free. So is one that does not let go within its rebalance
timeout: a consumer that does not come back in time is not waited for, as in Kafka. Nor is a classic member that does
not join, or does not sync, in that time. (A worker of a connect group keeps
what it may be running.) After a load both times begin afresh. An assignment that waited goes on waiting: the record of
the last one says when that was made.
"""

from __future__ import annotations

from kcoord.group.consumer.computing_choice import give_up_chosen
from kcoord.group.consumer.membership import remove
from kcoord.group.consumer.next_assignment import time_of_last
from kcoord.group.consumer.reasons import Reason
from kcoord.group.consumer.settle import settle
from kcoord.group.modern.sessions import ended_sessions, next_end_ms, open_session
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.transition import Transition


def open_consumer_sessions(transition: Transition, group: ConsumerGroup) -> None:
    """Open the sessions of a loaded group."""
    session_ms = transition.state.consumer_settings(group.group_id).session_timeout_ms
    for member in group.members.values():
        classic = member.metadata.classic_member_metadata
        open_session(transition, group, member, session_ms if classic is None else classic.session_timeout_ms)
    group.touched.clear()
    group.assignment_ms = time_of_last(transition, group)
    settle(transition, group)
    _ask_for_next_look(transition, group)


def sweep_consumer(transition: Transition, group: ConsumerGroup) -> None:
    """Do everything that is due in the group, and set the time of the next sweep."""
    ended = ended_sessions(transition, group)
    if ended:
        remove(transition, group, ended, Reason.SESSION_EXPIRED)
    now_ms = transition.now_ms
    stubborn = [each for each in group.members.values() if min(each.release_due_ms, each.call_due_ms) <= now_ms]
    if stubborn:
        remove(transition, group, stubborn, Reason.REBALANCE_TIMEOUT)
    if group.computation is not None and group.computation.due_ms <= now_ms:
        give_up_chosen(transition, group)
    settle(transition, group)
    _ask_for_next_look(transition, group)


def _ask_for_next_look(transition: Transition, group: ConsumerGroup) -> None:
    if group.dead:
        return
    at_ms = min([next_end_ms(transition, group), *(each.call_due_ms for each in group.members.values())])
    if group.computation is not None:
        at_ms = min(at_ms, group.computation.due_ms)
    if at_ms < NEVER_MS:
        transition.wake(group, max(at_ms, transition.now_ms + 1))
