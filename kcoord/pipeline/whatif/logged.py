"""The costs that a log shows for some time, counted in the same way in the recorded log and in a replay's log.

A log knows when a worker was given a task and when the task was free again, not when the task started or stopped. So
this is less than the real cost. It shows how true a replay is. While the log has no worker in the group, nothing is
counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from kcoord.pipeline.whatif.fleet import Tables, workers_of
from kcoord.resource import CONNECTOR, Resource


@attrs.frozen
class Logged:
    """Figures about tasks, without connectors themselves. Times are in seconds."""

    unowned: float
    """Task-seconds in which nobody could be running a task."""
    longest_unowned: float
    handed_over: int
    """How many times a task was given to another worker than the one that had it before."""
    epochs: int
    """How many epochs or generations began."""


def logged(tables: Tables, from_ms: int, to_ms: int) -> Logged:
    """The figures between the two times (unix ms)."""
    gaps = _gaps_ms(tables, from_ms, to_ms)
    return Logged(
        unowned=sum(gaps) / 1000,
        longest_unowned=max(gaps, default=0) / 1000,
        handed_over=_handed_over(tables, from_ms, to_ms),
        epochs=sum(from_ms <= row["started"] < to_ms for row in tables.rebalances),
    )


def total(pieces: Iterable[Logged]) -> Logged:
    """The figures of several times together."""
    each = list(pieces)
    return Logged(
        sum(one.unowned for one in each),
        max((one.longest_unowned for one in each), default=0),
        sum(one.handed_over for one in each),
        sum(one.epochs for one in each),
    )


def _gaps_ms(tables: Tables, from_ms: int, to_ms: int) -> Sequence[int]:
    staffed = _staffed(tables, from_ms, to_ms)
    found = []
    for row in tables.gaps:
        until_ms = to_ms if row["to_at"] is None else row["to_at"]
        length_ms = sum(max(0, min(until_ms, end) - max(row["from_at"], begin)) for begin, end in staffed)
        if row["task"] != CONNECTOR and length_ms > 0:
            found.append(length_ms)
    return found


def _staffed(tables: Tables, from_ms: int, to_ms: int) -> list[tuple[int, int]]:
    """The times between the two in which the group had a worker."""
    spans = [(row["from_at"], to_ms if row["to_at"] is None else row["to_at"]) for row in tables.sessions]
    found: list[tuple[int, int]] = []
    for begin, end in sorted((max(begin, from_ms), min(end, to_ms)) for begin, end in spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif begin < end:
            found.append((begin, end))
    return found


def _handed_over(tables: Tables, from_ms: int, to_ms: int) -> int:
    names = workers_of(tables.sessions)
    last: dict[Resource, str | None] = {}
    count = 0
    for row in sorted(tables.ownership, key=lambda row: (row["from_at"], row["from_offset"])):
        resource = Resource(row["connector"], row["task"])
        if resource.is_connector:
            continue
        worker = names.get(row["member_id"], row["member_id"])
        count += from_ms <= row["from_at"] < to_ms and last.get(resource, worker) != worker
        last[resource] = worker
    return count
