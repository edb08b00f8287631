"""The whole state machine of a consumer as one table: a row for each event, a column for each phase.

A cell is a small function in `transitions.py`. `Membership` finds out which event it is, and calls
`ROW.at(state.phase)(state, now_ms, …)`. `heartbeats.py` decides when the next heartbeat is due.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from kcoord.consumer.state import Call, MembershipState, Phase, Sent
from kcoord.consumer.transitions import (
    come_back,
    compute,
    disown,
    disown_and_go,
    fail,
    go,
    go_on,
    go_then,
    hasten,
    ignore,
    join,
    join_anew,
    keep,
    let_go,
    lose,
    lose_and_go,
    never,
    note,
    note_and_part,
    part_then,
    reclaim,
    reconcile,
    refuse,
    seek_anew,
    step_aside,
    try_later,
    withdraw,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupHeartbeatResponse

Cell = TypeVar("Cell")
OnAnswer = Callable[[MembershipState, int, Sent, ConsumerGroupHeartbeatResponse], None]
OnTime = Callable[[MembershipState, int], None]
OnReason = Callable[[MembershipState, int, str], None]
OnError = Callable[[MembershipState, int, int, str], None]
OnNumber = Callable[[MembershipState, int, int], None]


class Row(NamedTuple, Generic[Cell]):
    """What an event does in each phase; `row.at(phase)` is the cell."""

    idle: Cell
    joining: Cell
    member: Cell
    losing: Cell
    away: Cell
    leaving: Cell
    parting: Cell
    gone: Cell

    def at(self, phase: Phase) -> Cell:
        """The cell of a phase."""
        return self[phase.column]


# fmt: off
#                          IDLE    JOINING     MEMBER      LOSING     AWAY       LEAVING        PARTING    GONE

# The answer to a heartbeat, by its error. None is under way while a consumer stops, is away or says farewell
OK         = Row[OnAnswer](never,  reconcile,  reconcile,  never,     never,     keep,          never,     never)
COMPUTE    = Row[OnAnswer](never,  compute,    compute,    never,     never,     keep,          never,     never)
LATER      = Row[OnAnswer](never,  try_later,  try_later,  never,     never,     try_later,     never,     never)
ELSE       = Row[OnAnswer](never,  seek_anew,  seek_anew,  never,     never,     seek_anew,     never,     never)
FENCED     = Row[OnAnswer](never,  join_anew,  lose,       never,     never,     lose_and_go,   never,     never)
UNRELEASED = Row[OnAnswer](never,  reclaim,    fail,       never,     never,     fail,          never,     never)
FATAL      = Row[OnAnswer](never,  fail,       fail,       never,     never,     fail,          never,     never)

# The answer to a farewell
LEFT       = Row[OnAnswer](never,  ignore,     never,      ignore,    ignore,    never,         go,        never)
LEFT_LATER = Row[OnAnswer](never,  ignore,     never,      ignore,    ignore,    never,         try_later, never)
LEFT_ELSE  = Row[OnAnswer](never,  ignore,     never,      ignore,    ignore,    never,         seek_anew, never)

# A commit was refused, since the member is not known
DISOWNED   = Row[OnNumber](never,  ignore,     disown,     ignore,    ignore,    disown_and_go, ignore,    ignore)

# The coordinator cannot be found, or refuses the login, for good
REFUSED    = Row[OnError]( ignore, refuse,     refuse,     go_then,   refuse,    refuse,        go,        ignore)

# Time: the farewell was not answered
NO_BYE     = Row[OnTime](  never,  never,      never,      never,     never,     never,         go,        never)

# The application: it has not polled for too long, it polls
OVERDUE    = Row[OnTime](  never,  step_aside, step_aside, never,     never,     never,         never,     never)
POLLED     = Row[OnTime](  ignore, ignore,     never,      ignore,    come_back, ignore,        ignore,    ignore)

# The consumer's own side
START      = Row[OnTime](  join,   never,      never,      never,     never,     never,         never,     never)
LEAVE      = Row[OnTime](  go,     withdraw,   let_go,     part_then, go,        ignore,        ignore,    ignore)
GIVE_UP    = Row[OnReason](go,     withdraw,   hasten,     part_then, go,        hasten,        ignore,    ignore)
FREED      = Row[OnNumber](never,  ignore,     note,       ignore,    ignore,    note_and_part, ignore,    ignore)
STOPPED    = Row[OnNumber](never,  ignore,     ignore,     go_on,     ignore,    ignore,        ignore,    ignore)
# fmt: on

_HEARTBEATS: Mapping[int, Row[OnAnswer]] = {
    ErrorCode.NONE: OK,
    ErrorCode.NOT_COORDINATOR: ELSE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ELSE,
    ErrorCode.UNKNOWN_MEMBER_ID: FENCED,
    ErrorCode.FENCED_MEMBER_EPOCH: FENCED,
    ErrorCode.UNRELEASED_INSTANCE_ID: UNRELEASED,
}
_FAREWELLS: Mapping[Row[OnAnswer], Row[OnAnswer]] = {ELSE: LEFT_ELSE, LATER: LEFT_LATER}


def answer_row(response: ConsumerGroupHeartbeatResponse, sent: Sent) -> Row[OnAnswer]:
    """The row of an answer to a heartbeat or a farewell. COMPUTE is OK with one thing more to do.

    GROUP_ID_NOT_FOUND to a member's epoch means that the member is not known any more. Missing rights,
    FENCED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR, GROUP_MAX_SIZE_REACHED and a bad expression end a consumer, as in KIP-848.
    A farewell that is refused has nothing more to say.
    """
    row = _heartbeat_row(response.error_code, sent)
    if sent.call is not Call.HEARTBEAT:
        return _FAREWELLS.get(row, LEFT)
    asks_to_compute = response.error_code == ErrorCode.NONE and response.should_compute_assignment
    return COMPUTE if asks_to_compute else row


def _heartbeat_row(error_code: int, sent: Sent) -> Row[OnAnswer]:
    row = _HEARTBEATS.get(error_code)
    if row is not None:
        return row
    if error_code == ErrorCode.GROUP_ID_NOT_FOUND and sent.epoch > 0:
        return FENCED
    try:
        return LATER if ErrorCode(error_code).retriable else FATAL
    except ValueError:
        return FATAL
