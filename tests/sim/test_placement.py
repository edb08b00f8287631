"""Placement rules in the simulator: how they are drawn, how a plan keeps them, and how they are read a second time."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import attrs
import pytest

from kcoord.assign import Member
from kcoord.assign.placement.document import read_setting, write_setting
from kcoord.assign.placement.rules import NO_RULES
from kcoord.sim.basis.phases import MOVING_PHASE
from kcoord.sim.basis.run_kinds import CONNECT, KINDS, MIXED
from kcoord.sim.placement.demands import Demands, Worker
from kcoord.sim.plans.placement_documents import draw_documents
from kcoord.sim.plans.plan import FAULTS, PLACED, PLACEMENT, Fault, draw, draw_without_placement
from kcoord.sim.plans.plan_file import dump, load
from kcoord.sim.series.run import plan_of, run_plan, run_seed
from kcoord.sim.series.shrink import shrink
from tests.sim.mutant_seeds import is_noticed
from tests.sim.mutants import Mutant, put_in
from tests.sim.placement_mutants import PLACEMENT_MUTANTS

DOCUMENTS = tuple(text for seed in range(200) for text in draw_documents(Random(seed), 4, 3))
WORKERS = [
    Worker(member_id, instance_id, url)
    for member_id, instance_id, url in (
        ("w0", "i0", "http://w0"), ("w1.2", None, "http://w1"), ("w2-17", None, "http://w2"), ("w3", "i3", None),
    )
]  # fmt: skip


@cache
def _placed_seeds(kind: str, seeds: int) -> list[int]:
    return [seed for seed in range(seeds) if plan_of(seed, kind).plan.placements]


# -- drawing -----------------------------------------------------------------------------------------------------------


def test_rules_of_all_sorts_are_drawn_and_can_be_read() -> None:
    tables = set[str]()
    for text in DOCUMENTS:
        rules = read_setting(text)
        assert read_setting(write_setting(rules)) == rules
        tables.update(json.loads(text) if text else ["none"])
    assert tables == {
        "cordon", "weight", "affinity", "separation", "spread", "capacity", "zone", "max-moves", "none",
    }  # fmt: skip
    drained = [rules for rules in map(read_setting, DOCUMENTS) if any(each.drains for each in rules.cordons)]
    assert len(drained) > len(DOCUMENTS) / 4
    assert any('"nobody"' in text for text in DOCUMENTS), "an affinity that nobody can meet"
    assert any('"weight":0' in text for text in DOCUMENTS), "no capacity at all"


def test_runs_without_rules_are_as_if_there_were_none_to_draw() -> None:
    placed = 0
    for seed in range(400):
        plan, plain = draw(Random(seed)), draw_without_placement(Random(seed))
        if plan.placements:
            placed += 1
            assert plan.weights == {**plain.weights, PLACEMENT: plan.weights[PLACEMENT]}
        else:
            assert plan == plain
    assert PLACED / 2 < placed / 400 < 2 * PLACED
    assert PLACEMENT not in FAULTS, "it has random numbers of its own"


@pytest.mark.parametrize("kind", KINDS)
def test_which_kinds_of_runs_have_rules(kind: str) -> None:
    """A classic group, as Kafka's own coordinator has it, knows of none, and neither does a consumer group."""
    found = [plan_of(seed, kind).plan for seed in range(60)]
    assert any(plan.placements for plan in found) == (kind not in ("classic", "consumer"))
    assert all(bool(plan.placements) == (PLACEMENT in plan.weights) for plan in found)


def test_a_plan_file_sets_its_rules_however_they_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (CONNECT, MIXED):
        seed = _placed_seeds(kind, 40)[0]
        lines: list[str] = []
        run_seed(seed, lines.append, kind)
        path = tmp_path / "plan.json"
        path.write_text(dump(plan_of(seed, kind)))
        with monkeypatch.context() as patch:
            patch.setattr("kcoord.sim.plans.plan.draw_documents", lambda *_: ("",))
            again: list[str] = []
            run_plan(load(path), again.append)
        assert again == lines


def test_a_plan_without_rules_sets_none() -> None:
    """As plan files of before: a fault that changes rules does nothing there."""
    run = plan_of(next(seed for seed in range(9) if not plan_of(seed, CONNECT).plan.placements), CONNECT)
    lines: list[str] = []
    run_plan(
        attrs.evolve(run, faults=tuple(Fault(at_ms, PLACEMENT, 1) for at_ms in range(0, 9_000, 500))), lines.append
    )
    assert not any("configures the group" in line for line in lines)


# -- reading a second time ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", DOCUMENTS[:300])
def test_both_readings_of_a_document_agree(text: str) -> None:
    rules, demands = read_setting(text), Demands(text)
    assert bool(demands) == (rules != NO_RULES)
    assert demands.max_moves == rules.max_moves
    for worker in WORKERS:
        member = Member(worker.member_id, worker.instance_id, worker.url)
        cordon = rules.cordon_of(member)
        assert demands.is_cordoned(worker) == (cordon is not None)
        assert demands.is_drained(worker) == (cordon is not None and cordon.drains)
        assert demands.capacity(worker) == rules.capacity_of(member)
        for connector in "abc":
            assert demands.weight(connector) == rules.weight_of(connector)
            assert demands.is_allowed(connector, worker) == rules.allows(connector, member)


def test_why_a_worker_may_not_take_more() -> None:
    demands = Demands(
        json.dumps(
            {
                "affinity": [{"connectors": "a", "workers": ["w0", "w1*"]}],
                "capacity": [{"workers": "http://w1", "weight": 3}],
                "separation": [{"connectors": "b", "others": "c"}, {"connectors": "a", "others": "c", "only": False}],
                "weight": [{"connectors": "b", "weight": 2}],
                "cordon": [{"worker": "w0"}],
            }
        )
    )
    w0, w1, w2, _ = WORKERS
    nothing, some = Counter[str](), Counter({"b": 1})
    assert demands.why_not("a", w2, nothing) == "a may not run on w2-17"
    assert demands.why_not("b", w1, some) == "w1.2 would carry 4 of 3"
    assert demands.why_not("a", w1, some) is None
    assert demands.why_not("c", w2, some) == "w2-17 runs b, which c is to be apart from"
    assert demands.why_not("b", w2, Counter({"c": 0})) is None
    assert demands.why_not("a", w0, Counter({"c": 1})) is None, "one of them would rather not"
    layout = {w0: nothing, w1: some, w2: nothing}
    assert demands.place_for("a", layout, None) == w1, "w0 is cordoned"
    assert demands.place_for("a", layout, w1) is None


# -- what comes of them ------------------------------------------------------------------------------------------------


@pytest.mark.long("draws 2,000 plans")
def test_the_leader_dies_while_rules_move_work() -> None:
    """Faults are aimed at that in some runs."""
    aimed = [seed for seed in _placed_seeds(MIXED, 2_000) if plan_of(seed, MIXED).plan.aim == MOVING_PHASE]
    assert any("placement the leader dies while rules move work" in run_seed(seed, kind=MIXED).met for seed in aimed)


@pytest.mark.long("each mutant takes several runs")
@pytest.mark.parametrize(("kind", "mutant"), PLACEMENT_MUTANTS, ids=lambda each: getattr(each, "what", each))
def test_a_promise_that_is_broken_is_noticed(kind: str, mutant: Mutant) -> None:
    assert is_noticed(mutant, _placed_seeds(kind, 800), lambda seed: plan_of(seed, kind), kind), mutant.what


@pytest.mark.long("up to 300 runs")
def test_rules_are_made_fewer_when_a_run_is_made_small() -> None:
    mutant = next(mutant for _, mutant in PLACEMENT_MUTANTS if mutant.what == "a drain takes all at once")
    with put_in(mutant):
        seed = next(seed for seed in _placed_seeds(CONNECT, 800) if run_seed(seed, kind=CONNECT).violation is not None)
        found = shrink(plan_of(seed, CONNECT), runs=300)
    assert found.violation.invariant == "placement moves"
    assert found.run_plan.faults is not None
    assert len(found.run_plan.faults) <= 5
    assert sum(len(json.loads(text)) for text in found.run_plan.plan.placements if text) <= 2
    assert run_plan(found.run_plan).violation is None, "without the mutant it is well"
