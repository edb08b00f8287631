"""The configured set: which connectors and tasks exist, as workers report it. The highest config offset wins (CG-21).

Offsets of Connect's config topic and of files cannot be compared (`protocol/config_source`). So a set from the topic
ranks above a set from a file, and a worker with a file is refused if Kafka Connect workers are members.
"""

from __future__ import annotations

import attrs

from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.connect_group import NO_OFFSET, Configured, ConnectGroup
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition
from kcoord.protocol.config_source import FILE_OFFSETS_FROM, ConfigSource, is_of_file
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from kcoord.protocol.resources import unpack


def refuse_file(group: ConnectGroup, request: ConnectGroupHeartbeatRequest) -> None:
    """Raise Refused for a worker that takes its connectors from a file, if Kafka Connect workers are members."""
    if request.configured_connectors_and_tasks is None or not _has_topic_members(group):
        return
    if is_of_file(request.config_source, request.config_offset):
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            f"{bounded_name(group.group_id)} has Kafka Connect workers, which read their connectors from the "
            "configuration topic (config.storage.topic). This worker reads them from a file: start it with "
            "--config-topic TOPIC, or use another group",
        )


def can_share_configurations(group: ConnectGroup, config_offset: int) -> bool:
    """Whether a classic worker that has read up to this offset takes its connectors from the same kind of source as the
    members: all from files, or all from the topic.
    """
    if group.classic.members:
        return not (_has_topic_members(group) and config_offset >= FILE_OFFSETS_FROM)
    return group.configured is None or not group.configured.is_of_file or config_offset >= FILE_OFFSETS_FROM


def _has_topic_members(group: ConnectGroup) -> bool:
    """Whether any classic member takes its connectors from Connect's config topic."""
    classic = (group.members[member_id].metadata.classic for member_id in group.classic.members)
    return any(each is not None and each.config_offset < FILE_OFFSETS_FROM for each in classic)


def learn_configured(
    transition: Transition, group: ConnectGroup, request: ConnectGroupHeartbeatRequest, bumped: bool
) -> None:
    """Take in the configured set of a heartbeat. A higher offset wins; of two lists with one offset the first one
    stays. A changed set moves the group epoch, unless this step has done so already (`bumped`); a changed offset alone
    does not. The first list also counts as a change if the group has an assignment error, which may have come from not
    knowing the set.
    """
    told = request.configured_connectors_and_tasks
    if told is None or request.config_offset <= NO_OFFSET:
        return
    if group.configured is not None and _rank(request) <= group.configured.rank:
        return
    metadata = Configured(unpack(told), request.config_offset, request.config_source)
    known = group.claimants.keys() if group.configured is None else group.configured.resources
    changed = known != metadata.resources or (group.configured is None and bool(group.error))
    before = group.configured
    transition.write(records.configured_set(group, metadata))
    transition.connect.classic.keep_change_together(transition, group, before)
    if changed and not bumped:
        bump(transition, group, Reason.RESOURCES_CHANGED)


def _rank(request: ConnectGroupHeartbeatRequest) -> tuple[int, int]:
    return Configured(frozenset(), request.config_offset, request.config_source).rank


def forget_configured(transition: Transition, group: ConnectGroup) -> None:
    """Forget the offset of the configured set, so that the next list of any worker counts, however low its offset is.
    The known set stays until then, so that nothing stops. A classic leader is asked again.
    """
    if group.configured is None or group.configured.offset == NO_OFFSET:
        return
    forgotten = attrs.evolve(group.configured, offset=NO_OFFSET, source=ConfigSource.UNSAID)
    transition.write(records.configured_set(group, forgotten))
    bump(transition, group, Reason.RESOURCES_CHANGED)
