"""In which state is a group of the new protocol? It follows from the group's epochs and from who owns what; it is never
stored.

| state | meaning |
| --- | --- |
| Empty | without members |
| Assigning | the group has changed, its next target assignment is not there yet: group epoch > assignment epoch |
| Reconciling | the target is there, some member does not own all of it, or owns what it must let go |
| Stable | every member owns its target, no less and no more |
| Dead | not known here: never created, deleted, or its shard is gone |
"""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """What `ModernGroup.state` tells."""

    EMPTY = 0
    ASSIGNING = 1
    RECONCILING = 2
    STABLE = 3
    DEAD = 4

    @property
    def label(self) -> str:
        """The name as it stands in answers."""
        return LABELS[self]


LABELS = ("Empty", "Assigning", "Reconciling", "Stable", "Dead")
