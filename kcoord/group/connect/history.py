"""The history of a connect group: for each group epoch why it rebalanced, what moved, and how long that took.

An entry (record 10) is written when the group epoch moves (reason, time), again when its assignment is installed (what
moved from which member to which), and once more when every member owns its target. The last `KEPT` entries stay.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.group.state.groups.connect_group import ConnectGroup, Resources
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition
from kcoord.protocol.generated.connect_worker_group_history_value import ConnectorsTasks, ConnectorTaskId, Move
from kcoord.protocol.records import ConnectWorkerGroupHistoryValue
from kcoord.protocol.resources import pack
from kcoord.resource import Resource

KEPT = 100
"""Epochs that are remembered."""
MOVES_TOLD = 500
"""Moved resources that an entry names at most; `moved_count` counts all."""
UNSET = -1
_NONE: Resources = frozenset()


def began(transition: Transition, group: ConnectGroup) -> None:
    """Write an entry for the new group epoch, and drop the oldest if there are too many."""
    entry = ConnectWorkerGroupHistoryValue(
        reason=group.reason, timestamp=group.reason_wall_ms, installed_timestamp=UNSET, converged_timestamp=UNSET
    )
    transition.write(records.history(group.group_id, group.epoch, entry))
    if len(group.history) > KEPT:
        transition.write(records.history(group.group_id, next(iter(group.history)), None))


def installed(transition: Transition, group: ConnectGroup, moves: Mapping[tuple[str, str], list[Resource]]) -> None:
    """Note that the assignment is installed. `moves`: resources by (from, to) member id; "" is nobody."""
    moved_count = sum(len(each) for each in moves.values())
    transition.state.counters.moved += moved_count
    entry = group.history.get(group.assignment_epoch)
    if entry is None:
        return
    told: list[Move] = []
    left = MOVES_TOLD
    for (giver, taker), resources in sorted(moves.items()):
        if left > 0:
            told.append(Move(giver, taker, pack(sorted(resources)[:left], ConnectorsTasks, ConnectorTaskId)))
        left -= len(resources)
    entry = attrs.evolve(
        entry,
        installed_timestamp=transition.wall_ms,
        moved_count=moved_count,
        moves=told,
    )
    transition.write(records.history(group.group_id, group.assignment_epoch, entry))


def note_convergence(transition: Transition, group: ConnectGroup) -> None:
    """Write the time of convergence, once, when every member owns its target."""
    if group.unconverged or group.assignment_epoch != group.epoch:
        return
    entry = group.history.get(group.epoch)
    if entry is not None and entry.installed_timestamp != UNSET and entry.converged_timestamp == UNSET:
        entry = attrs.evolve(entry, converged_timestamp=transition.wall_ms)
        transition.state.counters.converged += 1
        transition.state.counters.converging_ms += max(0, transition.wall_ms - entry.timestamp)
        transition.write(records.history(group.group_id, group.epoch, entry))


def moves_between(
    before: Mapping[str, Resources], after: Mapping[str, Resources]
) -> dict[tuple[str, str], list[Resource]]:
    """The resources that move between two assignments, each by member id. The result is by (from, to); "" is nobody.
    Only members whose resources differ are compared in detail.
    """
    changed = [
        each
        for each in {**before, **after}
        if (had := before.get(each, _NONE)) is not (has := after.get(each, _NONE)) and had != has
    ]
    left = {resource: each for each in changed for resource in before.get(each, _NONE) - after.get(each, _NONE)}
    moves: dict[tuple[str, str], list[Resource]] = {}
    for taker in changed:
        for resource in after.get(taker, _NONE) - before.get(taker, _NONE):
            moves.setdefault((left.pop(resource, ""), taker), []).append(resource)
    for resource, giver in left.items():
        moves.setdefault((giver, ""), []).append(resource)
    return moves
