"""Are the tables what was true at each moment, whatever happens to a fleet? Drawn by a seed: Java's workers and ours
come, go, die and come back, connectors change, the group is converted up and down, its coordinator is loaded anew.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.conversion.fleet import SETTLED_MS, settings
from tests.conversion.test_any_fleet import EVENTS, MODES, happen
from tests.light import fewer
from tests.pipeline.story import entries, tables
from tests.pipeline.watched import Watched

SEEDS = 12


def played(seed: int, protocol: int) -> Watched:
    drawn = Random(seed * 3 + protocol)
    fleet = Watched(settings(classic_mode=drawn.choice(MODES)))
    fleet.started(3, protocol=protocol, max_delay_ms=3_000)
    for number in range(EVENTS):
        happen(fleet, drawn, number, protocol)
        fleet.run(drawn.choice((1, 7, 60, 900, 3_100, 15_000, 40_000)))
    if not any(host.closed is None for host in fleet.hosts):
        fleet.worker("last", protocol=protocol)
    fleet.run(6 * SETTLED_MS)
    assert fleet.all_run_once()
    return fleet


@pytest.mark.parametrize("protocol", [0, 1, 2], ids=["default", "compatible", "sessioned"])
@pytest.mark.parametrize("seed", range(fewer(SEEDS, 4)))
def test_the_tables_are_what_was_true(seed: int, protocol: int) -> None:
    fleet = played(seed, protocol)
    found = tables(entries(fleet.written))
    fleet.compare(found)
    assert "audit" not in found
    assert {row["kind"] for row in found["epochs"]} <= {"generic", "connect"}
    assert all(row["settled"] is not None for row in found["rebalances"])
    assert not [row for row in found.get("gaps", ()) if row["to_at"] is None], "all runs, and something has a gap"


def test_fleets_are_of_all_kinds() -> None:
    """Or the test above would prove little: groups that are converted up, and down, with workers of both protocols."""
    kinds, speak = set[tuple[str, ...]](), set[str]()
    for seed in range(SEEDS):
        found = tables(entries(played(seed, 2).written))
        order = [row["kind"] for row in found["epochs"]]
        kinds |= {tuple(order[at : at + 2]) for at in range(len(order) - 1)}
        speak |= {row["speaks"] for row in found["sessions"]}
    assert {("generic", "connect"), ("connect", "generic")} <= kinds
    assert speak == {"connect", "legacy", "generic"}
