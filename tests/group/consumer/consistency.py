"""What is always true of consumer groups between two steps, and what of them must be the same live and after a replay?

The simulator asks the same after each of its steps. Among the invariants are those of KIP-848's model: no partition is
with two members (ValidPartitionEpoch), no epoch is above that which it follows (ValidMemberEpoch).
"""

from __future__ import annotations

from kcoord.group.state.shard_state import ShardState
from kcoord.sim.consumer.convergence import durable
from kcoord.sim.consumer.invariants import contradictions, held_contradictions

__all__ = ["check_consistent", "durable"]


def check_consistent(state: ShardState) -> None:
    """Raise AssertionError where consumer groups contradict themselves."""
    assert list(held_contradictions(state)) == []
    for group_id, group in state.consumer.items():
        assert group.group_id == group_id
        assert group_id not in state.groups
        assert group_id not in state.connect
        paces = state.consumer_settings(group_id).assignment_interval_ms > 0 or group.took_ms > 0
        assert list(contradictions(group, live=state.live, may_wait=paces)) == []
