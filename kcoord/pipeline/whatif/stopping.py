"""How long does stopping take, and is it the worker or the connector where it takes much longer than elsewhere?

Seen of workers of the new protocol alone: an assignment withdraws, and they say when they have let go, of all that was
withdrawn together, when the last of it has stopped. Where one assignment followed soon on another it cannot be told
which of them withdrew. What took much longer than the median is explained by few connectors that stop slowly wherever
they run, or by few workers that stop everything slowly: by whichever are fewer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low

import attrs

from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import CONNECT

MUCH_LONGER = 4
"""So many times the median."""
SHORT_MS = 5_000
"""Whoever stops sooner than this is not slow, however fast the others are."""
ALONE_MS = 10_000
"""An assignment that came so long after the last one is what withdrew."""


@attrs.frozen
class Stopping:
    """What was seen."""

    usual_ms: int | None = None
    """The median; None: nobody ever had to stop anything."""
    workers: Mapping[str, float] = attrs.Factory(dict)
    """Slow ones: how many times as long as usual, or as a second."""
    connectors_ms: Mapping[str, int] = attrs.Factory(dict)
    """Slow ones: how long."""


@attrs.define
class _Batch:
    """What one worker let go of together."""

    worker: str
    took_ms: int
    connectors: set[str] = attrs.Factory(set)


def stopping(ownership: Iterable[Row], rebalances: Iterable[Row], names: Mapping[str, str]) -> Stopping:
    """`names`: which worker each member is."""
    batches = _batches(ownership, sorted(row["installed"] for row in rebalances if row["installed"] is not None), names)
    if not batches:
        return Stopping()
    usual_ms = max(median_low(each.took_ms for each in batches), 1)
    limit_ms = max(MUCH_LONGER * usual_ms, SHORT_MS)
    slow = [each for each in batches if each.took_ms >= limit_ms]
    fast = [each for each in batches if each.took_ms < limit_ms]
    by_worker = _cover([{each.worker} for each in slow], {each.worker for each in fast})
    by_connector = _cover([each.connectors for each in slow], {name for each in fast for name in each.connectors})
    if by_worker is not None and (by_connector is None or len(by_worker) <= len(by_connector)):
        return Stopping(
            usual_ms,
            workers={
                worker: median_low(each.took_ms for each in slow if each.worker == worker) / max(usual_ms, 1_000)
                for worker in by_worker
            },
        )
    return Stopping(
        usual_ms,
        connectors_ms={
            name: min(each.took_ms for each in slow if name in each.connectors) for name in by_connector or ()
        },
    )


def _batches(ownership: Iterable[Row], installed: Sequence[int], names: Mapping[str, str]) -> list[_Batch]:
    found: dict[tuple[str, int], _Batch] = {}
    for row in ownership:
        if row["speaks"] != CONNECT or row["ended"] != "released" or row["to_at"] is None:
            continue
        before = bisect_right(installed, row["to_at"])
        if before and (before == 1 or installed[before - 1] - installed[before - 2] > ALONE_MS):
            worker = names.get(row["member_id"]) or row["member_id"]
            took_ms = row["to_at"] - installed[before - 1]
            found.setdefault((worker, row["to_at"]), _Batch(worker, took_ms)).connectors.add(row["connector"])
    return list(found.values())


def _cover(slow: Sequence[set[str]], innocent: set[str]) -> list[str] | None:
    """Few names of which each of `slow` has one, and that are not innocent; None where that cannot be."""
    left = [names - innocent for names in slow]
    found: list[str] = []
    while left:
        counts: defaultdict[str, int] = defaultdict(int)
        for names in left:
            for name in names:
                counts[name] += 1
        if not counts:
            return None
        best = min(counts, key=lambda name: (-counts[name], name))
        found.append(best)
        left = [names for names in left if best not in names]
    return found
