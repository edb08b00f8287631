"""The states of a group without a barrier. A state follows from the epochs and from who owns what; it is never stored.

| state | meaning |
| --- | --- |
| Empty | the group has no members |
| Assigning | the group has changed and its next assignment is not installed yet: group epoch > assignment epoch |
| Reconciling | the assignment is installed, and some member lacks a part of its target or must release something |
| Stable | every member owns exactly its target |
| Dead | the group is not known here: never created, deleted, or its shard is gone |
"""

from __future__ import annotations

from enum import IntEnum


class ModernState(IntEnum):
    """The value of `ModernGroup.state`."""

    EMPTY = 0
    ASSIGNING = 1
    RECONCILING = 2
    STABLE = 3
    DEAD = 4

    @property
    def label(self) -> str:
        """The name of the state in answers."""
        return LABELS[self]


LABELS = ("Empty", "Assigning", "Reconciling", "Stable", "Dead")
