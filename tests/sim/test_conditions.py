"""Sometimes-conditions: what runs must have met, and the report of what they never met.

What is common is looked for in the runs of `test_seeds.py`.
"""

from __future__ import annotations

import ast
import gc
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.group.connect import membership
from kcoord.sim.series.branches import Count, branch_names, count_branches
from kcoord.sim.series.run import run_seed, run_seeds
from kcoord.sim.series.sometimes_conditions import area_of, common, required
from kcoord.sim.series.untaken_branches import EXCUSED, RARE, judge, reason

MOST, BLOCK = 20_000, 500
"""Seeds of each kind, at most, and at a time: the proof ends with the block that meets the last condition."""


@pytest.mark.proof
def test_no_condition_is_never_met() -> None:
    wanted = {kind: set(required(kind)) for kind in ("connect", "mixed", "instances", "consumer")}
    taken = set[str]()
    for first in range(0, MOST, BLOCK):
        for kind in wanted:
            for outcome in run_seeds(range(first, first + BLOCK), jobs=2, kind=kind, branches=True):
                wanted[kind] -= outcome.met
                taken |= outcome.met
        branches = judge(branch_names(), taken)
        assert not branches.refuted, "excused, and taken all the same"
        if not any(wanted.values()) and not branches.never:
            return
    raise AssertionError("\n".join(sorted(branches.never.union(*wanted.values()))))


def test_nothing_is_collected_while_a_syntax_tree_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finalizer that runs then fails it under Python 3.11."""
    collects: list[bool] = []
    parse = ast.parse

    def watched(source: str) -> ast.Module:
        collects.append(gc.isenabled())
        return parse(source)

    monkeypatch.setattr(ast, "parse", watched)
    assert branch_names()
    assert set(collects) == {False}
    assert gc.isenabled()


def test_each_excuse_excuses_some_branch() -> None:
    names = branch_names()
    for pattern in (*EXCUSED, *RARE):
        assert any(fnmatchcase(name, f"branch {pattern}") for name in names), pattern
    for name in names:
        assert reason(name) is None or reason(name, RARE) is None, "excused, and rare"


def test_an_excuse_is_wrong_once_the_branch_is_taken() -> None:
    names = branch_names()
    excused = next(name for name in names if reason(name) is not None)
    rare = next(name for name in names if reason(name, RARE) is not None)
    nothing = judge(names, ())
    assert (nothing.refuted, nothing.never) == (frozenset(), nothing.required)
    assert (excused in nothing.required, rare in nothing.required) == (False, False)
    everything = judge(names, nothing.required | {excused, rare})
    assert everything.refuted == frozenset([excused])
    assert not everything.never


def test_conditions_are_named_by_their_area() -> None:
    assert {area_of(name) for kind in ("connect", "mixed") for name in required(kind)} == {
        "fault", "record", "answer", "state", "event", "placement",
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
    assert "no worker sends a request that is not valid" in told.output.partition("EXCUSED")[2]
    assert "WRONG" not in told.output
    one = CliRunner().invoke(app, ["sim", "--seed", "2", "--report"])
    assert one.exit_code == 2


def test_the_report_fails_for_an_excuse_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXCUSED, "connect.computing.*", "nobody computes")
    told = CliRunner().invoke(app, ["sim", "--seeds", "2", "--kind", "connect", "--report"])
    assert told.exit_code == 1
    assert "WRONG: branch connect.computing." in told.output


@pytest.mark.long("reads the source of the whole engine for a second report")
def test_a_kind_of_runs_without_conditions_has_a_report_too() -> None:
    assert required("classic") == frozenset()
    told = CliRunner().invoke(app, ["sim", "--seeds", "1", "--kind", "classic", "--report"])
    assert told.exit_code == 0, told.output
    assert "branch" in told.output
