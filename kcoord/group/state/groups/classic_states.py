"""The states of a classic group, and the moves between them.

| state | meaning | in the Client-side Assignment Proposal |
| --- | --- | --- |
| Empty | without members: it has offsets, or members are about to join | Stable, "awaiting the first JoinGroup" |
| PreparingRebalance | members are joining; JoinGroup requests are parked | Joining |
| CompletingRebalance | all have joined; the leader's assignment is awaited | AwaitSync |
| Stable | every member has its assignment, or may fetch it | Stable |
| Dead | not known here: never created, deleted, or its shard is gone | Down |

That proposal's Initialize, a coordinator that still loads, is not a state of a group: its whole shard does not answer
yet.

The log holds Empty, CompletingRebalance or Stable. PreparingRebalance exists only in the coordinator's memory: after a
crash the group is again what its last generation was, and its members ask again. The exception is a group that was a
connect group until its last record: that record says PreparingRebalance (`conversion/to_generic.py`).
"""

from __future__ import annotations

from enum import IntEnum


class ClassicState(IntEnum):
    """A column of the table in `state_table.py`."""

    EMPTY = 0
    PREPARING = 1
    COMPLETING = 2
    STABLE = 3
    DEAD = 4

    @property
    def label(self) -> str:
        """Kafka's name for the state, in answers and records."""
        return LABELS[self]


LABELS = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead")

MOVES: dict[ClassicState, frozenset[ClassicState]] = {
    ClassicState.EMPTY: frozenset({ClassicState.EMPTY, ClassicState.PREPARING, ClassicState.DEAD}),
    ClassicState.PREPARING: frozenset({ClassicState.COMPLETING, ClassicState.EMPTY, ClassicState.DEAD}),
    ClassicState.COMPLETING: frozenset({ClassicState.STABLE, ClassicState.PREPARING, ClassicState.DEAD}),
    ClassicState.STABLE: frozenset({ClassicState.STABLE, ClassicState.PREPARING, ClassicState.DEAD}),
    ClassicState.DEAD: frozenset({ClassicState.EMPTY, ClassicState.COMPLETING, ClassicState.STABLE}),
}
"""The states that may follow each state. To itself: a new record without a new generation. Out of Dead: created, or
loaded.
"""
