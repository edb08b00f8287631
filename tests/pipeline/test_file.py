"""Does Spark write what the functions say, of groups of all kinds in a file? What-if reads a consumer group's records
from there.
"""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from kcoord.log.outages import add_outage
from kcoord.log.sqlite_file import LogFile
from kcoord.pipeline.schemas import DERIVED, OUTAGES
from kcoord.pipeline.spark.history import run_batch
from kcoord.pipeline.spark.sources import FileSource
from kcoord.pipeline.spark.store import Store
from kcoord.pipeline.whatif.consumer_assignments import answer, moments_of
from kcoord.pipeline.whatif.reading import consumers_to_replay, records_of
from tests.pipeline.consumer_story import consumers
from tests.pipeline.files import copy_to_file
from tests.pipeline.log_of_all_kinds import BILLING, EPOCH, all_kinds, as_read, check_tables, raw_of
from tests.pipeline.spark import read
from tests.pipeline.story import PARTITIONS, entries


def test_spark_writes_what_the_functions_say(spark: Any, tmp_path: Path) -> None:
    log = all_kinds()
    copy_to_file(raw_of(log), tmp_path / "log", PARTITIONS)
    with closing(LogFile(tmp_path / "log", PARTITIONS).connect()) as connection:
        add_outage(connection, 1_000, 31_500)
    place = tmp_path / "tables"
    check_tables(place, log, run_batch(Store(spark, str(place)), FileSource.look(tmp_path / "log")))
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
