"""The sync phase of a classic group: one transition for each cell of `table.py`."""

from __future__ import annotations

from kcoord.group.classic.answers import park_sync, refresh, sync_answer, sync_error
from kcoord.group.classic.calls import Sync
from kcoord.group.classic.joining import put_out, restart
from kcoord.group.classic.rebalance_input import rebalance_answer
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import GenericGroup
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.metrics import CLASSIC
from kcoord.group.state.records.classic_records import assigned
from kcoord.group.state.transition import Turn
from kcoord.protocol.errors import ErrorCode


def join_first(turn: Turn, group: GenericGroup, sync: Sync) -> None:
    """Members are joining again: this generation is over."""
    sync_error(turn, sync.token, ErrorCode.REBALANCE_IN_PROGRESS)


def await_leader(turn: Turn, group: GenericGroup, sync: Sync) -> None:
    """A follower has sent its SyncGroup before the leader."""
    park_sync(turn, sync.member, sync.token)
    has_synced(group, sync.member.member_id)


def assign(turn: Turn, group: GenericGroup, sync: Sync) -> None:
    """The leader brings the assignments: all members that wait get theirs."""
    park_sync(turn, sync.member, sync.token)
    has_synced(group, sync.member.member_id)
    turn.write(assigned(group, sync.assignments, turn.wall_ms))
    if group.repetition.end(rebalance_answer(group), turn.now_ms):
        turn.contents.counters.repeated[CLASSIC] += 1
    for member in group.members.values():
        token, member.parked_sync = member.parked_sync, None
        if token is not None:
            turn.answer(token, sync_answer(group, member))
            refresh(turn, group, member)


def hand_over(turn: Turn, group: GenericGroup, sync: Sync) -> None:
    """The assignments are there: give the member its own."""
    has_synced(group, sync.member.member_id)
    turn.answer(sync.token, sync_answer(group, sync.member))


def has_synced(group: GenericGroup, member_id: str) -> None:
    """Note that this member has fetched its assignment: it is not waited for any more."""
    group.unsynced.discard(member_id)
    if not group.unsynced:
        group.sync_due_ms = NEVER_MS


def put_out_unsynced(turn: Turn, group: GenericGroup) -> None:
    """The time to sync is over: members that joined and never fetched their assignment are evicted."""
    missing = [member for member in group.members.values() if member.member_id in group.unsynced]
    for member in missing:
        put_out(turn, group, member)
    restart(turn, group, tell(Reason.NEVER_SYNCED, [member.member_id for member in missing]))
