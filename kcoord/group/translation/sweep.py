"""The sweep of classic workers: what has fallen due, looked for at the earliest time at which something may be."""

from __future__ import annotations

from kcoord.group.connect.membership import evict
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import refuse_join, session_of, take_join
from kcoord.group.translation.delivery.default_barrier import barrier_is_over
from kcoord.group.translation.delivery.handover import PART_MS, STOPPING_MS
from kcoord.group.translation.delivery.rejoin_policy import notify_classic
from kcoord.group.translation.rounds.config_round import nudge
from kcoord.protocol.errors import ErrorCode


def sweep_classic_members(transition: Transition, group: ConnectGroup) -> None:
    """Do what is due; `settle` does what follows from it."""
    fleet, now_ms = group.classic, transition.now_ms
    group.touched.update(group.unconverged)  # for some of them something may be free now, or has waited for long enough
    if fleet.gathering_due_ms <= now_ms:
        fleet.gathering_due_ms = NEVER_MS
    if fleet.barrier_due_ms <= now_ms:
        barrier_is_over(transition, group)
    if fleet.round is not None and fleet.round.nudge_ms <= now_ms:
        nudge(transition, group)
    overdue = [member for member in _members(group) if session_of(member).due_ms <= now_ms and not member.evicted]
    for member in overdue:
        session_of(member).due_ms = NEVER_MS
    _evict(transition, group, [member for member in overdue if session_of(member).parked_sync is None])
    for member in _members(group):
        session = session_of(member)
        if session.parked_sync is not None and session.parked_until_ms <= now_ms:
            notify_classic(transition, group, member)


def _evict(transition: Transition, group: ConnectGroup, members: list[ConnectMember]) -> None:
    for member in members:
        join = take_join(group, member)
        if join is not None:
            refuse_join(transition, join, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
    if members:
        evict(transition, group, members)


def next_ms(group: ConnectGroup, now_ms: int) -> int:
    """When to look again at the latest. A request that waits beyond its own time waits for something that all wait for,
    and the end of that is known.
    """
    fleet = group.classic
    at_ms = min(fleet.gathering_due_ms, fleet.barrier_due_ms)
    looks = (fleet.frozen_until_ms, fleet.ask_again_ms, fleet.map_due_ms, fleet.leader_due_ms)
    at_ms = min([at_ms, *[each for each in looks if each > now_ms]])
    if fleet.round is not None:
        at_ms = min(at_ms, fleet.round.nudge_ms, fleet.round.until_ms)
    all_wait = fleet.round is not None or min(fleet.gathering_due_ms, fleet.barrier_due_ms) < NEVER_MS
    for member in _members(group):
        session = session_of(member)
        if not member.evicted:  # nobody waits for it any more
            at_ms = min(at_ms, session.due_ms)
            if session.parked_until_ms > now_ms or not all_wait:
                at_ms = min(at_ms, session.parked_until_ms)
            parts = (session.part_since_ms + PART_MS, session.part_since_ms + STOPPING_MS)
            at_ms = min([at_ms, *[each for each in (*parts, session.handover_due_ms) if each > now_ms]])
    return at_ms


def _members(group: ConnectGroup) -> list[ConnectMember]:
    return [group.members[member_id] for member_id in group.classic.members]
