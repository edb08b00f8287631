"""The no-op heartbeat: a heartbeat that says only that its sender is alive.

While the log cannot be written (a full disk), workers that have converged must go on. The coordinator can answer these
heartbeats because the answer is known and nothing has to be written.
"""

from __future__ import annotations

from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from kcoord.protocol.resources import unpack


def is_noop_heartbeat(state: ShardState, request: ConnectGroupHeartbeatRequest) -> bool:
    """Whether the heartbeat comes from a converged member of a stable group and says nothing new."""
    group = state.connect.get(request.group_id)
    member = None if group is None else group.members.get(request.member_id)
    if group is None or member is None or group.state is not ModernState.STABLE or member.evicted:
        return False
    if not request.member_epoch == member.epoch == group.assignment_epoch or is_owed_a_session(state, group, member):
        return False
    says_more = (
        request.instance_id is not None
        or request.rebalance_timeout_ms != -1
        or request.server_assignor is not None
        or request.client_assignors is not None
        or request.url is not None
        or request.trouble is not None
        or request.config_offset != -1
        or request.configured_connectors_and_tasks is not None
    )
    owned = request.connectors_and_tasks
    return not says_more and (owned is None or unpack(owned) == member.current)


def is_owed_a_session(state: ShardState, group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the next answer has a longer session timeout than any before: that must be written first (CG-8)."""
    return state.effective(group.group_id).session_timeout_ms > member.metadata.session_timeout_ms
