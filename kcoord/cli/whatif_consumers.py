"""`kcoord pipeline whatif` for a consumer group: its recorded history, assigned by each assignor and at each assignment
interval.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from kcoord.cli.failure import USAGE, fail
from kcoord.cli.lab import without_empty_columns
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.pipeline.readable_tables import ReadableTables
    from kcoord.pipeline.whatif.consumer_assignments import AssignmentComparison, AssignmentCosts

LONGEST_INTERVAL_S = 3_600


class AssignorOption(StrEnum):
    """The assignors that can be tried."""

    UNIFORM = "uniform"
    RANGE = "range"


def replayed_consumers(
    tables: "ReadableTables", group: str, assignors: Sequence[str], intervals_s: Sequence[float]
) -> str:
    """The text for people. Ends the command if nothing can be replayed."""
    from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
    from kcoord.pipeline.failure import PipelineError
    from kcoord.pipeline.whatif.consumer_assignments import INTERVALS_MS, answer, moments_of
    from kcoord.pipeline.whatif.reading import records_of

    for each in intervals_s:
        if not 0 <= each <= LONGEST_INTERVAL_S:
            fail(f"an interval of {each:g} is not between 0 and {LONGEST_INTERVAL_S:,} seconds", USAGE)
    intervals_ms = [round(each * 1000) for each in intervals_s] or INTERVALS_MS
    try:
        moments = list(moments_of(group, records_of(tables, group)))
    except PipelineError as error:
        fail(error)
    found = answer(moments, assignors or list(CONSUMER_ASSIGNORS), intervals_ms)
    if found is None:
        fail(f"{printable(group)} was never assigned anything as a consumer group: there is nothing to replay")
    return _text(printable(group), found)


def _text(group: str, found: "AssignmentComparison") -> str:
    heading = (
        f"{group}: {found.recorded.assignments:,} assignments by {', '.join(map(printable, found.assignors))} from "
        f"{_time(found.first_ms)} to {_time(found.last_ms)} (UTC).\n"
    )
    rows = [("recorded", "", *_figures(found.recorded))]
    rows += [
        (choice.assignor, f"{choice.interval_ms / 1000:g} s", *_figures(outcome)) for choice, outcome in found.choices
    ]
    names = ("ASSIGNOR", "INTERVAL", "ASSIGNMENTS", "HANDED OVER", "TAKEN UP", "UNASSIGNED")
    text = heading + without_empty_columns(names, rows)
    if found.differs_ms is None:
        return text
    return text + (
        f"kcoord's assignors do not make the assignment of {_time(found.differs_ms)} again, so these figures prove "
        "nothing.\n"
    )


def _figures(outcome: "AssignmentCosts") -> tuple[str, ...]:
    return (
        f"{outcome.assignments:,}",
        f"{outcome.handed_over:,}",
        f"{outcome.taken_up:,}",
        f"{outcome.unassigned_ms / 1000:,.1f} s",
    )


def _time(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
