"""The journal of a step: the durable state before each record that the step wrote, so that the step can be undone.

A step applies its records as it writes them. If it breaks off, or one of its records does not fit the log, the shard
must be as if the step had never happened. Rules:

1. Before a record is applied, the journal notes once what the record may change: a group's own record; for a group
   without a barrier also each member, target and history entry that is touched; each value of an offset; each topic.
   The noted objects never change afterwards, so a note costs only a few references.
2. `undo` restores the durable state only: it makes the touched groups again from records, by `replay`, as after a load.
   The caller opens their session state: clients that wait, and session times (`isolation`).
"""

from __future__ import annotations

import attrs

from kcoord.group.state.groups.classic_group import NO_RECORD, ClassicGroup
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.records.connect_replay import settle_loaded_group
from kcoord.group.state.records.connect_snapshot import ConnectBefore
from kcoord.group.state.records.consumer_replay import settle_loaded_group as settle_loaded_consumer_group
from kcoord.group.state.records.consumer_snapshot import ConsumerBefore
from kcoord.group.state.records.topic_records import declared_topic, no_topic
from kcoord.group.state.replay import replay
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.topic import Topic
from kcoord.protocol.records import (
    DeclaredTopicKey,
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)


@attrs.define(slots=True, eq=False)
class GroupBefore:
    """The durable state of everything that has one group id, before the step."""

    classic: ClassicGroup | None
    classic_record: GroupMetadataValue | None
    connect: ConnectBefore | None
    consumer: ConsumerBefore | None
    configuration: dict[str, str] | None


@attrs.define(slots=True, eq=False)
class Journal:
    """The state that a step, or a part of it, found."""

    groups: dict[str, GroupBefore] = attrs.Factory(dict)
    offsets: dict[tuple[str, str, int], OffsetCommitValue | None] = attrs.Factory(dict)
    topics: dict[str, Topic | None] = attrs.Factory(dict)

    def clear(self) -> None:
        """Forget everything, for the next part."""
        self.groups.clear()
        self.offsets.clear()
        self.topics.clear()

    def note(self, state: ShardState, record: Record) -> None:
        """Note what `record` may change. Call this before the record is applied."""
        key = record.key
        if isinstance(key, GroupMetadataKey):
            self.note_group(state, key.group)
            return
        if isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey):
            self.note_group(state, key.group)  # the first offset makes a group
            at = key.group, key.topic, key.partition
            if at not in self.offsets:
                self.offsets[at] = state.offsets.of_topic(key.group, key.topic).get(key.partition)
            return
        found = self.note_group(state, key.group_id)
        if isinstance(key, DeclaredTopicKey):
            self.topics.setdefault(key.name, state.declared.get(key.name))
            return
        if found.consumer is not None:
            found.consumer.note(key)
        if found.connect is not None:
            found.connect.note(key)

    def note_group(self, state: ShardState, group_id: str) -> GroupBefore:
        """The state of that group id when it was first noted. Notes it if this is the first time."""
        before = self.groups.get(group_id)
        if before is None:
            classic, connect = state.groups.get(group_id), state.connect.get(group_id)
            consumer = state.consumer.get(group_id)
            before = self.groups[group_id] = GroupBefore(
                classic,
                None if classic is None else classic.record,
                None if connect is None else ConnectBefore.of(connect),
                None if consumer is None else ConsumerBefore.of(consumer),
                state.configurations.get(group_id),
            )
        return before

    def undo(self, state: ShardState) -> None:
        """Restore the noted state in `state`. The noted groups then have no sessions. The caller must have dismissed
        the groups that are there now (`isolation`).
        """
        was_live, state.live = state.live, False
        for group_id, before in self.groups.items():
            state.groups.pop(group_id, None)
            state.connect.pop(group_id, None)
            state.consumer.pop(group_id, None)
            _restore_configuration(state, group_id, before.configuration)
            if before.classic_record is not None and before.classic_record is not NO_RECORD:
                replay(state, Record(GroupMetadataKey(group_id), before.classic_record))
            if before.connect is not None:
                _restore_connect_group(state, before.connect)
            if before.consumer is not None:
                _restore_consumer_group(state, before.consumer)
        for (group_id, topic, partition), value in self.offsets.items():
            replay(state, Record(OffsetCommitKey(group_id, topic, partition), value))
        for name, declared in self.topics.items():
            replay(state, no_topic(name) if declared is None else declared_topic(declared))
        for group_id, before in self.groups.items():
            _restore_shell(state, group_id, before)
        state.live = was_live


def _restore_configuration(state: ShardState, group_id: str, configuration: dict[str, str] | None) -> None:
    if state.configurations.get(group_id) != configuration:
        replay(state, records.configuration(group_id, configuration or {}))


def _restore_connect_group(state: ShardState, before: ConnectBefore) -> None:
    for record in before.records():
        replay(state, record)
    group = state.connect[before.group.group_id]
    settle_loaded_group(state, group)
    group.restored_at_connection = state.newest_connection
    for member_id, noted in before.all_members().items():
        if noted.member is not None:
            group.members[member_id].session_holds_ms = noted.member.session_holds_ms  # CG-8


def _restore_consumer_group(state: ShardState, before: ConsumerBefore) -> None:
    for record in before.records():
        replay(state, record)
    group = state.consumer[before.group.group_id]
    settle_loaded_consumer_group(state, group)
    group.restored_at_connection = state.newest_connection


def _restore_shell(state: ShardState, group_id: str, before: GroupBefore) -> None:
    """Restore, or remove, a group that has offsets and no record of its own: it exists as long as its offsets do."""
    offsets = state.offsets.of_group(group_id)
    had_shell = before.classic_record is NO_RECORD
    there = state.groups.get(group_id)
    if had_shell and there is None and offsets:
        topic, partitions = next(iter(offsets.items()))
        partition, value = next(iter(partitions.items()))
        replay(state, Record(OffsetCommitKey(group_id, topic, partition), value))
    elif not had_shell and there is not None and there.record is NO_RECORD:
        del state.groups[group_id]
