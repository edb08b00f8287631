"""Shrinking: a failing run becomes a plan with a handful of faults that still shows the same violation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.sim.plans.plan_file import RunPlan, draw_run_plan, load
from kcoord.sim.series.run import is_mixed, plan_of, run_plan, run_seed
from kcoord.sim.series.shrink import NothingToShrink, shrink
from kcoord.worker.classic.membership import ClassicMembership
from tests.sim.classic_mutants import CLASSIC_MUTANTS
from tests.sim.mutants import MUTANTS, Mutant, put_in

HANDFUL = 5


def _first_failing(mutant: Mutant) -> RunPlan:
    """A run with many faults that shows the mutant."""
    mixed = mutant in CLASSIC_MUTANTS
    for seed in range(400):
        if is_mixed(seed) == mixed and run_seed(seed).violation is not None:
            run_plan = draw_run_plan(seed, "mixed" if mixed else "connect")
            if run_plan.plan.faulty_ms > 8 * run_plan.plan.gap_ms:
                return run_plan
    raise AssertionError(mutant.name)


@pytest.mark.long("up to hundreds of runs")
@pytest.mark.parametrize("name", [
    "rule 8: a session ends too early",
    "rule 18: an install brings back what was deleted since",
    pytest.param("rule 5: what a worker has stopped stays its own", marks=pytest.mark.proof),
])  # fmt: skip
def test_a_mutant_is_shown_by_a_handful_of_faults(name: str) -> None:
    mutant = next(each for each in (*MUTANTS, *CLASSIC_MUTANTS) if each.name == name)
    with put_in(mutant):
        large = _first_failing(mutant)
        found = shrink(large)
        again = run_plan(found.run_plan)
    before = run_plan_violation(mutant, large)
    assert again.violation is not None
    assert again.violation.invariant == found.violation.invariant == before
    assert found.run_plan.faults is not None
    assert len(found.run_plan.faults) <= HANDFUL
    assert found.run_plan.plan.workers <= large.plan.workers
    assert run_plan(found.run_plan).violation is None, "without the mutant it is well"


def run_plan_violation(mutant: Mutant, plan: RunPlan) -> str:
    """The invariant that the plan violates with this mutant."""
    with put_in(mutant):
        violation = run_plan(plan).violation
    assert violation is not None
    return violation.invariant


def test_a_run_that_is_well_is_not_shrunk() -> None:
    with pytest.raises(NothingToShrink):
        shrink(draw_run_plan(2, "connect"))


@pytest.mark.long("up to hundreds of runs")
def test_a_run_of_a_classic_group_is_shrunk_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a worker that waits for a revocation that never ends."""
    monkeypatch.setattr(ClassicMembership, "_watch_revocations", lambda membership, now_ms: None)
    seed = next(seed for seed in range(160) if run_seed(seed, kind="classic").violation is not None)
    found = shrink(plan_of(seed, "classic"), runs=200)
    assert found.violation.invariant == "liveness"
    assert found.run_plan.kind == "classic"
    assert run_plan(found.run_plan).violation is not None


def test_no_more_runs_than_allowed_are_made() -> None:
    mutant = next(each for each in MUTANTS if each.rule == 2)
    with put_in(mutant):
        found = shrink(_first_failing(mutant), runs=10)
    assert found.runs == 10


def test_a_plan_whose_faults_were_drawn_while_it_ran_is_shrunk_too() -> None:
    """Plan files of before have no seed for their faults."""
    mutant = next(each for each in MUTANTS if each.rule == 2)
    old = load(Path(__file__).parent / "plans" / "5347151.json")
    assert old.plan.fault_seed is None
    with put_in(mutant):
        found = shrink(old, runs=300)
        assert run_plan(found.run_plan).violation is not None
    assert found.run_plan.faults is not None


def test_the_command_line_writes_the_small_plan(tmp_path: Path) -> None:
    mutant = next(each for each in MUTANTS if each.rule == 2)
    path = tmp_path / "small.json"
    with put_in(mutant):
        seed = _first_failing(mutant).seed
        told = CliRunner().invoke(app, ["sim", "--seed", str(seed), "--shrink", str(path)])
        assert told.exit_code == 0, told.output
        command = re.search("replay it with: kcoord (sim --plan .*)", told.output)
        assert command is not None
        assert "VIOLATION" in CliRunner().invoke(app, command[1].split()).output
    assert load(path).cause
    well = CliRunner().invoke(app, ["sim", "--seed", "2", "--shrink", str(path)])
    assert well.exit_code == 1
    assert CliRunner().invoke(app, ["sim", "--shrink", str(path)]).exit_code == 2
