"""When does a generic group become a connect group for its settings' sake? After whatever made it belong there.

| after | which is looked at |
| --- | --- |
| a SyncGroup of a generic group, or a look at it when something fell due | that group, once all members have their assignments |
| its settings are altered | that group, in whichever state |
| a load, since the server's settings may be others | all groups |

When a worker of the new protocol joins is in `newcomer.py`; the way back is looked at after any change of a connect group
(`connect/settle.py`): its last worker of the new protocol has gone, its mode is another, a worker speaks only `default`.
"""  # noqa: E501

from __future__ import annotations

from kcoord.group.connect.settle import settle
from kcoord.group.conversion.policy import belongs_to_connect
from kcoord.group.conversion.to_connect import to_connect
from kcoord.group.conversion.workers import NotConvertible
from kcoord.group.generic.group import GenericGroup
from kcoord.group.generic.states import State
from kcoord.group.turn import Turn


def follow(turn: Turn, group: GenericGroup) -> bool:
    """True if the group is a connect group now."""
    if group.state is State.DEAD or not belongs_to_connect(turn.contents, group):
        return False
    try:
        converted = to_connect(turn, group)
    except NotConvertible:
        return False  # `describe` says why
    settle(turn, converted)
    return True


def follow_when_stable(turn: Turn, group: GenericGroup) -> bool:
    """The same, of a group whose rebalance ends perhaps: not before it has, so that nobody is called a second time."""
    return group.state is State.STABLE and not group.unsynced and follow(turn, group)
