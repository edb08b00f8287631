"""Which group a JoinGroup goes to: a connect group or a classic group.

| the name belongs to | the JoinGroup goes to |
| --- | --- |
| a connect group that has classic workers | that group |
| a connect group that has only workers of the new protocol | that group, if `connect.migration.policy` lets them go back, or the mode is `individual` |
| no group, or a group without members | a new connect group, if the mode is `individual` and a Connect worker sends it that speaks more than `default` |
| a classic group | that group |
"""  # noqa: E501

from __future__ import annotations

from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT, elect
from kcoord.group.state.connect_settings import ClassicMode, MigrationPolicy
from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.state.transition import Transition
from kcoord.group.translation.embedded_join import Unreadable, read

WAY_BACK = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


def group_to_join_translated(
    transition: Transition, group_id: str, protocol_type: str, protocols: Protocols
) -> ConnectGroup | None:
    """The connect group that a JoinGroup is about; it may be new and not yet in the shard's state. None: the JoinGroup
    is about a classic group.
    """
    limits = transition.state.effective(group_id)
    group = transition.state.connect.get(group_id)
    if protocol_type != PROTOCOL_TYPE or group_id in transition.state.consumer:
        return None
    if group is not None and group.members:
        open_to_classic = limits.migration_policy in WAY_BACK or limits.classic_mode is ClassicMode.INDIVIDUAL
        return group if group.classic.members or open_to_classic else None
    classic = transition.state.groups.get(group_id)
    if classic is not None and (classic.members or classic.pending or classic.rebalance is not None):
        return None
    if limits.classic_mode is not ClassicMode.INDIVIDUAL or not _speaks_increments(protocols):
        return None
    return group or ConnectGroup(group_id)


def _speaks_increments(protocols: Protocols) -> bool:
    try:
        spoken = read(protocols)
    except Unreadable:
        return False
    return elect({spoken.protocols: 1}) != DEFAULT
