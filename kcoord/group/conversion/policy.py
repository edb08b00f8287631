"""Which of its two kinds is a group of Connect workers to be? What its settings and its members say of it.

| members | kind |
| --- | --- |
| one of the new protocol at least | a connect group, always |
| legacy workers only, `connect.legacy.mode` is `barrier` | a generic group |
| legacy workers only, `individual` | a connect group |
| the same, but one of them speaks nothing but `default` | a generic group: who speaks it keeps the full barrier |

`connect.migration.policy` says which way a worker that comes or goes may take the group: `upgrade` lets a generic group
become a connect group when a worker of the new protocol joins, `downgrade` lets a connect group become a generic one
when the last of those has gone. Without the right to go down its legacy workers stay in the connect group, and are
managed one by one.
"""

from __future__ import annotations

from kcoord.group.connect.group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.connect.settings import LegacyMode
from kcoord.group.contents import Contents
from kcoord.group.generic.group import GenericGroup
from kcoord.group.translation.increment import disarms
from kcoord.group.translation.spoken import DEFAULT


def is_all_legacy(group: ConnectGroup) -> bool:
    """Whether the group has members that take part, and none of the new protocol."""
    return len(group.legacy.members) == len(group.members) and group.has_participants()


def belongs_to_generic(contents: Contents, group: ConnectGroup) -> bool:
    """Whether a connect group is to become a generic one."""
    if not is_all_legacy(group):
        return False
    limits = contents.effective(group.group_id)
    if not limits.migration_policy.downgrades:
        return False
    return limits.legacy_mode is LegacyMode.BARRIER or (group.legacy.protocol == DEFAULT and not _any_disarms(group))


def _any_disarms(group: ConnectGroup) -> bool:
    """Whether a worker has yet to stop what it runs before it is told of `default`: in a generic group it would not."""
    return any(disarms(group, group.members[each]) for each in group.legacy.members)


def belongs_to_connect(contents: Contents, group: GenericGroup) -> bool:
    """Whether a generic group's members are to be managed one by one, as far as its settings and protocols go."""
    return (
        bool(group.members)
        and group.protocol_type == PROTOCOL_TYPE
        and contents.effective(group.group_id).legacy_mode is LegacyMode.INDIVIDUAL
        and speaks_more_than_default(group)
    )


def speaks_more_than_default(group: GenericGroup) -> bool:
    """Whether all members have a protocol in common that has no barrier of its own."""
    common = {name for name, count in group.support.items() if count == len(group.members)}
    return bool(common - {DEFAULT})
