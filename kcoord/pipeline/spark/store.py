"""The store of the tables: one place with a directory for each table, in one of two formats, and how far a stream has
followed the log there.

The place is a directory of any file system that Hadoop knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import attrs

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.readable_tables import DELTA_LOG
from kcoord.pipeline.schemas import DERIVED, FOLLOWED, QUARANTINE, RECORDS, TABLES, Table
from kcoord.pipeline.spark.delta_tables import DeltaTables
from kcoord.pipeline.spark.hadoop_files import HadoopFiles
from kcoord.pipeline.spark.parquet_tables import NEXT, OLD, ParquetTables
from kcoord.pipeline.spark.table_rows import FewRows, Rows

CHECKPOINT = "checkpoint"

LaterRows = Callable[[], Any | None]
"""Gives rows, or None if there are none. It is called only when that is known."""


class TableFormat(Protocol):
    """How tables are kept. A mark says how far a stream had followed the log when it made a table."""

    @property
    def name(self) -> str:
        """The format's name, in lower case."""
        ...

    def read(self, table: Table) -> Any:
        """A table as a DataFrame."""

    def replace(self, table: Table, rows: Any) -> None:
        """Replace the table with `rows`."""

    def replace_followed(self, table: Table, rows: Rows, mark: str | None) -> None:
        """Replace a table that comes from following the groups. `mark` is None in a batch."""

    def renew(self, table: Table, rows: Rows | FewRows, partitions: Collection[int], mark: str) -> None:
        """Add settled rows, and replace the open ones of these partitions. The old mark may stay if nothing changes."""

    def mark(self, table: Table) -> str | None:
        """The table's mark."""

    def replace_raw(self, table: Table, rows: Any | None) -> None:
        """Replace all batches with this one."""

    def count(self, table: Table) -> int:
        """How many rows a table has."""

    def folders(self) -> Mapping[str, str] | None:
        """By the names of all tables that come from the log: the empty folders of this machine into which their new
        files can be put. None: nobody but Spark can write such files.
        """

    def replace_by_files(self, tables: Sequence[Table]) -> None:
        """Replace these tables with the files in their folders."""

    def add_raw(self, table: Table, number: int, rows: Any | None) -> None:
        """Add the batch with this number. It is there once, however often it is added."""

    def newest_raw(self) -> int:
        """The number of the last batch of records, or -1 if there are none."""

    def raw_after(self, number: int) -> Any:
        """The records of all later batches. There is one."""

    def tidy(self) -> None:
        """Delete what was left unfinished."""


FORMATS: Mapping[str, Callable[[HadoopFiles], TableFormat]] = {"parquet": ParquetTables, "delta": DeltaTables}


@attrs.frozen(eq=False)
class Store:
    """Tables at `place`, a directory or a URI."""

    spark: Any
    place: str
    tables: tuple[Table, ...] = TABLES
    """The tables that may be there."""
    format: str = "parquet"
    """One of FORMATS."""
    files: HadoopFiles = attrs.field(init=False)
    form: TableFormat = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "files", HadoopFiles(self.spark, self.place))
        object.__setattr__(self, "form", FORMATS[self.format](self.files))

    def check(self, *, stream: bool) -> None:
        """Raises PipelineError if something else is at the place, or tables that do not fit this run."""
        there = self.files.names("")
        ours = {each.name for each in (*self.tables, FOLLOWED)} | {CHECKPOINT, NEXT, OLD}
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
        self.check_format()
        self.tidy()

    def check_format(self) -> None:
        """Raises PipelineError if the tables that are there have the other format."""
        for table in self.tables:
            if self.has(table):
                found = "delta" if self.files.is_there(f"{table.name}/{DELTA_LOG}") else "parquet"
                if found != self.format:
                    raise PipelineError(
                        f"the tables in {self.place} are in the format {found}: say --format {found}, or name another "
                        "directory"
                    )
                return

    def read(self, table: Table) -> Any:
        """A table as a DataFrame."""
        return self.form.read(table)

    def replace(self, table: Table, rows: Any) -> None:
        """Replace the table with `rows`."""
        self.form.replace(table, rows)

    def replace_raw(self, good: Any, bad: LaterRows) -> None:
        """Replace all records with these, as one batch. `bad` is called when `good` has been written."""
        self.form.replace_raw(RECORDS, good)
        self.form.replace_raw(QUARANTINE, bad())

    def add_raw(self, number: int, good: Any | None, bad: LaterRows) -> None:
        """Write the batch with this number. It replaces an earlier one of the same number."""
        self.form.add_raw(RECORDS, number, good)
        self.form.add_raw(QUARANTINE, number, bad())

    def followed_to(self, version: str) -> int | None:
        """The number of the last batch of records that all other tables have. None: nobody knows, or another version
        has made them, or whoever made them was killed before the last one.
        """
        number = _number(self.form.mark(FOLLOWED), version)
        if number is None:
            return None
        others = [_number(self.form.mark(each), version) for each in DERIVED]
        return number if all(each is not None and each <= number for each in others) else None

    def tidy(self) -> None:
        """Delete what was left unfinished."""
        self.form.tidy()
        self.files.delete(NEXT)

    def has(self, table: Table) -> bool:
        """Whether the table was ever written."""
        return self.files.is_there(table.name)

    def scratch(self, name: str) -> str:
        """A place for what is needed until the tables are there. `tidy` deletes it."""
        return self.files.at(f"{NEXT}/{name}")


def mark_of(number: int, version: str) -> str:
    """The mark of tables that have followed the log up to this batch, made by this version."""
    return f"{number}-{version}"


def _number(mark: str | None, version: str) -> int | None:
    number, _, made_by = (mark or "").partition("-")
    return int(number) if made_by == version and number.isdecimal() else None
