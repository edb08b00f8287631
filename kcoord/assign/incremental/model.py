"""What does a Java leader see, keep and answer?

Values only. What a worker holds is an order, not a set: the leader takes away what a worker reports first. Times in ms
of any clock that does not go back. Terms are those of KIP-415 and of Connect's `IncrementalCooperativeAssignor`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from kcoord.assign.resource import CONNECTOR, Resource

MAX_DELAY_MS = 300_000
"""What `scheduled.rebalance.max.delay.ms` is where nobody sets it."""
NO_GENERATION = -1
CONFIG_MISMATCH = 1
"""The error of an answer whose leader has not read all configurations that some member has."""

Row: TypeAlias = tuple[Resource, ...]
NOTHING: frozenset[Resource] = frozenset()


@attrs.frozen
class Worker:
    """A member, as its JoinGroup tells of it."""

    member_id: str
    url: str = ""
    config_offset: int = 0
    held: Row = ()
    """What it was last assigned and has not been told to give up, in the order in which it reports it."""


@attrs.frozen
class Snapshot:
    """What is configured, as of an offset of the config topic."""

    offset: int = 0
    task_counts: Mapping[str, int] = attrs.Factory(dict)
    """All connectors; 0 where the configurations of the tasks are not whole."""

    def resources(self) -> frozenset[Resource]:
        """All connectors and tasks."""
        return frozenset((name, at) for name, tasks in self.task_counts.items() for at in range(CONNECTOR, tasks))


@attrs.frozen
class Seen:
    """All that the leader looks at in one round."""

    leader_id: str
    workers: tuple[Worker, ...]
    """All members, the leader among them, in the coordinator's order."""
    snapshot: Snapshot
    """What the leader had read of the config topic when it joined."""
    fresh: Snapshot | None = None
    """What it has read by now; looked at only if some member has read more than `snapshot`. None: nothing more."""
    generation: int = NO_GENERATION
    last_completed_generation: int = NO_GENERATION
    """The last generation whose SyncGroup this worker got an assignment from."""
    now_ms: int = 0


@attrs.frozen
class Memory:
    """What the leader keeps from round to round. A worker that never led, or was started anew, has `Memory()`."""

    assigned: frozenset[Resource] = NOTHING
    """What runs, or waits for its worker, since the last round."""
    revoked: frozenset[Resource] = NOTHING
    """What the last round took from somebody."""
    revoked_for_balance: bool = False
    """The last round took something away for balance alone; while so, more of it waits (KAFKA-12495)."""
    successive_revocations: int = 0
    """How many such rounds wanted more of it one after the other."""
    candidates: tuple[str, ...] = ()
    """Members that had nothing while lost work waited: they get it when the wait is over."""
    scheduled_rebalance_ms: int = 0
    """When lost work is given to others; 0: nothing waits."""
    delay_ms: int = 0
    generation: int = NO_GENERATION
    members: frozenset[str] = frozenset()


@attrs.frozen
class Share:
    """What one member is told."""

    assigned: Row = ()
    """What it is to start, in this order; under `default` all that it is to run."""
    revoked: frozenset[Resource] = NOTHING
    """What it is to stop; it rejoins when it has."""
    owned: Row = ()
    """What the leader takes it to run then; for REST requests that are forwarded."""


@attrs.frozen
class Answer:
    """What comes of a round."""

    shares: Mapping[str, Share]
    """By member id; all members."""
    leader_url: str
    config_offset: int
    """As of which the members shall run it."""
    snapshot: Snapshot
    """What the leader has read, after the round."""
    memory: Memory
    delay_ms: int = 0
    """After so long every member rejoins by itself; 0: not."""
    error: int = 0
    """0, or CONFIG_MISMATCH: nothing was computed, the shares are empty."""
