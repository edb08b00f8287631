"""The logs of simulated fleets under faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from kcoord.pipeline.history.entry import Entry
from kcoord.protocol.records import Record
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.series.run import run_seed
from tests.pipeline.story import Written, entries

Logs: TypeAlias = Callable[..., list[Entry]]
"""Gives the log of a seed, of this kind of run or of any."""


def simulated(monkeypatch: pytest.MonkeyPatch) -> Logs:
    """Notes what coordinators write from now on."""
    written: Written = []
    start = Coordinator.__init__

    def noted(self: Coordinator, *arguments: Any) -> None:
        start(self, *arguments)
        commit = self.storage.commit

        def kept(records: Sequence[Record]) -> None:
            written.append((self.wall_ms, list(records)))
            commit(records)

        monkeypatch.setattr(self.storage, "commit", kept)

    monkeypatch.setattr(Coordinator, "__init__", noted)

    def log_of(seed: int, kind: str | None = None) -> list[Entry]:
        written.clear()
        outcome = run_seed(seed) if kind is None else run_seed(seed, kind=kind)
        assert outcome.violation is None
        return entries(written)

    return log_of
