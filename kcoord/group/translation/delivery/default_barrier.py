"""The barrier under `default`: all classic workers wait for each other if one of them speaks nothing else (CM-16).

Eager workers stop everything before they join, and start everything again after it. So as soon as one has to join, all
have to. Their JoinGroups stay parked until all are there, or the longest rebalance timeout is over; workers that are
missing then are evicted. A worker that came in time, but has to stop what it runs and join once more, has its own
rebalance timeout for that. The barrier is extended only once, so nobody keeps the others for longer than twice that
time. Workers of the new protocol are not waited for.
"""

from __future__ import annotations

from kcoord.group.connect.membership import evict
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import ask_to_rejoin, session_of
from kcoord.group.translation.delivery.rejoin_policy import must_rejoin


def keep_barrier(transition: Transition, group: ConnectGroup) -> bool:
    """Under `default`: as soon as one worker has to join, all have to. True if a wait has ended."""
    fleet = group.classic
    if fleet.protocol != DEFAULT:
        ended, fleet.barrier_due_ms = fleet.barrier_due_ms != NEVER_MS, NEVER_MS
        return ended
    if fleet.barrier_due_ms == NEVER_MS and _has_cause(transition, group):
        _raise_barrier(transition, group)
    if fleet.barrier_due_ms == NEVER_MS or any(each not in fleet.joining for each in _taking_part(group)):
        return False
    fleet.barrier_due_ms = NEVER_MS
    for member_id in fleet.joining:
        session_of(group.members[member_id]).past_barrier = True
    return True


def barrier_is_over(transition: Transition, group: ConnectGroup) -> None:
    """Evict the workers that have not joined within the longest rebalance timeout. The first time, the barrier waits
    for those that were answered since it was raised.
    """
    fleet = group.classic
    absent = [group.members[each] for each in _taking_part(group) if each not in fleet.joining]
    awaited = [] if fleet.barrier_is_extended else [each for each in absent if _has_time(transition, each)]
    fleet.barrier_due_ms = max([session_of(each).due_ms for each in awaited], default=NEVER_MS)
    fleet.barrier_is_extended = bool(awaited)
    missing = [each for each in absent if each not in awaited]
    if missing:
        evict(transition, group, missing)


def _has_time(transition: Transition, member: ConnectMember) -> bool:
    """Whether it was told to join, or to sync, less than its rebalance timeout ago."""
    return transition.now_ms < session_of(member).due_ms < NEVER_MS


def _raise_barrier(transition: Transition, group: ConnectGroup) -> None:
    members = _members(group)
    group.classic.barrier_is_extended = False
    group.classic.barrier_due_ms = transition.now_ms + max(each.metadata.rebalance_timeout_ms for each in members)
    transition.wake(group, group.classic.barrier_due_ms)
    for member in members:
        session = session_of(member)
        session.past_barrier = False  # a worker that has waited since the last barrier takes part in this one too
        if session.parked_join is None and session.phase is not Phase.PREPARING:
            ask_to_rejoin(transition, group, member)


def _has_cause(transition: Transition, group: ConnectGroup) -> bool:
    if group.classic.gathering_due_ms != NEVER_MS:
        return False
    return any(_is_cause(transition, group, each) for each in _members(group))


def _is_cause(transition: Transition, group: ConnectGroup, member: ConnectMember) -> bool:
    session = session_of(member)
    if session.parked_join is not None:
        return not session.past_barrier
    return session.phase is Phase.PREPARING or (
        session.phase is Phase.STABLE and must_rejoin(transition, group, member)
    )


def _members(group: ConnectGroup) -> list[ConnectMember]:
    return [group.members[each] for each in _taking_part(group)]


def _taking_part(group: ConnectGroup) -> list[str]:
    return [each for each in group.classic.members if not group.members[each].evicted]
