"""What can be counted in a shard? How many groups there are in which state, and what has happened in connect groups.

KIP-848 lists groups by protocol, groups by state and rebalances; the rest says why they rebalance, and who comes and
goes. Counters begin at nothing with every shard and only go up: whoever shows them adds up the shards of a process, and
makes rates of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

CLASSIC, CONNECT = "classic", "connect"
"""The protocols of groups: what Kafka calls the type of generic groups, and connect groups."""


@attrs.define(slots=True)
class Counters:
    """What has happened since the shard was loaded, in connect groups where nothing else is said."""

    rebalances: Counter[str] = attrs.Factory(Counter)
    """Bumps of a group epoch, by reason (CG-13)."""
    members: Counter[str] = attrs.Factory(Counter)
    """What became of members: joined, rejoined, replaced, away, left, expired, put out."""
    refused: Counter[str] = attrs.Factory(Counter)
    """Heartbeats that were answered with an error, by its name."""
    computations: Counter[str] = attrs.Factory(Counter)
    """Assignments that were begun, by who computes: client (a worker was chosen), server."""
    given_up: int = 0
    """Chosen workers that failed or did not install in time (CG-20)."""
    installed: Counter[str] = attrs.Factory(Counter)
    """Assignments that became the target, by assignor."""
    rejected: int = 0
    """Installs of the chosen worker that were not valid."""
    errors: Counter[str] = attrs.Factory(Counter)
    """Assignments that ended in an error, by its kind."""
    moved: int = 0
    """Connectors and tasks whose target went from one to another, or to or from nobody."""
    converged: int = 0
    """Rebalances after which every member owned its target."""
    converging_ms: int = 0
    """How long those took altogether, from the bump on."""
    over_limit: Counter[str] = attrs.Factory(Counter)
    """Requests to groups of any kind that were refused because they brought too much, by what it was."""
    conversions: Counter[str] = attrs.Factory(Counter)
    """Groups that changed their kind: to connect, to generic."""
    faults: Counter[str] = attrs.Factory(Counter)
    """Parts of steps that broke off and were undone, in groups of all kinds, by what was being done (an API's name, or
    what fell due).
    """
    repeated: Counter[str] = attrs.Factory(Counter)
    """Rebalances that gave the same answer to the same input as an earlier one, by the group's protocol."""
    slowed: Counter[str] = attrs.Factory(Counter)
    """Rebalances that had to wait because the last ones had repeated themselves, by the group's protocol."""


@attrs.frozen(slots=True)
class Misplaced:
    """How many connectors and tasks of a group are not where its placement rules want them."""

    unplaced: int
    """They run nowhere."""
    unmet: int
    """They run where they were, since there is no other place."""


@attrs.frozen(slots=True)
class Metrics:
    """One look at a shard."""

    groups: Mapping[str, Mapping[str, int]]
    """How many, by protocol and state; also the states that no group is in."""
    members: Mapping[str, int]
    """How many, by protocol."""
    quarantined: int
    """Groups whose time stands still after a fault, or that are not served (`isolation`)."""
    misplaced: Mapping[str, Misplaced]
    """By connect group, of those whose placement rules cannot all be met."""
    connect: Counters
