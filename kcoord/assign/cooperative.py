"""The assignor `cooperative`, for either side: the work of a departed worker waits for it.

- Even and sticky, as in `balance`, over everything except what waits.
- What only departed workers had waits for them. After a departure it waits for the group's rebalance delay, or for the
  rest of a delay that is running already. New resources and new workers do not wait.
- A worker that came back in time is a member with its old target, and keeps it.
- When the delay is over, or the group wants none, everything is assigned.

The assignor says what each worker is to run; the coordinator works out who must stop what first. So there are no rounds
of revocation. In a worker this assignor does not read the metadata of classic members (`connect` does): in a group that
has some, one of them leads.
"""

from __future__ import annotations

from kcoord.assign.existing_resources import delay_ms, existing, lost
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group
from kcoord.assign.sticky import keep_and_balance


class CooperativeAssignor(ConnectAssignor):
    """The assignor `cooperative`, client-side and server-side."""

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
