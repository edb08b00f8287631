"""Does a fleet come to rest though the coordinator asks its leader again and again?

A fault is put in that does so; what is left is `kcoord/group/state/repeated_rebalances.py`.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from kcoord.group.state.repeated_rebalances import Repetition
from kcoord.group.translation.rounds import look_policy
from kcoord.sim.plans.plan_file import load
from kcoord.sim.series.run import run_plan
from tests.sim.mutants import Mutant, put_in

ASKS_ON = Mutant(
    103,
    "the leader is asked though nothing has changed",
    look_policy._is_wanted,
    "return _is_behind(group) and",
    "return",
)
NEVER_SLOWED = Mutant(0, "nothing is slowed down", Repetition._knows, "self.times >= FREE and", "False and")


@pytest.mark.parametrize("fuse", [True, False], ids=["slowed down", "not slowed down"])
@pytest.mark.parametrize("plan", ["5346179"])
def test_a_storm_costs_no_fleet(plan: str, fuse: bool) -> None:
    with ExitStack() as stack:
        for mutant in (ASKS_ON,) if fuse else (ASKS_ON, NEVER_SLOWED):
            stack.enter_context(put_in(mutant))
        outcome = run_plan(load(Path(__file__).parent / "plans" / f"{plan}.json"))
    assert (outcome.violation is None) == fuse, outcome.violation
