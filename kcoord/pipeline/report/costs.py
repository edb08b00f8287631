"""What did each rebalance cost, what moved in it, and which workers and causes cost most?

- A **gap** belongs to the epoch in which it began. One that goes on counts up to the last thing that is known of the
  group.
- **What moved** in a rebalance is what members were given between its record and the next one's.
- **A worker** caused a rebalance whose reason names it; and the gaps of what it had while it was away, where no epoch
  began.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate

import attrs

from kcoord.pipeline.history.causes import causes
from kcoord.pipeline.report.reading import GroupHistory, Row

AWAY = "worker away"
UNKNOWN = "not known"


@attrs.define
class Cost:
    """What something came to."""

    rebalances: int = 0
    stopped: int = 0
    lost: int = 0
    returned: int = 0
    gaps_ms: float = 0
    """So long nobody could be running something, summed over what it was."""
    longest_ms: float = 0

    def add(self, row: Row, gaps: Sequence[float]) -> None:
        """One rebalance."""
        self.rebalances += 1
        self.stopped += row["stopped"]
        self.lost += row["lost"]
        self.returned += row["returned"]
        self.gap(*gaps)

    def gap(self, *lengths_ms: float) -> None:
        """These gaps."""
        self.gaps_ms += sum(lengths_ms)
        self.longest_ms = max(self.longest_ms, *lengths_ms, 0)

    @property
    def order(self) -> tuple[float, ...]:
        """To sort by: what cost most first."""
        return -self.gaps_ms, -self.stopped - self.lost, -self.rebalances


@attrs.frozen
class Costs:
    """Of one group."""

    total: Cost
    of: Sequence[Cost]
    """One for each row of `rebalances`, in their order."""
    by_reason: Sequence[tuple[str, Cost]]
    by_worker: Sequence[tuple[str, Cost]]


def length_ms(gap: Row, until: datetime) -> float:
    """How long a gap is, or has been by then."""
    if gap["duration_ms"] is not None:
        return float(gap["duration_ms"])
    lasted: timedelta = until - gap["from_at"]
    return max(lasted, timedelta()) / timedelta(milliseconds=1)


def costs(group: GroupHistory) -> Costs:
    """All that is known."""
    span = group.span
    gaps: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    reasons, workers = defaultdict[str, Cost](Cost), defaultdict[str, Cost](Cost)
    total = Cost()
    for gap in group.gaps:
        assert span is not None
        length = length_ms(gap, span[1])
        total.gap(length)
        if gap["reason"] == AWAY:
            reasons[AWAY].gap(length)
            workers[group.called(gap["from_member"])].gap(length)
        else:
            gaps[gap["incarnation"], gap["epoch"]].append(length)
    each = []
    for row in group.rebalances:
        cost = Cost()
        mine = gaps.pop((row["incarnation"], row["epoch"]), [])
        named = {group.called(who) for _, members in causes(row["detail"]) for who in members}
        for one in (cost, total, reasons[row["reason"] or UNKNOWN], *(workers[who] for who in sorted(named))):
            one.add(row, mine if one is not total else ())
        each.append(cost)
    return Costs(
        total, each, *(sorted(by.items(), key=lambda one: (one[1].order, one[0])) for by in (reasons, workers))
    )


@attrs.frozen
class Move:
    """What went from one to another in a rebalance; from nobody: None."""

    giver: str | None
    taker: str
    resources: Sequence[tuple[str, int]]


def moves(group: GroupHistory) -> list[list[Move]]:
    """For each row of `rebalances`, what most went between first."""
    begins = {(row["incarnation"], row["kind"], row["epoch"]): row["offset"] for row in group.epochs}
    offsets = (begins.get((row["incarnation"], row["kind"], row["epoch"]), -1) for row in group.rebalances)
    starts = list(accumulate(offsets, max))
    found: list[defaultdict[tuple[str | None, str], list[tuple[str, int]]]] = [defaultdict(list) for _ in starts]
    last: dict[tuple[str, int], str] = {}
    for row in group.ownership:
        resource, taker = (row["connector"], row["task"]), group.called(row["member_id"])
        at = bisect_right(starts, row["from_offset"]) - 1
        if at >= 0:
            found[at][last.get(resource), taker].append(resource)
        last[resource] = taker
    return [
        [Move(giver, taker, sorted(what)) for (giver, taker), what in sorted(each.items(), key=_most_first)]
        for each in found
    ]


def _most_first(pair: tuple[tuple[str | None, str], list[tuple[str, int]]]) -> tuple[int, str, str]:
    (giver, taker), what = pair
    return -len(what), giver or "", taker
