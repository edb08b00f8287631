"""Tables as directories of Parquet files.

A table is made beside its place and moved there when it is complete, so a reader sees the old one or the new one. For
the moment between two renames it sees none; Delta has no such moment.

The rows that more of the log can change are in files of their own, whose names begin with `open-`. So a stream copies
the other files as they are, and writes only what is new. Records come in batches: each is a directory named by its
number, so a batch that is written twice is there once.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from kcoord.pipeline.schemas import DERIVED, QUARANTINE, RECORDS, Table
from kcoord.pipeline.spark.hadoop_files import HadoopFiles
from kcoord.pipeline.spark.parquet_files import (
    all_rows,
    keep,
    no_rows_like,
    rows_in,
    rows_of_others,
    together,
    write_file,
)
from kcoord.pipeline.spark.session import most_tasks
from kcoord.pipeline.spark.table_rows import FewRows, Rows, empty

NEXT, OLD = "_next", "_old"
"""Where tables are made, and where they go."""
OPEN = "open-"
MARK = "_mark-"
"""The first letters of an empty file that says how far a stream had followed the log when it made the table."""
BATCH = "batch-"
MOST_FILES = 64
"""If a table has more files, a stream makes few of them."""
FEW_ROWS = 100_000
"""Files with more rows stay as they are."""


@attrs.frozen(eq=False)
class ParquetTables:
    """Tables under a place."""

    files: HadoopFiles

    name = "parquet"

    def read(self, table: Table) -> Any:
        """See TableFormat."""
        return self._read(table, self.files.at(table.name))

    def replace(self, table: Table, rows: Any) -> None:
        """See TableFormat."""
        rows.write.mode("overwrite").parquet(self.files.at(f"{NEXT}/{table.name}"))
        self._swap(table.name)

    def replace_followed(self, table: Table, rows: Rows, mark: str | None) -> None:
        """See TableFormat."""
        if mark is None:
            self.replace(table, rows.together(self.files.spark, table))
        else:
            self._make(table, rows, (), mark)

    def renew(self, table: Table, rows: Rows | FewRows, partitions: Collection[int], mark: str) -> None:
        """See TableFormat."""
        if isinstance(rows, FewRows):
            if not self.files.is_far:
                self._renew_here(table, rows, partitions, mark)
                return
            rows = rows.frames(self.files.spark, table)
        there = sorted(each for each in self.files.names(table.name) if each.endswith(".parquet"))
        settled = [each for each in there if not each.startswith(OPEN)]
        were_open = [self.files.at(f"{table.name}/{each}") for each in there if each.startswith(OPEN)]
        if were_open:
            stay = self._read(table, *were_open).where(f"partition NOT IN ({', '.join(map(str, sorted(partitions)))})")
            rows = attrs.evolve(rows, open=stay if rows.open is None else rows.open.unionByName(stay))
        if len(settled) > MOST_FILES:
            old = self._read(table, *(self.files.at(f"{table.name}/{each}") for each in settled))
            new = old if rows.settled is None else old.unionByName(rows.settled)
            rows, settled = attrs.evolve(rows, settled=new.coalesce(most_tasks(self.files.spark))), []
        self._make(table, rows, settled, mark)

    def mark(self, table: Table) -> str | None:
        """See TableFormat."""
        marks = [each.removeprefix(MARK) for each in self.files.names(table.name) if each.startswith(MARK)]
        return marks[0] if len(marks) == 1 else None

    def replace_raw(self, table: Table, rows: Any | None) -> None:
        """See TableFormat."""
        self._write_batch(f"{NEXT}/{table.name}", 0, table, rows)
        self._swap(table.name)

    def count(self, table: Table) -> int:
        """See TableFormat."""
        return int(self.read(table).count()) if self.files.is_far else rows_in(self.files.here(table.name))

    def folders(self) -> Mapping[str, str] | None:
        """See TableFormat."""
        if self.files.is_far:
            return None
        raw = {each.name: f"{NEXT}/{each.name}/{_batch(0)}" for each in (RECORDS, QUARANTINE)}
        made = raw | {each.name: f"{NEXT}/{each.name}" for each in DERIVED}
        self.files.delete(NEXT)
        for folder in made.values():
            self.files.make(folder)
        return {name: str(self.files.here(folder)) for name, folder in made.items()}

    def replace_by_files(self, tables: Sequence[Table]) -> None:
        """See TableFormat."""
        for table in tables:
            self._swap(table.name)

    def add_raw(self, table: Table, number: int, rows: Any | None) -> None:
        """See TableFormat."""
        self._write_batch(table.name, number, table, rows)

    def newest_raw(self) -> int:
        """See TableFormat."""
        return max(self._batches(), default=-1)

    def raw_after(self, number: int) -> Any:
        """See TableFormat."""
        new = [_batch(each) for each in self._batches() if each > number]
        return self._read(RECORDS, *(self.files.at(f"{RECORDS.name}/{each}") for each in new))

    def tidy(self) -> None:
        """See TableFormat."""
        for name in self.files.names(OLD):
            if not self.files.is_there(name):  # killed between two renames
                self.files.move(f"{OLD}/{name}", name)
        for folder in (NEXT, OLD):
            self.files.delete(folder)

    # Inside

    def _renew_here(self, table: Table, rows: FewRows, partitions: Collection[int], mark: str) -> None:
        """The same without Spark, whose plans take longer than few rows are worth."""
        old, new = self.files.here(table.name), self.files.here(f"{NEXT}/{table.name}")
        self.files.delete(f"{NEXT}/{table.name}")
        new.mkdir(parents=True)
        name = f"part-{uuid.uuid4().hex}.parquet"
        there = sorted(old.glob("*.parquet"))
        were_open = [each for each in there if each.name.startswith(OPEN)]
        were_settled = [each for each in there if each not in were_open]
        small = [each for each in were_settled if rows_in(each) <= FEW_ROWS]
        merged = small if len(small) > MOST_FILES else []
        for each in were_settled:
            if each not in merged:
                keep(each, new / each.name)
        settled = together([rows.settled, *map(all_rows, merged)])
        if settled is not None:
            write_file(new / name, settled)
        opened = together([rows.open, *(rows_of_others(each, partitions) for each in were_open)])
        if opened is not None:
            write_file(new / f"{OPEN}{name}", opened)
        if not list(new.iterdir()):  # so that an empty table has its columns
            write_file(new / name, no_rows_like(next(old.glob("*.parquet"))))
        (new / f"{MARK}{mark}").touch()
        self._swap(table.name)

    def _read(self, table: Table, *places: str) -> Any:
        reader = self.files.spark.read.schema(table.ddl).option("recursiveFileLookup", "true")
        return reader.parquet(*places)

    def _make(self, table: Table, rows: Rows, stay: Collection[str], mark: str) -> None:
        """Make the table from new rows and from files of the old one that stay."""
        files, new, apart = self.files, f"{NEXT}/{table.name}", f"{NEXT}/{OPEN}{table.name}"
        for each in (new, apart):
            files.delete(each)
        settled = rows.settled
        if settled is None and rows.open is None and not stay:
            settled = empty(files.spark, table)  # so that an empty table has its columns
        if settled is None:
            files.make(new)
        else:
            settled.write.parquet(files.at(new))
        if rows.open is not None:
            rows.open.write.parquet(files.at(apart))
            for each in sorted(each for each in files.names(apart) if each.endswith(".parquet")):
                files.move(f"{apart}/{each}", f"{new}/{OPEN}{each}")
        for each in stay:
            files.copy(f"{table.name}/{each}", f"{new}/{each}")
        self._swap(table.name)
        files.touch(f"{table.name}/{MARK}{mark}")  # at last: where a rename is a copy, that may have been broken off

    def _swap(self, name: str) -> None:
        """Move the new table to the place of the old one."""
        old = f"{OLD}/{name}"
        self.files.delete(old)
        if self.files.is_there(name):
            self.files.make(OLD)
            self.files.move(name, old)
        self.files.move(f"{NEXT}/{name}", name)
        self.files.delete(old)

    def _write_batch(self, folder: str, number: int, table: Table, rows: Any | None) -> None:
        place = f"{folder}/{_batch(number)}"
        if rows is None:
            if number:
                self.files.delete(place)
                return
            rows = empty(self.files.spark, table)
        rows.write.mode("overwrite").parquet(self.files.at(place))

    def _batches(self) -> list[int]:
        names = self.files.names(RECORDS.name)
        return sorted(int(each.removeprefix(BATCH)) for each in names if each.startswith(BATCH))


def _batch(number: int) -> str:
    return f"{BATCH}{number:012d}"
