"""Which outages are in the table? Those of the whole log, of a partition those in which it had members; and a stream
keeps what the log does not tell any more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kcoord.pipeline.schemas import OUTAGES, SESSIONS
from kcoord.pipeline.spark.frames import instant
from kcoord.pipeline.spark.history import _outages
from kcoord.pipeline.spark.store import Store
from tests.pipeline.spark import read

SECOND = 1_000


def with_sessions(spark: Any, place: Path, *sessions: tuple[int, int, int | None]) -> Store:
    """Tables of members that came and went at these times, by the partition."""
    store = Store(spark, str(place))
    blank = dict.fromkeys(column.name for column in SESSIONS.columns)
    rows = [
        tuple((blank | {"partition": partition, "from_at": instant(came), "to_at": went and instant(went)}).values())
        for partition, came, went in sessions
    ]
    store.replace(SESSIONS, spark.createDataFrame(rows, SESSIONS.ddl))
    return store


def table(place: Path) -> list[tuple[int | None, int, int]]:
    """Partition, from when in seconds, and how long in ms."""
    rows = sorted(read(place, OUTAGES), key=lambda row: row["from_at"])
    return [(row["partition"], int(row["from_at"].timestamp()), row["duration_ms"]) for row in rows]


def test_of_a_partition_those_in_which_it_had_members(spark: Any, tmp_path: Path) -> None:
    """Somebody is in partition 1 from 10 to 50 s, and from 100 s on; nobody in partition 2."""
    store = with_sessions(spark, tmp_path, (1, 10 * SECOND, 50 * SECOND), (1, 100 * SECOND, None))
    silent = [(1, 5, 9), (1, 20, 30), (1, 50, 90), (1, 120, 180), (2, 20, 60)]
    outages = [(partition, since * SECOND, until * SECOND) for partition, since, until in silent]
    store.replace(OUTAGES, _outages(store, [(None, 0, 2_500), *outages], keep=False))
    assert table(tmp_path) == [(None, 0, 2_500), (1, 20, 10_000), (1, 120, 60_000)]


def test_a_stream_keeps_what_the_log_tells_no_more(spark: Any, tmp_path: Path) -> None:
    store = with_sessions(spark, tmp_path, (1, 0, None))
    store.replace(OUTAGES, _outages(store, [(1, 20 * SECOND, 30 * SECOND), (1, 70 * SECOND, 80 * SECOND)], keep=True))
    store.replace(OUTAGES, _outages(store, [(1, 70 * SECOND, 80 * SECOND), (1, 95 * SECOND, 99 * SECOND)], keep=True))
    assert table(tmp_path) == [(1, 20, 10_000), (1, 70, 10_000), (1, 95, 4_000)]
    store.replace(OUTAGES, _outages(store, [], keep=False))
    assert table(tmp_path) == []
