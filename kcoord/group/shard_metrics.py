"""The metrics of a shard: its groups and members by kind and state, and what has been counted since the load."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from kcoord.group.state.groups.classic_states import LABELS as CLASSIC_STATES
from kcoord.group.state.groups.modern_states import LABELS as MODERN_STATES
from kcoord.group.state.metrics import CLASSIC, CONNECT, CONSUMER, Metrics, Misplaced
from kcoord.group.state.shard_state import ShardState

__all__ = ["metrics_of"]


def metrics_of(state: ShardState) -> Metrics:
    """The metrics as of now."""
    classic, connect, consumer = state.groups.values(), state.connect.values(), state.consumer.values()
    return Metrics(
        groups={
            CLASSIC: _by_state(CLASSIC_STATES, [group.state.label for group in classic]),
            CONNECT: _by_state(MODERN_STATES, [group.state.label for group in connect]),
            CONSUMER: _by_state(MODERN_STATES, [group.shown_state.label for group in consumer]),
        },
        members={
            CLASSIC: sum(len(group.members) for group in classic),
            CONNECT: sum(len(group.members) for group in connect),
            CONSUMER: sum(len(group.members) for group in consumer),
        },
        quarantined=len(state.quarantine),
        misplaced={
            group.group_id: Misplaced(len(group.placed.unplaced), len(group.placed.unmet))
            for group in connect
            if group.placed.unplaced or group.placed.unmet
        },
        connect=deepcopy(state.counters),
        consumer=deepcopy(state.consumer_counters),
    )


def _by_state(states: Sequence[str], found: Sequence[str]) -> dict[str, int]:
    return {state: found.count(state) for state in states}
