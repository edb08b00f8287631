"""Clock pause: how deadlines move when a shard's time has stood still, or after a load from a previous owner.

1. After a load a member's session is longer by the previous owner's lease. So a worker that the previous owner still
   answered has stopped before its work is given away (CG-27). The next sign of life starts a normal session.
2. A shard that could not prove for a while that it is the coordinator answered nobody. When it goes on, every session
   begins afresh. Rebalance timeouts, the time to compute, and the waits for classic members are later by the time of
   the pause. A rebalance delay counts on, but a departed worker still has one session to return (CG-22).
3. A paused session has a `last_seen_ms` in the future. It ends one session timeout after that time at the latest. The
   next sign of life counts as usual, so the session starts afresh then (GW-10). A member of a classic group that has
   joined and not synced has the whole rebalance timeout for that when its session starts afresh: until then it may not
   have had the answer to its join.
"""

from __future__ import annotations

from kcoord.group.connect.departed_workers import least_delay_ms
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.shard_state import ShardState


def prolong_sessions(state: ShardState, by_ms: int) -> None:
    """Make every session end later by `by_ms`."""
    for group in state.groups.values():
        for member in group.members.values():
            member.last_seen_ms += by_ms
    for modern_group in state.modern():
        for modern_member in modern_group.members.values():
            modern_member.last_seen_ms += by_ms


def go_on(state: ShardState, stood_ms: int, now_ms: int) -> None:
    """Go on after time stood still for `stood_ms`. Looks that were asked for before may now come too early: that does
    no harm.
    """
    for group in state.groups.values():
        for member in group.members.values():
            member.last_seen_ms = max(member.last_seen_ms, now_ms)
        for member_id in group.pending:
            group.pending[member_id] += stood_ms
        if group.rebalance is not None:
            group.rebalance.due_ms = _later(group.rebalance.due_ms, stood_ms)
        group.sync_due_ms = _later(group.sync_due_ms, stood_ms)
    for modern_group in state.modern():
        for modern_member in modern_group.members.values():
            modern_member.last_seen_ms = max(modern_member.last_seen_ms, now_ms)
            modern_member.release_due_ms = _later(modern_member.release_due_ms, stood_ms)
        if modern_group.computation is not None:
            modern_group.computation.due_ms = _later(modern_group.computation.due_ms, stood_ms)
    for connect_group in state.connect.values():
        if connect_group.delay_due_ms != NEVER_MS:
            least_ms = least_delay_ms(state, connect_group)
            connect_group.delay_due_ms = max(connect_group.delay_due_ms, now_ms + least_ms)
        if connect_group.classic.members:
            _classic_go_on(connect_group, stood_ms)


def _classic_go_on(group: ConnectGroup, stood_ms: int) -> None:
    fleet = group.classic
    fleet.gathering_due_ms = _later(fleet.gathering_due_ms, stood_ms)
    fleet.barrier_due_ms = _later(fleet.barrier_due_ms, stood_ms)
    if fleet.round is not None:
        fleet.round.until_ms = _later(fleet.round.until_ms, stood_ms)
        fleet.round.nudge_ms = _later(fleet.round.nudge_ms, stood_ms)
    for member_id in fleet.members:
        session = group.members[member_id].classic
        if session is not None:
            session.due_ms = _later(session.due_ms, stood_ms)
            session.parked_until_ms = _later(session.parked_until_ms, stood_ms)


def pause(group: ClassicGroup | AnyGroup, member_id: str, until_ms: int) -> None:
    """Let a member's session stand still until `until_ms` at most. Does nothing if there is no such member."""
    member = group.members.get(member_id)
    if member is not None and member.last_seen_ms < until_ms:
        member.last_seen_ms = until_ms


def resume(group: ClassicGroup | AnyGroup, member_id: str, now_ms: int) -> None:
    """Start a member's session afresh. Does nothing if there is no such member."""
    member = group.members.get(member_id)
    if member is None:
        return
    member.last_seen_ms = now_ms
    if isinstance(group, ClassicGroup) and member_id in group.unsynced:
        group.sync_due_ms = max(group.sync_due_ms, now_ms + member.rebalance_timeout_ms)


def paused(state: ShardState, now_ms: int) -> dict[tuple[str, str], int]:
    """Until when, in ms, each session that stands still at `now_ms` does so, by group and member id."""
    groups: list[ClassicGroup | AnyGroup] = [*state.groups.values(), *state.modern()]
    return {
        (group.group_id, member_id): member.last_seen_ms
        for group in groups
        for member_id, member in group.members.items()
        if member.last_seen_ms > now_ms
    }


def _later(due_ms: int, by_ms: int) -> int:
    return due_ms if due_ms == NEVER_MS else due_ms + by_ms
