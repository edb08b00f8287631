"""How does a simulated history come to be tables, as they are read for what-if?"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kcoord.pipeline.lab import Cell
from kcoord.pipeline.whatif.fleet import Tables
from kcoord.pipeline.whatif.replay import BEGINS_MS, tables_of
from kcoord.protocol.records import Record
from kcoord.sim.scenario import Figures, Kind, Scenario, run


@attrs.frozen
class History:
    """What really happened, and what is in its log."""

    scenario: Scenario
    kind: Kind
    policy: str
    figures: Figures
    tables: Tables

    @property
    def begins_ms(self) -> int:
        """When the first event was due, in the tables' time."""
        return BEGINS_MS + round(self.scenario.begins() * 1000)


def history(scenario: Scenario, kind: Kind, policy: str, seed: int = 1_000) -> History:
    """One run."""
    steps: list[tuple[int, Sequence[Record]]] = []
    done = run(scenario, kind, policy, seed, lambda at_ms, records: steps.append((at_ms, list(records))))
    assert not done.doubles
    return History(scenario, kind, policy, done.figures, tables_of(steps))


def cell(history: History, name: str, seed: int, policy: str | None = None) -> Cell:
    """That kind of group and policy again."""
    return Cell(name, history.kind, policy or history.policy, None, seed)
