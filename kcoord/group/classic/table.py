"""The whole state machine of a classic group as one table: a row for each event, a column for each state.

A cell is a transition (a small function in `joining.py` or `syncing.py`). In the rows at the end it is the error that
the sender gets. The handlers (one file for each API) find out which event a request is, and call the row's cell:
`GONE[group.state](turn, group, …)`. `states.py` says which state may follow which.

A sender that is not a member, or no longer one, never gets here: `who.py` has answered UNKNOWN_MEMBER_ID or
FENCED_INSTANCE_ID. So no events of members can occur in Empty and Dead, and those cells say `nobody`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from kcoord.group.classic.calls import Join, Sync
from kcoord.group.classic.joining import (
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
from kcoord.group.classic.syncing import assign, await_leader, hand_over, join_first, put_out_unsynced
from kcoord.group.state.groups.classic_group import GenericGroup
from kcoord.group.state.groups.classic_member import Member
from kcoord.group.state.transition import Turn
from kcoord.protocol.errors import ErrorCode

Cell = TypeVar("Cell")
OnJoin = Callable[[Turn, GenericGroup, Join], None]
OnRejoin = Callable[[Turn, GenericGroup, Member, Join], None]
OnSync = Callable[[Turn, GenericGroup, Sync], None]
OnCause = Callable[[Turn, GenericGroup, str], None]
OnTime = Callable[[Turn, GenericGroup], None]


class Row(NamedTuple, Generic[Cell]):
    """What an event does in each state; `row[state]` is the cell."""

    empty: Cell
    preparing: Cell
    completing: Cell
    stable: Cell
    dead: Cell


def nobody(turn: Turn, group: GenericGroup, *_: Any) -> NoReturn:
    """A cell that cannot be reached."""
    raise AssertionError(f"group {group.group_id}: nobody can do that in {group.state.label}")


# fmt: off
#                              Empty         PreparingRebalance  CompletingRebalance   Stable            Dead

# JoinGroup
NEEDS_ID       = Row[OnJoin](  hand_out_id,  hand_out_id,        hand_out_id,          hand_out_id,      found_with_id)
NEWCOMER       = Row[OnJoin](  begin,        gather,             disturb,              disturb,          found)
REJOIN_SAME    = Row[OnRejoin](nobody,       regather,           repeat,               repeat,           nobody)
REJOIN_LEADER  = Row[OnRejoin](nobody,       regather,           repeat,               obey,             nobody)
REJOIN_CHANGED = Row[OnRejoin](nobody,       regather,           change,               change,           nobody)
STATIC_RETURN  = Row[OnRejoin](nobody,       succeed,            succeed_and_restart,  succeed_quietly,  nobody)

# SyncGroup
SYNC           = Row[OnSync](  nobody,       join_first,         await_leader,         hand_over,        nobody)
SYNC_LEADER    = Row[OnSync](  nobody,       join_first,         assign,               hand_over,        nobody)

# LeaveGroup, or the end of a session; the same of a newcomer that has an id and has not joined yet
GONE           = Row[OnCause]( nobody,       go_on_without,      restart,              restart,          nobody)
PENDING_GONE   = Row[OnTime](  never_mind,   wait_no_longer,     never_mind,           never_mind,       nobody)

# time, and a load
JOIN_DUE       = Row[OnTime](  nobody,       time_is_up,         nobody,               nobody,           nobody)
SYNC_DUE       = Row[OnTime](  nobody,       nobody,             put_out_unsynced,     put_out_unsynced, nobody)
OVER_MAX_SIZE  = Row[OnCause]( nobody,       nobody,             restart,              restart,          nobody)
CONVERTED      = Row[OnCause]( nobody,       nobody,             nobody,               restart,          nobody)

_OK, _REJOIN, _IN_USE = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.NON_EMPTY_GROUP
_WHO, _NO_GROUP = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND

# answers to a member's heartbeat and commit at the current generation, a commit without member, an admin's deletion
HEARTBEAT      = Row[ErrorCode](_WHO,        _REJOIN,            _OK,                  _OK,              _WHO)
COMMIT         = Row[ErrorCode](_WHO,        _OK,                _REJOIN,              _OK,              _WHO)
COMMIT_NOBODY  = Row[ErrorCode](_OK,         _WHO,               _WHO,                 _WHO,             _OK)
DELETE         = Row[ErrorCode](_OK,         _IN_USE,            _IN_USE,              _IN_USE,          _NO_GROUP)
# fmt: on
