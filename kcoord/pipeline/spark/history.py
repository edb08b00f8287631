"""From a log to tables, in two steps: `records` and `quarantine` from the log, all other tables from `records`.

- A batch takes everything that is there when it begins. The same log gives the same tables.
- A stream takes what is new since the last time. Its checkpoint knows how far it had read. A batch that was begun and
  not finished is written again under the same number. The other tables go on where they were: what was known of each
  partition is kept, and only rows that the new records settle, begin or change are written. Where nobody knows how far
  they had come, because the stream was killed between two tables or another version of kcoord made them, they are made
  from all records, as in a batch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from kcoord.pipeline.schemas import AUDIT, DERIVED, FOLLOWED, OUTAGES, QUARANTINE, RECORDS, SESSIONS, Table
from kcoord.pipeline.spark.arrow import readable, unreadable
from kcoord.pipeline.spark.frames import counted, followed, of, outage_rows
from kcoord.pipeline.spark.package_archives import version_of_code
from kcoord.pipeline.spark.session import most_tasks
from kcoord.pipeline.spark.sources import Outage, Source, TopicSource
from kcoord.pipeline.spark.step_messages import ErrorLine, Say, silent
from kcoord.pipeline.spark.store import CHECKPOINT, LaterRows, Store, mark_of
from kcoord.pipeline.spark.table_rows import FewRows, Rows
from kcoord.pipeline.spark.task_files import TaskFiles, write_files

AT_ONCE = 5_000_000
FEW_RECORDS = 100_000
"""So few new records are followed and written without Spark's plans, which take longer than they are worth."""
MOST_ROWS_A_FILE = 500_000
"""So few rows of a table are one file."""


@attrs.frozen
class Outcome:
    """What there is at the end."""

    records: int
    quarantined: int
    findings: int


def run_batch(store: Store, source: Source, say: Say = silent) -> Outcome:
    """Make all tables from everything in the log. Raises PipelineError."""
    if not _write_by_tasks(store, source, say, follows=True):
        _take_by_spark(store, source, say)
        with ErrorLine("the tables could not be made"):
            _follow_all(store, source, say, None)
    return _finish(store, source, say)


def take_records(store: Store, source: Source, say: Say = silent) -> None:
    """Write `records` and `quarantine` from everything in the log. Raises PipelineError."""
    if not _write_by_tasks(store, source, say, follows=False):
        _take_by_spark(store, source, say)


def _write_by_tasks(store: Store, source: Source, say: Say, *, follows: bool) -> bool:
    """Let Spark's tasks read the log and write the tables. False: they cannot."""
    store.check(stream=False)
    reader = source.reader(store.spark)
    folders = None if reader is None else store.form.folders()
    if reader is None or folders is None:
        return False
    say("reading and decoding the log")
    with ErrorLine("the log could not be read, or its tables not be written"):
        write_files(store.spark, TaskFiles(reader, source.partitions, folders, follows))
    say("replacing the tables")
    store.form.replace_by_files([RECORDS, QUARANTINE, *(DERIVED if follows else ())])
    return True


def _take_by_spark(store: Store, source: Source, say: Say) -> None:
    say("reading and decoding the log")
    with ErrorLine("the log could not be read, or its tables not be written"):
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
            follow_new(store, source, say)
            _finish(store, source, say, keep=True)

    with ErrorLine("the stream has failed"):
        writer = source.stream(store.spark, at_once).writeStream.foreachBatch(take)
        writer = writer.option("checkpointLocation", store.files.at(CHECKPOINT))
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
    with ErrorLine("the tables could not be made"):
        follow_new(store, source, say)
    return _finish(store, source, say, keep=True)


def _split(raw: Any, write: Callable[[Any, LaterRows], None]) -> None:
    """Write the readable rows, then the unreadable ones. Only if there are unreadable rows is everything read again.

    Spark's source makes each partition of a topic a task of its own: here one task does several.
    """
    spark = raw.sparkSession
    rows, refused = raw.coalesce(most_tasks(spark)), spark.sparkContext.accumulator(0)

    def bad() -> Any | None:
        return rows.mapInArrow(unreadable, QUARANTINE.ddl) if refused.value else None

    write(rows.mapInArrow(readable(refused), RECORDS.ddl), bad)


def follow_new(store: Store, source: Source, say: Say = silent) -> None:
    """Bring the tables to where the records are, from where they were."""
    version = f"{version_of_code()}.{source.partitions}"
    since, newest = store.followed_to(version), store.form.newest_raw()
    if since is None:
        _follow_all(store, source, say, mark_of(newest, version))
    elif since < newest:
        _follow_on(store, source, say, since, mark_of(newest, version))


def _follow_all(store: Store, source: Source, say: Say, mark: str | None) -> None:
    """Make all tables from all records. `mark`: how far that is, in a stream."""
    say("following every group")
    with _followed(followed(store.read(RECORDS), source.partitions, keeps=mark is not None)) as found:
        for table in DERIVED if mark is None else (*DERIVED, FOLLOWED):
            say(f"writing {table.name}")
            store.form.replace_followed(table, found.rows_of(table), mark)


def _follow_on(store: Store, source: Source, say: Say, since: int, mark: str) -> None:
    """Go on with the records of the batches after `since`. What is kept for the next time is written last."""
    say("following what is new")
    new = store.form.raw_after(since)
    sizes = {row.partition: row["count"] for row in new.groupBy("partition").count().collect()}
    if not sizes:
        return
    was_kept = store.read(FOLLOWED).where(f"partition IN ({', '.join(map(str, sizes))})")
    rows = followed(new, source.partitions, was_kept, keeps=True)
    few = sum(sizes.values()) <= FEW_RECORDS
    with contextlib.nullcontext(_Few(rows.toArrow())) if few else _followed(rows) as found:
        say("writing what has changed")
        for table in (*DERIVED, FOLLOWED):
            store.form.renew(table, found.rows_of(table), sizes, mark)


@attrs.frozen(eq=False)
class _Few:
    """The rows of all tables, if they are few."""

    rows: Any
    """A pyarrow table with the columns of `DERIVED_DDL`."""

    def rows_of(self, table: Table) -> FewRows:
        """The rows of one table."""
        import pyarrow as pa
        from pyarrow import compute

        mine = self.rows.filter(compute.equal(self.rows.column("table"), table.name))
        parts = []
        for part in (mine.filter(compute.invert(mine.column("open"))), mine.filter(mine.column("open"))):
            struct = part.column(table.name).combine_chunks()
            parts.append(pa.Table.from_struct_array(struct) if len(part) else None)
        return FewRows(*parts)


@attrs.frozen(eq=False)
class _Followed:
    """The rows of all tables that come from following the groups."""

    rows: Any
    counts: Mapping[tuple[str, bool], int]
    """How many rows a table has, by its name and whether they are open."""

    def rows_of(self, table: Table) -> Rows:
        """The rows of one table."""
        return Rows(self._part(table, False), self._part(table, True))

    def _part(self, table: Table, is_open: bool) -> Any | None:
        count = self.counts.get((table.name, is_open), 0)
        if not count:
            return None
        rows = of(self.rows.where("open" if is_open else "NOT open"), table)
        return rows.coalesce(1) if count <= MOST_ROWS_A_FILE else rows


@contextlib.contextmanager
def _followed(rows: Any) -> Iterator[_Followed]:
    """Follow groups once: Spark keeps the rows in the body."""
    rows = rows.persist()
    try:
        counts = rows.groupBy("table", "open").count().collect()
        yield _Followed(rows, {(row.table, row.open): row["count"] for row in counts})
    finally:
        rows.unpersist()


def _finish(store: Store, source: Source, say: Say, *, keep: bool = False) -> Outcome:
    with ErrorLine("the tables could not be made"):
        outages = source.outages()
        if outages or not keep or not store.has(OUTAGES):
            say(f"writing {OUTAGES.name}")
            store.replace(OUTAGES, _outages(store, outages, keep=keep))
        say("counting")
        store.tidy()
        return Outcome(*(store.form.count(each) for each in (RECORDS, QUARANTINE, AUDIT)))


def _outages(store: Store, outages: Iterable[Outage], *, keep: bool) -> Any:
    """The rows of `outages` that count. If `keep`, with rows from before, which the log may no longer show."""
    found = outage_rows(store.spark, outages)
    if keep and store.has(OUTAGES):
        found = found.union(store.read(OUTAGES)).dropDuplicates(["partition", "from_at"])
    return counted(found, store.read(SESSIONS))
