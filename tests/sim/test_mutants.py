"""Does the simulator catch a coordinator that breaks a rule? One test a mutant."""

from __future__ import annotations

import pytest

from kcoord.sim.run import run_seed
from tests.sim.mutants import MUTANTS, Mutant, put_in

SEEDS = 400
"""A mutant must be caught within so many seeds."""
RULES = {*range(1, 15), 18, 22, 24, 25, 26}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    with put_in(mutant):
        caught = next((seed for seed in range(SEEDS) if run_seed(seed).violation is not None), None)
    assert caught is not None, f"{mutant.name}: not noticed in {SEEDS} seeds"
    assert run_seed(caught).violation is None, "that seed fails without the mutant, too"


def test_each_rule_is_broken_by_some_mutant() -> None:
    assert {mutant.rule for mutant in MUTANTS} == RULES
