"""Pacing: the moves of one round of design III. Their number is limited, and light ones do not wait for heavy ones.

- Free resources are given out at once; only a resource that a worker has to stop counts as a move.
- One round moves resources of one weight, the lightest that are to move: a worker that stops a task in a second does
  not wait for one that takes minutes.
- Each round leaves less to do. A move that by itself brings no two members closer together waits for those that make it
  useful. If all moves are like that, all are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kcoord.assign.balance import Resources
from kcoord.assign.policies.spreading import load_of
from kcoord.resource import Resource


@attrs.frozen(order=True)
class Move:
    """One resource that one member stops and another one starts; the lightest come first."""

    weight: int
    resource: Resource
    giver: int
    taker: int


def moves(before: Sequence[Resources], wanted: Sequence[Resources], weights: Mapping[str, int]) -> list[Move]:
    """The moves from `before` to `wanted`, the lightest first."""
    changed = [at for at, target in enumerate(wanted) if target is not before[at]]
    givers = {resource: at for at in changed for resource in before[at] - wanted[at]}
    takers = {resource: at for at in changed for resource in wanted[at] - before[at]}
    return sorted(Move(weights[each.connector], each, giver, takers[each]) for each, giver in givers.items())


def pace(
    wanted: Sequence[Resources], found: Sequence[Move], at_most: int, weights: Mapping[str, int]
) -> tuple[list[Resources], int]:
    """`wanted` with only the moves of this round, and the number of moves that are left for later rounds."""
    now = _choose(wanted, found, at_most, weights) if at_most else []
    later = frozenset(found).difference(now)
    paced = list(wanted)
    for move in later:
        paced[move.taker] -= {move.resource}
        paced[move.giver] |= {move.resource}
    return paced, len(later)


def _choose(
    wanted: Sequence[Resources], found: Sequence[Move], at_most: int, weights: Mapping[str, int]
) -> Sequence[Move]:
    loads: dict[tuple[int, bool], int] = {}
    for move in found:
        for at in (move.giver, move.taker):
            for connectors in (True, False):
                if (at, connectors) not in loads:
                    loads[at, connectors] = load_of(wanted[at], weights, connectors)
    for move in found:
        _shift(loads, move, -1)
    chosen: list[Move] = []
    for move in found:
        if len(chosen) == at_most or (chosen and move.weight > chosen[0].weight):
            break
        connectors = move.resource.is_connector
        if loads[move.giver, connectors] - loads[move.taker, connectors] > move.weight:
            _shift(loads, move, 1)
            chosen.append(move)
    return chosen or found


def _shift(loads: dict[tuple[int, bool], int], move: Move, times: int) -> None:
    connectors = move.resource.is_connector
    loads[move.giver, connectors] -= times * move.weight
    loads[move.taker, connectors] += times * move.weight
