"""Who runs what if nothing ever waits? The server-side assignor `uniform`.

Even and sticky, as `balance` says. What departed workers had is given away at once.
"""

from __future__ import annotations

from kcoord.assign.model import Assignment, Group
from kcoord.assign.sticky import keep_and_balance
from kcoord.assign.universe import existing


class UniformAssignor:
    """Server-side."""

    name = "uniform"

    def assign(self, group: Group) -> Assignment:
        """All of it, now."""
        return keep_and_balance(group, existing(group))
