"""The rows of a table that is made by following groups."""

from __future__ import annotations

from typing import Any

import attrs

from kcoord.pipeline.schemas import Table


@attrs.frozen(eq=False)
class Rows:
    """Rows that nothing changes any more, and those that more of the log can change, as DataFrames. None: there are
    none.
    """

    settled: Any | None
    open: Any | None

    def together(self, spark: Any, table: Table) -> Any:
        """All of them."""
        found = [each for each in (self.settled, self.open) if each is not None]
        if not found:
            return empty(spark, table)
        return found[0] if len(found) == 1 else found[0].unionByName(found[1])


@attrs.frozen(eq=False)
class FewRows:
    """The same as pyarrow tables, if there are so few that the driver has them in memory."""

    settled: Any | None
    open: Any | None

    def frames(self, spark: Any, table: Table) -> Rows:
        """The same as DataFrames."""
        made = (
            None if each is None else spark.createDataFrame(each, table.ddl).coalesce(1)
            for each in (self.settled, self.open)
        )
        return Rows(*made)


def empty(spark: Any, table: Table) -> Any:
    """No rows, with the table's columns."""
    return spark.createDataFrame([], table.ddl).coalesce(1)
