"""The history of a group: for each group epoch why it rebalanced, what moved, and how long that took.

An entry is written when the group epoch moves (reason, time), again when its assignment is installed (what moved from
which member to which), and once more when every member owns its target. The last `KEPT` entries stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from kcoord.group.state.groups.modern_group import UNSET, AnyGroup
from kcoord.group.state.groups.modern_member import R
from kcoord.group.state.transition import Transition

KEPT = 100
"""Epochs that are remembered."""
MOVES_TOLD = 500
"""Moved resources that an entry names at most; `moved_count` counts all."""


def began(transition: Transition, group: AnyGroup) -> None:
    """Write an entry for the new group epoch, and drop the oldest if there are too many."""
    records = transition.kind(group).records
    entry = records.history_entry(group.reason, group.reason_wall_ms)
    transition.write(records.history(group.group_id, group.epoch, entry))
    if len(group.history) > KEPT:
        transition.write(records.history(group.group_id, next(iter(group.history)), None))


def installed(transition: Transition, group: AnyGroup, moves: Mapping[tuple[str, str], list[Any]]) -> None:
    """Note that the assignment is installed. `moves`: resources by (from, to) member id; "" is nobody."""
    moved_count = sum(len(each) for each in moves.values())
    transition.counters(group).moved += moved_count
    entry = group.history.get(group.assignment_epoch)
    if entry is None:
        return
    records = transition.kind(group).records
    told = []
    left = MOVES_TOLD
    for (giver, taker), resources in sorted(moves.items()):
        if left > 0:
            told.append(records.history_move(giver, taker, sorted(resources)[:left]))
        left -= len(resources)
    entry = attrs.evolve(
        entry,
        installed_timestamp=transition.wall_ms,
        moved_count=moved_count,
        moves=told,
    )
    transition.write(records.history(group.group_id, group.assignment_epoch, entry))


def note_convergence(transition: Transition, group: AnyGroup) -> None:
    """Write the time of convergence, once, when every member owns its target."""
    if group.unconverged or group.assignment_epoch != group.epoch:
        return
    entry = group.history.get(group.epoch)
    if entry is not None and entry.installed_timestamp != UNSET and entry.converged_timestamp == UNSET:
        entry = attrs.evolve(entry, converged_timestamp=transition.wall_ms)
        transition.counters(group).converged += 1
        transition.counters(group).converging_ms += max(0, transition.wall_ms - entry.timestamp)
        transition.write(transition.kind(group).records.history(group.group_id, group.epoch, entry))


def moves_between(
    before: Mapping[str, frozenset[R]], after: Mapping[str, frozenset[R]]
) -> dict[tuple[str, str], list[R]]:
    """The resources that move between two assignments, each by member id. The result is by (from, to); "" is nobody.
    Only members whose resources differ are compared in detail.
    """
    none: frozenset[R] = frozenset()
    changed = [
        each
        for each in {**before, **after}
        if (had := before.get(each, none)) is not (has := after.get(each, none)) and had != has
    ]
    left = {resource: each for each in changed for resource in before.get(each, none) - after.get(each, none)}
    moves: dict[tuple[str, str], list[R]] = {}
    for taker in changed:
        for resource in after.get(taker, none) - before.get(taker, none):
            moves.setdefault((left.pop(resource, ""), taker), []).append(resource)
    for resource, giver in left.items():
        moves.setdefault((giver, ""), []).append(resource)
    return moves
