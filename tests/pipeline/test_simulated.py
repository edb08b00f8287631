"""Does the audit find nothing where nothing is wrong? In simulated fleets under faults, which have their own judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kcoord.protocol.records import Record
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.series.run import run_seed
from tests.light import fewer
from tests.pipeline.story import Written, entries, tables

SEEDS = fewer(20, 6)


@pytest.mark.parametrize("first", [0, -SEEDS], ids=["new protocol", "with classic workers"])
def test_no_finding_in_simulated_fleets(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
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
    intervals = 0
    for seed in range(first, first + SEEDS):
        written.clear()
        assert run_seed(seed).violation is None
        found = tables(entries(written))
        assert "audit" not in found, f"seed {seed}: {found['audit']}"
        intervals += len(found.get("ownership", ()))
    assert intervals > SEEDS
