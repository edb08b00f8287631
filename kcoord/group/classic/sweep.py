"""The sweep of a classic group: it looks at all members at the earliest time at which something may be due.

Heartbeats only note when a member was seen. So the sweep finds the sessions that have really ended, and the time of the
next sweep. A group without trouble is swept about once in a session timeout.
"""

from __future__ import annotations

from kcoord.group.classic.join_phase import evict, wait_is_over
from kcoord.group.classic.state_table import GONE, JOIN_DUE, PENDING_GONE, SYNC_DUE
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.transition import Transition


def sweep(transition: Transition, group: ClassicGroup) -> None:
    """Do what is due, with all sessions that have ended at once."""
    now_ms = transition.now_ms
    join_timeout_ms = transition.state.settings.new_member_join_timeout_ms
    expired = [member for member in group.members.values() if _expires_ms(member, join_timeout_ms) <= now_ms]
    lapsed = [member_id for member_id, at_ms in group.pending.items() if at_ms <= now_ms]
    for member_id in lapsed:
        del group.pending[member_id]
    for member in expired:
        evict(transition, group, member)
    if expired:
        GONE[group.state](transition, group, tell(Reason.SESSION_EXPIRED, [member.member_id for member in expired]))
    elif lapsed:
        PENDING_GONE[group.state](transition, group)
    if group.rebalance is not None and group.rebalance.due_ms <= now_ms:
        JOIN_DUE[group.state](transition, group)
    if group.repetition.due_ms <= now_ms:
        wait_is_over(transition, group)
    if group.sync_due_ms <= now_ms:
        SYNC_DUE[group.state](transition, group)


def _expires_ms(member: ClassicMember, join_timeout_ms: int) -> int:
    """When a member's session ends. Never while one of its requests waits here, unless the member is new and may have
    vanished.
    """
    if member.is_new:
        return member.last_seen_ms + join_timeout_ms
    if member.parked_join is not None or member.parked_sync is not None:
        return NEVER_MS
    return member.last_seen_ms + member.session_timeout_ms


def ask_for_next_sweep(transition: Transition, group: ClassicGroup) -> None:
    """Have the group swept when the next thing may be due."""
    now_ms, join_timeout_ms = transition.now_ms, transition.state.settings.new_member_join_timeout_ms
    at_ms = min(group.sync_due_ms, group.repetition.due_ms)
    if group.rebalance is not None:
        at_ms = min(at_ms, group.rebalance.due_ms)
    for member in group.members.values():
        expires_ms = _expires_ms(member, join_timeout_ms)
        if member.last_seen_ms > now_ms:  # paused: its next sign of life may come any time, and count from then
            expires_ms -= member.last_seen_ms - now_ms
        at_ms = min(at_ms, expires_ms)
    at_ms = min(at_ms, *group.pending.values(), at_ms)
    transition.wake(group, max(at_ms, now_ms + 1))
