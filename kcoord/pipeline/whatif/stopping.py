"""How long stopping takes, and whether a worker or a connector is the reason if it takes much longer than usual.

Only workers of the new protocol show it. An assignment withdraws work, and the worker reports when the last of it has
stopped: all that was withdrawn is given up together. If one assignment followed soon after another, it is unknown which
one withdrew. Long stops are explained by a few connectors that stop slowly wherever they run, or by a few workers that
stop everything slowly: by whichever are fewer.
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
"""How many times the median counts as much longer."""
SHORT_MS = 5_000
"""A stop shorter than this is not slow, however fast the others are."""
ALONE_MS = 10_000
"""An assignment is what withdrew if it came this long after the previous one."""


@attrs.frozen
class Stopping:
    """What the log shows about stopping."""

    usual_ms: int | None = None
    """The median. None: nobody ever had to stop anything."""
    workers: Mapping[str, float] = attrs.Factory(dict)
    """Slow workers: how many times as long as usual, or as a second."""
    connectors_ms: Mapping[str, int] = attrs.Factory(dict)
    """Slow connectors: how long."""


@attrs.define
class _Batch:
    """What one worker gave up together."""

    worker: str
    took_ms: int
    connectors: set[str] = attrs.Factory(set)


def stopping(ownership: Iterable[Row], rebalances: Iterable[Row], names: Mapping[str, str]) -> Stopping:
    """What the rows show about stopping. `names`: which worker each member is."""
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
    """A few names that are not innocent, at least one for each of `slow`. None if that is impossible."""
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
