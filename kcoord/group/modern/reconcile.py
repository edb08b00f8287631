"""How does one member move towards its target? The heart of the protocol, without members of other groups, records or
requests.

1. First it lets go: while it may be running what its target lacks, it is told `current ∩ target` and gets nothing new
   (CG-10).
2. Then it grows, at the epoch that it has, by what nobody else may be running (CG-2).
3. With the last resource of its target it reaches the assignment epoch (CG-10).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from kcoord.group.modern.member import R
from kcoord.protocol.frozen import frozen


@frozen(slots=True)
class Progress(Generic[R]):
    """How far a member can go now."""

    told: frozenset[R]
    """What it is to run, and nothing else."""
    granted: frozenset[R] = frozenset()
    """What is new in `told`: goes into its current before it is told."""
    to_release: frozenset[R] = frozenset()
    """What it may be running and must let go."""
    waiting_for: frozenset[R] = frozenset()
    """What its target names and somebody else may be running."""
    complete: bool = False
    """It owns its target, no less and no more: it is at the assignment epoch."""


def progress(current: frozenset[R], target: frozenset[R], owners: Mapping[R, str]) -> Progress[R]:
    """Where a member that may be running `current` stands. `owners` says who may be running a resource."""
    if current == target:
        return Progress(current, complete=True)
    to_release = current - target
    missing = target - current
    if to_release:
        return Progress(current & target, to_release=to_release, waiting_for=missing)
    granted = frozenset([resource for resource in missing if resource not in owners])
    waiting_for = missing - granted
    return Progress(current | granted, granted, waiting_for=waiting_for, complete=not waiting_for)
