"""The state machine of a classic worker as one table: a row for each kind of answer, a column for each phase.

Only phases that wait for an answer have a column. A cell is a function in `transitions.py`. Time, and what the worker's
own side reports, is in `membership.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kcoord.protocol.messages import Response
from kcoord.worker.classic.phases import Kind, Phase
from kcoord.worker.classic.state import ClassicMembershipState, Sent
from kcoord.worker.classic.transitions import (
    fail,
    go_on,
    join_again,
    join_later,
    joined,
    live,
    lose,
    lose_and_part,
    part,
    round_later,
    seek,
    synced,
    take_name,
    try_later,
    unreachable,
)

Cell = Callable[[ClassicMembershipState, int, Sent, Response], None]


class Row(NamedTuple):
    """The moves for one kind of answer, by phase."""

    wants_round: Cell
    """The answer to a heartbeat, while what must stop is stopping."""
    joining: Cell
    computing: Cell
    """The answer to a heartbeat."""
    syncing: Cell
    stable: Cell
    """The answer to a heartbeat."""
    leaving: Cell
    """The answer to a heartbeat, while everything is stopping."""
    parting: Cell

    def at(self, phase: Phase) -> Cell:
        """The cell of that phase."""
        return self[_COLUMNS.index(phase)]


_COLUMNS = (
    Phase.WANTS_ROUND,
    Phase.JOINING,
    Phase.COMPUTING,
    Phase.SYNCING,
    Phase.STABLE,
    Phase.LEAVING,
    Phase.PARTING,
)

# fmt: off
ROWS: Mapping[Kind, Row] = {
    #                   WANTS_ROUND  JOINING      COMPUTING    SYNCING      STABLE       LEAVING        PARTING
    Kind.OK:        Row(live,        joined,      live,        synced,      live,        live,          part),
    Kind.ROUND:     Row(go_on,       join_later,  go_on,       join_again,  join_again,  go_on,         part),
    Kind.LATER:     Row(try_later,   round_later, try_later,   round_later, try_later,   try_later,     part),
    Kind.ELSEWHERE: Row(seek,        seek,        seek,        seek,        seek,        seek,          part),
    Kind.NAMED:     Row(unreachable, take_name,   unreachable, unreachable, unreachable, unreachable,   part),
    Kind.LOST:      Row(lose,        lose,        lose,        lose,        lose,        lose_and_part, part),
    Kind.FATAL:     Row(fail,        fail,        fail,        fail,        fail,        fail,          part),
}
# fmt: on
