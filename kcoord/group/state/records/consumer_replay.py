"""The replay of a consumer group's records: what each of keys 20 to 27 changes. Only `group/state/replay.py` calls it.

As in `connect_replay.py`, records of different keys may come in any order during a load: every function makes the group
or the member that it needs, and `settle_load` drops what never got a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kcoord.group.state.groups.consumer_group import (
    NOTHING,
    ConsumerGroup,
    ConsumerMember,
    Metadata,
    Partition,
    Stage,
    Target,
)
from kcoord.group.state.records.loaded_groups import complete, replay_history
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.topic import Topic
from kcoord.protocol.generated import consumer_group_current_member_assignment_value as record25
from kcoord.protocol.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupHistoryKey,
    ConsumerGroupHistoryValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    ConsumerGroupTopicsKey,
    ConsumerGroupTopicsValue,
    Record,
)

UNSAID = Metadata()
"""The metadata of a member of which the load has read only record 25 so far."""


def replay_consumer(state: ShardState, record: Record) -> None:
    """Apply one record of a consumer group. Raises KeyError for a record of another kind."""
    REPLAY[type(record.key)](state, record.key, record.value)


def _group(state: ShardState, group_id: str) -> ConsumerGroup:
    group = state.consumer.get(group_id)
    if group is None:
        group = state.consumer[group_id] = ConsumerGroup(group_id)
    group.version += 1
    return group


def _metadata(state: ShardState, key: ConsumerGroupMetadataKey, value: ConsumerGroupMetadataValue | None) -> None:
    if value is None:
        group = state.consumer.pop(key.group_id, None)
        if group is not None:
            group.close()
        return
    group = _group(state, key.group_id)
    group.recorded = True
    group.epoch, group.reason, group.reason_wall_ms = value.epoch, value.reason, value.reason_timestamp
    group.fence_epoch = value.fence_epoch


def _topics(state: ShardState, key: ConsumerGroupTopicsKey, value: ConsumerGroupTopicsValue | None) -> None:
    group, seen = _group(state, key.group_id), () if value is None else value.topics
    before = {topic.id for topic in group.topics.values()}
    group.topics = {each.name: Topic(each.name, each.topic_id, each.partitions) for each in seen}
    if not before <= {topic.id for topic in group.topics.values()}:
        group.touched.update(group.members)  # who has some of a topic that is gone must drop that


def _member(state: ShardState, key: ConsumerGroupMemberMetadataKey, value: Metadata | None) -> None:
    group = _group(state, key.group_id)
    member = group.members.get(key.member_id)
    if value is None:
        if member is not None:
            group.drop_member(key.member_id, member.metadata.instance_id)
        return
    if member is None:
        member = ConsumerMember(key.member_id, value)
    member.metadata, member.names = value, frozenset(value.subscribed_topic_names)
    group.set_metadata(member, value.instance_id)


def _target(
    state: ShardState,
    key: ConsumerGroupTargetAssignmentMetadataKey,
    value: ConsumerGroupTargetAssignmentMetadataValue | None,
) -> None:
    group = _group(state, key.group_id)
    group.set_assignment_epoch(0 if value is None else value.assignment_epoch)
    group.assignor = "" if value is None else value.assignor
    group.assignment_wall_ms = 0 if value is None else value.assignment_timestamp


def _member_target(
    state: ShardState,
    key: ConsumerGroupTargetAssignmentMemberKey,
    value: ConsumerGroupTargetAssignmentMemberValue | None,
) -> None:
    target = None
    if value is not None:
        partitions = frozenset((each.topic_id, at) for each in value.topic_partitions for at in each.partitions)
        target = Target(partitions, value.version, value.metadata)
    _group(state, key.group_id).set_target(key.member_id, target)


def _current(
    state: ShardState,
    key: ConsumerGroupCurrentMemberAssignmentKey,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> None:
    group = _group(state, key.group_id)
    member = group.members.get(key.member_id)
    if value is None:
        if member is not None:
            group.set_assigned(member, NOTHING, NOTHING, {})
        return
    if member is None:
        member = group.members[key.member_id] = ConsumerMember(key.member_id, UNSAID)
    member.recorded = True
    member.recorded_epoch, member.recorded_previous = value.member_epoch, value.previous_member_epoch
    member.epoch, member.previous_epoch = value.member_epoch, value.previous_member_epoch
    member.stage = Stage(value.state)
    assigned = _since(value.assigned_partitions)
    pending = _since(value.partitions_pending_revocation)
    group.set_assigned(member, frozenset(assigned), frozenset(pending), {**pending, **assigned})


def _since(told: Iterable[record25.TopicPartitions]) -> dict[Partition, int]:
    """Partitions with their assignment epochs."""
    found: dict[Partition, int] = {}
    for each in told:
        epochs = each.assignment_epochs or [0] * len(each.partitions)
        found |= {(each.topic_id, at): epoch for at, epoch in zip(each.partitions, epochs, strict=True)}
    return found


def _resolution(
    state: ShardState, key: ConsumerGroupRegularExpressionKey, value: ConsumerGroupRegularExpressionValue | None
) -> None:
    group, pattern = _group(state, key.group_id), key.regular_expression
    before = group.resolved.get(pattern)
    others = {each: matches for each, matches in group.resolved.items() if each != pattern}
    if value is None:
        group.resolved = others
        return
    names = frozenset(value.topics)
    group.resolved = {**others, pattern: names}
    if before is not None and not before <= names:
        group.touched.update(group.members)  # who has some of a topic that matches no longer must drop that


def _history(state: ShardState, key: ConsumerGroupHistoryKey, value: ConsumerGroupHistoryValue | None) -> None:
    replay_history(_group(state, key.group_id), key.epoch, value)


REPLAY: dict[type, Callable[[ShardState, Any, Any], None]] = {
    ConsumerGroupMetadataKey: _metadata,
    ConsumerGroupTopicsKey: _topics,
    ConsumerGroupMemberMetadataKey: _member,
    ConsumerGroupTargetAssignmentMetadataKey: _target,
    ConsumerGroupTargetAssignmentMemberKey: _member_target,
    ConsumerGroupCurrentMemberAssignmentKey: _current,
    ConsumerGroupRegularExpressionKey: _resolution,
    ConsumerGroupHistoryKey: _history,
}


def settle_load(state: ShardState) -> None:
    """Finish a load: drop groups and members whose own record is missing, and build the indexes."""
    for group in list(state.consumer.values()):
        settle_loaded_group(state, group)


def settle_loaded_group(state: ShardState, group: ConsumerGroup) -> None:
    """Do what `settle_load` does, for one group."""
    if not group.recorded:
        del state.consumer[group.group_id]
        return
    complete(state, group, UNSAID)
