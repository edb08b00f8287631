"""The rows of the group to replay, read from the tables. Times are in unix ms.

A group of Connect workers is replayed from the derived tables, a consumer group from its records. Classic groups of
consumers are left out: their leaders assign, by assignors that kcoord does not have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.history.classic_assignments import CONSUMER_PROTOCOL_TYPE
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.history.state import OF_GROUPS
from kcoord.pipeline.readable_tables import ReadableTables, tables_at
from kcoord.pipeline.schemas import CONNECTORS, EPOCHS, GAPS, OUTAGES, OWNERSHIP, REBALANCES, RECORDS, SESSIONS
from kcoord.pipeline.whatif.fleet import TIMES, Tables
from kcoord.protocol.records import decode_record

READ = (EPOCHS, SESSIONS, OWNERSHIP, CONNECTORS, REBALANCES, GAPS)
_OWNER = ["group_id", "protocol_type"]
NAMED = 5
"""How many groups an error names to choose from."""


def read(place: Path | ReadableTables, group: str | None) -> tuple[str, Tables]:
    """The group and its rows. The group need not be named if only one group of workers owns something.

    Raises PipelineError: no tables there, tables of another kcoord, no such group, a group of consumers, several to
    choose from.
    """
    source = tables_at(place)
    found = {table.name: source.read(table, table.names) for table in READ}
    there, consumers = _owners(found[OWNERSHIP.name])
    if group is None:
        if len(there) != 1:
            what = "none" if not there else ", ".join(there[:NAMED]) + (", …" if len(there) > NAMED else "")
            raise PipelineError(
                f"{source.place} has {len(there):,} groups of Connect workers ({what}): name one with --group"
                if there
                else f"{source.place} has no group of Connect workers that ever ran anything: nothing can be replayed"
            )
        group = there[0]
    elif group in consumers and group not in there:
        raise PipelineError(
            f"{group} is a group of consumers: only what Connect workers did can be simulated with other policies and "
            "delays"
        )
    elif group not in there:
        raise PipelineError(
            f"no worker of group {group} ever ran anything in {source.place}; it has {', '.join(there) or 'none'}"
        )
    rows: dict[str, Any] = {name: _rows(table, group) for name, table in found.items()}
    written = source.read(RECORDS, ["at"])
    if source.has(OUTAGES):  # an older kcoord made no such table
        mine = {None, *(row["partition"] for row in rows[SESSIONS.name])}
        rows["outages"] = [row for row in _plain(source.read(OUTAGES, OUTAGES.names)) if row["partition"] in mine]
    return group, Tables(**rows, last_ms=max(map(_last_ms, (*found.values(), written))))


def consumers_to_replay(place: Path | ReadableTables, group: str | None) -> str | None:
    """The group of consumers that is meant: the named one, or the only group that ever had anything. None: none, or a
    group of Connect workers is meant. Raises PipelineError: no tables there, tables of another kcoord.
    """
    workers, consumers = _owners(tables_at(place).read(OWNERSHIP, _OWNER))
    if group is None and not workers and len(consumers) == 1:
        return consumers[0]
    return group if group in consumers and group not in workers else None


def records_of(place: Path | ReadableTables, group: str) -> list[Entry]:
    """The records of a group, in the order of the log. Raises PipelineError: no tables, tables of another kcoord."""
    columns = ("partition", "offset", "at", "type", "key", "value")
    mine = [("group_id", "=", group), ("type", "in", sorted(OF_GROUPS))]
    rows = _plain(tables_at(place).read(RECORDS, columns, mine))
    rows.sort(key=lambda row: row["offset"])
    return [Entry(row["partition"], row["offset"], row["at"], decode_record(row["key"], row["value"])) for row in rows]


def _owners(ownership: pa.Table) -> tuple[list[str], list[str]]:
    """The groups of Connect workers, and those of consumers, in which somebody ever had something."""
    pairs = {(row["group_id"], row["protocol_type"]) for row in ownership.select(_OWNER).to_pylist()}
    workers = sorted({group for group, protocol_type in pairs if protocol_type != CONSUMER_PROTOCOL_TYPE})
    return workers, sorted(group for group, protocol_type in pairs if protocol_type == CONSUMER_PROTOCOL_TYPE)


def _last_ms(table: pa.Table) -> int:
    """The latest time in the table, in unix ms. 0: it has no times."""
    columns = [table.column(name) for name in TIMES if name in table.column_names]
    latest = [compute.max(each.cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64())) for each in columns]
    found: list[int] = [each.as_py() for each in latest if each.is_valid]
    return max([0, *found])


def _rows(table: pa.Table, group: str) -> list[Row]:
    """The rows of the group, without what it did while a group of consumers had its name."""
    rows = _plain(table.filter(compute.equal(table.column("group_id"), group)))
    return [row for row in rows if row["protocol_type"] != CONSUMER_PROTOCOL_TYPE]


def _plain(table: pa.Table) -> list[Row]:
    """The rows, with times in unix ms."""
    for at, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            ms = table.column(at).cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64())
            table = table.set_column(at, column.name, ms)
    rows: list[Row] = table.to_pylist()
    return rows
