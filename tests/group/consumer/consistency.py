"""What is always true of consumer groups between two steps, and what of them must be the same live and after a replay?

The invariants are those of KIP-848's model: no partition is with two members (ValidPartitionEpoch), no epoch is above
that which it follows (ValidMemberEpoch).
"""

from __future__ import annotations

from typing import Any

from kcoord.group.durable_invariants import of_consumer_group
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.shard_state import ShardState


def durable(state: ShardState) -> Any:
    """What a replay must give again."""
    return {group_id: _durable_group(group) for group_id, group in state.consumer.items()}


def _durable_group(group: ConsumerGroup) -> Any:
    return (
        (group.epoch, group.reason, group.reason_wall_ms, group.fence_epoch, group.recorded),
        (group.assignment_epoch, group.assignor, dict(group.topics), group.resolved, group.history),
        {member_id: _durable_member(member) for member_id, member in sorted(group.members.items())},
        {member_id: target.resources for member_id, target in sorted(group.targets.items())},
        (group.static_ids, group.owners, group.claimants, group.unconverged),
    )


def _durable_member(member: ConsumerMember) -> Any:
    return (
        (member.metadata, member.stage, member.assigned, member.current),
        {each: member.epochs.get(each, 0) for each in member.current},
        (member.recorded, member.recorded_epoch, member.recorded_previous),
    )


def check_consistent(state: ShardState) -> None:
    """Raise AssertionError where consumer groups contradict themselves."""
    for group_id, group in state.consumer.items():
        assert group.group_id == group_id
        assert group_id not in state.groups
        assert group_id not in state.connect
        _check_group(group, state.live)


def _check_group(group: ConsumerGroup, live: bool) -> None:
    assert list(of_consumer_group(group)) == []
    assert group.owners == {each: member_id for member_id, member in group.members.items() for each in member.current}
    assert not group.also_owned
    if live:
        assert group.assignment_epoch == group.epoch or not group.members, "an assignment is to be made, and is not"
        existing = {(topic.id, at) for topic in group.topics.values() for at in range(topic.partitions)}
        assert group.claimants.keys() <= existing, "a target names what does not exist"
    for member in group.members.values():
        assert (member.release_due_ms != NEVER_MS) <= (member.stage is Stage.UNREVOKED)
        assert all(epoch <= group.epoch for epoch in member.epochs.values())
        if member.stage is Stage.STABLE and member.epoch == group.assignment_epoch:
            subscribed = group.subscribed_ids(member)
            assert all(topic_id in subscribed for topic_id, _ in member.assigned)
