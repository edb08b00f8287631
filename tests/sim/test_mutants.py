"""Does the simulator catch a coordinator that breaks a rule? One test a mutant."""

from __future__ import annotations

import pytest

from kcoord.sim.basis.run_kinds import ADOPTION, CONSUMER
from kcoord.sim.series.run import is_mixed, plan_of
from tests.sim.adoption_mutants import ADOPTION_MUTANTS
from tests.sim.classic_mutants import CLASSIC_MUTANTS, CONVERSION
from tests.sim.consumer_mutants import CONSUMER_MUTANTS
from tests.sim.mutant_seeds import LAST_TIME, is_noticed, name_of
from tests.sim.mutants import MUTANTS, Mutant
from tests.sim.placement_mutants import PLACEMENT_MUTANTS

SEEDS = 400
"""A mutant must be caught within so many seeds."""
RULES = {*range(1, 15), 18, 22, 24, 25, 26}
CLASSIC_RULES = {CONVERSION, *range(2, 9), 11, 12, 14, *range(17, 25), 26, 28, 102, 103, 107, 108}
"""CM-13, CM-16, CM-39 and CM-44 are looked for as well, but runs seldom meet them: tests/translation has tests."""
MIXED = [seed for seed in range(4 * SEEDS) if is_mixed(seed)]


LONG = pytest.mark.long("each mutant takes several runs")


@LONG
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    assert is_noticed(mutant, range(SEEDS), plan_of), f"{mutant.name}: not noticed"


@LONG
@pytest.mark.parametrize("mutant", CLASSIC_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_of_classic_workers_is_noticed(mutant: Mutant) -> None:
    assert is_noticed(mutant, MIXED, plan_of), f"{mutant.name}: not noticed"


def test_each_rule_is_broken_by_some_mutant() -> None:
    assert {mutant.rule for mutant in MUTANTS} == RULES
    assert {mutant.rule for mutant in CLASSIC_MUTANTS} == CLASSIC_RULES


def test_it_is_known_which_seed_shows_each_mutant() -> None:
    """Without it dozens of runs are tried each time. `python -m tests.sim.mutant_seeds` finds the seeds."""
    all_mutants = [("", each) for each in (*MUTANTS, *CLASSIC_MUTANTS)] + [*PLACEMENT_MUTANTS]
    all_mutants += [(ADOPTION, each) for each in ADOPTION_MUTANTS]
    all_mutants += [(CONSUMER, each) for each in CONSUMER_MUTANTS]
    assert {name_of(each, kind) for kind, each in all_mutants if not each.plan} == LAST_TIME.keys()
