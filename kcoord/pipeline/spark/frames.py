"""DataFrames of the tables, made from raw rows: what is written into files, and what any session can use without them.

A group lives in one partition. So each partition is followed alone, sorted by offset: neither the times of records nor
the order in which they were read matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kcoord.pipeline.schemas import DERIVED, OUTAGES, QUARANTINE, RECORDS, SESSIONS, Table
from kcoord.pipeline.spark.arrow import DERIVED_DDL, KEPT_OFFSET, deriver
from kcoord.pipeline.spark.data_source import KcoordLog
from kcoord.pipeline.spark.log_options import look
from kcoord.pipeline.spark.session import give_kcoord, is_local, most_tasks
from kcoord.pipeline.spark.sources import Outage

FOLLOWING_A_CORE = 8
"""More tasks where groups are followed, because it is chance which partitions of the log share a task."""
RAW_COLUMNS = ("partition", "offset", "at", "key", "value")


def frames(spark: Any, options: Mapping[str, str]) -> dict[str, Any]:
    """Each table as a DataFrame, by its name (docs/pipeline.md), of the log that these options of the source `kcoord`
    name. Rows are made when they are asked for; Spark keeps what it has derived (`persist`), so that groups are
    followed once.

    Raises PipelineError: the options are wrong, there is no such log, the executors cannot run kcoord's functions.
    """
    source = look(options)
    register(spark)
    rows = spark.read.format(KcoordLog.name()).options(**options).load()
    good = rows.where("reason IS NULL")
    derived = followed(good, source.partitions).persist()
    found = {table.name: of(derived, table) for table in DERIVED}
    return {
        RECORDS.name: good.select(RECORDS.names),
        QUARANTINE.name: rows.where("reason IS NOT NULL").select(QUARANTINE.names),
        **found,
        OUTAGES.name: counted(outage_rows(spark, source.outages()), found[SESSIONS.name]),
    }


def register(spark: Any) -> None:
    """Make the source `kcoord` known to the session, and its executors able to read it. Raises PipelineError."""
    if not is_local(spark.sparkContext.master):
        give_kcoord(spark)
    spark.dataSource.register(KcoordLog)


def followed(records: Any, partitions: int, was_kept: Any | None = None, *, keeps: bool = False) -> Any:
    """All derived tables as one, from readable rows: the columns of `DERIVED_DDL`. `was_kept`: what a stream has kept
    of these partitions, as rows of `FOLLOWED`. If `keeps`, such rows are given too.
    """
    tasks = min(partitions, most_tasks(records.sparkSession, FOLLOWING_A_CORE))
    rows = records.select(*RAW_COLUMNS)
    if was_kept is not None:
        rows = rows.unionByName(
            was_kept.selectExpr(
                "partition",
                f"CAST({KEPT_OFFSET} AS BIGINT) AS offset",
                "CAST(NULL AS TIMESTAMP) AS at",
                "CAST(NULL AS BINARY) AS key",
                "follower AS value",
            )
        )
    ordered = rows.repartition(tasks, "partition").sortWithinPartitions("partition", "offset")
    return ordered.mapInArrow(deriver(partitions, keeps=keeps), DERIVED_DDL)


def of(rows: Any, table: Table) -> Any:
    """One derived table out of all of them."""
    return rows.where(f"`table` = '{table.name}'").select(f"`{table.name}`.*")


def outage_rows(spark: Any, outages: Iterable[Outage]) -> Any:
    """The rows of these outages."""
    made = [(partition, instant(since), instant(until), until - since) for partition, since, until in outages]
    return spark.createDataFrame(made, OUTAGES.ddl)


def counted(outages: Any, sessions: Any) -> Any:
    """Those that count. An outage of one partition does if the partition had members then: otherwise nobody had to
    write.
    """
    from pyspark.sql.functions import expr

    stays = sessions.selectExpr("partition AS its", "from_at AS came", "to_at AS went")
    had_members = "partition = its AND came <= from_at AND (went IS NULL OR went > from_at)"
    mine = outages.where("partition IS NOT NULL").join(stays, expr(had_members), "left_semi")
    return outages.where("partition IS NULL").union(mine).coalesce(1).sortWithinPartitions("from_at", "partition")


def instant(unix_ms: int) -> datetime:
    """A time in unix ms."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=unix_ms)
