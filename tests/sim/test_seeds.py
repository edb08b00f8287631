"""Is every seed well, and the same seed the same run?

2,000 seeds of mixed size, 500 of them at each commit; `make soak` runs as many as asked.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.group.connect.reasons import Reason
from kcoord.sim.faults import FAULTS
from kcoord.sim.plans.plan import FAULTS as PLANNED
from kcoord.sim.plans.plan import PLACEMENT
from kcoord.sim.run import replay_command, run_seed, run_seeds
from kcoord.sim.violation import Violation
from tests.cells import cells
from tests.sim.mutants import MUTANTS, put_in

BLOCKS, SEEDS = 20, 100
AT_EACH_COMMIT = 5
"""Blocks that `make test` runs; `make proof` runs the others."""


@pytest.mark.parametrize("block", cells(range(BLOCKS), lambda block: block >= AT_EACH_COMMIT))
def test_no_seed_finds_anything(block: int) -> None:
    failed = [each for each in run_seeds(range(block * SEEDS, (block + 1) * SEEDS)) if each.violation is not None]
    told = [f"{replay_command(each.seed)}  # {each.violation}" for each in failed]
    assert not failed, "\n".join(told)


def test_the_same_seed_is_the_same_run_in_any_process() -> None:
    seed = 19
    here: list[str] = []
    run_seed(seed, here.append)
    for hash_seed in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-m", "kcoord", "sim", "--seed", str(seed), "--trace"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.splitlines()[:-1] == here


def test_the_seeds_meet_everything_that_moves_a_group() -> None:
    """CG-13: each of its reasons comes about, so that what follows from it is looked at."""
    assert FAULTS.keys() == {*PLANNED, PLACEMENT}
    missing = {f"event rebalances {reason}" for reason in Reason}
    for seed in range(BLOCKS * SEEDS):
        missing -= run_seed(seed).met
        if not missing:
            return
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
