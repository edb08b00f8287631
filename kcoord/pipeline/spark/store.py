"""The store of the tables: one place, with a directory of Parquet files for each table, and how tables are replaced.

The place is a directory of any file system that Hadoop knows. A table is written beside its place and moved there when
it is complete, so a reader sees the old one or the new one. Records come in batches: each is a directory named by its
number, so a batch that is written twice is there once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.schemas import QUARANTINE, RECORDS, TABLES, Table

CHECKPOINT = "checkpoint"
_NEXT = "_next"

LaterRows = Callable[[], Any | None]
"""Gives rows, or None if there are none. It is called only when that is known."""


@attrs.frozen(eq=False)
class Store:
    """Tables at `place`, a directory or a URI."""

    spark: Any
    place: str
    tables: tuple[Table, ...] = TABLES
    """The tables that may be there."""

    def check(self, *, stream: bool) -> None:
        """Raises PipelineError if something else is at the place, or tables that do not fit this run."""
        there = self._names("")
        ours = {each.name for each in self.tables} | {CHECKPOINT, _NEXT}
        strangers = sorted(each for each in there - ours if not each.startswith((".", "spark.log")))
        if strangers:
            raise PipelineError(
                f"{self.place} holds something else ({strangers[0]}): name a directory for the tables alone"
            )
        if not stream and CHECKPOINT in there:
            raise PipelineError(
                f"{self.place} is filled by a stream: go on with --stream, or name another directory for a batch"
            )
        if stream and RECORDS.name in there and CHECKPOINT not in there:
            raise PipelineError(
                f"{self.place} is filled by a batch: a stream begins in a directory of its own, name another"
            )
        self.tidy()

    def read(self, table: Table) -> Any:
        """A table as a DataFrame."""
        reader = self.spark.read.schema(table.ddl).option("recursiveFileLookup", "true")
        return reader.parquet(f"{self.place}/{table.name}")

    def replace(self, table: Table, rows: Any) -> None:
        """Replace the table with `rows`."""
        rows.write.mode("overwrite").parquet(f"{self.place}/{_NEXT}/{table.name}")
        self._move(f"{_NEXT}/{table.name}", table.name)

    def replace_raw(self, good: Any, bad: LaterRows) -> None:
        """Replace all records with these, as one batch. `bad` is called when `good` has been written."""
        self._write_batch(f"{_NEXT}/{RECORDS.name}", 0, RECORDS, good)
        self._write_batch(f"{_NEXT}/{QUARANTINE.name}", 0, QUARANTINE, bad())
        for table in (RECORDS, QUARANTINE):
            self._move(f"{_NEXT}/{table.name}", table.name)

    def add_raw(self, number: int, good: Any | None, bad: LaterRows) -> None:
        """Write the batch with this number. It replaces an earlier one of the same number."""
        self._write_batch(RECORDS.name, number, RECORDS, good)
        self._write_batch(QUARANTINE.name, number, QUARANTINE, bad())

    def tidy(self) -> None:
        """Delete what was left unfinished."""
        self._delete(_NEXT)

    def has(self, table: Table) -> bool:
        """Whether the table was ever written."""
        return table.name in self._names("")

    def scratch(self, name: str) -> str:
        """A place for what is needed until the tables are there. `tidy` deletes it."""
        return f"{self.place}/{_NEXT}/{name}"

    # Inside

    def _write_batch(self, folder: str, number: int, table: Table, rows: Any | None) -> None:
        name = f"batch-{number:012d}"
        if rows is None:
            if number:
                self._delete(f"{folder}/{name}")
                return
            rows = self.spark.createDataFrame([], table.ddl).coalesce(1)  # so that an empty table has its columns
        rows.write.mode("overwrite").parquet(f"{self.place}/{folder}/{name}")

    def _path(self, name: str) -> Any:
        return self.spark._jvm.org.apache.hadoop.fs.Path(f"{self.place}/{name}" if name else self.place)

    def _files(self) -> Any:
        return self._path("").getFileSystem(self.spark._jsc.hadoopConfiguration())

    def _names(self, folder: str) -> set[str]:
        files, path = self._files(), self._path(folder)
        return {each.getPath().getName() for each in files.listStatus(path)} if files.exists(path) else set()

    def _delete(self, name: str) -> None:
        self._files().delete(self._path(name), True)

    def _move(self, name: str, to: str) -> None:
        self._delete(to)
        if not self._files().rename(self._path(name), self._path(to)):
            raise PipelineError(f"{self.place}/{name} could not be moved to {to}: see that it can be written")
