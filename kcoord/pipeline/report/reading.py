"""The rows to show of each group, read from the tables and put in the order of the log."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.history.classic_assignments import CONSUMER_PROTOCOL_TYPE
from kcoord.pipeline.readable_tables import ReadableTables, tables_at
from kcoord.pipeline.report.member_words import MemberWords, words_for
from kcoord.pipeline.schemas import (
    AUDIT,
    BALANCE,
    EPOCHS,
    GAPS,
    OUTAGES,
    OWNERSHIP,
    QUARANTINE,
    REBALANCES,
    SESSIONS,
    Table,
)

Row = dict[str, Any]
_GROUP = ("group_id", "incarnation")
_RESOURCE = (*_GROUP, "connector", "task")
_SHOWN: dict[Table, tuple[str, ...]] = {
    EPOCHS: (*_GROUP, "protocol_type", "kind", "epoch", "offset"),
    REBALANCES: (
        *_GROUP,
        "kind",
        "epoch",
        "reason",
        "detail",
        "started",
        "settled",
        "duration_ms",
        "members",
        "granted",
        "stopped",
        "returned",
        "lost",
    ),
    OWNERSHIP: (*_RESOURCE, "member_id", "from_offset", "from_at", "to_at", "ended"),
    SESSIONS: (
        "partition",
        *_GROUP,
        "protocol_type",
        "member_id",
        "instance_id",
        "client_id",
        "url",
        "from_offset",
        "from_at",
        "to_at",
    ),
    GAPS: (*_RESOURCE, "from_at", "to_at", "duration_ms", "from_member", "to_member", "epoch", "reason"),
    BALANCE: (*_GROUP, "offset", "at", "members", "configured", "owned", "most", "least"),
    AUDIT: (*_RESOURCE, "finding", "offset", "at", "until", "what"),
}
"""The columns that are shown of each table. A table of an older kcoord will do if it has these."""
_TIMES = ("from_at", "to_at", "started", "settled", "at")


@attrs.frozen
class Outage:
    """A time in which nobody had the log, or nobody had this partition of it."""

    partition: int | None
    from_at: datetime
    to_at: datetime

    @property
    def length_ms(self) -> float:
        """How long the outage was."""
        return (self.to_at - self.from_at) / timedelta(milliseconds=1)

    def shared_ms(self, from_at: datetime, to_at: datetime) -> float:
        """How much of the outage falls into this time."""
        return max(min(to_at, self.to_at) - max(from_at, self.from_at), timedelta()) / timedelta(milliseconds=1)


@attrs.frozen
class GroupHistory:
    """The rows of one group, in the order of the log."""

    group_id: str
    epochs: Sequence[Row]
    rebalances: Sequence[Row]
    ownership: Sequence[Row]
    sessions: Sequence[Row]
    gaps: Sequence[Row]
    balance: Sequence[Row]
    audit: Sequence[Row]
    outages: Sequence[Outage] = ()
    """When the coordinator was away while the group had members, in order."""

    @cached_property
    def span(self) -> tuple[datetime, datetime] | None:
        """The times of the first and the last thing that is known of the group."""
        rows = (*self.ownership, *self.sessions, *self.rebalances, *self.balance, *self.audit)
        times = [row[name] for row in rows for name in _TIMES if row.get(name) is not None]
        return (min(times), max(times)) if times else None

    def outages_in(self, from_at: datetime, to_at: datetime) -> range:
        """The places of the outages that may share some of this time."""
        first = bisect_left(self.outages, from_at, key=lambda each: each.to_at)
        return range(first, max(first, bisect_right(self.outages, to_at, key=lambda each: each.from_at)))

    def away_ms(self, from_at: datetime, to_at: datetime) -> float:
        """How long the coordinator was away in this time."""
        return sum(self.outages[number].shared_ms(from_at, to_at) for number in self.outages_in(from_at, to_at))

    @cached_property
    def words(self) -> MemberWords:
        """The words for its members and what they have."""
        types = [row["protocol_type"] for rows in (self.sessions, self.epochs) for row in rows if row["protocol_type"]]
        return words_for(types[-1] if types else None)

    @cached_property
    def _names(self) -> dict[str, str]:
        short = {row["member_id"]: _short(row) for row in self.sessions}
        counts = Counter(short.values())
        unique = {member_id: name if counts[name] == 1 else member_id for member_id, name in short.items()}
        return {row["member_id"]: row["instance_id"] or row["url"] or unique[row["member_id"]] for row in self.sessions}

    def called(self, member_id: str) -> str:
        """The member's name: its static name, its url, or its member id. A consumer's id is random digits; it is called
        as `kcoord groups describe` does it.
        """
        return self._names.get(member_id, member_id)


def _short(row: Row) -> str:
    """A consumer's client id and the end of its member id; for other members, the whole member id."""
    member_id: str = row["member_id"]
    if row["protocol_type"] != CONSUMER_PROTOCOL_TYPE or not row["client_id"]:
        return member_id
    return f"{row['client_id']}-{member_id[-4:]}"


@attrs.frozen
class Histories:
    """All groups, the one with most rebalances first."""

    groups: Sequence[GroupHistory]
    quarantined: int


def read(place: Path | ReadableTables, chosen: Sequence[str] = ()) -> Histories:
    """The tables in `place`, for these groups or for all. Raises PipelineError: no tables there, no such group."""
    source = tables_at(place)
    tables = {table.name: _by_group(_rows(source, table, columns)) for table, columns in _SHOWN.items()}
    there = set[str]().union(*tables.values())
    for group_id in chosen:
        if group_id not in there:
            raise PipelineError(f"there is no group {group_id} in {source.place}: it has {_some(there)}")
    wanted = set(chosen) or there
    outages = _outages(source)
    groups = [_history(each, [tables[table.name].get(each, []) for table in _SHOWN], outages) for each in wanted]
    groups.sort(key=lambda each: (-len(each.rebalances), each.group_id))
    return Histories(groups, len(_rows(source, QUARANTINE, ("partition",))))


def _history(group_id: str, rows: Sequence[Sequence[Row]], outages: Iterable[Outage]) -> GroupHistory:
    epochs, rebalances, ownership, sessions, gaps, balance, audit = rows
    mine = [each for each in outages if _has_member(sessions, each)]
    return GroupHistory(group_id, epochs, rebalances, ownership, sessions, gaps, balance, audit, mine)


def _has_member(sessions: Iterable[Row], outage: Outage) -> bool:
    """Whether the group had a member when the outage began: in a partition without members nobody has to write."""
    return any(
        outage.partition in (None, row["partition"])
        and row["from_at"] <= outage.from_at
        and (row["to_at"] is None or row["to_at"] > outage.from_at)
        for row in sessions
    )


def _outages(tables: ReadableTables) -> list[Outage]:
    """The outages. Empty if an older kcoord made the tables."""
    if not tables.has(OUTAGES):
        return []
    rows = _rows(tables, OUTAGES, ("partition", "from_at", "to_at"))
    return sorted((Outage(**row) for row in rows), key=lambda each: each.from_at)


def _rows(tables: ReadableTables, table: Table, columns: Sequence[str]) -> list[Row]:
    rows: list[Row] = _plain(tables.read(table, columns)).to_pylist()
    return rows


def _plain(table: Any) -> Any:
    """Times as Python's own, in whatever unit Spark wrote them: UTC, without a time zone."""
    import pyarrow as pa

    fields = [each.with_type(pa.timestamp("us")) if pa.types.is_timestamp(each.type) else each for each in table.schema]
    return table.cast(pa.schema(fields))


def _by_group(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["group_id"]].append(row)
    for mine in found.values():
        mine.sort(key=_order)
    return dict(found)


def _order(row: Row) -> tuple[Any, ...]:
    place = next((row[name] for name in ("offset", "from_offset", "epoch") if row.get(name) is not None), 0)
    return row["incarnation"], place, row.get("connector") or "", row.get("task") or 0, row.get("member_id") or ""


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:5]) + (f" and {len(ordered) - 5} more" if len(ordered) > 5 else "") or "none"
