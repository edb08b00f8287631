"""The server-side assignor `uniform`: nothing ever waits.

Even and sticky, as in `balance`. What departed workers had is given away at once.
"""

from __future__ import annotations

from kcoord.assign.existing_resources import existing
from kcoord.assign.model import Assignment, Group
from kcoord.assign.sticky import keep_and_balance


class UniformAssignor:
    """The assignor `uniform`."""

    name = "uniform"

    def assign(self, group: Group) -> Assignment:
        """Assign everything now."""
        return keep_and_balance(group, existing(group))
