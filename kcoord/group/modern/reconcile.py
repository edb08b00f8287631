"""Reconciliation: how one member moves towards its target. Pure: it knows no groups, records or requests.

1. First the member releases. While it may be running something outside its target, its answers have `current ∩ target`
   and nothing new (CG-10).
2. Then it is granted those resources of its target that no other member may be running. Its epoch stays (CG-2).
3. With the last resource of its target it reaches the assignment epoch (CG-10).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from kcoord.group.state.groups.modern_member import R
from kcoord.protocol.frozen_class import frozen


@frozen(slots=True)
class Progress(Generic[R]):
    """How far a member can move towards its target now."""

    assignment_sent: frozenset[R]
    """All that the member is to run."""
    granted: frozenset[R] = frozenset()
    """What is new in that. It must be in the member's current before the answer leaves."""
    to_release: frozenset[R] = frozenset()
    """What the member may be running and must release."""
    waiting_for: frozenset[R] = frozenset()
    """What the target names and the member does not get yet."""
    complete: bool = False
    """The member owns exactly its target, so it may move to the assignment epoch."""


def progress(current: frozenset[R], target: frozenset[R], owners: Mapping[R, str]) -> Progress[R]:
    """How far a member that may be running `current` can move now. `owners`: who may be running a resource."""
    if current == target:
        return Progress(current, complete=True)
    to_release = current - target
    missing = target - current
    if to_release:
        return Progress(current & target, to_release=to_release, waiting_for=missing)
    granted = frozenset([resource for resource in missing if resource not in owners])
    waiting_for = missing - granted
    return Progress(current | granted, granted, waiting_for=waiting_for, complete=not waiting_for)
