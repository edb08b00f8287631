"""Parquet files that Python writes and that look to every reader like Spark's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

AS_SPARK: Mapping[str, Any] = {"use_deprecated_int96_timestamps": True, "store_schema": False}
"""Times as Spark writes them."""


def write_file(path: Path, rows: Any) -> None:
    """Write a pyarrow table."""
    parquet.write_table(rows, path, **AS_SPARK)


def writer(path: Path, schema: Any) -> parquet.ParquetWriter:
    """Writes a file part by part."""
    return parquet.ParquetWriter(path, schema, **AS_SPARK)


def rows_of_others(path: Path, partitions: Collection[int]) -> Any:
    """The rows of a file that are not of these partitions."""
    return parquet.read_table(path, partitioning=None, filters=[("partition", "not in", list(partitions))])


def all_rows(path: Path) -> Any:
    """The rows of a file."""
    return parquet.read_table(path, partitioning=None)


def together(tables: Iterable[Any | None]) -> Any | None:
    """All rows of these pyarrow tables, which may tell times in different units. None: there are none."""
    found = [each for each in tables if each is not None and len(each)]
    return pa.concat_tables([each.cast(found[0].schema) for each in found]) if found else None


def no_rows_like(path: Path) -> Any:
    """A pyarrow table with the columns of a file, without its rows."""
    return parquet.read_schema(path).empty_table()


def rows_in(path: Path) -> int:
    """How many rows there are in a file, or in the files of a folder and of folders in it."""
    files = path.rglob("*.parquet") if path.is_dir() else [path]
    return sum(parquet.read_metadata(each).num_rows for each in files)


def keep(path: Path, to: Path) -> None:
    """Have a file, which nobody changes, in another place too: by a link, or a copy where there are no links."""
    try:
        os.link(path, to)
    except OSError:
        shutil.copyfile(path, to)
