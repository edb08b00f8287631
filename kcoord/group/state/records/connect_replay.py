"""The replay of a connect group's records: what each of keys 3 to 10 changes. Only `group/state/replay.py` calls this.

While a log is loaded, records of different keys may come in another order than they were written: compaction keeps the
last record of each key. So every function creates the group or the member that it needs. `settle_load` then drops
groups and members whose own record never came, for instance those that only tombstones named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcoord.group.state.classic_workers.session import ClassicSession
from kcoord.group.state.connect_settings import FORMER_NAMES
from kcoord.group.state.groups.connect_group import NO_OFFSET, Configured, ConnectGroup, ConnectMember, Metadata, Target
from kcoord.group.state.records.loaded_groups import complete, replay_history
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.config_source import FILE_OFFSETS_FROM
from kcoord.protocol.records import (
    ConnectWorkerGroupConfigurationKey,
    ConnectWorkerGroupConfigurationValue,
    ConnectWorkerGroupConnectorsTasksMetadataKey,
    ConnectWorkerGroupConnectorsTasksMetadataValue,
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupCurrentMemberAssignmentValue,
    ConnectWorkerGroupHistoryKey,
    ConnectWorkerGroupHistoryValue,
    ConnectWorkerGroupMemberMetadataKey,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
    ConnectWorkerGroupTargetAssignmentMemberValue,
    ConnectWorkerGroupTargetAssignmentValue,
    Record,
)
from kcoord.protocol.resources import unpack

UNSAID = Metadata()
"""The metadata of a member of which the load has read only record 7 so far."""


def replay_connect(state: ShardState, record: Record) -> None:
    """Apply one record of a connect group. Raises KeyError for a record of another kind."""
    REPLAY[type(record.key)](state, record.key, record.value)


def _group(state: ShardState, group_id: str) -> ConnectGroup:
    group = state.connect.get(group_id)
    if group is None:
        group = state.connect[group_id] = ConnectGroup(group_id)
    group.version += 1
    return group


def _metadata(
    state: ShardState, key: ConnectWorkerGroupMetadataKey, value: ConnectWorkerGroupMetadataValue | None
) -> None:
    if value is None:
        group = state.connect.pop(key.group_id, None)
        if group is not None:
            group.close()
        return
    group = _group(state, key.group_id)
    group.epoch, group.reason, group.reason_wall_ms = value.epoch, value.reason, value.reason_timestamp


def _configured(
    state: ShardState,
    key: ConnectWorkerGroupConnectorsTasksMetadataKey,
    value: ConnectWorkerGroupConnectorsTasksMetadataValue | None,
) -> None:
    group = _group(state, key.group_id)
    group.configured = (
        None if value is None else Configured(unpack(value.connectors_tasks), value.config_offset, value.config_source)
    )


def _member(state: ShardState, key: ConnectWorkerGroupMemberMetadataKey, value: Metadata | None) -> None:
    group = _group(state, key.group_id)
    member = group.members.get(key.member_id)
    if value is None:
        if member is not None:
            group.classic.drop(key.member_id)
            group.drop_member(key.member_id, member.metadata.instance_id)
        return
    if member is None:
        member = ConnectMember(key.member_id, value)
    member.metadata = value
    if value.classic is not None:
        group.classic.take_in(key.member_id, tuple(value.classic.protocols))
        member.classic = member.classic or ClassicSession()
    else:
        group.classic.drop(key.member_id)
        member.classic = None
    group.set_metadata(member, value.instance_id)
    group.note_support(member)


def _target(
    state: ShardState,
    key: ConnectWorkerGroupTargetAssignmentKey,
    value: ConnectWorkerGroupTargetAssignmentValue | None,
) -> None:
    group = _group(state, key.group_id)
    value = value or ConnectWorkerGroupTargetAssignmentValue()
    group.set_assignment_epoch(value.assignment_epoch)
    group.computed_by, group.assignor = value.computed_by, value.assignor_name
    group.computed_by_url = value.computed_by_url
    group.computed_offset = NO_OFFSET if value.config_offset >= FILE_OFFSETS_FROM else value.config_offset
    group.config_round = value.config_round
    group.delay_deadline_wall_ms, group.delay_ms = value.delay_deadline_ms, value.delay_ms
    group.workers_delay_ms = value.workers_delay_ms
    group.error, group.error_message = value.error, value.error_message


def _current(
    state: ShardState,
    key: ConnectWorkerGroupCurrentMemberAssignmentKey,
    value: ConnectWorkerGroupCurrentMemberAssignmentValue | None,
) -> None:
    group = _group(state, key.group_id)
    member = group.members.get(key.member_id)
    if value is None:
        if member is not None:
            group.set_current(member, frozenset())
            member.doubtful = frozenset()
        return
    if member is None:
        member = group.members[key.member_id] = ConnectMember(key.member_id, UNSAID)
    member.recorded = True
    member.recorded_epoch, member.recorded_previous = value.member_epoch, value.previous_member_epoch
    member.epoch, member.previous_epoch = value.member_epoch, value.previous_member_epoch
    if member.evicted != value.evicted:
        member.evicted = value.evicted
        group.note_support(member)
    member.doubtful = unpack(value.doubtful)
    group.set_current(member, unpack(value.connectors_tasks))


def _configuration(
    state: ShardState, key: ConnectWorkerGroupConfigurationKey, value: ConnectWorkerGroupConfigurationValue | None
) -> None:
    if value is None:
        state.configurations.pop(key.group_id, None)
    else:
        state.configurations[key.group_id] = {
            FORMER_NAMES.get(each.name, each.name): each.value for each in value.configurations
        }
    if key.group_id in state.connect:
        state.connect[key.group_id].forget_all()


def _member_target(
    state: ShardState,
    key: ConnectWorkerGroupTargetAssignmentMemberKey,
    value: ConnectWorkerGroupTargetAssignmentMemberValue | None,
) -> None:
    target = None
    if value is not None:
        resources = unpack(value.connectors_tasks)
        target = Target(resources, value.version, value.metadata, value.instance_id, value.url)
    _group(state, key.group_id).set_target(key.member_id, target)


def _history(
    state: ShardState, key: ConnectWorkerGroupHistoryKey, value: ConnectWorkerGroupHistoryValue | None
) -> None:
    replay_history(_group(state, key.group_id), key.epoch, value)


REPLAY: dict[type, Callable[[ShardState, Any, Any], None]] = {
    ConnectWorkerGroupMetadataKey: _metadata,
    ConnectWorkerGroupConnectorsTasksMetadataKey: _configured,
    ConnectWorkerGroupMemberMetadataKey: _member,
    ConnectWorkerGroupTargetAssignmentKey: _target,
    ConnectWorkerGroupCurrentMemberAssignmentKey: _current,
    ConnectWorkerGroupConfigurationKey: _configuration,
    ConnectWorkerGroupTargetAssignmentMemberKey: _member_target,
    ConnectWorkerGroupHistoryKey: _history,
}


def settle_load(state: ShardState) -> None:
    """Finish a load: drop groups and members whose own record is missing, and build the indexes."""
    for group in list(state.connect.values()):
        settle_loaded_group(state, group)


def settle_loaded_group(state: ShardState, group: ConnectGroup) -> None:
    """Do what `settle_load` does, for one group."""
    if not group.epoch:
        del state.connect[group.group_id]
        return
    complete(state, group, UNSAID)
