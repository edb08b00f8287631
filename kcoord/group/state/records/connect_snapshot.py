"""What a step found of a connect group, so that the step can be undone (`state/journal.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from kcoord.group.state.groups.connect_group import Configured, ConnectGroup, ConnectMember, Metadata, Resources, Target
from kcoord.group.state.records import connect_records as records
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupHistoryKey,
    ConnectWorkerGroupHistoryValue,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
    Record,
)

_OF_A_MEMBER = (
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
)


@frozen(slots=True, eq=False)
class ConnectMemberBefore:
    """The durable state of one member of a connect group, and of its target, before the step."""

    member: ConnectMember | None
    metadata: Metadata | None
    current: Resources
    recorded: bool
    epoch: int
    previous_epoch: int
    evicted: bool
    doubtful: Resources
    target: Target | None

    @classmethod
    def of(cls, group: ConnectGroup, member_id: str) -> ConnectMemberBefore:
        """The state as it is now."""
        member, target = group.members.get(member_id), group.targets.get(member_id)
        if member is None:
            return cls(None, None, frozenset(), False, 0, 0, False, frozenset(), target)
        return cls(
            member,
            member.metadata,
            member.current,
            member.recorded,
            member.recorded_epoch,
            member.recorded_previous,
            member.evicted,
            member.doubtful,
            target,
        )


@attrs.define(slots=True, eq=False)
class ConnectBefore:
    """The durable state of a connect group before the step. Of its members and history only the touched ones are noted;
    the others are still in `group`.
    """

    group: ConnectGroup
    epoch: Record
    target: Record
    configured: Configured | None
    members: dict[str, ConnectMemberBefore] = attrs.Factory(dict)
    history: dict[int, ConnectWorkerGroupHistoryValue | None] = attrs.Factory(dict)

    @classmethod
    def of(cls, group: ConnectGroup) -> ConnectBefore:
        """The state as it is now."""
        epoch = records.group_epoch(group, group.epoch, group.reason, group.reason_wall_ms)
        return cls(group, epoch, records.installed_target(group), group.configured)

    def note(self, key: Any) -> None:
        """Note what a record with this key may change."""
        if isinstance(key, _OF_A_MEMBER):
            if key.member_id not in self.members:
                self.members[key.member_id] = ConnectMemberBefore.of(self.group, key.member_id)
        elif isinstance(key, ConnectWorkerGroupHistoryKey):
            self.history.setdefault(key.epoch, self.group.history.get(key.epoch))

    def all_members(self) -> Mapping[str, ConnectMemberBefore]:
        """Every member, and every departed member that has a target."""
        group = self.group
        untouched = [each for each in {**group.members, **group.targets} if each not in self.members]
        return {**{each: ConnectMemberBefore.of(group, each) for each in untouched}, **self.members}

    def records(self) -> Iterator[Record]:
        """The records that make this state."""
        group, group_id = self.group, self.group.group_id
        yield self.epoch
        yield self.target
        if self.configured is not None:
            yield records.configured_set(group, self.configured)
        for member_id, before in self.all_members().items():
            if before.member is not None:
                yield records.member_metadata(group_id, member_id, before.metadata)
            if before.member is not None and before.recorded:
                yield records.current_assignment(
                    group,
                    before.member,
                    before.current,
                    before.epoch,
                    before.previous_epoch,
                    before.evicted,
                    before.doubtful,
                )
            if before.target is not None:
                yield records.member_target(group_id, member_id, before.target)
        for epoch, entry in sorted({**group.history, **self.history}.items()):
            if entry is not None:
                yield records.history(group_id, epoch, entry)
