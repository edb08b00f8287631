"""From a log to tables, in two steps: `records` and `quarantine` from the log, all other tables from `records`.

- A batch takes everything that is there when it begins. The same log gives the same tables.
- A stream takes what is new since the last time. Its checkpoint knows how far it had read. A batch that was begun and
  not finished is written again under the same number. Then the other tables are made again from all records, as in a
  batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from kcoord.pipeline.schemas import AUDIT, DERIVED, OUTAGES, QUARANTINE, RECORDS, SESSIONS
from kcoord.pipeline.spark.arrow import readable, unreadable
from kcoord.pipeline.spark.frames import counted, followed, of, outage_rows
from kcoord.pipeline.spark.session import most_tasks
from kcoord.pipeline.spark.sources import Outage, Source, TopicSource
from kcoord.pipeline.spark.step_messages import ErrorLine, Say, silent
from kcoord.pipeline.spark.store import CHECKPOINT, LaterRows, Store

AT_ONCE = 5_000_000


@attrs.frozen
class Outcome:
    """What there is at the end."""

    records: int
    quarantined: int
    findings: int


def run_batch(store: Store, source: Source, say: Say = silent) -> Outcome:
    """Make all tables from everything in the log. Raises PipelineError."""
    take_records(store, source, say)
    return _derive(store, source, say)


def take_records(store: Store, source: Source, say: Say = silent) -> None:
    """Write `records` and `quarantine` from everything in the log. Raises PipelineError."""
    store.check(stream=False)
    say("reading and decoding the log")
    with ErrorLine("the log could not be read"):
        _split(source.batch(store.spark, store.scratch("log")), store.replace_raw)


def run_stream(
    store: Store, source: TopicSource, say: Say = silent, *, every_s: float | None = None, at_once: int = AT_ONCE
) -> Outcome:
    """Add what is new since the last time, then make all other tables. With `every_s` it goes on until it is
    interrupted.

    `at_once`: the most records in one batch. Raises PipelineError.
    """
    store.check(stream=True)
    say("reading and decoding what is new")

    def take(batch: Any, number: int) -> None:
        _split(batch, lambda good, bad: store.add_raw(number, good, bad))
        if every_s is not None:
            _derive(store, source, say, keep=True)

    with ErrorLine("the stream has failed"):
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
    if not store.has(RECORDS):  # the log was empty
        with ErrorLine("the tables could not be written"):
            store.add_raw(0, None, lambda: None)
    return _derive(store, source, say, keep=True)


def _split(raw: Any, write: Callable[[Any, LaterRows], None]) -> None:
    """Write the readable rows, then the unreadable ones. Only if there are unreadable rows is everything read again.

    Spark's source makes each partition of a topic a task of its own: here one task does several.
    """
    spark = raw.sparkSession
    rows, refused = raw.coalesce(most_tasks(spark)), spark.sparkContext.accumulator(0)

    def bad() -> Any | None:
        return rows.mapInArrow(unreadable, QUARANTINE.ddl) if refused.value else None

    write(rows.mapInArrow(readable(refused), RECORDS.ddl), bad)


def _derive(store: Store, source: Source, say: Say, *, keep: bool = False) -> Outcome:
    say("following every group")
    with ErrorLine("the tables could not be made"):
        rows = followed(store.read(RECORDS), source.partitions).persist()
        try:
            for table in DERIVED:
                say(f"writing {table.name}")
                store.replace(table, of(rows, table))
            say(f"writing {OUTAGES.name}")
            store.replace(OUTAGES, _outages(store, source.outages(), keep=keep))
            say("counting")
            return Outcome(store.read(RECORDS).count(), store.read(QUARANTINE).count(), store.read(AUDIT).count())
        finally:
            rows.unpersist()
            store.tidy()


def _outages(store: Store, outages: Iterable[Outage], *, keep: bool) -> Any:
    """The rows of `outages` that count. If `keep`, with rows from before, which the log may no longer show."""
    found = outage_rows(store.spark, outages)
    if keep and store.has(OUTAGES):
        found = found.union(store.read(OUTAGES)).dropDuplicates(["partition", "from_at"])
    return counted(found, store.read(SESSIONS))
