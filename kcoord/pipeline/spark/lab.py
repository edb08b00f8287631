"""The runs of the lab on Spark: several cells are one task. Costly tasks come first, so that none is left at the end.

No cell knows another one, and no row goes through the driver: twice as many cores run twice as many cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kcoord.pipeline.lab import Cell, parts, row_of
from kcoord.pipeline.policy_ranking import MEASURED, Standing
from kcoord.pipeline.schemas import LAB, VARIED, Kind, Table
from kcoord.pipeline.spark.step_messages import ErrorLine, Say, silent
from kcoord.pipeline.spark.store import Store
from kcoord.sim.scenario import Scenario

TASKS_A_CORE = 16
"""How many parts of about the same cost there are for each core, so that the last ones to end keep others waiting
little.
"""

_TYPES = {Kind.TEXT: pa.string(), Kind.INT: pa.int32(), Kind.DOUBLE: pa.float64()}

RowOf = Callable[[Scenario, Cell], dict[str, object]]
"""Makes a row of a table from one cell."""


class CellError(Exception):
    """The simulator has failed. The text says in which cell, and how."""


def run_cells(
    spark: Any, scenarios: Mapping[str, Scenario], cells: Sequence[Cell], made: RowOf = row_of, table: Table = LAB
) -> Any:
    """A DataFrame of `table`, one row for each cell, in no order. Nothing runs before the rows are asked for."""
    wanted = TASKS_A_CORE * spark.sparkContext.defaultParallelism
    todo = parts(scenarios, cells, wanted)
    numbers = spark.range(0, len(todo), 1, max(len(todo), 1))
    return numbers.mapInArrow(_runner(dict(scenarios), todo, made, table), table.ddl)


def run_all(
    store: Store, scenarios: Mapping[str, Scenario], cells: Sequence[Cell], say: Say = silent
) -> list[Standing]:
    """Run the cells, keep the table, and return the standings in no order. Raises PipelineError."""
    store.check(stream=False)
    say(f"{len(cells):,} runs")
    with ErrorLine("the runs could not be made"):
        rows = run_cells(store.spark, scenarios, cells)
        ordered = rows.repartition(1).sortWithinPartitions(*VARIED, "seed")
        try:
            store.replace(LAB, ordered)
        finally:
            store.tidy()
    say("comparing")
    with ErrorLine("the table could not be read"):
        return standings(store.read(LAB))


def standings(rows: Any) -> list[Standing]:
    """The standings from rows of `LAB`."""
    from pyspark.sql import functions as of

    counts = (
        of.count("*").alias("runs"),
        of.count("error").alias("failed"),
        of.min("error").alias("error"),
        of.count_if(of.isnull("error") & of.isnull("balanced_after")).alias("uneven"),
        of.count_if(of.col("doubles") > 0).alias("doubles"),
    )
    figures = [each for name in MEASURED for each in _spread(name)]
    found = rows.groupBy(*VARIED).agg(*counts, *figures)
    return [Standing.of(each.asDict()) for each in found.collect()]


def _spread(name: str) -> list[Any]:
    from pyspark.sql import functions as of

    middle = of.expr(f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {name})")
    return [
        middle.alias(f"{name}_middle"),
        of.min(name).alias(f"{name}_least"),
        of.max(name).alias(f"{name}_greatest"),
    ]


def _runner(
    scenarios: Mapping[str, Scenario], todo: Sequence[Sequence[Cell]], made: RowOf, table: Table
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    schema = pa.schema([(each.name, _TYPES[each.kind]) for each in table.columns])

    def rows(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                found = [_row(scenarios, cell, made) for cell in todo[number]]
                yield pa.RecordBatch.from_pylist(found, schema=schema)

    return rows


def _row(scenarios: Mapping[str, Scenario], cell: Cell, made: RowOf) -> dict[str, object]:
    try:
        return made(scenarios[cell.scenario], cell)
    except Exception as error:
        where = f"{cell.scenario}, {cell.kind} by {cell.policy}, delay {cell.delay}, seed {cell.seed}"
        where += "" if cell.restart is None else f", restart {cell.restart}"
        where += "" if cell.rules is None else f", rules {cell.rules.name}"
        raise CellError(f"the simulator has failed in {where}: {error!r}") from error
