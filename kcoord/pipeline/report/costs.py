"""The costs of each rebalance, what moved in it, and the workers and causes that cost most.

- A **gap** belongs to the epoch in which it began. A gap that goes on counts up to the last thing that is known of the
  group.
- **What moved** in a rebalance is what members were given between its record and the next one's.
- **A worker** caused a rebalance if the reason names it. It also caused the gaps of what it had while it was away,
  where no epoch began.
- **An outage** of the coordinator costs what falls within it. The part of each gap during which the coordinator was
  away counts for the outage, and so does that part of a rebalance's time until it is at rest. It does not count for the
  rebalance or the worker.
- **What an outage caused** when it was over: workers that were there before it came back, within `RETURN`. A rebalance
  in which nothing else happened counts for the outage, and for no worker. If a rebalance has other causes too, those
  count, and the workers that only came back caused nothing. Once something else has happened, nothing later counts for
  the outage.
- **A worker that comes back with nothing** had stopped by itself, also if that begins no epoch. What it was given
  before the outage and lacks then counts for the outage too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from datetime import datetime, timedelta
from itertools import accumulate

import attrs

from kcoord.pipeline.history.causes import causes
from kcoord.pipeline.history.timeline import AWAY
from kcoord.pipeline.report.reading import GroupHistory, Row
from kcoord.resource import Resource

OUTAGE = "coordinator away"
UNKNOWN = "not known"
CAME_BACK = frozenset({"worker joined", "member joined", "consumer joined", "metadata changed", "leader joined anew",
                       "leader asked", "static worker replaced", "static member replaced", "never synced"})  # fmt: skip
"""Causes that can mean that a member that was there before comes back."""
RETURN = timedelta(seconds=15)
"""Clients look for their coordinator again within a heartbeat interval, some every ten seconds."""


@attrs.define
class Cost:
    """The cost of something."""

    rebalances: int = 0
    stopped: int = 0
    lost: int = 0
    returned: int = 0
    gaps_ms: float = 0
    """How long nobody could be running a resource, summed over resources."""
    longest_ms: float = 0

    def add(self, row: Row, gaps: Sequence[float]) -> None:
        """Add one rebalance."""
        self.rebalances += 1
        self.stopped += row["stopped"]
        self.lost += row["lost"]
        self.returned += row["returned"]
        self.gap(*gaps)

    def count(self, stopped: int, returned: int) -> None:
        """Add resources that had to be given up, and resources that were given back."""
        self.stopped = max(0, self.stopped + stopped)
        self.returned = max(0, self.returned + returned)

    def gap(self, *lengths_ms: float) -> None:
        """Add these gaps."""
        self.gaps_ms += sum(lengths_ms)
        self.longest_ms = max(self.longest_ms, *lengths_ms, 0)

    @property
    def order(self) -> tuple[float, ...]:
        """The sort key: what cost most comes first."""
        return -self.gaps_ms, -self.stopped - self.lost, -self.rebalances


@attrs.frozen
class Costs:
    """The costs of one group."""

    total: Cost
    of: Sequence[Cost]
    """One for each row of `rebalances`, in order."""
    by_reason: Sequence[tuple[str, Cost]]
    by_worker: Sequence[tuple[str, Cost]]
    by_outage: Sequence[Cost] = ()
    """One for each of the group's outages, in order."""
    is_of_outage: Sequence[bool] = ()
    """For each row of `rebalances`: whether an outage caused it."""


def length_ms(gap: Row, until: datetime) -> float:
    """How long a gap is, or has been by then."""
    if gap["duration_ms"] is not None:
        return float(gap["duration_ms"])
    lasted: timedelta = until - gap["from_at"]
    return max(lasted, timedelta()) / timedelta(milliseconds=1)


def rest_ms(group: GroupHistory, row: Row) -> float | None:
    """How long a rebalance took until the group was at rest, without the time in which the coordinator was away."""
    if row["duration_ms"] is None:
        return None
    return max(float(row["duration_ms"]) - group.away_ms(row["started"], row["settled"]), 0.0)


def costs(group: GroupHistory) -> Costs:
    """All costs that are known."""
    span = group.span
    gaps: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    reasons, workers = defaultdict[str, Cost](Cost), defaultdict[str, Cost](Cost)
    total, outages, known = Cost(), [Cost() for _ in group.outages], _Known(group)
    for gap in group.gaps:
        assert span is not None
        until, length = gap["to_at"] or span[1], length_ms(gap, span[1])
        total.gap(length)
        for number in group.outages_in(gap["from_at"], until):
            shared = min(group.outages[number].shared_ms(gap["from_at"], until), length)
            length -= shared
            for one in (outages[number], reasons[OUTAGE]) if shared else ():
                one.gap(shared)
        back = known.returned(gap["from_at"], gap["from_member"], gap["to_member"])
        if back is not None:
            outages[back].gap(length)
            reasons[OUTAGE].gap(length)
        elif gap["reason"] in AWAY.values():
            reasons[gap["reason"]].gap(length)
            workers[group.called(gap["from_member"])].gap(length)
        else:
            gaps[gap["incarnation"], gap["epoch"]].append(length)
    each, is_of_outage = [], []
    stops = known.stops()
    for place, (row, cause) in enumerate(zip(group.rebalances, _causes(known), strict=True)):
        cost = Cost()
        mine = gaps.pop((row["incarnation"], row["epoch"]), [])
        caused_by = [outages[cause.outage]] if cause.outage is not None else []
        for one in (cost, total, reasons[cause.reason], *caused_by, *(workers[who] for who in sorted(cause.workers))):
            one.add(row, mine if one is not total else ())
        for (at, number), (stopped, returned) in stops.items():
            if at == place and number != cause.outage:
                for one in (outages[number], reasons[OUTAGE]):
                    one.count(stopped, returned)
                for one in (cost, reasons[cause.reason], *(workers[who] for who in sorted(cause.workers))):
                    one.count(-stopped, -returned)
        each.append(cost)
        is_of_outage.append(cause.outage is not None)
    by_reason, by_worker = (sorted(by.items(), key=lambda one: (one[1].order, one[0])) for by in (reasons, workers))
    return Costs(total, each, by_reason, by_worker, outages, is_of_outage)


@attrs.frozen
class _Cause:
    """The cause of a rebalance."""

    reason: str
    workers: frozenset[str]
    outage: int | None = None
    """The place of the outage that caused it."""


def _causes(known: _Known) -> Iterator[_Cause]:
    """The cause of each row of `rebalances`."""
    group = known.group
    over: int | None = None
    """The outage after which something else has already happened."""
    for row in group.rebalances:
        named = [(cause, {group.called(who) for who in members}) for cause, members in causes(row["detail"])]
        at = known.just_over(row["started"])
        if at is None or at == over:
            yield _Cause(row["reason"] or UNKNOWN, frozenset().union(*(who for _, who in named)))
            continue
        others = [each for each in named if not known.came_back(*each, at)]
        if named and not others:
            yield _Cause(OUTAGE, frozenset(), at)
            continue
        over = at
        reason = others[0][0] if others else row["reason"] or UNKNOWN
        yield _Cause(reason, frozenset().union(*(who for _, who in others)))


@attrs.frozen
class _Known:
    """Which workers were there when an outage began."""

    group: GroupHistory
    _there: dict[int, frozenset[str]] = attrs.Factory(dict)

    def just_over(self, at: datetime) -> int | None:
        """The place of the outage that was over shortly before, if there was one."""
        number = bisect_right(self.group.outages, at, key=lambda each: each.to_at) - 1
        return number if number >= 0 and at <= self.group.outages[number].to_at + RETURN else None

    def came_back(self, cause: str, workers: Set[str], outage: int) -> bool:
        """Whether the cause is only that workers came back that were there before."""
        return cause in CAME_BACK and bool(workers) and workers <= self.there(outage)

    def returned(self, at: datetime, giver: str | None, taker: str | None) -> int | None:
        """The outage that made a worker give up something then that it was later given back."""
        outage = self.just_over(at)
        return outage if outage is not None and giver is not None and giver == taker else None

    def stops(self) -> dict[tuple[int, int], tuple[int, int]]:
        """How much the workers that came back lacked, and how much of it they were given back, by two places: that of
        the rebalance with which it was counted, and that of the outage.
        """
        starts = list(accumulate((row["started"] for row in self.group.rebalances), max))
        given = {
            (row["member_id"], row["connector"], row["task"], self.just_over(row["from_at"]))
            for row in self.group.ownership
        }
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for row in self.group.ownership if self.group.outages else ():
            outage = None if row["ended"] != "released" else self.just_over(row["to_at"])
            if outage is None or row["from_at"] > self.group.outages[outage].from_at:
                continue
            place = bisect_right(starts, row["to_at"]) - 1
            is_back = (row["member_id"], row["connector"], row["task"], outage) in given
            stopped, returned = found.get((place, outage), (0, 0))
            found[place, outage] = stopped + is_back, returned + is_back
        return found

    def there(self, outage: int) -> frozenset[str]:
        """All workers that were there when the outage began."""
        if outage not in self._there:
            began = self.group.outages[outage].from_at
            self._there[outage] = frozenset(
                self.group.called(row["member_id"])
                for row in self.group.sessions
                if row["from_at"] <= began and (row["to_at"] is None or row["to_at"] >= began)
            )
        return self._there[outage]


@attrs.frozen
class Move:
    """What went from one worker to another in a rebalance. `giver` None: from nobody."""

    giver: str | None
    taker: str
    resources: Sequence[Resource]


def moves(group: GroupHistory) -> list[list[Move]]:
    """The moves of each row of `rebalances`, largest first."""
    begins = {(row["incarnation"], row["kind"], row["epoch"]): row["offset"] for row in group.epochs}
    offsets = (begins.get((row["incarnation"], row["kind"], row["epoch"]), -1) for row in group.rebalances)
    starts = list(accumulate(offsets, max))
    found: list[defaultdict[tuple[str | None, str], list[Resource]]] = [defaultdict(list) for _ in starts]
    last: dict[Resource, str] = {}
    for row in group.ownership:
        resource, taker = Resource(row["connector"], row["task"]), group.called(row["member_id"])
        at = bisect_right(starts, row["from_offset"]) - 1
        if at >= 0:
            found[at][last.get(resource), taker].append(resource)
        last[resource] = taker
    return [
        [Move(giver, taker, sorted(what)) for (giver, taker), what in sorted(each.items(), key=_most_first)]
        for each in found
    ]


def _most_first(pair: tuple[tuple[str | None, str], list[Resource]]) -> tuple[int, str, str]:
    (giver, taker), what = pair
    return -len(what), giver or "", taker
