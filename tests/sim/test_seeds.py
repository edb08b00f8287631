"""Is every seed well, and the same seed the same run?

500 runs of two kinds at each commit, which also have to meet what is common; 2,000 seeds as proofs; `make soak` runs as
many as asked.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from functools import cache

import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.group.connect.reasons import Reason
from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.basis.violation import Violation
from kcoord.sim.faults import FAULTS
from kcoord.sim.plans.plan import FAULTS as PLANNED
from kcoord.sim.plans.plan import PLACEMENT
from kcoord.sim.series.branches import branch_names
from kcoord.sim.series.run import replay_command, run_seed, run_seeds
from kcoord.sim.series.sometimes_conditions import common
from kcoord.sim.series.untaken_branches import judge
from tests.light import fewer, some
from tests.sim.mutants import MUTANTS, put_in

FEW = {"connect": fewer(200, 25), "mixed": fewer(200, 12)}
"""Runs of each kind at each commit."""
BLOCKS, SEEDS = 20, 100
"""Of the proofs, in which each seed has its own kind."""
TAKEN = 465
"""Branches that some hundred runs take, at least: fewer mean that the drawing has become poorer, or the counting."""


@cache
def few(kind: str) -> list[Outcome]:
    """What came of the runs of each commit."""
    return list(run_seeds(range(FEW[kind]), kind=kind, branches=True))


@pytest.mark.parametrize("kind", FEW)
def test_no_seed_finds_anything(kind: str) -> None:
    failed = [each for each in few(kind) if each.violation is not None]
    assert not failed, "\n".join(f"{replay_command(each.seed, kind)}  # {each.violation}" for each in failed)


@pytest.mark.proof
@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_seed_of_many_finds_anything(block: int) -> None:
    failed = [each for each in run_seeds(range(block * SEEDS, (block + 1) * SEEDS)) if each.violation is not None]
    assert not failed, "\n".join(f"{replay_command(each.seed)}  # {each.violation}" for each in failed)


@pytest.mark.long("some hundred runs")
def test_what_is_common_is_met_by_some_hundred_runs() -> None:
    taken = set[str]()
    for kind in FEW:
        met = set[str]().union(*(each.met for each in few(kind)))
        assert not common(kind) - met
        taken |= met
    branches = judge(branch_names(), taken)
    assert not branches.refuted, "excused, and taken all the same"
    assert len(branches.required & taken) >= TAKEN


def test_the_same_seed_is_the_same_run_in_any_process() -> None:
    seed = 19
    here: list[str] = []
    run_seed(seed, here.append)
    for hash_seed in some(("1", "2"), 1):
        told = subprocess.run(
            [sys.executable, "-m", "kcoord", "sim", "--seed", str(seed), "--trace"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.splitlines()[:-1] == here


@pytest.mark.long("some hundred runs")
def test_the_seeds_meet_everything_that_moves_a_group() -> None:
    """CG-13: each of its reasons comes about, so that what follows from it is looked at."""
    assert FAULTS.keys() == {*PLANNED, PLACEMENT}
    missing = {f"event rebalances {reason}" for reason in Reason}
    missing.difference_update(*(each.met for kind in FEW for each in few(kind)))
    for seed in range(FEW["connect"], BLOCKS * SEEDS):
        if not missing:
            return
        missing -= run_seed(seed).met
    raise AssertionError(f"never seen: {missing}")


def test_what_fails_is_told_with_the_command_that_shows_it_again() -> None:
    mutant = next(each for each in MUTANTS if each.rule == 2)
    with put_in(mutant):
        many = CliRunner().invoke(app, ["sim", "--seeds", "10"])
        assert many.exit_code == 1
        command = re.search("replay it with: kcoord (sim --seed [0-9]+ --trace)", many.output)
        assert command is not None, many.output
        one = CliRunner().invoke(app, command[1].split())
        assert one.exit_code == 1
        assert "VIOLATION" in one.output
    found = Violation("one owner", "two")
    assert str(pickle.loads(pickle.dumps(found))) == str(found), "it comes from another process, with --jobs"
    well = CliRunner().invoke(app, ["sim", "--seeds", "10", "--from", "3"])
    assert well.exit_code == 0
    assert "none failed" in well.output
