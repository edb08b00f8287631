"""The replay of records: the one place where durable state changes, in a live shard and during a load.

A live shard replays its own records as it makes them. So a restart sees exactly the state that was running. During a
load, a classic group's record is only stored; its sessions are opened when the log has ended (`classic/sessions.py`).
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.records.connect_replay import REPLAY as CONNECT
from kcoord.group.state.records.connect_replay import replay_connect
from kcoord.group.state.records.consumer_replay import REPLAY as CONSUMER
from kcoord.group.state.records.consumer_replay import replay_consumer
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.topic import Topic
from kcoord.protocol.records import (
    DeclaredTopicKey,
    DeclaredTopicValue,
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)


def replay(state: ShardState, record: Record) -> None:
    """Apply one record. Records must come in the order of the log."""
    key, value = record.key, record.value
    if isinstance(key, GroupMetadataKey):
        assert value is None or isinstance(value, GroupMetadataValue)
        _replay_group(state, key.group, value)
        return
    if type(key) in CONNECT:
        replay_connect(state, record)
        return
    if type(key) in CONSUMER:
        replay_consumer(state, record)
        return
    if isinstance(key, DeclaredTopicKey):
        assert value is None or isinstance(value, DeclaredTopicValue)
        _replay_topic(state, key.name, value)
        return
    assert isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey)
    if isinstance(value, LegacyOffsetCommitValue):
        value = OffsetCommitValue(offset=value.offset, metadata=value.metadata, commit_timestamp=value.commit_timestamp)
    assert value is None or isinstance(value, OffsetCommitValue)
    _replay_offset(state, key.group, key.topic, key.partition, value)


def _replay_group(state: ShardState, group_id: str, value: GroupMetadataValue | None) -> None:
    group = state.groups.get(group_id)
    if value is None:
        if group is not None:
            del state.groups[group_id]
            group.close()
        return
    opened_with_members = group is None and bool(
        value.members
    )  # by a conversion or an adoption, which opens its sessions
    if group is None:
        group = state.groups[group_id] = ClassicGroup(group_id)
    group.record = value
    if state.live and not opened_with_members:
        group.follow_record()


def _replay_topic(state: ShardState, name: str, value: DeclaredTopicValue | None) -> None:
    if value is None:
        state.declared.pop(name, None)
    else:
        state.declared[name] = Topic(name, value.topic_id, value.partitions)


def _replay_offset(
    state: ShardState, group_id: str, topic: str, partition: int, value: OffsetCommitValue | None
) -> None:
    if value is None:
        state.offsets.remove(group_id, topic, partition)
        return
    if not (group_id in state.groups or group_id in state.connect or group_id in state.consumer):
        # Offsets without a group: Apache Kafka calls this a simple group. It has no record of its own.
        group = state.groups[group_id] = ClassicGroup(group_id)
        if state.live:
            group.follow_record()
    state.offsets.put(group_id, topic, partition, value)
