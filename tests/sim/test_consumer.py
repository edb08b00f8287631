"""Is every run of consumer groups well, and does the simulator notice if a rule of theirs is broken?"""

from __future__ import annotations

from functools import cache

import pytest

from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.basis.run_kinds import CONSUMER
from kcoord.sim.consumer.faults import FAULTS
from kcoord.sim.plans.consumer import CHANGE_MODE, CHURN, CONSUMER_FAULTS
from kcoord.sim.series.run import plan_of, replay_command, run_seeds
from kcoord.sim.series.sometimes_conditions import common
from tests.light import fewer
from tests.sim.consumer_mutants import CONSUMER_MUTANTS
from tests.sim.mutant_seeds import is_noticed
from tests.sim.mutants import Mutant

SEEDS = fewer(200, 20)
"""Runs at each commit."""
BLOCKS, BLOCK_SEEDS = 20, 500
"""Of the proofs."""
MUTANT_SEEDS = 1_500
"""A mutant must be noticed within so many seeds."""


@cache
def some_runs() -> list[Outcome]:
    """What came of the runs of each commit."""
    return list(run_seeds(range(SEEDS), kind=CONSUMER))


def _all_are_well(outcomes: list[Outcome]) -> None:
    failed = [each for each in outcomes if each.violation is not None]
    assert not failed, "\n".join(f"{replay_command(each.seed, CONSUMER)}  # {each.violation}" for each in failed)


def test_no_seed_finds_anything() -> None:
    _all_are_well(some_runs())


@pytest.mark.proof
@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_seed_of_many_finds_anything(block: int) -> None:
    first = SEEDS + block * BLOCK_SEEDS
    _all_are_well(list(run_seeds(range(first, first + BLOCK_SEEDS), kind=CONSUMER)))


@pytest.mark.long("some hundred runs")
def test_what_is_common_is_met() -> None:
    met = set[str]().union(*(each.met for each in some_runs()))
    assert not common(CONSUMER) - met


def test_each_fault_is_in_the_plan() -> None:
    assert FAULTS.keys() == CONSUMER_FAULTS.keys() | {CHANGE_MODE}
    assert CONSUMER_FAULTS.keys() >= CHURN.keys()


@pytest.mark.long("each mutant takes several runs")
@pytest.mark.parametrize("mutant", CONSUMER_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    seeds = range(MUTANT_SEEDS)
    assert is_noticed(mutant, seeds, lambda seed: plan_of(seed, CONSUMER), CONSUMER), f"{mutant.name}: not noticed"


def test_each_rule_is_broken_by_some_mutant() -> None:
    assert {mutant.rule for mutant in CONSUMER_MUTANTS} == {*range(1, 14), 17, *range(21, 28)}
