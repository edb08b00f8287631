"""Are the runs well that once found something? Each file of `plans` is one; its `cause` says what it shows.

They are replayed from what was drawn then, so a change of the drawing does not lose them. A change of the engine moves
what happens in them, though: the story that shows the cause itself is in tests/translation, tests/conversion
and tests/group/consumer.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import attrs
import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.sim.basis.run_kinds import KINDS
from kcoord.sim.instances.faults import WEIGHTS
from kcoord.sim.plans.plan_file import PlanFileError, RunPlan, draw_run_plan, dump, load
from kcoord.sim.series.run import plan_of, run_plan, run_seed, struck_faults
from tests.light import some

PLANS = sorted((Path(__file__).parent / "plans").glob("*.json"))


@pytest.mark.parametrize("path", some(PLANS, 30), ids=lambda path: path.stem)
def test_a_run_that_found_something_is_well(path: Path) -> None:
    assert run_plan(load(path)).violation is None


def test_each_plan_says_what_it_shows() -> None:
    assert PLANS
    for path in PLANS:
        assert load(path).cause, path.name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", some([18, 19], 1))
def test_a_plan_file_gives_the_run_of_its_seed(seed: int, kind: str, tmp_path: Path) -> None:
    drawn: list[str] = []
    saved: list[str] = []
    outcome = run_seed(seed, drawn.append, kind)
    path = tmp_path / "plan.json"
    path.write_text(dump(plan_of(seed, kind)))
    assert run_plan(load(path), saved.append) == outcome
    assert saved == drawn


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_file_does_not_depend_on_how_plans_are_drawn(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = plan_of(19, kind)
    lines: list[str] = []
    run_plan(run, lines.append)

    def draw_otherwise(stream: random.Random) -> Any:
        raise AssertionError("drawn")

    monkeypatch.setattr("kcoord.sim.mixed.world.draw", draw_otherwise)
    monkeypatch.setattr("kcoord.sim.world.draw", draw_otherwise)
    monkeypatch.setattr("kcoord.sim.classic.world.draw", draw_otherwise)
    monkeypatch.setattr("kcoord.sim.instances.world.draw", draw_otherwise)
    monkeypatch.setattr("kcoord.sim.consumer.world.draw", draw_otherwise)
    again: list[str] = []
    run_plan(run, again.append)
    assert again == lines


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for seed in range(8):
        run = attrs.evolve(plan_of(seed, KINDS[seed % len(KINDS)]), cause="what it shows")
        path.write_text(dump(run))
        assert load(path) == run


def test_a_plan_file_says_what_instances_there_are() -> None:
    run = plan_of(19, "instances")
    assert run.instances is not None
    one_kind = attrs.evolve(run.instances, number=3, weights={"kill_instance": 50})
    _, faults = struck_faults(attrs.evolve(run, instances=one_kind))
    struck = {fault.kind for fault in faults} & WEIGHTS.keys()
    assert struck == {"kill_instance"}


def _without(text: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in text.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: [text], "no plan of format 1"),
        (lambda text: text | {"format": 2}, "no plan of format 1"),
        (lambda text: _without(text, "seed"), "'seed' is missing"),
        (lambda text: text | {"skip": -1}, "skip -1"),
        (lambda text: text | {"skip": 10**12}, "skip 1000000000000"),
        (lambda text: text | {"plan": text["plan"] | {"wrokers": 3}}, "Plan has no wrokers"),
        (lambda text: text | {"plan": text["plan"] | {"workers": "many"}}, "Plan.workers: Input should be"),
        (lambda text: text | {"plan": _without(text["plan"], "workers")}, "'workers'"),
        (lambda text: text | {"plan": []}, "Plan is no object"),
        (lambda text: text | {"mix": text["mix"] | {"mode": "all"}}, "Mix.mode: Input should be"),
        (lambda text: text | {"kind": "any"}, "kind 'any' is not one of connect, mixed"),
        (lambda text: _without(text, "mix"), "a run of the kind mixed has a mix"),
        (lambda text: text | {"kind": "instances"}, "a run of the kind instances has no mix"),
        (lambda text: text | {"kind": "consumer"}, "a run of the kind consumer has no mix"),
        (lambda text: _without(text, "mix") | {"kind": "consumer"}, "a run of the kind consumer has consumers"),
        (lambda text: text | {"instances": {"number": 2, "weights": 1}}, "Instances.weights: Input should be"),
    ],
)
def test_a_plan_file_that_cannot_be_says_why(change: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(change(json.loads(dump(draw_run_plan(19, "mixed"))))))
    with pytest.raises(PlanFileError) as refused:
        load(path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_the_command_line_saves_and_replays_a_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for kind in KINDS:
        seed = CliRunner().invoke(app, ["sim", "--seed", "18", "--kind", kind, "--save", str(path)])
        plan = CliRunner().invoke(app, ["sim", "--plan", str(path)])
        assert (seed.exit_code, plan.exit_code) == (0, 0)
        assert plan.output == seed.output.replace("seed 18", str(path))
    seed = CliRunner().invoke(app, ["sim", "--seed", "19", "--save", str(path)])
    plan = CliRunner().invoke(app, ["sim", "--plan", str(path)])
    assert (seed.exit_code, plan.exit_code) == (0, 0)
    assert plan.output == seed.output.replace("seed 19", str(path))
    assert isinstance(load(path), RunPlan)
    for words in (["--seed", "1", "--plan", str(path)], ["--save", str(path)], ["--trace"]):
        assert CliRunner().invoke(app, ["sim", *words]).exit_code == 2, words
    missing = CliRunner().invoke(app, ["sim", "--plan", str(tmp_path / "none.json")])
    assert missing.exit_code == 1
