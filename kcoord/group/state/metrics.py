"""The metrics of a shard: groups by state, members, and counters of what has happened, for connect and consumer groups.

KIP-848 has the numbers of groups by protocol and by state, and of rebalances. The other metrics say why groups
rebalance, and which members come and go. Counters begin at 0 with each shard and only go up. The part that shows them
adds up the shards of a process, and computes rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

CLASSIC, CONNECT, CONSUMER = "classic", "connect", "consumer"
"""The protocols of groups, as metrics and ListGroups name them."""


@attrs.define(slots=True)
class ModernCounters:
    """What has happened in groups without a barrier of one kind, since the shard was loaded."""

    rebalances: Counter[str] = attrs.Factory(Counter)
    """Moves of the group epoch, by reason (CG-13, KG-6)."""
    members: Counter[str] = attrs.Factory(Counter)
    """Members that joined, were replaced, went away, left or expired; in connect groups also: rejoined, or were put out
    (excluded).
    """
    refused: Counter[str] = attrs.Factory(Counter)
    """Heartbeats that were answered with an error, by the name of the error."""
    installed: Counter[str] = attrs.Factory(Counter)
    """Assignments that became the target, by assignor."""
    moved: int = 0
    """Resources that moved from one member's target to another's, or to or from nobody: connectors and tasks, or
    partitions.
    """
    converged: int = 0
    """Rebalances after which every member owned its target."""
    converging_ms: int = 0
    """The time that these took together, from the move of the group epoch on, in ms."""


@attrs.define(slots=True)
class Counters(ModernCounters):
    """The same of connect groups, and what is counted in groups of all kinds."""

    computations: Counter[str] = attrs.Factory(Counter)
    """Computations that began: client (a worker was chosen), server."""
    given_up: int = 0
    """Chosen workers that failed or did not install in time (CG-20)."""
    rejected: int = 0
    """Installs of the chosen worker that were not valid."""
    errors: Counter[str] = attrs.Factory(Counter)
    """Computations that ended in an assignment error, by its kind."""
    over_limit: Counter[str] = attrs.Factory(Counter)
    """Requests to groups of any kind that exceeded a limit and were refused, by what was too much."""
    conversions: Counter[str] = attrs.Factory(Counter)
    """Groups that changed their kind: to connect, to consumer, to classic (from either)."""
    faults: Counter[str] = attrs.Factory(Counter)
    """Parts of steps that broke off and were undone, in groups of all kinds, by what was being done (an API's name, or
    what fell due).
    """
    repeated: Counter[str] = attrs.Factory(Counter)
    """Rebalances that gave the same answer to the same input as an earlier one, by the group's protocol."""
    slowed: Counter[str] = attrs.Factory(Counter)
    """Rebalances that had to wait because the last ones had repeated themselves, by the group's protocol."""


@attrs.define(slots=True)
class ConsumerCounters(ModernCounters):
    """The same of consumer groups."""

    held: int = 0
    """Heartbeats whose answers waited until they would say something new, or until that had taken too long (KG-10)."""
    failed: Counter[str] = attrs.Factory(Counter)
    """Assignments that could not be made, by assignor."""
    fused: int = 0
    """Heartbeats without news that came too soon after the last answer, so that theirs waited for a moment (KG-13)."""


@attrs.frozen(slots=True)
class Misplaced:
    """The numbers of a group's connectors and tasks that are not where its placement rules want them."""

    unplaced: int
    """These run nowhere."""
    unmet: int
    """These run in a place that the rules do not want, because there is no other."""


@attrs.frozen(slots=True)
class Metrics:
    """The metrics of a shard at one moment."""

    groups: Mapping[str, Mapping[str, int]]
    """The number of groups by protocol and state, 0 included."""
    members: Mapping[str, int]
    """The number of members by protocol."""
    quarantined: int
    """The number of groups in quarantine after a fault: nothing falls due in them, or they are not served."""
    misplaced: Mapping[str, Misplaced]
    """By id, the connect groups whose placement rules cannot all be met."""
    connect: Counters
    consumer: ConsumerCounters
