"""What a step found of a consumer group, so that the step can be undone (`state/journal.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from kcoord.group.state.groups.consumer_group import (
    ConsumerGroup,
    ConsumerMember,
    Metadata,
    Partition,
    Partitions,
    Stage,
    Target,
)
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.topic import Topic
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupHistoryKey,
    ConsumerGroupHistoryValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    Record,
)

_OF_A_MEMBER = (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupTargetAssignmentMemberKey,
)


@frozen(slots=True, eq=False)
class ConsumerMemberBefore:
    """The durable state of one member, and of its target."""

    member: ConsumerMember | None
    target: Target | None
    metadata: Metadata | None = None
    recorded: bool = False
    epoch: int = 0
    previous_epoch: int = 0
    stage: Stage = Stage.STABLE
    assigned: Partitions = frozenset()
    pending: Partitions = frozenset()
    epochs: Mapping[Partition, int] = attrs.Factory(dict)

    @classmethod
    def of(cls, group: ConsumerGroup, member_id: str) -> ConsumerMemberBefore:
        """The state as it is now."""
        member, target = group.members.get(member_id), group.targets.get(member_id)
        if member is None:
            return cls(None, target)
        return cls(
            member,
            target,
            member.metadata,
            member.recorded,
            member.recorded_epoch,
            member.recorded_previous,
            member.stage,
            member.assigned,
            member.pending,
            member.epochs,
        )

    def records(self, group: ConsumerGroup, member_id: str) -> Iterator[Record]:
        """The records that make it."""
        if self.member is not None:
            yield records.member_metadata(group.group_id, member_id, self.metadata)
            if self.recorded:
                yield records.told(
                    group,
                    self.member,
                    self.assigned,
                    self.pending,
                    self.stage,
                    self.epoch,
                    self.previous_epoch,
                    self.epochs,
                )
        if self.target is not None:
            yield records.member_target(group.group_id, member_id, self.target)


@attrs.define(slots=True, eq=False)
class ConsumerBefore:
    """The durable state of a consumer group. Of its members and history only the touched ones are noted; the others are
    still in `group`.
    """

    group: ConsumerGroup
    epoch: Record
    target: Record
    topics: Mapping[str, Topic]
    resolved: Mapping[str, frozenset[str]]
    members: dict[str, ConsumerMemberBefore] = attrs.Factory(dict)
    history: dict[int, ConsumerGroupHistoryValue | None] = attrs.Factory(dict)

    @classmethod
    def of(cls, group: ConsumerGroup) -> ConsumerBefore:
        """The state as it is now."""
        epoch = records.group_epoch(group, group.epoch, group.reason, group.reason_wall_ms)
        target = records.target_assignment(
            group.group_id, group.assignment_epoch, group.assignor, group.assignment_wall_ms
        )
        return cls(group, epoch, target, group.topics, dict(group.resolved))

    def note(self, key: Any) -> None:
        """Note what a record with this key may change."""
        if isinstance(key, _OF_A_MEMBER):
            if key.member_id not in self.members:
                self.members[key.member_id] = ConsumerMemberBefore.of(self.group, key.member_id)
        elif isinstance(key, ConsumerGroupHistoryKey):
            self.history.setdefault(key.epoch, self.group.history.get(key.epoch))

    def records(self) -> Iterator[Record]:
        """The records that make this state."""
        group = self.group
        yield self.epoch
        yield self.target
        yield records.topics(group.group_id, self.topics.values())
        for pattern, names in self.resolved.items():
            yield records.resolution(group.group_id, pattern, names, 0)
        for member_id in {**group.members, **group.targets, **self.members}:
            before = self.members.get(member_id) or ConsumerMemberBefore.of(group, member_id)
            yield from before.records(group, member_id)
        for epoch, entry in sorted({**group.history, **self.history}.items()):
            if entry is not None:
                yield records.history(group.group_id, epoch, entry)
