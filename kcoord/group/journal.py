"""The journal of a step: what stood in the shard before each record that the step wrote, so that all can be undone.

A step applies its records as it writes them. If it breaks off, or one of its records does not fit the log, the shard
must be as if the step had never been. Rules:

1. Before a record is applied, what it may change is noted once: of a group its own record, of a connect group also each
   member, target and history entry that is touched, of offsets each value. What is noted is never changed afterwards,
   so noting costs a few references.
2. Undone is what the log tells: the touched groups are made again from records, by `replay`, and stand as after a load.
   Their session state (who waits, how long sessions last) is opened by whoever asked for it (`isolation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from kcoord.group.connect import records
from kcoord.group.connect.group import Configured, ConnectGroup, Member, Resources, Said, Target
from kcoord.group.connect.replay import settle_loaded_group
from kcoord.group.contents import Contents
from kcoord.group.generic.group import NO_RECORD, GenericGroup
from kcoord.group.replay import replay
from kcoord.protocol.frozen import frozen
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupHistoryKey,
    ConnectWorkerGroupHistoryValue,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)

_OF_A_MEMBER = (
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
)


@frozen(slots=True, eq=False)
class MemberBefore:
    """What the log told of one member of a connect group, and of its target."""

    member: Member | None
    said: Said | None
    current: Resources
    recorded: bool
    epoch: int
    previous_epoch: int
    put_out: bool
    doubtful: Resources
    target: Target | None

    @classmethod
    def of(cls, group: ConnectGroup, member_id: str) -> MemberBefore:
        """As it stands now."""
        member, target = group.members.get(member_id), group.targets.get(member_id)
        if member is None:
            return cls(None, None, frozenset(), False, 0, 0, False, frozenset(), target)
        return cls(
            member,
            member.said,
            member.current,
            member.recorded,
            member.recorded_epoch,
            member.recorded_previous,
            member.put_out,
            member.doubtful,
            target,
        )


@attrs.define(slots=True, eq=False)
class ConnectBefore:
    """What the log told of a connect group. Of members and history only what was touched since is noted; the rest
    still stands in `group`.
    """

    group: ConnectGroup
    epoch: Record
    target: Record
    configured: Configured | None
    members: dict[str, MemberBefore] = attrs.Factory(dict)
    history: dict[int, ConnectWorkerGroupHistoryValue | None] = attrs.Factory(dict)

    @classmethod
    def of(cls, group: ConnectGroup) -> ConnectBefore:
        """As it stands now."""
        epoch = records.group_epoch(group.group_id, group.epoch, group.reason, group.reason_wall_ms)
        return cls(group, epoch, records.installed_target(group), group.configured)

    def all_members(self) -> Mapping[str, MemberBefore]:
        """Every member, and everybody who has a target."""
        group = self.group
        untouched = [each for each in {**group.members, **group.targets} if each not in self.members]
        return {**{each: MemberBefore.of(group, each) for each in untouched}, **self.members}

    def records(self) -> Iterator[Record]:
        """What a log would hold of it."""
        group, group_id = self.group, self.group.group_id
        yield self.epoch
        yield self.target
        if self.configured is not None:
            yield records.configured_set(group, self.configured)
        for member_id, before in self.all_members().items():
            if before.member is not None:
                yield records.member_said(group_id, member_id, before.said)
            if before.member is not None and before.recorded:
                yield records.current_assignment(
                    group,
                    before.member,
                    before.current,
                    before.epoch,
                    before.previous_epoch,
                    before.put_out,
                    before.doubtful,
                )
            if before.target is not None:
                yield records.member_target(group_id, member_id, before.target)
        for epoch, entry in sorted({**group.history, **self.history}.items()):
            if entry is not None:
                yield records.history(group_id, epoch, entry)


@attrs.define(slots=True, eq=False)
class GroupBefore:
    """What the log told of everything that goes by one name."""

    generic: GenericGroup | None
    generic_record: GroupMetadataValue | None
    connect: ConnectBefore | None
    configuration: dict[str, str] | None


@attrs.define(slots=True, eq=False)
class Journal:
    """What a step, or a part of it, found."""

    groups: dict[str, GroupBefore] = attrs.Factory(dict)
    offsets: dict[tuple[str, str, int], OffsetCommitValue | None] = attrs.Factory(dict)

    def clear(self) -> None:
        """Begin with the next part."""
        self.groups.clear()
        self.offsets.clear()

    def note(self, contents: Contents, record: Record) -> None:
        """`record` is about to be applied."""
        key = record.key
        if isinstance(key, GroupMetadataKey):
            self.note_group(contents, key.group)
            return
        if isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey):
            self.note_group(contents, key.group)  # the first offset makes a group
            at = key.group, key.topic, key.partition
            if at not in self.offsets:
                self.offsets[at] = contents.offsets.of_topic(key.group, key.topic).get(key.partition)
            return
        before = self.note_group(contents, key.group_id).connect
        if before is None:
            return
        if isinstance(key, _OF_A_MEMBER):
            if key.member_id not in before.members:
                before.members[key.member_id] = MemberBefore.of(before.group, key.member_id)
        elif isinstance(key, ConnectWorkerGroupHistoryKey):
            before.history.setdefault(key.epoch, before.group.history.get(key.epoch))

    def note_group(self, contents: Contents, group_id: str) -> GroupBefore:
        """What stood under that name when it was noted first."""
        before = self.groups.get(group_id)
        if before is None:
            generic, connect = contents.groups.get(group_id), contents.connect.get(group_id)
            before = self.groups[group_id] = GroupBefore(
                generic,
                None if generic is None else generic.record,
                None if connect is None else ConnectBefore.of(connect),
                contents.configurations.get(group_id),
            )
        return before

    def undo(self, contents: Contents) -> None:
        """Make everything that was noted stand in `contents` again. The noted groups have no sessions then; what they
        were must have been dismissed (`isolation`).
        """
        was_live, contents.live = contents.live, False
        for group_id, before in self.groups.items():
            contents.groups.pop(group_id, None)
            contents.connect.pop(group_id, None)
            _restore_configuration(contents, group_id, before.configuration)
            if before.generic_record is not None and before.generic_record is not NO_RECORD:
                replay(contents, Record(GroupMetadataKey(group_id), before.generic_record))
            if before.connect is not None:
                _restore_connect_group(contents, before.connect)
        for (group_id, topic, partition), value in self.offsets.items():
            replay(contents, Record(OffsetCommitKey(group_id, topic, partition), value))
        for group_id, before in self.groups.items():
            _restore_shell(contents, group_id, before)
        contents.live = was_live


def _restore_configuration(contents: Contents, group_id: str, configuration: dict[str, str] | None) -> None:
    if contents.configurations.get(group_id) != configuration:
        replay(contents, records.configuration(group_id, configuration or {}))


def _restore_connect_group(contents: Contents, before: ConnectBefore) -> None:
    for record in before.records():
        replay(contents, record)
    group = contents.connect[before.group.group_id]
    settle_loaded_group(contents, group)
    group.restored_at_connection = contents.newest_connection
    for member_id, noted in before.all_members().items():
        if noted.member is not None:
            group.members[member_id].session_holds_ms = noted.member.session_holds_ms  # CG-8


def _restore_shell(contents: Contents, group_id: str, before: GroupBefore) -> None:
    """A group that has nothing but offsets is there as long as these are, and has no record."""
    offsets = contents.offsets.of_group(group_id)
    had_shell = before.generic_record is NO_RECORD
    there = contents.groups.get(group_id)
    if had_shell and there is None and offsets:
        topic, partitions = next(iter(offsets.items()))
        partition, value = next(iter(partitions.items()))
        replay(contents, Record(OffsetCommitKey(group_id, topic, partition), value))
    elif not had_shell and there is not None and there.record is NO_RECORD:
        del contents.groups[group_id]
