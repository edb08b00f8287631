"""The whole state machine of a classic group as one table: a row for each event, a column for each state.

A cell is a transition (a small function in `join_phase.py` or `sync_phase.py`). In the rows at the end it is the error
that the sender gets. The handlers (one file for each API) find out which event a request is, and call the row's cell:
`GONE[group.state](turn, group, …)`. `classic_states.py` says which state may follow which.

A sender that is not a member, or no longer one, never gets here: `member_checks.py` has answered UNKNOWN_MEMBER_ID or
FENCED_INSTANCE_ID. So no events of members can occur in Empty and Dead, and those cells say `nobody`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from kcoord.group.classic.join_and_sync_calls import Join, Sync
from kcoord.group.classic.join_phase import (
    begin,
    change,
    disturb,
    found,
    found_with_id,
    gather,
    go_on_without,
    hand_out_id,
    never_mind,
    obey,
    regather,
    repeat,
    restart,
    succeed,
    succeed_and_restart,
    succeed_quietly,
    time_is_up,
    wait_no_longer,
)
from kcoord.group.classic.sync_phase import assign, await_leader, evict_unsynced, hand_over, join_first
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

Cell = TypeVar("Cell")
OnJoin = Callable[[Transition, ClassicGroup, Join], None]
OnRejoin = Callable[[Transition, ClassicGroup, ClassicMember, Join], None]
OnSync = Callable[[Transition, ClassicGroup, Sync], None]
OnCause = Callable[[Transition, ClassicGroup, str], None]
OnTime = Callable[[Transition, ClassicGroup], None]


class Row(NamedTuple, Generic[Cell]):
    """What an event does in each state; `row[state]` is the cell."""

    empty: Cell
    preparing: Cell
    completing: Cell
    stable: Cell
    dead: Cell


def unreachable(transition: Transition, group: ClassicGroup, *_: Any) -> NoReturn:
    """A cell that cannot be reached."""
    raise AssertionError(f"group {group.group_id}: nobody can do that in {group.state.label}")


# fmt: off
#                               Empty        PreparingRebalance CompletingRebalance  Stable           Dead

# JoinGroup
NEEDS_ID       = Row[OnJoin](   hand_out_id, hand_out_id,       hand_out_id,         hand_out_id,     found_with_id)
NEWCOMER       = Row[OnJoin](   begin,       gather,            disturb,             disturb,         found)
REJOIN_SAME    = Row[OnRejoin]( unreachable, regather,          repeat,              repeat,          unreachable)
REJOIN_LEADER  = Row[OnRejoin]( unreachable, regather,          repeat,              obey,            unreachable)
REJOIN_CHANGED = Row[OnRejoin]( unreachable, regather,          change,              change,          unreachable)
STATIC_RETURN  = Row[OnRejoin]( unreachable, succeed,           succeed_and_restart, succeed_quietly, unreachable)

# SyncGroup
SYNC           = Row[OnSync](   unreachable, join_first,        await_leader,        hand_over,       unreachable)
SYNC_LEADER    = Row[OnSync](   unreachable, join_first,        assign,              hand_over,       unreachable)

# LeaveGroup, or the end of a session; the same of a newcomer that has an id and has not joined yet
GONE           = Row[OnCause](  unreachable, go_on_without,     restart,             restart,         unreachable)
PENDING_GONE   = Row[OnTime](   never_mind,  wait_no_longer,    never_mind,          never_mind,      unreachable)

# time, and a load
JOIN_DUE       = Row[OnTime](   unreachable, time_is_up,        unreachable,         unreachable,     unreachable)
SYNC_DUE       = Row[OnTime](   unreachable, unreachable,       evict_unsynced,      evict_unsynced,  unreachable)
OVER_MAX_SIZE  = Row[OnCause](  unreachable, unreachable,       restart,             restart,         unreachable)
CONVERTED      = Row[OnCause](  unreachable, unreachable,       unreachable,         restart,         unreachable)

_OK, _REJOIN, _IN_USE = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.NON_EMPTY_GROUP
_WHO, _NO_GROUP = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND

# answers to a member's heartbeat and commit at the current generation, a commit without member, an admin's deletion
HEARTBEAT      = Row[ErrorCode](_WHO,        _REJOIN,           _OK,                 _OK,             _WHO)
COMMIT         = Row[ErrorCode](_WHO,        _OK,               _REJOIN,             _OK,             _WHO)
COMMIT_NOBODY  = Row[ErrorCode](_OK,         _WHO,              _WHO,                _WHO,            _OK)
DELETE         = Row[ErrorCode](_OK,         _IN_USE,           _IN_USE,             _IN_USE,         _NO_GROUP)
# fmt: on
