"""Does Spark write what the functions say, of groups of all kinds? A log in a file, with what fleets have written that
were converted up and down, consumers beside them, consumer groups, and a group that was deleted and made anew. What-if
reads a consumer group's records from there.
"""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import attrs

from kcoord.log import history
from kcoord.log.outages import add_outage
from kcoord.log.sqlite_file import LogFile
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.spark.history import Outcome, run_batch
from kcoord.pipeline.spark.sources import FileSource
from kcoord.pipeline.spark.store import Store
from kcoord.pipeline.tables import DERIVED, OUTAGES, Kind, Table
from kcoord.pipeline.whatif.consumer_assignments import answer, moments_of
from kcoord.pipeline.whatif.reading import consumers_to_replay, records_of
from kcoord.protocol.records import Record, encode_record
from tests.pipeline.consumer_story import consumers, there_and_back
from tests.pipeline.files import copy_to_file
from tests.pipeline.spark import read
from tests.pipeline.story import PARTITIONS, Written, entries, fleet_of_two, home, tables
from tests.pipeline.test_fleets import played
from tests.pipeline.test_history import generation
from tests.sim.classic_worker.house import GROUP

EPOCH = datetime(1970, 1, 1)
BILLING = "billing"


def deleted_and_made_anew() -> Written:
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
    others = [there_and_back()[0].written, renamed(consumers().written), deleted_and_made_anew()]
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


def test_spark_writes_what_the_functions_say(spark: Any, tmp_path: Path) -> None:
    log = all_kinds()
    raw = [
        history.Entry(e.partition, e.offset, e.at_ms, *encode_record(e.record)) for each in log.values() for e in each
    ]
    copy_to_file(raw, tmp_path / "log", PARTITIONS)
    expected = [tables(each, PARTITIONS, partition) for partition, each in log.items()]
    found = sum(len(each.get("audit", [])) for each in expected)
    with closing(LogFile(tmp_path / "log", PARTITIONS).connect()) as connection:
        add_outage(connection, 1_000, 31_500)
    place = tmp_path / "tables"
    assert run_batch(Store(spark, str(place)), FileSource.look(tmp_path / "log")) == Outcome(len(raw), 0, found)
    for table in DERIVED:
        rows = [as_told(table, row) for each in expected for row in each.get(table.name, [])]
        written = [as_read(table, row) for row in read(place, table)]
        assert sorted(written, key=repr) == sorted(rows, key=repr), table.name
    began = EPOCH + timedelta(seconds=1)
    outage = {"partition": None, "from_at": began, "to_at": began + timedelta(seconds=30.5), "duration_ms": 30_500}
    assert [dict(zip(outage, as_read(OUTAGES, row), strict=True)) for row in read(place, OUTAGES)] == [outage]
    assert {row["kind"] for row in read(place, DERIVED[0])} == {"generic", "connect", "consumer"}
    assert {row["incarnation"] for row in read(place, DERIVED[0])} == {1, 2}
    assert consumers_to_replay(place, BILLING) == BILLING
    told = answer(list(moments_of(BILLING, records_of(place, BILLING))), ["uniform"], [0])
    assert told == answer(list(moments_of("g", entries(consumers().written))), ["uniform"], [0])
    assert told is not None
    assert told.differs_ms is None
