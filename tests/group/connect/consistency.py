"""What is always true of the connect groups of a shard between two steps?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from kcoord.group.connect.computing import PATIENCE
from kcoord.group.connect.selection import Absent, ClassicMembers, ClientSide, select
from kcoord.group.durable_invariants import of_connect_group
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.assignor_support import Supports
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.records.connect_replay import UNSAID
from kcoord.group.state.shard_state import ShardState
from tests.translation.consistency import check_classic_member, may_wait_for_leader

NOTHING: Resources = frozenset()


def durable(state: ShardState) -> Any:
    """What must be the same live and after a replay: everything that records tell of connect groups."""
    groups = {group_id: _durable(group) for group_id, group in state.connect.items() if group.epoch}
    return groups, state.configurations


def _durable(group: ConnectGroup) -> Any:
    return {
        "epochs": (group.epoch, group.reason, group.reason_wall_ms, group.assignment_epoch),
        "members": {
            member_id: (
                member.metadata,
                member.current,
                member.recorded,
                member.recorded_epoch,
                member.recorded_previous,
                member.evicted,
                member.doubtful,
            )
            for member_id, member in group.members.items()
            if member.metadata is not UNSAID
        },
        "targets": dict(group.targets),
        "configured": group.configured,
        "computed": (group.computed_by, group.computed_by_url, group.computed_offset, group.assignor),
        "error": (group.error, group.error_message),
        "delay": (group.delay_deadline_wall_ms, group.delay_ms),
        "history": dict(group.history),
    }


def session(state: ShardState) -> Any:
    """What a request that is refused must not change either."""
    return {
        group_id: (
            {
                member_id: (
                    member.epoch,
                    member.previous_epoch,
                    member.epoch_unsure,
                    member.connection,
                    None if member.answer is None else attrs.astuple(member.answer, recurse=False),
                    member.reported,
                    member.last_seen_ms,
                    member.session_timeout_ms,
                    member.session_holds_ms,
                    member.release_due_ms,
                    member.releasing,
                )
                for member_id, member in group.members.items()
            },
            None if group.computation is None else attrs.astuple(group.computation, recurse=False),
            (group.delay_due_ms, group.retry_due_ms, group.failures, dict(group.fenced)),
        )
        for group_id, group in state.connect.items()
    }


def check_consistent(state: ShardState, now_ms: int) -> None:
    """Raise AssertionError where a shard contradicts itself, or a rule that holds at any time."""
    for group_id, group in state.connect.items():
        assert group.group_id == group_id
        assert group_id not in state.groups, "a name of two groups"
        assert not list(of_connect_group(group))
        _check_owners(group)
        _check_targets(group)
        _check_computing(state, group)
        if group_id not in state.quarantine:
            _check_wake(group, now_ms)
        check_classic_member(group, now_ms)
        assert not group.touched
        assert list(group.history) == sorted(group.history)
        assert len(group.history) <= 100
    _check_held(state)


def _check_owners(group: ConnectGroup) -> None:
    owners: dict[Any, set[str]] = {}
    for member_id, member in group.members.items():
        for resource in member.current:
            owners.setdefault(resource, set()).add(member_id)
    assert {each: {owner, *group.also_owned.get(each, ())} for each, owner in group.owners.items()} == owners
    assert all(others and group.owners[each] not in others for each, others in group.also_owned.items())
    statics = [member for member in group.members.values() if member.metadata.instance_id is not None]
    assert group.static_ids == {member.metadata.instance_id: member.member_id for member in statics}
    assert len(group.static_ids) == len(statics), "two members with one InstanceId"


def _check_targets(group: ConnectGroup) -> None:
    claimants: dict[Any, str] = {}
    for member_id, target in group.targets.items():
        claimants |= dict.fromkeys(target.resources, member_id)
    assert group.claimants == claimants
    assert group.unconverged == {
        member_id for member_id, member in group.members.items() if member.current != _target(group, member)
    }
    afresh = Supports.of([(each.member_id, each.metadata) for each in group.participants()])
    assert (group.supports.by_member, group.supports.members) == (afresh.by_member, afresh.members)
    if not group.members:
        assert group.delay_due_ms == NEVER_MS


def _target(group: ConnectGroup, member: ConnectMember) -> Resources:
    return group.target_of(member) or NOTHING


def _check_computing(state: ShardState, group: ConnectGroup) -> None:
    computation, participants = group.computation, group.participants()
    unassigned = group.epoch > group.assignment_epoch and bool(participants)
    if computation is None:
        names = [each.name for each in state.effective(group.group_id).assignors]
        waits = may_wait_for_leader(group) or isinstance(select(group, names), Absent)
        repeats = group.repetition.due_ms != NEVER_MS
        assert not unassigned or waits or repeats, "CG-14, CG-17"
        return
    assert unassigned
    assert group.takes_part(computation.chosen)
    assert not group.members[computation.chosen].away
    assert computation.chosen not in computation.excluded
    if computation.frozen is None:
        assert computation.epoch == group.epoch
        limits = state.effective(group.group_id)
        selection = select(group, [each.name for each in limits.assignors])
        if isinstance(selection, ClassicMembers):
            assert computation.chosen in selection.workers, "CM-14"
            return
        if group.failures >= PATIENCE and computation.chosen in group.classic.members:
            return
        assert isinstance(selection, ClientSide)
        assert selection.name == computation.assignor
        assert computation.chosen in selection.qualified, "CG-16"


def _check_wake(group: ConnectGroup, now_ms: int) -> None:
    """The group asks to be looked at before anything in it falls due."""
    due = [group.delay_due_ms, group.retry_due_ms]
    if group.computation is not None:
        due.append(group.computation.due_ms)
    for member in group.members.values():
        session_ends_ms = max(member.last_seen_ms + member.session_timeout_ms, member.session_holds_ms)
        due += [
            member.release_due_ms,
            NEVER_MS if member.classic is not None and member.classic.is_waiting else session_ends_ms,
        ]
    assert group.wake_ms <= max(min(due), now_ms + 1)


def _check_held(state: ShardState) -> None:
    held: dict[int, set[str]] = {}
    for group in state.connect.values():
        for member in group.members.values():
            if member.held is None:
                assert member.wake_ms == NEVER_MS
            else:
                assert member.wake_ms < NEVER_MS
                held.setdefault(member.held.connection, set()).add(member.member_id)
    assert {connection: set(members) for connection, members in _members(state.held).items()} == held


def _members(held: Mapping[int, Mapping[str, Any]]) -> dict[int, list[str]]:
    return {connection: list(members) for connection, members in held.items()}
