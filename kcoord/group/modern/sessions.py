"""Sessions and rebalance timeouts of members, also after a load.

A heartbeat only notes when the member was seen. The sweep of the group finds the members that have gone. After a load
every member has a fresh session, and a fresh rebalance timeout for what it must release (CG-7).
"""

from __future__ import annotations

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.modern_group import AnyGroup, M, ModernGroup
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, AnyMember, R
from kcoord.group.state.transition import Kind, Transition


def open_session(transition: Transition, group: AnyGroup, member: AnyMember, session_timeout_ms: int) -> None:
    """Open the session of a member that was loaded."""
    member.last_seen_ms = transition.now_ms
    member.session_timeout_ms = session_timeout_ms
    member.epoch, member.previous_epoch = member.recorded_epoch, member.recorded_previous
    transition.kind(group).dialect(member).open_session(transition, group, member)


def open_native_session(transition: Transition, group: AnyGroup, member: AnyMember) -> None:
    """The part of that for a member that speaks its kind's own protocol. Its epoch may be newer than the recorded one.
    What it must release, it has time for from now on.
    """
    member.epoch_unsure = member.recorded_epoch != AWAY_EPOCH
    to_release = member.current - (group.target_of(member) or frozenset())
    if to_release and not member.evicted:
        member.releasing = to_release
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms


def ended_sessions(transition: Transition, group: ModernGroup[M, R]) -> list[M]:
    """The members whose session has ended."""
    kind, now_ms = transition.kind(group), transition.now_ms
    return [member for member in group.members.values() if _session_ends_ms(kind, member) <= now_ms]


def take_stubborn(transition: Transition, group: ModernGroup[M, R]) -> list[M]:
    """The members whose rebalance timeout is over, and that still have something that an answer withdrew. For all whose
    timeout is over, it ends: if something is withdrawn again, a new answer says so and starts a new one.
    """
    overdue = [member for member in group.members.values() if member.release_due_ms <= transition.now_ms]
    stubborn = [member for member in overdue if _keeps(group, member)]
    for member in overdue:
        member.releasing, member.release_due_ms = frozenset(), NEVER_MS
    return stubborn


def _keeps(group: ModernGroup[M, R], member: M) -> bool:
    """Whether the member still has something that an answer withdrew and that no newer target has given back."""
    return not (member.releasing & member.current) <= (group.target_of(member) or frozenset())


def _session_ends_ms(kind: Kind, member: AnyMember) -> int:
    if kind.dialect(member).is_waiting(member):
        return NEVER_MS
    return max(member.last_seen_ms + member.session_timeout_ms, member.session_holds_ms)


def next_end_ms(transition: Transition, group: AnyGroup) -> int:
    """When the next session or rebalance timeout ends; NEVER_MS: none does."""
    kind, at_ms = transition.kind(group), NEVER_MS
    for member in group.members.values():
        at_ms = min(at_ms, member.release_due_ms, _session_ends_ms(kind, member))
    return at_ms
