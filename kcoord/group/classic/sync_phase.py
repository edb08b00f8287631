"""The sync phase of a classic group: one transition for each cell of `state_table.py`."""

from __future__ import annotations

from kcoord.group.classic.answers import park_sync, refresh, sync_answer, sync_error
from kcoord.group.classic.join_and_sync_calls import Sync
from kcoord.group.classic.join_phase import evict, restart
from kcoord.group.classic.rebalance_input import rebalance_answer
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.metrics import CLASSIC
from kcoord.group.state.records.classic_records import assigned
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def join_first(transition: Transition, group: ClassicGroup, sync: Sync) -> None:
    """Members are joining again: this generation is over."""
    sync_error(transition, sync.token, ErrorCode.REBALANCE_IN_PROGRESS)


def await_leader(transition: Transition, group: ClassicGroup, sync: Sync) -> None:
    """A follower has sent its SyncGroup before the leader."""
    park_sync(transition, sync.member, sync.token)
    has_synced(group, sync.member.member_id)


def assign(transition: Transition, group: ClassicGroup, sync: Sync) -> None:
    """The leader brings the assignments: all members that wait get theirs."""
    park_sync(transition, sync.member, sync.token)
    has_synced(group, sync.member.member_id)
    transition.write(assigned(group, sync.assignments, transition.wall_ms))
    if group.repetition.end(rebalance_answer(group), transition.now_ms):
        transition.state.counters.repeated[CLASSIC] += 1
    for member in group.members.values():
        token, member.parked_sync = member.parked_sync, None
        if token is not None:
            transition.answer(token, sync_answer(group, member))
            refresh(transition, group, member)


def hand_over(transition: Transition, group: ClassicGroup, sync: Sync) -> None:
    """The assignments are there: give the member its own."""
    has_synced(group, sync.member.member_id)
    transition.answer(sync.token, sync_answer(group, sync.member))


def has_synced(group: ClassicGroup, member_id: str) -> None:
    """Note that this member has fetched its assignment: it is not waited for any more."""
    group.unsynced.discard(member_id)
    if not group.unsynced:
        group.sync_due_ms = NEVER_MS


def evict_unsynced(transition: Transition, group: ClassicGroup) -> None:
    """The time to sync is over: members that joined and never fetched their assignment are evicted.

    A member whose session is paused may not even have the answer to its join. While there are such members, all have as
    much time again.
    """
    missing = [member for member in group.members.values() if member.member_id in group.unsynced]
    if any(member.last_seen_ms > transition.now_ms for member in missing):
        group.sync_due_ms = transition.now_ms + group.rebalance_timeout_ms()
        return
    for member in missing:
        evict(transition, group, member)
    restart(transition, group, tell(Reason.NEVER_SYNCED, [member.member_id for member in missing]))
