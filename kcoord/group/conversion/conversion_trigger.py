"""A classic group becomes a connect group because its settings ask for it: when that is checked.

| after | what is checked |
| --- | --- |
| a SyncGroup of a classic group, or a sweep of it | that group, once all members have their assignments |
| a change of its settings | that group, in every state |
| a load, since the server's settings may have changed | all groups |

`newcomer.py` has the case that a worker of the new protocol joins. The way back is checked after each change of a
connect group (`connect/settle.py`): its last worker of the new protocol has gone, its mode has changed, or a worker
speaks only `default`.
"""

from __future__ import annotations

from kcoord.group.classic.sweep import ask_for_next_sweep, sweep
from kcoord.group.connect.settle import settle
from kcoord.group.conversion.classic_holdings import NotConvertible
from kcoord.group.conversion.kind_policy import belongs_to_connect
from kcoord.group.conversion.to_connect import to_connect
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.transition import Transition


def follow(transition: Transition, group: ClassicGroup) -> bool:
    """Convert the group if it belongs to the connect groups. True if it is a connect group now."""
    if group.state is ClassicState.DEAD or not belongs_to_connect(transition.state, group):
        return False
    try:
        converted = to_connect(transition, group)
    except NotConvertible:
        return False  # `describe` says why
    settle(transition, converted)
    return True


def sweep_classic(transition: Transition, group: ClassicGroup) -> None:
    """Sweep a classic group. If that has ended its rebalance, the group may be converted."""
    sweep(transition, group)
    if not follow_when_stable(transition, group):
        ask_for_next_sweep(transition, group)


def follow_when_stable(transition: Transition, group: ClassicGroup) -> bool:
    """The same for a group whose rebalance may end now: only once it has ended, so that nobody is called a second
    time.
    """
    return group.state is ClassicState.STABLE and not group.unsynced and follow(transition, group)
