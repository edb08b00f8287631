"""Does a fleet come to rest though the coordinator shows its leader again and again what that takes away?

The fault that plans found is put back; what is left is `kcoord/group/repetition.py`.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from kcoord.group.connect import install
from kcoord.group.repetition import Repetition
from kcoord.group.translation import rounds
from kcoord.sim.plan_file import load
from kcoord.sim.run import run_plan
from tests.sim.mutants import Mutant, put_in

OUTLIVES = (
    Mutant(22, "what a returned worker was shown with waits for it on", install._others,
           "member_id in frozen.merged or", ""),
    Mutant(10, "and is not handed out", rounds._not_shown,
           "and member_id not in frozen.merged", ""),
)  # fmt: skip
NEVER_SLOWED = Mutant(0, "nothing is slowed down", Repetition._knows, "self.times >= FREE and", "False and")


@pytest.mark.parametrize("fuse", [True, False], ids=["slowed down", "not slowed down"])
@pytest.mark.parametrize("plan", ["5347151", "5349271", "5353451"])
def test_a_storm_costs_no_fleet(plan: str, fuse: bool) -> None:
    with ExitStack() as stack:
        for mutant in OUTLIVES if fuse else (*OUTLIVES, NEVER_SLOWED):
            stack.enter_context(put_in(mutant))
        outcome = run_plan(load(Path(__file__).parent / "plans" / f"{plan}.json"))
    assert (outcome.violation is None) == fuse, outcome.violation
