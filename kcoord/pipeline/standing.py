"""How does a policy with a delay stand beside the others, over all seeds? The middle of its runs, how far they are
apart, and which ones do best.

To stop tasks and to move them are two costs, and which of them is dearer only the fleet's owner knows: so there are
two orders. Before both of them comes what cannot be told or never ends even, which is no choice. What lies within the
spread of the best one counts as the same, as seeds differ by no more than latencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import attrs

MEASURED = ("stopped", "longest_gap", "moved", "rebalances")


@attrs.frozen
class Spread:
    """Of one figure: a run in the middle (of two the lower one), the least and the greatest."""

    middle: float
    least: float
    greatest: float


@attrs.frozen
class Standing:
    """One scenario, kind of group, policy, delay, way of restarting and set of placement rules."""

    scenario: str
    kind: str
    policy: str
    delay: float
    runs: int
    failed: int
    """Runs without figures; `error` says why they have none."""
    error: str | None
    uneven: int
    """Runs in which the work was not even in the end."""
    doubles: int
    """Runs in which two workers had the same."""
    figures: Mapping[str, Spread]
    """`MEASURED`; empty where no run has figures."""
    restart: str | None = None
    rules: str | None = None
    """As in the table; None: as the scenario says."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Of a row of aggregates: the fields, and of each figure `FIGURE_middle`, `_least` and `_greatest`."""
        parts = [each.name for each in attrs.fields(Spread)]
        figures = {
            each: Spread(*(float(row[f"{each}_{part}"]) for part in parts))
            for each in MEASURED
            if row[f"{each}_middle"] is not None
        }
        fields = [each.name for each in attrs.fields(cls) if each.name != "figures"]
        return cls(**{each: row[each] for each in fields}, figures=figures)


def best(standings: Iterable[Standing], *figures: str) -> list[Standing]:
    """Those of one scenario and kind of group that have least of the first figure, and of those least of the next one.

    They are several where nothing tells them apart.
    """
    left = [each for each in standings if each.figures]
    fewest = min(((each.failed, each.uneven) for each in left), default=None)
    left = [each for each in left if (each.failed, each.uneven) == fewest]
    for figure in figures:
        least = min((each.figures[figure] for each in left), key=lambda spread: spread.middle, default=None)
        left = [each for each in left if least is not None and each.figures[figure].middle <= least.greatest]
    return left
