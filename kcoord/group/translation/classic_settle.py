"""Settling classic workers: what follows for them from a change, in the same step."""

from __future__ import annotations

from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.delivery.default_barrier import keep_barrier
from kcoord.group.translation.delivery.join_answers import answer_joins
from kcoord.group.translation.delivery.sync_answers import answer_below, answer_if_time, is_being_computed
from kcoord.group.translation.rounds.config_round import end_if_complete
from kcoord.group.translation.rounds.leader import is_ready


def settle_classic(transition: Transition, group: ConnectGroup) -> bool:
    """Settle once. True if this has changed something, so that there may be more to do."""
    if not group.classic.members:
        return False
    changed = _follow_protocol(group)
    changed |= keep_barrier(transition, group)
    changed |= answer_joins(transition, group)
    if end_if_complete(transition, group):
        _answer_leader_first(transition, group)
        changed = True
    changed |= answer_below(transition, group)
    changed |= _leader_is_ready_by_now(transition, group)
    return _has_been_computed(group) or changed


def _has_been_computed(group: ConnectGroup) -> bool:
    """Look again at the workers that waited for the next assignment, if it is there: they wait no longer, even if it
    has nothing for them.
    """
    fleet, before = group.classic, group.classic.computing
    fleet.computing = is_being_computed(group)
    if not before or fleet.computing:
        return False
    group.touched.update([each for each in fleet.members if session_of(group.members[each]).parked_sync is not None])
    return True


def _leader_is_ready_by_now(transition: Transition, group: ConnectGroup) -> bool:
    """Look again, when the leader is ready, at the workers that were checked while it was not (CM-11, CM-23). Ready
    means: it is a member, it has its own assignment, and no look of another worker is open.
    """
    fleet = group.classic
    if not fleet.looked_at_unready or not is_ready(transition.state, group):
        return False
    fleet.looked_at_unready = False
    group.touched.update(fleet.members)
    return True


def _follow_protocol(group: ConnectGroup) -> bool:
    """The embedded protocol belongs to the whole group: if it changes, all must join under it (CM-16)."""
    fleet = group.classic
    if fleet.protocol == fleet.last_protocol:
        return False
    fleet.last_protocol = fleet.protocol
    group.touched.update(fleet.members)
    return True


def _answer_leader_first(transition: Transition, group: ConnectGroup) -> None:
    """Answer the leader before the others: what they start may ask it (CM-23)."""
    leader = group.members.get(group.computed_by or "")
    if leader is not None and leader.classic is not None and leader.classic.parked_sync is not None:
        answer_if_time(transition, group, leader)
