"""What is always true of a shard between two steps?"""

from __future__ import annotations

from typing import Any

from kcoord.group.durable_invariants import of_classic_record
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup, weight_of
from kcoord.group.state.groups.classic_states import LABELS, ClassicState
from kcoord.group.state.shard_state import ShardState


def durable_state(state: ShardState) -> Any:
    """What must be the same live and after a replay. A group that has neither a record of its own nor offsets is
    left out: a compacted log does not tell of it.
    """
    offsets = state.offsets
    for group_id in state.groups:
        assert offsets.count(group_id) == sum(map(len, offsets.of_group(group_id).values()))
    return {
        group_id: (group.record, {topic: dict(each) for topic, each in offsets.of_group(group_id).items()})
        for group_id, group in state.groups.items()
        if group.record.state or offsets.of_group(group_id)
    }


def check_consistent(state: ShardState, now_ms: int) -> None:
    """Raise AssertionError where a shard contradicts itself."""
    for group_id, group in state.groups.items():
        assert group.group_id == group_id
        assert not list(of_classic_record(group.record))
        _check_state(group)
        _check_members(group)
        _check_following(group)
        if group_id not in state.quarantine:
            _check_wake(group, state.settings.new_member_join_timeout_ms, now_ms)


def _check_state(group: ClassicGroup) -> None:
    preparing = group.state is ClassicState.PREPARING
    assert group.state is not ClassicState.DEAD
    assert (group.rebalance is not None) == preparing
    if group.state is ClassicState.EMPTY:
        assert not group.members
    if group.state in (ClassicState.COMPLETING, ClassicState.STABLE):
        assert group.members
    assert group.unsynced <= group.members.keys()
    assert bool(group.unsynced) == (group.sync_due_ms != NEVER_MS)
    if group.unsynced:
        assert group.state in (ClassicState.COMPLETING, ClassicState.STABLE)
    for member in group.members.values():
        assert member.parked_join is None or preparing or group.held_reason is not None
        assert member.parked_sync is None or group.state is ClassicState.COMPLETING
        assert not member.is_new or member.parked_join is not None


def _check_members(group: ClassicGroup) -> None:
    members = group.members
    assert all(member_id == member.member_id for member_id, member in members.items())
    static = [member for member in members.values() if member.instance_id is not None]
    assert group.static_ids == {member.instance_id: member.member_id for member in static}
    assert len(group.static_ids) == len(static), "two members with one group.instance.id"
    assert group.weight == sum(weight_of(member) for member in members.values())
    assert (group.leader_id in members) == bool(members), "a leader who is no member, or none"
    assert not group.pending.keys() & members.keys()
    assert group.parked_joins == sum(member.parked_join is not None for member in members.values())
    support: dict[str, int] = {}
    for member in members.values():
        for name, _ in member.protocols:
            support[name] = support.get(name, 0) + 1
    assert group.support == support
    if members:
        assert max(support.values()) == len(members), "no protocol that all members speak"


def _check_following(group: ClassicGroup) -> None:
    """But for a rebalance on its way, or one that has to wait, the session state says what the record says."""
    if group.state is ClassicState.PREPARING or group.held_reason is not None:
        return
    record = group.record
    protocol = record.protocol or ""
    assert [
        (
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata(protocol),
            member.assignment,
        )
        for member in group.members.values()
    ] == [
        (
            recorded.member_id,
            recorded.group_instance_id,
            recorded.client_id,
            recorded.client_host,
            recorded.session_timeout if recorded.rebalance_timeout == -1 else recorded.rebalance_timeout,
            recorded.session_timeout,
            recorded.subscription,
            recorded.assignment,
        )
        for recorded in record.members
    ]
    assert group.leader_id == (record.leader or next(iter(group.members), None))
    assert group.protocol_type == record.protocol_type
    if record.state in LABELS:
        assert group.state.label == record.state


def _check_wake(group: ClassicGroup, join_timeout_ms: int, now_ms: int) -> None:
    """The group asks to be looked at before anything in it falls due."""
    due = [*group.pending.values(), group.sync_due_ms]
    if group.rebalance is not None:
        due.append(group.rebalance.due_ms)
    for member in group.members.values():
        if member.is_new:
            due.append(member.last_seen_ms + join_timeout_ms)
        elif member.parked_join is None and member.parked_sync is None:
            due.append(min(member.last_seen_ms, now_ms) + member.session_timeout_ms)
    assert group.wake_ms <= max(min(due, default=NEVER_MS), now_ms + 1)
