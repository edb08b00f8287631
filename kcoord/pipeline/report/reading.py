"""What is there to show of each group? Read out of the tables with pyarrow, and put in the order of the log."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.tables import AUDIT, BALANCE, GAPS, OWNERSHIP, QUARANTINE, REBALANCES, SESSIONS, Table

Row = dict[str, Any]
_SHOWN = (REBALANCES, OWNERSHIP, SESSIONS, GAPS, BALANCE, AUDIT)
_WORDS = re.compile(r'[\s,;:"()]+')


@attrs.define
class Cause:
    """What the comings and goings of one worker came to."""

    worker: str
    rebalances: int = 0
    stopped: int = 0
    lost: int = 0
    duration_ms: int = 0


@attrs.frozen
class GroupHistory:
    """The rows of one group, in the order of the log."""

    group_id: str
    rebalances: Sequence[Row]
    ownership: Sequence[Row]
    sessions: Sequence[Row]
    gaps: Sequence[Row]
    balance: Sequence[Row]
    audit: Sequence[Row]

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """From the first to the last thing that is known of it."""
        pairs = [("from_at", "to_at"), ("started", "settled"), ("at", "at")]
        rows = [*self.ownership, *self.sessions, *self.rebalances, *self.balance]
        times = [row[name] for row in rows for pair in pairs for name in pair if row.get(name) is not None]
        return (min(times), max(times)) if times else None

    def names(self) -> dict[str, str]:
        """What each member is called: by its static name, or its address, or its id."""
        return {row["member_id"]: row["instance_id"] or row["url"] or row["member_id"] for row in self.sessions}

    def causes(self) -> list[Cause]:
        """The workers that rebalances were about, who cost most first: by what they stopped and took with them, then by
        how often.
        """
        names, found = self.names(), dict[str, Cause]()
        for row in self.rebalances:
            for worker in sorted({names[each] for each in _WORDS.split(row["detail"] or "") if each in names}):
                cause = found.setdefault(worker, Cause(worker))
                cause.rebalances += 1
                cause.stopped += row["stopped"]
                cause.lost += row["lost"]
                cause.duration_ms += row["duration_ms"] or 0
        return sorted(found.values(), key=lambda each: (-each.stopped - each.lost, -each.rebalances, each.worker))


@attrs.frozen
class Histories:
    """All groups, the one with most rebalances first."""

    groups: Sequence[GroupHistory]
    quarantined: int


def read(place: Path, chosen: Sequence[str] = ()) -> Histories:
    """The tables in `place`, of these groups, or of all. Raises PipelineError: no tables there, no such group."""
    tables = {table.name: _by_group(_rows(place, table)) for table in _SHOWN}
    there = set[str]().union(*tables.values())
    for group_id in chosen:
        if group_id not in there:
            raise PipelineError(f"there is no group {group_id} in {place}: it has {_some(there)}")
    wanted = set(chosen) or there
    groups = [GroupHistory(each, *(tables[table.name].get(each, []) for table in _SHOWN)) for each in wanted]
    groups.sort(key=lambda each: (-len(each.rebalances), each.group_id))
    return Histories(groups, len(_rows(place, QUARANTINE)))


def _rows(place: Path, table: Table) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder = place / table.name
    if not folder.is_dir():
        raise PipelineError(f"{folder} is not there: make the tables with kcoord pipeline history --out {place}")
    try:
        rows: list[Row] = parquet.read_table(folder).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise PipelineError(f"{folder} cannot be read: {error}") from None
    return rows


def _by_group(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.get("group_id", "")].append(row)
    for mine in found.values():
        mine.sort(key=_order)
    return dict(found)


def _order(row: Row) -> tuple[Any, ...]:
    place = next((row[name] for name in ("offset", "from_offset", "epoch") if row.get(name) is not None), 0)
    return row["incarnation"], place, row.get("connector") or "", row.get("task") or 0, row.get("member_id") or ""


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:5]) + (f" and {len(ordered) - 5} more" if len(ordered) > 5 else "") or "none"
