"""Is a request of the generic protocol about a connect group?

| the name is | a JoinGroup goes to |
| --- | --- |
| a connect group's that has legacy workers | it |
| a connect group's that has only workers of the new protocol | it, if `connect.migration.policy` lets them go back, or the mode is `individual` |
| nobody's, or of a group without members | a new connect group, if the mode is `individual`, and it is a Connect worker's with more than `default` |
| a generic group's | that one |
"""  # noqa: E501

from __future__ import annotations

from kcoord.group.connect.group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.connect.settings import LegacyMode, MigrationPolicy
from kcoord.group.generic.member import Protocols
from kcoord.group.translation.reading import Unreadable, read
from kcoord.group.translation.spoken import DEFAULT, elect
from kcoord.group.turn import Turn

WAY_BACK = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


def group_to_join_translated(
    turn: Turn, group_id: str, protocol_type: str, protocols: Protocols
) -> ConnectGroup | None:
    """The connect group that a JoinGroup is about, one that is not in the books yet among them; None: it is about a
    generic group.
    """
    limits = turn.contents.effective(group_id)
    group = turn.contents.connect.get(group_id)
    if protocol_type != PROTOCOL_TYPE:
        return None
    if group is not None and group.members:
        open_to_legacy = limits.migration_policy in WAY_BACK or limits.legacy_mode is LegacyMode.INDIVIDUAL
        return group if group.legacy.members or open_to_legacy else None
    generic = turn.contents.groups.get(group_id)
    if generic is not None and (generic.members or generic.pending or generic.rebalance is not None):
        return None
    if limits.legacy_mode is not LegacyMode.INDIVIDUAL or not _speaks_increments(protocols):
        return None
    return group or ConnectGroup(group_id)


def _speaks_increments(protocols: Protocols) -> bool:
    try:
        spoken = read(protocols)
    except Unreadable:
        return False
    return elect({spoken.protocols: 1}) != DEFAULT
