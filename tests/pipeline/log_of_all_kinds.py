"""What is the log of groups of all kinds, and which tables does it give? What fleets have written that were converted
up and down, consumers beside them, consumer groups, and a group that was deleted and created again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import attrs

from kcoord.log import history
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.schemas import DERIVED, Kind, Table
from kcoord.pipeline.spark.history import Outcome
from kcoord.protocol.records import Record, encode_record
from tests.pipeline.consumer_story import consumers, there_and_back
from tests.pipeline.spark import read
from tests.pipeline.story import PARTITIONS, Written, entries, fleet_of_two, home, tables
from tests.pipeline.test_fleets import played
from tests.pipeline.test_history import generation
from tests.sim.classic_worker.house import GROUP

EPOCH = datetime(1970, 1, 1)
BILLING = "billing"


def deleted_and_created_again() -> Written:
    world = fleet_of_two()
    world.beat("W2", -1, connection=2)
    world.delete()
    world.join("W3", connection=3)
    return world.written


def all_kinds() -> dict[int, list[Entry]]:
    """By partition: each group in its own, consumers beside the fleet."""
    fleet = played(5, 2).written
    classic = [(at_ms + 1, [generation(number, "Stable", "m1")]) for number, (at_ms, _) in enumerate(fleet, 1)]
    beside = sorted([*fleet, *classic], key=lambda step: step[0])
    found = {home(GROUP): entries(beside, home(GROUP))}
    others = [there_and_back()[0].written, renamed(consumers().written), deleted_and_created_again()]
    for partition in range(PARTITIONS):
        if partition not in found:
            found[partition] = entries(others.pop(), partition)
    assert not others
    return found


def renamed(written: Written) -> Written:
    """A consumer group by another name."""
    return [
        (at_ms, [Record(attrs.evolve(cast(Any, each.key), group_id=BILLING), each.value) for each in records])
        for at_ms, records in written
    ]


def as_told(table: Table, row: Row) -> list[object]:
    """By columns; a time is a datetime there, which means UTC and says nothing of it."""
    times = {each.name for each in table.columns if each.kind is Kind.TIME}
    return [
        EPOCH + timedelta(milliseconds=row[each.name]) if each.name in times and row[each.name] is not None
        else row[each.name]
        for each in table.columns
    ]  # fmt: skip


def as_read(table: Table, row: Row) -> list[object]:
    """The same; what pyarrow gives is a datetime with more to it."""
    values = (row[each.name] for each in table.columns)
    return [
        EPOCH + timedelta(seconds=(each - EPOCH).total_seconds()) if isinstance(each, datetime) else each
        for each in values
    ]


def without_holes(log: dict[int, list[Entry]]) -> dict[int, list[Entry]]:
    """The same with the offsets that a topic would give that nobody has compacted."""
    return {
        partition: [attrs.evolve(each, offset=offset) for offset, each in enumerate(found)]
        for partition, found in log.items()
    }


def raw_of(log: dict[int, list[Entry]]) -> list[history.Entry]:
    """The same as it stands in a log."""
    return [
        history.Entry(e.partition, e.offset, e.at_ms, *encode_record(e.record)) for each in log.values() for e in each
    ]


def check_tables(place: Path, log: dict[int, list[Entry]], outcome: Outcome) -> None:
    """The tables at `place` are what the functions say of this log, by which Spark has not come."""
    expected = [tables(each, PARTITIONS, partition) for partition, each in log.items()]
    found = sum(len(each.get("audit", [])) for each in expected)
    assert outcome == Outcome(sum(map(len, log.values())), 0, found)
    for table in DERIVED:
        rows = [as_told(table, row) for each in expected for row in each.get(table.name, [])]
        written = [as_read(table, row) for row in read(place, table)]
        assert sorted(written, key=repr) == sorted(rows, key=repr), table.name
