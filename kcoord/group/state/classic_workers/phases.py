"""The phases of one classic worker's rebalance, and which phase may follow which. The group itself has no phase.

| phase | meaning | heartbeat |
| --- | --- | --- |
| STABLE | it has its assignment, and nothing that concerns it has changed | 0 |
| PREPARING | it must join again: its next heartbeat says so, and it has its rebalance timeout for that | 27 |
| COMPLETING | it has joined and fetches its assignment, within the same time | 0 |

A worker may join by itself in every phase. (KIP-848 has these states for the members of a group that is being upgraded.
The names are Kafka's names for a group's states.)
"""

from __future__ import annotations

from enum import IntEnum

from kcoord.protocol.errors import ErrorCode


class Phase(IntEnum):
    """A row of the table above."""

    STABLE = 0
    PREPARING = 1
    COMPLETING = 2

    @property
    def label(self) -> str:
        """The name in descriptions."""
        return LABELS[self]


LABELS = ("Stable", "PreparingRebalance", "CompletingRebalance")

MOVES: dict[Phase, frozenset[Phase]] = {
    Phase.STABLE: frozenset({Phase.PREPARING, Phase.COMPLETING}),
    Phase.PREPARING: frozenset({Phase.COMPLETING}),
    Phase.COMPLETING: frozenset({Phase.COMPLETING, Phase.STABLE, Phase.PREPARING}),
}
"""The phases that may follow each phase. COMPLETING may follow itself: a worker joins once more before it has synced.
"""

HEARTBEAT = {
    Phase.STABLE: ErrorCode.NONE,
    Phase.PREPARING: ErrorCode.REBALANCE_IN_PROGRESS,
    Phase.COMPLETING: ErrorCode.NONE,
}
