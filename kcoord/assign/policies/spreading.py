"""Spreading resources of different weights evenly.

- `fill` gives free resources to the members that have least, and takes nothing from anybody.
- `spread` also moves resources, until any two members differ by the heaviest resource at most, separately for
  connectors and for tasks. The member that has most gives to the one that has least: the resource that brings the two
  closest together. Then each move that turns out not to be needed is taken back. So no single move can be left out.
  Another combination may need fewer moves; to find it is as hard as bin packing.
- If all resources weigh the same, `kcoord.assign.balance` does it, and finds the fewest moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace

import attrs

from kcoord.assign.balance import Resources, balance
from kcoord.resource import CONNECTOR, Resource, connectors_among, tasks_among

KINDS = (True, False)
"""Connectors, then tasks."""


def spread(targets: Sequence[Resources], free: Resources, weights: Mapping[str, int]) -> list[Resources]:
    """`targets`, which share nothing, and the free resources, spread evenly; `weights` names all their connectors."""
    if len(set(weights.values())) <= 1:
        return balance(targets, free.union(*targets))
    filled = fill(targets, free, weights)
    for connectors in KINDS:
        filled = _level(filled, targets, weights, connectors)
    return filled


def fill(targets: Sequence[Resources], free: Resources, weights: Mapping[str, int]) -> list[Resources]:
    """Give free resources to the members that have least; no member has to give up anything."""
    filled = list(targets)
    for connectors in KINDS:
        of_kind = connectors_among(free) if connectors else tasks_among(free)
        if of_kind:
            of_kind.sort(key=lambda each: (-weights[each.connector], each))
            _fill_one_kind(filled, of_kind, weights, connectors)
    return filled


def _fill_one_kind(
    targets: list[Resources], free: Sequence[Resource], weights: Mapping[str, int], connectors: bool
) -> None:
    heap = [(load_of(target, weights, connectors), len(target), at) for at, target in enumerate(targets)]
    heapify(heap)
    gained: dict[int, list[Resource]] = {}
    for resource in free:
        load, size, at = heap[0]
        gained.setdefault(at, []).append(resource)
        heapreplace(heap, (load + weights[resource.connector], size + 1, at))
    for at, resources in gained.items():
        targets[at] = targets[at].union(resources)


def load_of(target: Resources, weights: Mapping[str, int], connectors: bool) -> int:
    """The weight of all resources of one kind in a target."""
    return sum([weights[name] for name, task in target if (task == CONNECTOR) == connectors])


@attrs.define
class _Level:
    """The levelling of one kind of resource."""

    sets: list[set[Resource]]
    """What each member has of this kind."""
    owned: Sequence[Resources]
    """What each member had before anything was given or moved."""
    weights: Mapping[str, int]
    loads: list[int] = attrs.Factory(list)
    heaviest: int = 0
    moved: dict[Resource, tuple[int, int]] = attrs.Factory(dict)
    """Resources that are not with their owner: the owner, and the member that has it."""

    def __attrs_post_init__(self) -> None:
        self.loads = [sum([self.weights[name] for name, _ in each]) for each in self.sets]
        self.heaviest = max((self.weights[name] for each in self.sets for name, _ in each), default=0)

    def reach(self) -> set[int]:
        """Move until the loads are level. Returns the members whose sets were changed."""
        touched = self._move()
        while self._take_back():
            pass
        return touched

    def _move(self) -> set[int]:
        """Move until the loads are level. Each step makes the sum of the squares of the loads smaller, so this ends."""
        touched: set[int] = set()
        least = [(load, at) for at, load in enumerate(self.loads)]
        most = [(-load, at) for at, load in enumerate(self.loads)]
        heapify(least)
        heapify(most)
        while True:
            low, high = self._top(least, 1), self._top(most, -1)
            gap = self.loads[high] - self.loads[low]
            if gap <= self.heaviest:
                return touched
            self._hand_over(self._choose(high, gap), high, low)
            touched |= {low, high}
            for at in (low, high):
                heappush(least, (self.loads[at], at))
                heappush(most, (-self.loads[at], at))

    def _top(self, heap: list[tuple[int, int]], sign: int) -> int:
        """The member of the first entry that is still true."""
        while sign * heap[0][0] != self.loads[heap[0][1]]:
            heappop(heap)
        return heap[0][1]

    def _choose(self, high: int, gap: int) -> Resource:
        """The resource to move: one that no worker has to stop for it if possible, then the one that brings the two
        closest.
        """
        owned = self.owned[high]
        return min(self.sets[high], key=lambda each: (each in owned, abs(2 * self.weights[each.connector] - gap), each))

    def _hand_over(self, resource: Resource, giver: int, taker: int) -> None:
        weight = self.weights[resource.connector]
        self.sets[giver].remove(resource)
        self.sets[taker].add(resource)
        self.loads[giver] -= weight
        self.loads[taker] += weight
        owner = self.moved[resource][0] if resource in self.moved else giver
        if resource in self.owned[taker]:
            self.moved.pop(resource, None)
        elif resource in self.owned[owner]:
            self.moved[resource] = (owner, taker)

    def _take_back(self) -> bool:
        """Take back each move that is not needed. True if there was one."""
        found = False
        for resource, (owner, holder) in sorted(self.moved.items()):
            weight = self.weights[resource.connector]
            if self.loads[owner] + weight - (self.loads[holder] - weight) <= self.heaviest:
                self._hand_over(resource, holder, owner)
                if max(self.loads) - min(self.loads) <= self.heaviest:
                    found = True
                else:
                    self._hand_over(resource, owner, holder)
        return found


def _level(
    targets: Sequence[Resources], before: Sequence[Resources], weights: Mapping[str, int], connectors: bool
) -> list[Resources]:
    """All targets, level in this kind; a target that does not change is the same object."""
    among = connectors_among if connectors else tasks_among
    of_kind = [frozenset(among(target)) for target in targets]
    level = _Level([set(each) for each in of_kind], before, weights)
    found = list(targets)
    for at in level.reach():
        if level.sets[at] != of_kind[at]:
            found[at] = (targets[at] - of_kind[at]) | level.sets[at]
    return found
