"""Which connectors and tasks exist? What workers say, the highest config offset winning (connect-groups rule 21)."""

from __future__ import annotations

from kcoord.group.connect import records
from kcoord.group.connect.epochs import bump
from kcoord.group.connect.group import NO_OFFSET, Configured, ConnectGroup
from kcoord.group.connect.reasons import Reason
from kcoord.group.turn import Turn
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from kcoord.protocol.resources import unpack


def learn_configured(turn: Turn, group: ConnectGroup, request: ConnectGroupHeartbeatRequest, bumped: bool) -> None:
    """Take what a heartbeat says of the configuration. A higher offset wins, at an equal one the first list stands. A
    changed set bumps the group epoch, unless this step has done so already (`bumped`); the offset alone does not. To
    know it at last is a change where that was what an assignment lacked.
    """
    told = request.configured_connectors_and_tasks
    if told is None or request.config_offset <= (group.configured.offset if group.configured else NO_OFFSET):
        return
    resources = unpack(told)
    known = group.claimants.keys() if group.configured is None else group.configured.resources
    changed = known != resources or (group.configured is None and bool(group.error))
    turn.write(records.configured_set(group, Configured(resources, request.config_offset)))
    if changed and not bumped:
        bump(turn, group, Reason.RESOURCES_CHANGED)
