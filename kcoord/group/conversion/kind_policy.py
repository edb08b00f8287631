"""The policy for groups of Connect workers: classic group or connect group, by settings and members.

| members | kind |
| --- | --- |
| at least one of the new protocol | a connect group, always |
| only classic workers, `connect.classic.mode` is `barrier` | a classic group |
| only classic workers, `individual` | a connect group |
| the same, but one of them speaks only `default` | a classic group: under `default` there is always the full barrier |

`connect.migration.policy` says in which direction the group may be converted when a worker comes or goes. `upgrade`
lets a classic group become a connect group when a worker of the new protocol joins. `downgrade` lets a connect group
become a classic one when the last of those has gone. If it may not, its classic workers stay in the connect group, and
are managed one by one.
"""

from __future__ import annotations

from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.state.shard_state import ShardState
from kcoord.group.translation.delivery.assignment_delta import disarms


def is_all_classic(group: ConnectGroup) -> bool:
    """Whether the group has members that take part, and all its members are classic workers."""
    return len(group.classic.members) == len(group.members) and group.has_participants()


def belongs_to_classic(state: ShardState, group: ConnectGroup) -> bool:
    """Whether a connect group is to become a classic one."""
    if not is_all_classic(group):
        return False
    limits = state.effective(group.group_id)
    if not limits.migration_policy.downgrades:
        return False
    return limits.classic_mode is ClassicMode.BARRIER or (group.classic.protocol == DEFAULT and not _any_disarms(group))


def _any_disarms(group: ConnectGroup) -> bool:
    """Whether a worker must still stop what it runs before it is told of `default`: in a classic group it would not
    stop.
    """
    return any(disarms(group, group.members[each]) for each in group.classic.members)


def belongs_to_connect(state: ShardState, group: ClassicGroup) -> bool:
    """Whether a classic group's members are to be managed one by one, as far as its settings and protocols go."""
    return (
        bool(group.members)
        and group.protocol_type == PROTOCOL_TYPE
        and state.effective(group.group_id).classic_mode is ClassicMode.INDIVIDUAL
        and speaks_more_than_default(group)
    )


def speaks_more_than_default(group: ClassicGroup) -> bool:
    """Whether all members have an embedded protocol in common that needs no full barrier."""
    common = {name for name, count in group.support.items() if count == len(group.members)}
    return bool(common - {DEFAULT})
