"""Who runs what if a worker that is gone may come back? The assignor `cooperative`, for either side.

- Even and sticky, as `balance` says, over all but what waits.
- What only departed workers had waits for them: from a departure on for the group's rebalance delay, or as long as a
  delay that runs already has left. New resources and new workers wait for nothing.
- A worker that came back in time is a member with its old target: it keeps it.
- When the delay is over, or none is wanted, all is assigned.

It says what shall be; who must let go first is the coordinator's business. So there are no rounds of revocation. In a
worker it does not read what legacy members say (`connect` does): a group that has some is led by one of them.
"""

from __future__ import annotations

from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group
from kcoord.assign.sticky import keep_and_balance
from kcoord.assign.universe import delay_ms, existing, lost


class CooperativeAssignor(ConnectAssignor):
    """Client-side and server-side."""

    name = "cooperative"

    def assign(self, group: Group) -> Assignment:
        """All of it but what waits."""
        return cooperate(group)


def cooperate(group: Group) -> Assignment:
    """All of it but what waits."""
    resources, delay = existing(group), delay_ms(group)
    waiting = lost(group, resources) if delay else frozenset()
    if not waiting:
        return keep_and_balance(group, resources)
    return keep_and_balance(group, resources - waiting, delay)
