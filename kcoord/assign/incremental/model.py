"""The input, the memory and the answer of a Java leader.

These are only values. What a worker holds has an order: the leader takes away first what a worker reports first. Times
are in ms of any clock that does not go back. Terms are those of KIP-415 and of Connect's
`IncrementalCooperativeAssignor`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from kcoord.resource import CONNECTOR, Resource, new

MAX_DELAY_MS = 300_000
"""The default of `scheduled.rebalance.max.delay.ms`."""
NO_GENERATION = -1
CONFIG_MISMATCH = 1
"""The error of an answer if the leader has not read all configurations that some member has read."""

Row: TypeAlias = tuple[Resource, ...]
NOTHING: frozenset[Resource] = frozenset()


@attrs.frozen
class Worker:
    """A member, as its JoinGroup describes it."""

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
    """All connectors, with their numbers of tasks; 0 if the configurations of the tasks are incomplete."""

    def resources(self) -> frozenset[Resource]:
        """All connectors and tasks."""
        return frozenset(
            [new(Resource, (name, at)) for name, tasks in self.task_counts.items() for at in range(CONNECTOR, tasks)]
        )


@attrs.frozen
class Seen:
    """All that the leader looks at in one round."""

    leader_id: str
    workers: tuple[Worker, ...]
    """All members, the leader among them, in the coordinator's order."""
    snapshot: Snapshot
    """What the leader had read of the config topic when it joined."""
    fresh: Snapshot | None = None
    """What it has read since then; used only if some member has read more than `snapshot`. None: nothing more."""
    generation: int = NO_GENERATION
    last_completed_generation: int = NO_GENERATION
    """The last generation in which this worker got an assignment from its SyncGroup."""
    now_ms: int = 0


@attrs.frozen
class Memory:
    """What the leader remembers from round to round. A worker that never led, or was restarted, has `Memory()`."""

    assigned: frozenset[Resource] = NOTHING
    """What runs, or waits for its worker, since the last round."""
    revoked: frozenset[Resource] = NOTHING
    """What the last round took away from a member."""
    revoked_for_balance: bool = False
    """The last round took something away for balance alone. Then further revocations of this kind wait
    (KAFKA-12495).
    """
    successive_revocations: int = 0
    """How many such rounds in a row wanted to take more."""
    candidates: tuple[str, ...] = ()
    """Members that had nothing while lost work waited: they get it when the wait is over."""
    scheduled_rebalance_ms: int = 0
    """When lost work is given to others; 0: nothing waits."""
    delay_ms: int = 0
    generation: int = NO_GENERATION
    members: frozenset[str] = frozenset()


@attrs.frozen
class Share:
    """The assignment of one member."""

    assigned: Row = ()
    """What it is to start, in this order; under `default` all that it is to run."""
    revoked: frozenset[Resource] = NOTHING
    """What it is to stop; it joins again when it has."""
    owned: Row = ()
    """What the leader believes it runs then; for REST requests that the leader forwards."""


@attrs.frozen
class Answer:
    """The outcome of a round."""

    shares: Mapping[str, Share]
    """By member id; all members."""
    leader_url: str
    config_offset: int
    """The config offset as of which the members are to run it."""
    snapshot: Snapshot
    """What the leader has read, after the round."""
    memory: Memory
    delay_ms: int = 0
    """After this time every member joins again by itself; 0: not."""
    error: int = 0
    """0, or CONFIG_MISMATCH: nothing was computed, the shares are empty."""
