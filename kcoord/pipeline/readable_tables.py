"""Tables to be read into memory: from a directory of this machine without Spark, or from wherever Spark finds them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import attrs

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.schemas import Table

Condition = tuple[str, str, Any]
"""A column, `=` or `in`, and what it must be, or be among."""
DELTA_LOG = "_delta_log"
"""The directory by which a table is one of Delta's."""


class ReadableTables(Protocol):
    """The tables of one place."""

    @property
    def place(self) -> object:
        """Where they are, as it was given."""
        ...

    def has(self, table: Table) -> bool:
        """Whether the table is there."""
        ...

    def read(self, table: Table, columns: Sequence[str], where: Sequence[Condition] = ()) -> Any:
        """A pyarrow table with these columns of the rows for which all conditions hold.

        Raises PipelineError: it is not there, lacks a column, cannot be read.
        """
        ...


@attrs.frozen
class TableFolders:
    """Directories of Parquet files."""

    place: Path

    def has(self, table: Table) -> bool:
        """See ReadableTables."""
        return (self.place / table.name).is_dir()

    def read(self, table: Table, columns: Sequence[str], where: Sequence[Condition] = ()) -> Any:
        """See ReadableTables."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        folder = self._folder(table)
        try:
            found = parquet.ParquetDataset(folder, filters=list(where) or None)
            lacking = [each for each in columns if each not in found.schema.names]
            if not lacking:
                return found.read(columns=list(columns))
        except (OSError, pa.ArrowException) as error:
            raise PipelineError(f"{folder} cannot be read: {error}") from None
        raise lacks(folder, lacking, self.place)

    def _folder(self, table: Table) -> Path:
        folder, again = self.place / table.name, made_again(self.place)
        if not self.place.is_dir():
            raise PipelineError(f"there is no directory {self.place}: {again}")
        if not folder.is_dir():
            raise PipelineError(f"{self.place} is no directory of all tables, it has no {table.name}: {again}")
        if (folder / DELTA_LOG).is_dir():
            raise PipelineError(f"the tables in {self.place} are in the format delta: say --format delta")
        return folder


def tables_at(place: Path | ReadableTables) -> ReadableTables:
    """The tables in a directory; or these."""
    return TableFolders(place) if isinstance(place, Path) else place


def made_again(place: object) -> str:
    """What to do where tables lack."""
    return f"make the tables with kcoord pipeline history --out {place}"


def lacks(where: object, columns: Sequence[str], place: object) -> PipelineError:
    """The error where columns lack."""
    said = f"{where} lacks {', '.join(columns)}, so another version of kcoord has made it"
    return PipelineError(f"{said}: {made_again(place)}")
