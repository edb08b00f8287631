"""The records of a connect group: one function for each record, keys 3 to 10.

Tombstones: a member that goes takes its records 5 and 7 with it. Its target (9) stays until an assignment gives its
resources away (CG-22). A deleted group takes all its records with it except its configuration (CG-29).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.connect_settings import STORED_NAMES
from kcoord.group.state.groups.connect_group import (
    NO_OFFSET,
    PASSED_DEADLINE,
    UNKNOWN_DELAY,
    Configured,
    ConnectGroup,
    ConnectMember,
    Metadata,
    Resources,
    Target,
)
from kcoord.group.state.groups.modern_group import UNSET
from kcoord.protocol.generated import connect_worker_group_connectors_tasks_metadata_value as record4
from kcoord.protocol.generated import connect_worker_group_current_member_assignment_value as record7
from kcoord.protocol.generated import connect_worker_group_history_value as record10
from kcoord.protocol.generated import connect_worker_group_target_assignment_member_value as record9
from kcoord.protocol.generated.connect_worker_group_configuration_value import Configuration
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
from kcoord.protocol.resources import pack
from kcoord.resource import Resource


def group_epoch(group: ConnectGroup, epoch: int, reason: str, wall_ms: int) -> Record:
    """3: the group epoch, why it was bumped, and when."""
    return Record(
        ConnectWorkerGroupMetadataKey(group.group_id), ConnectWorkerGroupMetadataValue(epoch, reason, wall_ms)
    )


def configured_set(group: ConnectGroup, configured: Configured) -> Record:
    """4: the connectors and tasks that exist."""
    packed = pack(configured.resources, record4.ConnectorsTasks, record4.ConnectorTaskId)
    return Record(
        ConnectWorkerGroupConnectorsTasksMetadataKey(group.group_id),
        ConnectWorkerGroupConnectorsTasksMetadataValue(group.epoch, packed, configured.offset, configured.source),
    )


def no_configured_set(group_id: str) -> Record:
    """4: the configured set is forgotten."""
    return Record(ConnectWorkerGroupConnectorsTasksMetadataKey(group_id), None)


def member_metadata(group_id: str, member_id: str, metadata: Metadata | None) -> Record:
    """5: a member's metadata; None: the member is gone."""
    return Record(ConnectWorkerGroupMemberMetadataKey(group_id, member_id), metadata)


def target_assignment(
    group: ConnectGroup,
    computed_by: str | None,
    assignor: str,
    delay_deadline_wall_ms: int,
    error: int = 0,
    error_message: str | None = None,
    epoch: int | None = None,
    computed_by_url: str | None = None,
    computed_offset: int = NO_OFFSET,
    config_round: int | None = None,
    delay_ms: int | None = None,
    workers_delay_ms: int | None = None,
) -> Record:
    """6: the assignment epoch (by default the group epoch), and how it was reached."""
    value = ConnectWorkerGroupTargetAssignmentValue(
        assignment_epoch=group.epoch if epoch is None else epoch,
        computed_by=computed_by,
        assignor_name=assignor,
        delay_deadline_ms=delay_deadline_wall_ms,
        delay_ms=_delay_ms(delay_deadline_wall_ms, group.delay_ms if delay_ms is None else delay_ms),
        error=error,
        error_message=None if error_message is None else bounded_text(error_message),
        computed_by_url=computed_by_url,
        config_offset=computed_offset,
        config_round=group.config_round if config_round is None else config_round,
        workers_delay_ms=group.workers_delay_ms if workers_delay_ms is None else workers_delay_ms,
    )
    return Record(ConnectWorkerGroupTargetAssignmentKey(group.group_id), value)


def _delay_ms(deadline_wall_ms: int, delay_ms: int) -> int:
    return delay_ms if deadline_wall_ms > PASSED_DEADLINE else UNKNOWN_DELAY


def computed_by_successor(group: ConnectGroup, member_id: str) -> Record:
    """6: the member that computed the target has another id now."""
    return _same_target(group, member_id, group.delay_deadline_wall_ms)


def led_by(group: ConnectGroup, member_id: str, url: str | None, offset: int) -> Record:
    """6: the leader of the classic members, and how far it had read when it was asked what exists."""
    return target_assignment(
        group,
        member_id,
        group.assignor,
        group.delay_deadline_wall_ms,
        group.error,
        group.error_message,
        group.assignment_epoch,
        url,
        offset,
    )


def workers_delay(group: ConnectGroup, delay_ms: int) -> Record:
    """6: the delay that is set on the classic workers."""
    return _same_target(group, group.computed_by, group.delay_deadline_wall_ms, workers_delay_ms=delay_ms)


def delay_over(group: ConnectGroup) -> Record:
    """6: the delay of the installed target is over."""
    return _same_target(group, group.computed_by, PASSED_DEADLINE)


def delay_moved(group: ConnectGroup, deadline_wall_ms: int, delay_ms: int) -> Record:
    """6: the delay of the installed target now ends in `delay_ms`."""
    return _same_target(group, group.computed_by, deadline_wall_ms, delay_ms=delay_ms)


def assignment_failed(group: ConnectGroup, error: int, error_message: str) -> Record:
    """6: an assignment error: the group epoch gets no new target, and the old one counts for it."""
    return target_assignment(
        group,
        group.computed_by,
        group.assignor,
        group.delay_deadline_wall_ms,
        error,
        error_message,
        computed_by_url=group.computed_by_url,
        computed_offset=group.computed_offset,
    )


def installed_target(group: ConnectGroup) -> Record:
    """6: the installed target as it is."""
    return _same_target(group, group.computed_by, group.delay_deadline_wall_ms)


def config_round(group: ConnectGroup, offset: int) -> Record:
    """6: a config round of classic members is open at this offset; NO_OFFSET: no round is open."""
    return _same_target(group, group.computed_by, group.delay_deadline_wall_ms, offset)


def _same_target(
    group: ConnectGroup,
    computed_by: str | None,
    delay_deadline_wall_ms: int,
    config_round: int | None = None,
    workers_delay_ms: int | None = None,
    delay_ms: int | None = None,
) -> Record:
    return target_assignment(
        group,
        computed_by,
        group.assignor,
        delay_deadline_wall_ms,
        group.error,
        group.error_message,
        group.assignment_epoch,
        group.computed_by_url,
        group.computed_offset,
        config_round,
        delay_ms,
        workers_delay_ms,
    )


def current_assignment(
    group: ConnectGroup,
    member: ConnectMember,
    current: Resources,
    epoch: int,
    previous: int,
    evicted: bool = False,
    doubtful: Resources | None = None,
) -> Record:
    """7: what a member may be running, and its epoch. `doubtful`: by default what is already doubtful stays so."""
    doubtful = member.doubtful if doubtful is None else doubtful
    target = group.targets.get(member.member_id)
    value = ConnectWorkerGroupCurrentMemberAssignmentValue(
        member_epoch=epoch,
        connectors_tasks=pack(current, record7.ConnectorsTasks, record7.ConnectorTaskId),
        version=0 if target is None else target.version,
        metadata=b"" if target is None else target.metadata,
        previous_member_epoch=previous,
        evicted=evicted,
        doubtful=pack(doubtful & current, record7.ConnectorsTasks, record7.ConnectorTaskId),
    )
    return Record(ConnectWorkerGroupCurrentMemberAssignmentKey(group.group_id, member.member_id), value)


def no_current(group_id: str, member_id: str) -> Record:
    """7: a member is gone and runs nothing any more."""
    return Record(ConnectWorkerGroupCurrentMemberAssignmentKey(group_id, member_id), None)


def configuration(group_id: str, values: Mapping[str, str]) -> Record:
    """8: the group's own settings, under the names of the log; a tombstone if there are none."""
    stored = {STORED_NAMES.get(name, name): value for name, value in values.items()}
    entries = [Configuration(name, value) for name, value in sorted(stored.items())]
    return Record(
        ConnectWorkerGroupConfigurationKey(group_id),
        ConnectWorkerGroupConfigurationValue(entries) if entries else None,
    )


def member_target(group_id: str, member_id: str, target: Target | None) -> Record:
    """9: a member's target; None: it has none any more."""
    value = None
    if target is not None:
        value = ConnectWorkerGroupTargetAssignmentMemberValue(
            connectors_tasks=pack(target.resources, record9.ConnectorsTasks, record9.ConnectorTaskId),
            version=target.version,
            metadata=target.metadata,
            instance_id=target.instance_id,
            url=target.url,
        )
    return Record(ConnectWorkerGroupTargetAssignmentMemberKey(group_id, member_id), value)


def history(group_id: str, epoch: int, entry: ConnectWorkerGroupHistoryValue | None) -> Record:
    """10: the history of one group epoch; None: it is too old to keep."""
    return Record(ConnectWorkerGroupHistoryKey(group_id, epoch), entry)


def history_entry(reason: str, wall_ms: int) -> ConnectWorkerGroupHistoryValue:
    """The value of 10 for a group epoch that has just begun."""
    return ConnectWorkerGroupHistoryValue(
        reason=reason, timestamp=wall_ms, installed_timestamp=UNSET, converged_timestamp=UNSET
    )


def history_move(giver: str, taker: str, resources: Sequence[Resource]) -> record10.Move:
    """In the value of 10: what moved from one member to another; "" is nobody."""
    return record10.Move(giver, taker, pack(resources, record10.ConnectorsTasks, record10.ConnectorTaskId))


def deletion(group: ConnectGroup) -> list[Record]:
    """The records that delete the group. Its configuration stays (CG-29)."""
    group_id = group.group_id
    records = [history(group_id, epoch, None) for epoch in group.history]
    records += [member_target(group_id, member_id, None) for member_id in group.targets]
    if group.configured is not None:
        records.append(no_configured_set(group_id))
    records.append(Record(ConnectWorkerGroupTargetAssignmentKey(group_id), None))
    records.append(Record(ConnectWorkerGroupMetadataKey(group_id), None))
    return records


def with_session_timeout(metadata: Metadata, session_timeout_ms: int) -> Metadata:
    """The metadata `said` with another session timeout: the one that the member was told."""
    return attrs.evolve(metadata, session_timeout_ms=session_timeout_ms)
