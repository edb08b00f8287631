"""What does a log say that some time cost? Counted in the same way in the recorded log and in that of a replay.

A log knows when a worker was given something and when it was free again, not when a task began or ended: so this is
less than what it cost. It is there to see how true a replay is.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kcoord.pipeline.whatif.fleet import Tables, workers_of
from kcoord.protocol.resources import CONNECTOR


@attrs.frozen
class Logged:
    """Of tasks; connectors themselves are left out. Times in seconds."""

    unowned: float
    """Task-seconds in which nobody could be running a task."""
    longest_unowned: float
    handed_over: int
    """How often a task was given to another worker than the one that had it before."""
    epochs: int
    """How many epochs or generations began."""


def logged(tables: Tables, from_ms: int, to_ms: int) -> Logged:
    """What is between the two times (unix ms)."""
    gaps = _gaps_ms(tables, from_ms, to_ms)
    return Logged(
        unowned=sum(gaps) / 1000,
        longest_unowned=max(gaps, default=0) / 1000,
        handed_over=_handed_over(tables, from_ms, to_ms),
        epochs=sum(from_ms <= row["started"] < to_ms for row in tables.rebalances),
    )


def _gaps_ms(tables: Tables, from_ms: int, to_ms: int) -> Sequence[int]:
    found = []
    for row in tables.gaps:
        ends_ms = to_ms if row["to_at"] is None else min(row["to_at"], to_ms)
        length_ms = ends_ms - max(row["from_at"], from_ms)
        if row["task"] != CONNECTOR and length_ms > 0:
            found.append(length_ms)
    return found


def _handed_over(tables: Tables, from_ms: int, to_ms: int) -> int:
    names = workers_of(tables.sessions)
    last: dict[tuple[str, int], str | None] = {}
    count = 0
    for row in sorted(tables.ownership, key=lambda row: (row["from_at"], row["from_offset"])):
        if row["task"] == CONNECTOR:
            continue
        worker = names.get(row["member_id"], row["member_id"])
        resource = row["connector"], row["task"]
        count += from_ms <= row["from_at"] < to_ms and last.get(resource, worker) != worker
        last[resource] = worker
    return count
