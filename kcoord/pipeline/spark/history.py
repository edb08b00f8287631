"""How does a log become tables? In two steps: `records` and `quarantine` out of the log, all others out of `records`.

- A batch takes everything that is there when it begins. The same log gives the same tables.
- A stream takes what is new since the last time: its checkpoint knows how far it was, and a batch that was begun and
  not finished is written again under the same number. Then the other tables are made anew of all records, as a batch
  would.
- A group lives in one partition, so partitions are looked at each for itself, sorted by offset: the times of records
  and the order in which they were read do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from kcoord.pipeline.spark.arrow import DERIVED_DDL, deriver, readable, unreadable
from kcoord.pipeline.spark.session import most_tasks
from kcoord.pipeline.spark.sources import Outage, Source, TopicSource
from kcoord.pipeline.spark.store import CHECKPOINT, LaterRows, Store
from kcoord.pipeline.spark.telling import Say, Told, silent
from kcoord.pipeline.tables import AUDIT, DERIVED, OUTAGES, QUARANTINE, RECORDS, SESSIONS, Table

AT_ONCE = 5_000_000
FOLLOWING_A_CORE = 8
"""More where groups are followed: which partitions of the log come together is chance."""
RAW_COLUMNS = ("partition", "offset", "at", "key", "value")


@attrs.frozen
class Outcome:
    """What there is in the end."""

    records: int
    quarantined: int
    findings: int


def run_batch(store: Store, source: Source, say: Say = silent) -> Outcome:
    """All tables of all that is in the log. Raises PipelineError."""
    take_records(store, source, say)
    return _derive(store, source, say)


def take_records(store: Store, source: Source, say: Say = silent) -> None:
    """`records` and `quarantine` of all that is in the log. Raises PipelineError."""
    store.check(stream=False)
    say("reading and decoding the log")
    with Told("the log could not be read"):
        _split(source.batch(store.spark), store.replace_raw)


def run_stream(
    store: Store, source: TopicSource, say: Say = silent, *, every_s: float | None = None, at_once: int = AT_ONCE
) -> Outcome:
    """What is new since the last time, then all other tables. With `every_s` it goes on until it is interrupted.

    `at_once`: so many records are one batch, at most. Raises PipelineError.
    """
    store.check(stream=True)
    say("reading and decoding what is new")

    def take(batch: Any, number: int) -> None:
        _split(batch, lambda good, bad: store.add_raw(number, good, bad))
        if every_s is not None:
            _derive(store, source, say, keep=True)

    with Told("the stream has failed"):
        writer = source.stream(store.spark, at_once).writeStream.foreachBatch(take)
        writer = writer.option("checkpointLocation", f"{store.place}/{CHECKPOINT}")
        writer = (
            writer.trigger(availableNow=True)
            if every_s is None
            else writer.trigger(processingTime=f"{every_s} seconds")
        )
        query = writer.start()
        try:
            query.awaitTermination()
        finally:
            query.stop()
    if not store.has(RECORDS):  # there was nothing at all
        with Told("the tables could not be written"):
            store.add_raw(0, None, lambda: None)
    return _derive(store, source, say, keep=True)


def _split(raw: Any, write: Callable[[Any, LaterRows], None]) -> None:
    """Hand on what can be read, and then what cannot: only where there is some is everything read a second time.

    To Spark's source a partition of a topic is a task: several are done by one.
    """
    spark = raw.sparkSession
    rows, refused = raw.coalesce(most_tasks(spark)), spark.sparkContext.accumulator(0)

    def bad() -> Any | None:
        return rows.mapInArrow(unreadable, QUARANTINE.ddl) if refused.value else None

    write(rows.mapInArrow(readable(refused), RECORDS.ddl), bad)


def _derive(store: Store, source: Source, say: Say, *, keep: bool = False) -> Outcome:
    say("following every group")
    partitions = source.partitions
    with Told("the tables could not be made"):
        tasks = min(partitions, most_tasks(store.spark, FOLLOWING_A_CORE))
        records = store.read(RECORDS).select(*RAW_COLUMNS).repartition(tasks, "partition")
        ordered = records.sortWithinPartitions("partition", "offset")
        rows = ordered.mapInArrow(deriver(partitions), DERIVED_DDL).persist()
        try:
            for table in DERIVED:
                say(f"writing {table.name}")
                store.replace(table, _of(rows, table))
            say(f"writing {OUTAGES.name}")
            store.replace(OUTAGES, _outages(store, source.outages(), keep=keep))
            say("counting")
            return Outcome(store.read(RECORDS).count(), store.read(QUARANTINE).count(), store.read(AUDIT).count())
        finally:
            rows.unpersist()
            store.tidy()


def _outages(store: Store, outages: Iterable[Outage], *, keep: bool) -> Any:
    """With those that were there before, which the log may tell no more, where they are to be kept. Of a partition
    those in which it had members: else nobody has to write.
    """
    from pyspark.sql.functions import expr

    made = [(partition, _instant(since), _instant(until), until - since) for partition, since, until in outages]
    found = store.spark.createDataFrame(made, OUTAGES.ddl)
    if keep and store.has(OUTAGES):
        found = found.union(store.read(OUTAGES)).dropDuplicates(["partition", "from_at"])
    sessions = store.read(SESSIONS).selectExpr("partition AS its", "from_at AS came", "to_at AS went")
    had_members = "partition = its AND came <= from_at AND (went IS NULL OR went > from_at)"
    mine = found.where("partition IS NOT NULL").join(sessions, expr(had_members), "left_semi")
    return found.where("partition IS NULL").union(mine).coalesce(1).sortWithinPartitions("from_at", "partition")


def _instant(unix_ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=unix_ms)


def _of(rows: Any, table: Table) -> Any:
    return rows.where(f"`table` = '{table.name}'").select(f"`{table.name}`.*")
