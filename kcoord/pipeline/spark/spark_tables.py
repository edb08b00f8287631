"""Tables that Spark reads: of any file system that Hadoop knows, and of Delta Lake."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.readable_tables import Condition, ReadableTables, TableFolders, made_again
from kcoord.pipeline.schemas import Table
from kcoord.pipeline.spark.remote_place import check_answers, usable
from kcoord.pipeline.spark.session import session
from kcoord.pipeline.spark.step_messages import ErrorLine, Say, silent
from kcoord.pipeline.spark.store import Store


@attrs.frozen(eq=False)
class SparkTables:
    """The tables of a store. A column that an older kcoord did not write is null."""

    store: Store

    @property
    def place(self) -> str:
        """See ReadableTables."""
        return self.store.place

    def has(self, table: Table) -> bool:
        """See ReadableTables."""
        return self.store.has(table)

    def read(self, table: Table, columns: Sequence[str], where: Sequence[Condition] = ()) -> Any:
        """See ReadableTables."""
        from pyspark.sql.functions import col

        with ErrorLine(f"{self.place}/{table.name} cannot be read"):
            if not self.has(table):
                raise PipelineError(f"there is no table {self.place}/{table.name}: {made_again(self.place)}")
            rows = self.store.read(table)
            for name, how, what in where:
                rows = rows.where(col(name) == what if how == "=" else col(name).isin(list(what)))
            return rows.select(*columns).toArrow()


@contextlib.contextmanager
def readable(
    place: str, form: str, master: str, log: Path, settings: Mapping[str, str], say: Say = silent
) -> Iterator[ReadableTables]:
    """The tables at `place`, a directory or a URI, in the format `form`. Spark is started only for a URI and for Delta.
    Raises PipelineError.
    """
    if "://" not in place and form == "parquet":
        yield TableFolders(Path(place))
        return
    check_answers(place, settings)
    say("starting Spark")
    with session(master, log, kafka=False, delta=form == "delta", settings=settings, say=say) as spark:
        say("reading the tables")
        store = Store(spark, place, format=form)
        with usable(place):
            store.check_format()
        yield SparkTables(store)
