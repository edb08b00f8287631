"""Rankings: workers by their load, the lightest first, in cells of workers that rules treat alike.

Rules say the same about all workers of a cell. So only the lightest of each cell need be looked at to find the best
place.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

Entry = tuple[int, int]
"""A worker's load, and its number."""


class Ranking:
    """Workers by their loads: all of them, and those of each cell."""

    def __init__(self, loads: list[int], cells: Sequence[int]) -> None:
        self.loads = loads
        self.all: list[Entry] = sorted(zip(loads, range(len(loads)), strict=True))
        """The lightest first."""
        self._orders: dict[int, list[Entry]] = {}
        for entry in self.all:
            self._orders.setdefault(cells[entry[1]], []).append(entry)

    def change(self, at: int, cell: int, by: int) -> None:
        """Change the load of this worker, which is in this cell."""
        before, after = (self.loads[at], at), (self.loads[at] + by, at)
        self.loads[at] += by
        for order in (self.all, self._orders[cell]):
            del order[bisect_left(order, before)]
            insort(order, after)

    def regroup(self, at: int, old: int, new: int) -> None:
        """Move this worker from one cell to another."""
        entry, order = (self.loads[at], at), self._orders[old]
        del order[bisect_left(order, entry)]
        insort(self._orders.setdefault(new, []), entry)

    def in_cell(self, cell: int) -> Sequence[Entry]:
        """The workers in the cell, the lightest first."""
        return self._orders.get(cell, ())

    def heaviest(self) -> Iterator[int]:
        """All workers, the heaviest first. Nothing may change meanwhile."""
        return (at for _, at in reversed(self.all))
