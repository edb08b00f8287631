"""Sometimes-conditions: what runs must have met, and the report of what they never met."""

from __future__ import annotations

import sys
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.group.connect import membership
from kcoord.sim.branches import Count, branch_names, count_branches
from kcoord.sim.conditions import EXCUSED, area_of, common, is_excused, required
from kcoord.sim.run import run_seed, run_seeds

MANY = 20_000
"""Seeds of each kind, for the proof that no condition is never met."""


@pytest.mark.parametrize(("kind", "seeds"), [("connect", 300), ("mixed", 200)])
def test_what_is_common_is_met_by_some_hundred_runs(kind: str, seeds: int) -> None:
    met = Counter[str]()
    for outcome in run_seeds(range(seeds), kind=kind):
        met.update(outcome.met)
    assert not common(kind) - met.keys()


@pytest.mark.proof
def test_no_condition_is_never_met() -> None:
    wanted, taken = set[str](), set[str]()
    for kind in ("connect", "mixed"):
        met = set[str]()
        for outcome in run_seeds(range(MANY), jobs=2, kind=kind, branches=True):
            met |= outcome.met
        wanted |= required(kind) - met
        taken |= met
    never = wanted | {name for name in branch_names() if name not in taken and not is_excused(name)}
    assert not never, "\n".join(sorted(never))


def test_each_excuse_excuses_some_branch() -> None:
    names = branch_names()
    for pattern in EXCUSED:
        assert any(fnmatchcase(name, f"branch {pattern}") for name in names), pattern
    assert any(is_excused(name) for name in names)
    assert not all(is_excused(name) for name in names)


def test_conditions_are_named_by_their_area() -> None:
    assert {area_of(name) for kind in ("connect", "mixed") for name in required(kind)} == {
        "fault", "record", "answer", "state", "event",
    }  # fmt: skip
    assert common("connect") < required("connect")


ENGINE = dedent("""
    def sign(number: int) -> int:
        if number < 0:
            return -1
        elif number:
            return 1
        else:
            return 0

    class Adder:
        def add(self, numbers: list[int]) -> int:
            for each in numbers:
                if each:
                    self.sum = getattr(self, "sum", 0) + each
            return self.sum
""")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "small_engine.py").write_text(ENGINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "small_engine", raising=False)
    return __import__("small_engine")


def test_branches_are_counted_until_the_count_ends(engine: ModuleType) -> None:
    before = engine.sign.__code__
    count = Count()
    count.add(engine)
    assert count.names == [
        "branch small_engine.sign: if number < 0",
        "branch small_engine.sign: if number",
        "branch small_engine.sign: else of if number",
        "branch small_engine.Adder.add: for each in numbers",
        "branch small_engine.Adder.add: if each",
    ]
    assert (engine.sign(-5), engine.sign(0)) == (-1, 0)
    assert count.take() == {"branch small_engine.sign: if number < 0", "branch small_engine.sign: else of if number"}
    assert engine.Adder().add([3]) == 3
    assert count.take() == set(count.names[3:])
    assert count.take() == set()
    count.end()
    assert engine.sign.__code__ is before
    engine.sign(1)
    assert count.take() == set()


def test_a_run_is_the_same_while_branches_are_counted() -> None:
    plain: list[str] = []
    run_seed(19, plain.append)
    before = membership.join.__code__
    count = count_branches()
    try:
        counted: list[str] = []
        run_seed(19, counted.append)
        taken = count.take()
    finally:
        count.end()
    assert membership.join.__code__ is before
    assert counted == plain
    assert taken < set(count.names)
    assert len(taken) > 100


def test_the_report_names_what_was_never_met() -> None:
    told = CliRunner().invoke(app, ["sim", "--seeds", "2", "--kind", "connect", "--report"])
    assert told.exit_code == 0
    assert "NEVER MET" in told.output
    assert "event rebalances static worker replaced" in told.output.partition("NEVER MET")[2]
    assert "state connect Stable" not in told.output.partition("NEVER MET")[2]
    assert "branch" in told.output
    one = CliRunner().invoke(app, ["sim", "--seed", "2", "--report"])
    assert one.exit_code == 2


def test_a_kind_of_runs_without_conditions_has_a_report_too() -> None:
    assert required("classic") == frozenset()
    told = CliRunner().invoke(app, ["sim", "--seeds", "1", "--kind", "classic", "--report"])
    assert told.exit_code == 0, told.output
    assert "branch" in told.output
