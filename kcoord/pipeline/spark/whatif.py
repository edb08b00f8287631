"""The replays of a history's episodes on Spark, run as the lab runs its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kcoord.pipeline.lab import Cell
from kcoord.pipeline.schemas import VARIED, WHATIF
from kcoord.pipeline.spark.lab import run_cells
from kcoord.pipeline.spark.step_messages import ErrorLine, Say, silent
from kcoord.pipeline.spark.store import Store
from kcoord.pipeline.whatif.episodes import Episode
from kcoord.pipeline.whatif.replay import replay_of


def replay_all(
    store: Store, episodes: Mapping[str, Episode], cells: Sequence[Cell], say: Say = silent
) -> list[dict[str, Any]]:
    """Run the cells, keep the table, and return its rows. Raises PipelineError."""
    store.check(stream=False)
    say(f"{len(cells):,} runs")
    with ErrorLine("the runs could not be made"):
        scenarios = {name: each.scenario for name, each in episodes.items()}
        rows = run_cells(
            store.spark, scenarios, cells, lambda _, cell: replay_of(episodes[cell.scenario], cell), WHATIF
        )
        ordered = rows.repartition(1).sortWithinPartitions(*VARIED, "seed")
        try:
            store.replace(WHATIF, ordered)
        finally:
            store.tidy()
    with ErrorLine("the table could not be read"):
        return [row.asDict() for row in store.read(WHATIF).collect()]
