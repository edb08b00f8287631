"""The records of a consumer group: one function for each record, keys 20 to 27.

Tombstones: a member that goes takes its records 22, 24 and 25 with it. A deleted group takes all its records with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kcoord.group.state.groups.consumer_group import (
    ConsumerGroup,
    ConsumerMember,
    Metadata,
    Partition,
    Partitions,
    Stage,
    Target,
    by_topic,
)
from kcoord.group.state.groups.modern_group import UNSET
from kcoord.group.state.topic import Topic
from kcoord.protocol.generated import consumer_group_current_member_assignment_value as record25
from kcoord.protocol.generated import consumer_group_history_value as record27
from kcoord.protocol.generated import consumer_group_target_assignment_member_value as record24
from kcoord.protocol.generated.consumer_group_topics_value import SeenTopic
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


def group_epoch(group: ConsumerGroup, epoch: int, reason: str, wall_ms: int, fence_epoch: int | None = None) -> Record:
    """20: the group epoch, why it was bumped, when, and the fence epoch; None: as it is."""
    fence = group.fence_epoch if fence_epoch is None else fence_epoch
    value = ConsumerGroupMetadataValue(epoch, 0, reason, wall_ms, fence)
    return Record(ConsumerGroupMetadataKey(group.group_id), value)


def topics(group_id: str, seen: Iterable[Topic]) -> Record:
    """21: the topics that members subscribe to and that exist."""
    value = ConsumerGroupTopicsValue([SeenTopic(each.name, each.id, each.partitions) for each in seen])
    return Record(ConsumerGroupTopicsKey(group_id), value)


def member_metadata(group_id: str, member_id: str, metadata: Metadata | None) -> Record:
    """22: what a member said of itself; None: the member is gone."""
    return Record(ConsumerGroupMemberMetadataKey(group_id, member_id), metadata)


def target_assignment(group_id: str, epoch: int, assignor: str, wall_ms: int) -> Record:
    """23: the epoch of the targets, who made them, and when."""
    value = ConsumerGroupTargetAssignmentMetadataValue(epoch, max(wall_ms, 0), assignor)
    return Record(ConsumerGroupTargetAssignmentMetadataKey(group_id), value)


def member_target(group_id: str, member_id: str, target: Target | None) -> Record:
    """24: the target of a member; None: it has none any more."""
    value = None
    if target is not None:
        value = ConsumerGroupTargetAssignmentMemberValue(
            [record24.TopicPartition(topic, numbers) for topic, numbers in by_topic(target.resources).items()],
            target.version,
            target.metadata,
        )
    return Record(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), value)


def current_assignment(
    group: ConsumerGroup, member: ConsumerMember, current: Partitions, epoch: int, previous: int
) -> Record:
    """25: all that a member may be consuming, where it must let go of nothing that it had not to let go of before."""
    assigned = member.assigned & current
    return told(group, member, assigned, current - assigned, member.stage, epoch, previous, member.epochs)


def told(
    group: ConsumerGroup,
    member: ConsumerMember,
    assigned: Partitions,
    pending: Partitions,
    stage: Stage,
    epoch: int,
    previous: int,
    epochs: Mapping[Partition, int],
) -> Record:
    """25: what a member is told to consume, what it must let go of, since when, and how far it is."""
    value = ConsumerGroupCurrentMemberAssignmentValue(
        epoch, previous, stage, _with_epochs(assigned, epochs), _with_epochs(pending, epochs)
    )
    return Record(ConsumerGroupCurrentMemberAssignmentKey(group.group_id, member.member_id), value)


def _with_epochs(partitions: Partitions, epochs: Mapping[Partition, int]) -> list[record25.TopicPartitions]:
    return [
        record25.TopicPartitions(topic, numbers, [epochs.get((topic, each), 0) for each in numbers])
        for topic, numbers in by_topic(partitions).items()
    ]


def no_current(group_id: str, member_id: str) -> Record:
    """25: the member is gone and consumes nothing any more."""
    return Record(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)


def resolution(group_id: str, pattern: str, names: Iterable[str] | None, wall_ms: int) -> Record:
    """26: the topics that match a regular expression; None: nobody subscribes to it any more."""
    value = None if names is None else ConsumerGroupRegularExpressionValue(sorted(names), 0, wall_ms)
    return Record(ConsumerGroupRegularExpressionKey(group_id, pattern), value)


def history(group_id: str, epoch: int, entry: ConsumerGroupHistoryValue | None) -> Record:
    """27: the history of one group epoch; None: it is too old to keep."""
    return Record(ConsumerGroupHistoryKey(group_id, epoch), entry)


def history_entry(reason: str, wall_ms: int) -> ConsumerGroupHistoryValue:
    """A history entry of a group epoch that has just begun."""
    return ConsumerGroupHistoryValue(reason, wall_ms, UNSET, UNSET)


def history_move(giver: str, taker: str, partitions: Sequence[Partition]) -> record27.Move:
    """In an entry of the history: what moved from one member to another; "" is nobody."""
    return record27.Move(
        giver, taker, [record27.TopicPartition(topic, numbers) for topic, numbers in by_topic(partitions).items()]
    )


def deletion(group: ConsumerGroup) -> list[Record]:
    """The tombstones of a group without members."""
    group_id = group.group_id
    return [
        *(member_target(group_id, each, None) for each in group.targets),
        *(resolution(group_id, each, None, 0) for each in group.resolved),
        *(history(group_id, each, None) for each in group.history),
        Record(ConsumerGroupTopicsKey(group_id), None),
        Record(ConsumerGroupTargetAssignmentMetadataKey(group_id), None),
        Record(ConsumerGroupMetadataKey(group_id), None),
    ]
