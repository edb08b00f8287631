"""What follows for legacy workers from a change, in the same step?"""

from __future__ import annotations

from kcoord.group.connect.epochs import bump
from kcoord.group.connect.group import ConnectGroup
from kcoord.group.connect.reasons import Reason
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.barrier import keep_barrier
from kcoord.group.translation.config_round import end_if_complete
from kcoord.group.translation.joining import answer_joins
from kcoord.group.translation.syncing import answer_below, answer_if_time, is_being_computed
from kcoord.group.turn import Turn

NOTHING: frozenset[tuple[str, int]] = frozenset()


def settle_legacy(turn: Turn, group: ConnectGroup) -> bool:
    """One look. True if it has changed something, so that there may be more to do."""
    if not group.legacy.members:
        return False
    changed = _follow_protocol(group)
    changed |= keep_barrier(turn, group)
    changed |= answer_joins(turn, group)
    if end_if_complete(turn, group):
        _answer_leader_first(turn, group)
        changed = True
    changed |= answer_below(turn, group)
    changed |= _compute_once_more(turn, group)
    changed |= _hand_out(turn, group)
    return _has_been_computed(group) or changed


def _has_been_computed(group: ConnectGroup) -> bool:
    """Whoever waited for the next assignment waits no more, also if there is nothing for it in that."""
    fleet, before = group.legacy, group.legacy.computing
    fleet.computing = is_being_computed(group)
    if not before or fleet.computing:
        return False
    group.touched.update([each for each in fleet.members if session_of(group.members[each]).parked_sync is not None])
    return True


def _follow_protocol(group: ConnectGroup) -> bool:
    """The embedded protocol is group-wide: when it is another, all have to join under it (legacy rule 16)."""
    fleet = group.legacy
    if fleet.protocol == fleet.last_protocol:
        return False
    fleet.last_protocol = fleet.protocol
    group.touched.update(fleet.members)
    return True


def _answer_leader_first(turn: Turn, group: ConnectGroup) -> None:
    """What the others start may ask the leader (legacy rule 23)."""
    leader = group.members.get(group.computed_by or "")
    if leader is not None and leader.legacy is not None and leader.legacy.parked_sync is not None:
        answer_if_time(turn, group, leader)


def _compute_once_more(turn: Turn, group: ConnectGroup) -> bool:
    """A new leader has made its first assignment, and has it: only now it knows what ran before (legacy rule 11)."""
    fleet = group.legacy
    if not fleet.once_more or fleet.ready_leader != group.computed_by or group.computed_by is None:
        return False
    fleet.once_more = False
    if group.epoch == group.assignment_epoch:
        bump(turn, group, Reason.LEADER_CHANGED, [group.computed_by])
    return True


def _hand_out(turn: Turn, group: ConnectGroup) -> bool:
    """What the leader took away and gave to nobody is free: it computes once more (legacy rule 10)."""
    unhanded = group.legacy.unhanded
    if not unhanded or any(each in group.owners for each in unhanded):
        return False
    if group.computation is not None and group.computation.frozen is not None:
        return False
    group.legacy.unhanded = NOTHING
    if group.epoch == group.assignment_epoch:
        bump(turn, group, Reason.RELEASED)
    return True
