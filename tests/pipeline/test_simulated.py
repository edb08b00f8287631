"""Does the audit find nothing where nothing is wrong? In simulated fleets under faults, which have their own judges."""

from __future__ import annotations

import pytest

from tests.light import fewer
from tests.pipeline.simulated_logs import Logs
from tests.pipeline.story import tables

SEEDS = fewer(20, 6)


@pytest.mark.parametrize("first", [0, -SEEDS], ids=["new protocol", "with classic workers"])
def test_no_finding_in_simulated_fleets(first: int, logs: Logs) -> None:
    intervals = 0
    for seed in range(first, first + SEEDS):
        found = tables(logs(seed))
        assert "audit" not in found, f"seed {seed}: {found['audit']}"
        intervals += len(found.get("ownership", ()))
    assert intervals > SEEDS
