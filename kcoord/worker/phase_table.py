"""The whole state machine of a worker as one table: a row for each event, a column for each phase.

A cell is a small function in `transitions.py`. `Membership` finds out which event it is, and calls
`ROW.at(state.phase)(state, now_ms, …)`. `heartbeat_schedule.py` decides when the next heartbeat is due after an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_response import ConnectGroupHeartbeatResponse
from kcoord.worker.state import MembershipState, Phase, Sent
from kcoord.worker.transitions import (
    abandon,
    abandon_part,
    compute,
    fail,
    follow,
    go,
    go_on,
    go_then,
    hasten,
    ignore,
    join,
    join_anew,
    let_go,
    note,
    note_and_part,
    part_then,
    reconcile,
    refuse,
    report_overrun,
    seek_anew,
    stop_in_time,
    stop_part,
    try_later,
    unreachable,
    withdraw,
)

Cell = TypeVar("Cell")
OnAnswer = Callable[[MembershipState, int, Sent, ConnectGroupHeartbeatResponse], None]
OnTime = Callable[[MembershipState, int], None]
OnReason = Callable[[MembershipState, int, str], None]
OnError = Callable[[MembershipState, int, int, str], None]
OnNumber = Callable[[MembershipState, int, int], None]


class Row(NamedTuple, Generic[Cell]):
    """What an event does in each phase; `row.at(phase)` is the cell."""

    idle: Cell
    joining: Cell
    member: Cell
    abandoning: Cell
    leaving: Cell
    parting: Cell
    gone: Cell

    def at(self, phase: Phase) -> Cell:
        """The cell of a phase."""
        return self[phase.column]


# fmt: off
#                       IDLE         JOINING      MEMBER        ABANDONING      LEAVING        PARTING      GONE

# The answer to a heartbeat, by its error; nothing is under way while a worker abandons, or once it has gone
OK      = Row[OnAnswer](unreachable, reconcile,   reconcile,    unreachable,    follow,        go,          unreachable)
COMPUTE = Row[OnAnswer](unreachable, compute,     compute,      unreachable,    follow,        go,          unreachable)
LATER   = Row[OnAnswer](unreachable, try_later,   try_later,    unreachable,    try_later,     try_later,   unreachable)
ELSE    = Row[OnAnswer](unreachable, seek_anew,   seek_anew,    unreachable,    seek_anew,     seek_anew,   unreachable)
FENCED  = Row[OnAnswer](unreachable, join_anew,   abandon,      unreachable,    abandon_part,  go,          unreachable)
FATAL   = Row[OnAnswer](unreachable, fail,        fail,         unreachable,    fail,          go,          unreachable)

# Time: the session is about to end, it has ended, the leave was not answered
STOP    = Row[OnTime](  unreachable, unreachable, stop_in_time, unreachable,    stop_part,     unreachable, unreachable)
ENDED   = Row[OnTime](  unreachable, unreachable, unreachable,  report_overrun, unreachable,   unreachable, unreachable)
NO_BYE  = Row[OnTime](  unreachable, unreachable, unreachable,  unreachable,    unreachable,   go,          unreachable)

# The coordinator cannot be found, or refuses the login, for good
REFUSED = Row[OnError]( ignore,      refuse,      refuse,       go_then,        refuse,        go,          ignore)

# The worker's own side
START   = Row[OnTime](  join,        ignore,      ignore,       ignore,         ignore,        ignore,      ignore)
LEAVE   = Row[OnTime](  go,          withdraw,    let_go,       part_then,      ignore,        ignore,      ignore)
GIVE_UP = Row[OnReason](go,          withdraw,    hasten,       part_then,      hasten,        ignore,      ignore)
FREED   = Row[OnNumber](unreachable, ignore,      note,         ignore,         note_and_part, ignore,      ignore)
STOPPED = Row[OnNumber](unreachable, ignore,      ignore,       go_on,          ignore,        ignore,      ignore)
# fmt: on

_ROWS: Mapping[int, Row[OnAnswer]] = {
    ErrorCode.NONE: OK,
    ErrorCode.COMPUTE_ASSIGNMENT: COMPUTE,
    ErrorCode.NOT_COORDINATOR: ELSE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ELSE,
    ErrorCode.UNKNOWN_MEMBER_ID: FENCED,
    ErrorCode.FENCED_MEMBER_EPOCH: FENCED,
}


def answer_row(error_code: int, sent: Sent) -> Row[OnAnswer]:
    """The row of an error.

    GROUP_ID_NOT_FOUND to a member's epoch, and INVALID_REQUEST to an epoch 0 with something owned, mean that the member
    is not known (any more). UNRELEASED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR, GROUP_MAX_SIZE_REACHED, FENCED_INSTANCE_ID
    and missing rights end a worker, as in KIP-848.
    """
    row = _ROWS.get(error_code)
    if row is not None:
        return row
    forgotten = error_code == ErrorCode.GROUP_ID_NOT_FOUND and sent.epoch > 0
    if forgotten or (error_code == ErrorCode.INVALID_REQUEST and sent.epoch == 0 and sent.owned):
        return FENCED
    try:
        return LATER if ErrorCode(error_code).retriable else FATAL
    except ValueError:
        return FATAL
