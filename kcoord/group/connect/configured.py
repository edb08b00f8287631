"""Which connectors and tasks exist? What workers say, the highest config offset winning (CG-21).

Offsets of Connect's configuration topic and of files cannot be compared (`protocol/config_source`), so what stands in
the topic goes before what stands in a file, and who brings a file is refused where workers of Kafka Connect are.
"""

from __future__ import annotations

import attrs

from kcoord.group.bounded_text import bounded_name
from kcoord.group.connect import records
from kcoord.group.connect.epochs import bump
from kcoord.group.connect.found import Refused
from kcoord.group.connect.group import NO_OFFSET, Configured, ConnectGroup
from kcoord.group.connect.reasons import Reason
from kcoord.group.translation.config_round import keep_change_together
from kcoord.group.turn import Turn
from kcoord.protocol.config_source import FILE_OFFSETS_FROM, ConfigSource, is_of_file
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from kcoord.protocol.resources import unpack


def refuse_file(group: ConnectGroup, request: ConnectGroupHeartbeatRequest) -> None:
    """Raise Refused for a worker that takes connectors from a file, where workers of Kafka Connect are members."""
    if request.configured_connectors_and_tasks is None or not _has_topic_members(group):
        return
    if is_of_file(request.config_source, request.config_offset):
        raise Refused(
            ErrorCode.INVALID_REQUEST,
            f"{bounded_name(group.group_id)} has workers of Kafka Connect, whose connectors stand in their "
            "configuration topic (config.storage.topic), and this worker's in a file: start it with --config-topic "
            "TOPIC, or name another group",
        )


def can_share_configurations(group: ConnectGroup, config_offset: int) -> bool:
    """Whether a worker of the classic protocol that has read up to this offset takes its connectors from where the
    members do: all from files, or all from the topic.
    """
    if group.legacy.members:
        return not (_has_topic_members(group) and config_offset >= FILE_OFFSETS_FROM)
    return group.configured is None or not group.configured.is_of_file or config_offset >= FILE_OFFSETS_FROM


def _has_topic_members(group: ConnectGroup) -> bool:
    """Whether members speak the classic protocol and take their connectors from Connect's configuration topic."""
    legacy = (group.members[member_id].said.legacy for member_id in group.legacy.members)
    return any(each is not None and each.config_offset < FILE_OFFSETS_FROM for each in legacy)


def learn_configured(turn: Turn, group: ConnectGroup, request: ConnectGroupHeartbeatRequest, bumped: bool) -> None:
    """Take what a heartbeat says of the configuration. A higher offset wins, at an equal one the first list stands. A
    changed set bumps the group epoch, unless this step has done so already (`bumped`); the offset alone does not. To
    know it at last is a change where that was what an assignment lacked.
    """
    told = request.configured_connectors_and_tasks
    if told is None or request.config_offset <= NO_OFFSET:
        return
    if group.configured is not None and _rank(request) <= group.configured.rank:
        return
    said = Configured(unpack(told), request.config_offset, request.config_source)
    known = group.claimants.keys() if group.configured is None else group.configured.resources
    changed = known != said.resources or (group.configured is None and bool(group.error))
    before = group.configured
    turn.write(records.configured_set(group, said))
    keep_change_together(turn, group, before)
    if changed and not bumped:
        bump(turn, group, Reason.RESOURCES_CHANGED)


def _rank(request: ConnectGroupHeartbeatRequest) -> tuple[int, int]:
    return Configured(frozenset(), request.config_offset, request.config_source).rank


def forget_configured(turn: Turn, group: ConnectGroup) -> None:
    """From now on whatever a worker says of the configuration counts, at however low an offset. What was known stands
    until then, so that nothing stops; a leader of the classic protocol is asked anew.
    """
    if group.configured is None or group.configured.offset == NO_OFFSET:
        return
    forgotten = attrs.evolve(group.configured, offset=NO_OFFSET, source=ConfigSource.UNSAID)
    turn.write(records.configured_set(group, forgotten))
    bump(turn, group, Reason.RESOURCES_CHANGED)
