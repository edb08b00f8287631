"""Tables in the format of Delta Lake. Every change of one is one commit: a reader sees it before or after, on any file
system.

Tables that come from following the groups have one more column, `open`: whether more of the log can still change the
row. By it Delta keeps those rows in files of their own: a stream replaces them, and adds what is new, without a look at
the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from kcoord.pipeline.readable_tables import DELTA_LOG
from kcoord.pipeline.schemas import RECORDS, Table
from kcoord.pipeline.spark.hadoop_files import HadoopFiles
from kcoord.pipeline.spark.table_rows import FewRows, Rows, empty

DELTA_CONNECTOR = "io.delta:delta-spark_2.13:4.0.0"
"""Maven coordinates of Delta Lake for this Spark."""
EXTENSIONS = "spark.sql.extensions"
DELTA_SETTINGS = {
    EXTENSIONS: "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "4",
}
"""What a session needs to know Delta. Its own log of a table is small here: few tasks read it."""
_OPEN = "open"
_NOTE = "spark.databricks.delta.commitInfo.userMetadata"
_SMALL_FILES = {"delta.autoOptimize.autoCompact": "true"}


@attrs.frozen(eq=False)
class DeltaTables:
    """Tables under a place."""

    files: HadoopFiles

    name = "delta"

    def read(self, table: Table) -> Any:
        """See TableFormat."""
        return self._load(table).select(table.names)

    def replace(self, table: Table, rows: Any) -> None:
        """See TableFormat."""
        self._overwrite(table, rows, None)

    def replace_followed(self, table: Table, rows: Rows, mark: str | None) -> None:
        """See TableFormat."""
        self._overwrite(table, self._with_open(table, rows), mark, _OPEN)

    def renew(self, table: Table, rows: Rows | FewRows, partitions: Collection[int], mark: str) -> None:
        """See TableFormat."""
        from pyspark.sql.functions import lit

        spark = self.files.spark
        numbers = ", ".join(map(str, sorted(partitions)))
        over = spark.createDataFrame([(each,) for each in sorted(partitions)], "partition int").withColumn(
            "over", lit(True)
        )
        frames = rows.frames(spark, table) if isinstance(rows, FewRows) else rows
        new = self._with_open(table, frames).withColumn("over", lit(False))
        over.unionByName(new, allowMissingColumns=True).createOrReplaceTempView("kcoord_changes")
        names = [*table.names, _OPEN]
        with self._noting(mark):
            spark.sql(
                f"MERGE INTO delta.`{self.files.at(table.name)}` AS t USING kcoord_changes AS s "
                f"ON t.{_OPEN} AND t.partition IN ({numbers}) AND s.over AND t.partition = s.partition "
                "WHEN MATCHED THEN DELETE "
                f"WHEN NOT MATCHED AND NOT s.over THEN INSERT ({', '.join(f'`{each}`' for each in names)}) "
                f"VALUES ({', '.join(f's.`{each}`' for each in names)})"
            )

    def mark(self, table: Table) -> str | None:
        """See TableFormat."""
        return next((note for _, note in self._commits(table)), None)

    def replace_raw(self, table: Table, rows: Any | None) -> None:
        """See TableFormat."""
        self._overwrite(table, empty(self.files.spark, table) if rows is None else rows, None)

    def count(self, table: Table) -> int:
        """See TableFormat."""
        return int(self.read(table).count())

    def folders(self) -> Mapping[str, str] | None:
        """See TableFormat."""
        return None

    def replace_by_files(self, tables: Sequence[Table]) -> None:
        """See TableFormat."""
        raise NotImplementedError("`folders` names none: only Delta itself writes the files of its tables")

    def add_raw(self, table: Table, number: int, rows: Any | None) -> None:
        """See TableFormat."""
        if rows is None:
            if number or self.files.is_there(f"{table.name}/{DELTA_LOG}"):
                return
            rows = empty(self.files.spark, table)
        writer = rows.write.format("delta").mode("append").option("delta.enableChangeDataFeed", "true")
        once = writer.option("txnAppId", f"kcoord-{table.name}").option("txnVersion", number)
        with self._noting(str(number)):
            once.save(self.files.at(table.name))

    def newest_raw(self) -> int:
        """See TableFormat."""
        return next((int(note) for _, note in self._commits(RECORDS)), -1)

    def raw_after(self, number: int) -> Any:
        """See TableFormat."""
        first = min(version for version, note in self._commits(RECORDS) if int(note) > number)
        reader = self.files.spark.read.format("delta").option("readChangeFeed", "true")
        changes = reader.option("startingVersion", first).load(self.files.at(RECORDS.name))
        return changes.where("_change_type = 'insert'").select(RECORDS.names)

    def tidy(self) -> None:
        """See TableFormat."""

    # Inside

    def _load(self, table: Table) -> Any:
        return self.files.spark.read.format("delta").load(self.files.at(table.name))

    def _overwrite(self, table: Table, rows: Any, mark: str | None, *by: str) -> None:
        writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").options(**_SMALL_FILES)
        with self._noting(mark):
            writer.partitionBy(*by).save(self.files.at(table.name))

    def _with_open(self, table: Table, rows: Rows) -> Any:
        from pyspark.sql.functions import lit

        found = [
            each.withColumn(_OPEN, lit(is_open))
            for each, is_open in ((rows.settled, False), (rows.open, True))
            if each is not None
        ]
        if not found:
            return empty(self.files.spark, table).withColumn(_OPEN, lit(False))
        return found[0] if len(found) == 1 else found[0].unionByName(found[1])

    def _commits(self, table: Table) -> Iterator[tuple[int, str]]:
        """The versions of a table that have a note, with their notes, the last one first."""
        if not self.files.is_there(f"{table.name}/{DELTA_LOG}"):
            return
        history = self.files.spark.sql(f"DESCRIBE HISTORY delta.`{self.files.at(table.name)}`")
        for row in history.where("userMetadata IS NOT NULL").orderBy("version", ascending=False).collect():
            yield row.version, row.userMetadata

    @contextlib.contextmanager
    def _noting(self, note: str | None) -> Iterator[None]:
        """Commits in the body have this note."""
        conf = self.files.spark.conf
        if note is None:
            yield
            return
        conf.set(_NOTE, note)
        try:
            yield
        finally:
            conf.unset(_NOTE)
