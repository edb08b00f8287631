"""Faults of a run: which are on, when they strike, and what they do to the log."""

from __future__ import annotations

from collections import Counter
from random import Random

import attrs
import pytest

from kcoord.protocol.records import Record
from kcoord.sim.basis.storage import Storage
from kcoord.sim.coordinator import Coordinator
from kcoord.sim.plans.plan import FAULTS, Fault, draw, schedule, swarm
from kcoord.sim.plans.plan_file import draw_run_plan
from kcoord.sim.series.run import kind_of, run_plan, run_seed, struck_faults
from tests.sim.mutants import Mutant, put_in

SEEDS = 400


def test_kinds_of_faults_are_on_and_off() -> None:
    on = [sum(1 for weight in swarm(Random(seed), FAULTS).values() if weight) for seed in range(1_000)]
    assert min(on) <= 1
    assert max(on) >= len(FAULTS) - 1
    seen = Counter(fault for seed in range(1_000) for fault, weight in swarm(Random(seed), FAULTS).items() if weight)
    assert all(300 < seen[fault] < 700 for fault in FAULTS), "each is on in about half of the runs"


def test_which_faults_strike_follows_from_the_plan_alone() -> None:
    plan = draw(Random(5))
    faults = schedule(plan, plan.weights)
    assert faults == schedule(attrs.evolve(plan, workers=1, latency_ms=2), plan.weights)
    assert faults != schedule(attrs.evolve(plan, fault_seed=1), plan.weights)
    assert all(plan.weights[fault.kind] and fault.at_ms < plan.faulty_ms for fault in faults)
    assert schedule(plan, dict.fromkeys(FAULTS, 0)) == ()


@pytest.mark.parametrize("seed", [4, 7, 12])
def test_a_run_by_the_faults_that_struck_is_the_same_run(seed: int) -> None:
    plan = draw_run_plan(seed, kind_of(seed))
    outcome, faults = struck_faults(plan)
    assert faults
    again = run_plan(attrs.evolve(plan, faults=faults))
    assert (again.steps, again.virtual_ms, again.met) == (outcome.steps, outcome.virtual_ms, outcome.met)


def test_a_fault_waits_for_its_phase() -> None:
    plan = draw_run_plan(4, "connect")
    calm = attrs.evolve(plan.plan, aim="reconciling", workers=3, session_ms=10_000, latency_ms=20, flawed=0.0)
    lines: list[str] = []
    outcome = run_plan(attrs.evolve(plan, plan=calm, faults=(Fault(0, "cut", 1),)), lines.append)
    assert "fault cut while reconciling" in outcome.met
    assert outcome.violation is None


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("fail_append", "an append fails"),
        ("roll_back_append", "an append fails"),
        ("fence", "another instance had the log"),
        ("tear_append", "one of them torn"),
        ("lose_append", "nobody says what became of an append"),
        ("delay_append", "an append takes"),
    ],
)
def test_a_fault_of_the_log_strikes_and_all_is_well_after(fault: str, says: str) -> None:
    plan = draw_run_plan(4, "connect")
    lines: list[str] = []
    faults = tuple(Fault(at_ms, fault, at_ms) for at_ms in range(0, 20_000, 500))
    calm = attrs.evolve(plan.plan, aim="", workers=3, faulty_ms=20_000, commit_ms=200)
    assert run_plan(attrs.evolve(plan, plan=calm, faults=faults), lines.append).violation is None
    assert any(says in line for line in lines), fault


def _records(*names: str) -> list[Record]:
    return [Record(name, None) for name in names]  # type: ignore[arg-type]


def test_a_torn_batch_is_left_out_and_what_follows_it_is_not() -> None:
    storage = Storage()
    storage.commit(_records("a", "b"))
    storage.tear(_records("c", "d", "e"), 2)
    storage.commit(_records("f"))
    assert list(storage.load()) == _records("a", "b", "f")
    assert storage.committed == 2


MUTANTS = (
    Mutant(0, "a torn batch is loaded as far as it is there", Storage.load, "if batch.complete:", "if True:"),
    Mutant(0, "what was rolled back has been answered", Coordinator._when_committed,
           "if not self.pending:", "if True:"),
    Mutant(0, "an append that fails is in the log, and what was before it is not", Coordinator._drop,
           "for each in pending[:survivors]:", "for each in pending[1:]:"),
)  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_a_log_that_breaks_its_promise_is_noticed(mutant: Mutant) -> None:
    with put_in(mutant):
        assert any(run_seed(seed, kind="connect").violation is not None for seed in range(SEEDS))
