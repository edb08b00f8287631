"""The standing of a policy with a delay beside the others, over all seeds: its median run, the spread, the best
choices.

Stopping tasks and moving tasks are two costs, and only the fleet's owner knows which one is dearer. So there are two
orders. Before either order, a choice with fewer failed runs wins, and then one with fewer runs that end uneven. Choices
within the spread of the best one count as equal, because seeds differ only in latencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import attrs

MEASURED = ("stopped", "longest_gap", "moved", "rebalances")


@attrs.frozen
class Spread:
    """The spread of one figure: the median run (the lower one of two), the least and the greatest."""

    middle: float
    least: float
    greatest: float


@attrs.frozen
class Standing:
    """The results of one scenario, kind of group, policy, delay, way of restarting and set of placement rules."""

    scenario: str
    kind: str
    policy: str
    delay: float
    runs: int
    failed: int
    """Runs without figures. `error` is one of the reasons."""
    error: str | None
    uneven: int
    """Runs in which the work was not spread evenly at the end."""
    doubles: int
    """Runs in which two workers had the same task at once."""
    figures: Mapping[str, Spread]
    """The figures in `MEASURED`. Empty if no run has figures."""
    restart: str | None = None
    rules: str | None = None
    """`restart` and `rules` are as in the table. None: as the scenario says."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Make one from a row of aggregates: the fields, and for each figure `FIGURE_middle`, `_least` and
        `_greatest`.
        """
        parts = [each.name for each in attrs.fields(Spread)]
        figures = {
            each: Spread(*(float(row[f"{each}_{part}"]) for part in parts))
            for each in MEASURED
            if row[f"{each}_middle"] is not None
        }
        fields = [each.name for each in attrs.fields(cls) if each.name != "figures"]
        return cls(**{each: row[each] for each in fields}, figures=figures)


def best(standings: Iterable[Standing], *figures: str) -> list[Standing]:
    """The best of the standings, which are of one scenario and kind of group: least of the first figure, then of the
    next.

    There are several if nothing tells them apart.
    """
    left = [each for each in standings if each.figures]
    fewest = min(((each.failed, each.uneven) for each in left), default=None)
    left = [each for each in left if (each.failed, each.uneven) == fewest]
    for figure in figures:
        least = min((each.figures[figure] for each in left), key=lambda spread: spread.middle, default=None)
        left = [each for each in left if least is not None and each.figures[figure].middle <= least.greatest]
    return left
