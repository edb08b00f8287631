"""Does the audit find nothing where nothing is wrong? In simulated fleets under faults, which have their own judges."""

from __future__ import annotations

import pytest

from kcoord.sim.coordinator import Coordinator, Pending
from kcoord.sim.run import run_seed
from tests.pipeline.story import Written, entries, tables

SEEDS = 20


@pytest.mark.parametrize("first", [0, -SEEDS], ids=["new protocol", "with legacy workers"])
def test_no_finding_in_simulated_fleets(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    written: Written = []
    add = Coordinator._add

    def noted(self: Coordinator, pending: Pending) -> None:
        written.append((self.wall_ms, list(pending.records)))
        add(self, pending)

    monkeypatch.setattr(Coordinator, "_add", noted)
    intervals = 0
    for seed in range(first, first + SEEDS):
        written.clear()
        assert run_seed(seed).violation is None
        found = tables(entries(written))
        assert "audit" not in found, f"seed {seed}: {found['audit']}"
        intervals += len(found.get("ownership", ()))
    assert intervals > SEEDS
