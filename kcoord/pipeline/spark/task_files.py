"""Tables written by Spark's tasks themselves: each reads whole partitions of the log and writes Parquet files where the
tables are made. No record passes through the JVM, which only hands out partitions and hears which files there are.

That needs folders that Python can reach, and executors that can read the log by kcoord's own readers. What a task wrote
that failed, or that was done a second time, nobody hears of; it is deleted.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa

from kcoord.pipeline.history.derive import Follower
from kcoord.pipeline.schemas import DERIVED, QUARANTINE, RECORDS, Table
from kcoord.pipeline.spark.arrow import ROWS, rows_of, split
from kcoord.pipeline.spark.arrow_entries import entries_of
from kcoord.pipeline.spark.parquet_files import write_file, writer
from kcoord.pipeline.spark.raw_batches import batches
from kcoord.pipeline.spark.session import most_tasks
from kcoord.pipeline.spark.sources import PartitionReader

WRITTEN = "name string, file string"
"""What is heard of each file: its table, and its name."""
PART_BYTES = 16 << 20
PART_ROWS = 1 << 16
"""The size of a part of a Parquet file, which a task holds in memory for each table: in bytes, and in rows."""
_BY_NAME = {each.name: each for each in (RECORDS, QUARANTINE, *DERIVED)}


@attrs.frozen
class TaskFiles:
    """What tasks do."""

    reader: PartitionReader
    partitions: int
    folders: Mapping[str, str]
    """Where the files of each table go, by its name."""
    follows: bool
    """Whether all tables are made, or only those of the records themselves."""

    def write(self, partition: int) -> list[str]:
        """Make the tables of a partition. The names of those that have a file, all of the same name, which is first."""
        files = _Files(self.folders, f"part-{partition:05d}-{uuid.uuid4().hex}.parquet")
        good = self._good(partition, files)
        if self.follows:
            follower = Follower(partition, self.partitions)
            files.add_rows(follower.follow(chain.from_iterable(map(entries_of, good))))
            files.add_rows(follower.rest())
        else:
            for _ in good:
                pass
        return [files.name, *files.close()]

    def _good(self, partition: int, files: _Files) -> Iterator[Any]:
        """The readable rows, when they and the others are in their files."""
        for raw in batches(partition, self.reader.rows(partition)):
            good, bad = split(raw)
            files.add(RECORDS, good)
            if bad is not None:
                files.add(QUARANTINE, bad)
            yield good


def write_files(spark: Any, work: TaskFiles) -> None:
    """Let tasks write all files."""
    shares = shared_out(work.reader.sizes, most_tasks(spark))

    def write(numbers: Iterable[Any]) -> Iterator[Any]:
        for batch in numbers:
            for number in batch.column("id").to_pylist():
                for partition in shares[number]:
                    file, *names = work.write(partition)
                    columns = [pa.array(names, pa.string()), pa.array([file] * len(names), pa.string())]
                    yield pa.RecordBatch.from_arrays(columns, names=["name", "file"])

    rows = spark.range(0, len(shares), 1, max(1, len(shares))).mapInArrow(write, WRITTEN).collect()
    wanted = {(row.name, row.file) for row in rows}
    for name, folder in work.folders.items():
        there = [each for each in Path(folder).iterdir() if each.suffix == ".parquet"]
        for each in there:
            if (name, each.name) not in wanted:
                each.unlink()
        if not any(name == table for table, _ in wanted):  # so that an empty table has its columns
            none = pa.Table.from_batches([rows_of(_BY_NAME[name], [])])
            write_file(Path(folder, "part-none.parquet"), none)


def shared_out(sizes: Mapping[int, int], tasks: int) -> list[list[int]]:
    """The partitions of each task, those with most to do first: the largest one that is left goes to whoever has least.
    Empty ones are left out.
    """
    shares = [(0, number, list[int]()) for number in range(tasks)]
    for partition in sorted((each for each, size in sizes.items() if size), key=lambda each: (-sizes[each], each)):
        size, number, share = min(shares)
        shares[shares.index((size, number, share))] = (size + sizes[partition], number, [*share, partition])
    return [share for _, _, share in sorted(shares, key=lambda each: (-each[0], each[1])) if share]


class _Files:
    """The files of one partition, each of another table, all with one name."""

    def __init__(self, folders: Mapping[str, str], name: str) -> None:
        self.name = name
        self._folders = folders
        self._waiting: defaultdict[str, list[Any]] = defaultdict(list)
        self._sizes: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        """Rows and bytes that wait."""
        self._writers: dict[str, Any] = {}

    def add(self, table: Table, batch: Any) -> None:
        """Add a batch with the table's columns."""
        self._waiting[table.name].append(batch)
        rows, size = self._sizes[table.name]
        self._sizes[table.name] = rows, size = rows + len(batch), size + batch.nbytes
        if rows >= PART_ROWS or size >= PART_BYTES:
            self._flush(table.name)

    def add_rows(self, rows: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Add rows of derived tables."""
        found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for name, row in rows:
            mine = found[name]
            mine.append(row)
            if len(mine) == ROWS:
                self.add(_BY_NAME[name], rows_of(_BY_NAME[name], found.pop(name)))
        for name, mine in found.items():
            self.add(_BY_NAME[name], rows_of(_BY_NAME[name], mine))

    def close(self) -> list[str]:
        """Complete the files. The names of their tables."""
        for name in list(self._waiting):
            self._flush(name)
        for each in self._writers.values():
            each.close()
        return list(self._writers)

    def _flush(self, name: str) -> None:
        part = pa.Table.from_batches(self._waiting.pop(name))
        del self._sizes[name]
        if name not in self._writers:
            self._writers[name] = writer(Path(self._folders[name], self.name), part.schema)
        self._writers[name].write_table(part)
