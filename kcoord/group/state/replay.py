"""The replay of records: the one place where durable state changes, in a live shard and during a load.

A live shard replays its own records as it makes them. So a restart sees exactly the state that was running. During a
load, a classic group's record is only stored; its sessions are opened when the log has ended (`classic/sessions.py`).
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_group import GenericGroup
from kcoord.group.state.records.connect_replay import REPLAY as CONNECT
from kcoord.group.state.records.connect_replay import replay_connect
from kcoord.group.state.shard_state import Contents
from kcoord.protocol.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)


def replay(contents: Contents, record: Record) -> None:
    """Apply one record. Records must come in the order of the log."""
    key, value = record.key, record.value
    if isinstance(key, GroupMetadataKey):
        assert value is None or isinstance(value, GroupMetadataValue)
        _replay_group(contents, key.group, value)
        return
    if type(key) in CONNECT:
        replay_connect(contents, record)
        return
    assert isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey)
    if isinstance(value, LegacyOffsetCommitValue):
        value = OffsetCommitValue(offset=value.offset, metadata=value.metadata, commit_timestamp=value.commit_timestamp)
    assert value is None or isinstance(value, OffsetCommitValue)
    _replay_offset(contents, key.group, key.topic, key.partition, value)


def _replay_group(contents: Contents, group_id: str, value: GroupMetadataValue | None) -> None:
    group = contents.groups.get(group_id)
    if value is None:
        if group is not None:
            del contents.groups[group_id]
            group.bury()
        return
    opened_with_members = group is None and bool(
        value.members
    )  # by a conversion or an adoption, which opens its sessions
    if group is None:
        group = contents.groups[group_id] = GenericGroup(group_id)
    group.record = value
    if contents.live and not opened_with_members:
        group.follow_record()


def _replay_offset(
    contents: Contents, group_id: str, topic: str, partition: int, value: OffsetCommitValue | None
) -> None:
    if value is None:
        contents.offsets.remove(group_id, topic, partition)
        return
    if group_id not in contents.groups and group_id not in contents.connect:
        # Offsets without a group: Apache Kafka calls this a simple group. It has no record of its own.
        group = contents.groups[group_id] = GenericGroup(group_id)
        if contents.live:
            group.follow_record()
    contents.offsets.put(group_id, topic, partition, value)
