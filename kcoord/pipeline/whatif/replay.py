"""The replay of one episode under one policy and delay: what it cost, and what its log says, as a row of `whatif`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from kcoord.pipeline.history.derive import derive
from kcoord.pipeline.history.entry import Entry
from kcoord.pipeline.lab import Cell, row_of
from kcoord.pipeline.whatif.episodes import Episode
from kcoord.pipeline.whatif.fleet import Tables
from kcoord.pipeline.whatif.logged import Logged, logged
from kcoord.protocol.records import Record
from kcoord.sim.scenario.hub import WALL_MS
from kcoord.sim.scenario.run import SETTLING_MS

BEGINS_MS = WALL_MS + SETTLING_MS
"""Second 0 of every scenario, in Unix time (ms)."""
NAMES = ("epochs", "sessions", "ownership", "connectors", "rebalances", "gaps")


def replay_of(episode: Episode, cell: Cell) -> dict[str, object]:
    """Run the cell, and read its log as `kcoord pipeline history` would."""
    scenario = episode.scenario
    steps: list[tuple[int, Sequence[Record]]] = []
    row = row_of(scenario, cell, lambda at_ms, records: steps.append((at_ms, list(records))), only_with_workers=True)
    if row["error"] is not None:
        return {**row, **dict.fromkeys(attrs.asdict(Logged(0, 0, 0, 0)))}
    began_ms = BEGINS_MS + round(scenario.begins() * 1000)
    ended_ms = BEGINS_MS + episode.compared_ms()
    if cell.restart is not None and cell.restart.drained:  # drains may take longer
        ended_ms = max(ended_ms, steps[-1][0] + 1)
    found = logged(tables_of(steps), began_ms, ended_ms)
    return {**row, **attrs.asdict(found)}


def tables_of(steps: Iterable[tuple[int, Sequence[Record]]]) -> Tables:
    """The tables of a log with one group: times (unix ms) and records of each step."""
    found: dict[str, Any] = {name: [] for name in NAMES}
    for name, row in derive(0, _entries(steps)):
        if name in found:
            found[name].append(row)
    return Tables(**found)


def _entries(steps: Iterable[tuple[int, Sequence[Record]]]) -> Iterable[Entry]:
    offset = 0
    for at_ms, records in steps:
        for record in records:
            yield Entry(0, offset, at_ms, record)
            offset += 1
        offset += 1  # as in a topic: the end of the transaction takes an offset
