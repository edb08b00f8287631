"""The journal of a soak: which seeds ran on which commit, and how a soak that was stopped goes on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import attrs
import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.sim.basis.fingerprint import together
from kcoord.sim.basis.outcome import Outcome
from kcoord.sim.series import journal
from kcoord.sim.series.journal import BLOCK, NO_HISTORY, Block, Journal, Tree, joined, tree, without
from kcoord.sim.series.run import run_seeds
from tests.light import fewer
from tests.sim.mutants import MUTANTS, put_in

HERE = Tree("abc", "def")


@pytest.fixture
def small_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest of one small package: to parse all of them takes seconds, each time that a tree is named."""
    monkeypatch.setattr(journal, "ENGINE", ("loop",))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "soak" / "journal.jsonl"


def _outcome(seed: int) -> Outcome:
    return Outcome(seed, 10, 1, 1, 1_000, 5)


def _ran(file: Path, tree: Tree, kind: str, begin: int, end: int) -> None:
    block = Block(tree, kind, (begin, end))
    for seed in range(begin, end):
        block.add(_outcome(seed))
    Journal(file).add(block)


@pytest.mark.parametrize(
    ("wanted", "done", "left"),
    [
        ((0, 10), [], [(0, 10)]),
        ((0, 10), [(0, 10)], []),
        ((0, 10), [(2, 4), (6, 8)], [(0, 2), (4, 6), (8, 10)]),
        ((5, 10), [(0, 7)], [(7, 10)]),
        ((0, 5), [(3, 9), (20, 30)], [(0, 3)]),
        ((0, 5), [(5, 9)], [(0, 5)]),
    ],
)
def test_what_is_left_of_a_range(
    wanted: tuple[int, int], done: list[tuple[int, int]], left: list[tuple[int, int]]
) -> None:
    assert without(wanted, done) == left


def test_ranges_are_joined() -> None:
    assert joined([(5, 7), (0, 3), (3, 5), (9, 10), (1, 2)]) == [(0, 7), (9, 10)]


def test_what_ran_is_left_out_on_its_commit_only(file: Path) -> None:
    _ran(file, HERE, "connect", 0, BLOCK)
    _ran(file, HERE, "mixed", 0, 3 * BLOCK)
    _ran(file, Tree("other", "def"), "connect", 0, 3 * BLOCK)
    with file.open("a") as lines:
        lines.write('{"commit": "abc", "engine": "def", "kind": "conn')  # killed while it wrote
    left = Journal(file).remaining(HERE, "connect", (BLOCK // 2, 2 * BLOCK + 5))
    assert [block.seeds for block in left] == [(BLOCK, 2 * BLOCK), (2 * BLOCK, 2 * BLOCK + 5)]


def test_what_is_read_is_what_was_written(file: Path) -> None:
    block = Block(HERE, "connect", (7, 9))
    block.add(attrs.evolve(_outcome(7), met=frozenset({"state connect Stable"})))
    block.add(_outcome(8))
    assert block.complete
    block.failed[8] = "one owner: two"
    Journal(file).add(block)
    assert list(Journal(file).blocks()) == [block]


def _sim(*words: str) -> tuple[int, str]:
    told = CliRunner().invoke(app, ["sim", *words])
    return told.exit_code, told.output


@pytest.mark.usefixtures("small_engine")
def test_a_second_call_goes_on(file: Path) -> None:
    words = ["--kind", "connect", "--journal", str(file)]
    assert _sim("--seeds", "3", *words)[0] == 0
    _, told = _sim("--seeds", "5", *words)
    assert "2 seeds from 0: none failed" in told
    assert "3 seeds had run before" in told
    _, told = _sim("--seeds", "5", *words, "--report")
    assert "0 seeds from 0" in told
    assert [tree().commit, tree().engine, "connect", "5", "0-4", "none"] in [line.split() for line in told.split("\n")]
    assert f"On the engine as it is ({tree().engine}): 5 seeds of kind connect." in told


@pytest.mark.usefixtures("small_engine")
def test_what_failed_before_fails_the_soak_again(file: Path) -> None:
    mutant = next(each for each in MUTANTS if each.rule == 2)
    words = ["--seeds", "10", "--journal", str(file)]
    with put_in(mutant):
        assert _sim(*words)[0] == 1
    code, told = _sim(*words)
    assert code == 1
    assert "0 seeds from 0" in told
    [line] = [json.loads(each) for each in file.read_text().splitlines()]
    assert line["failed"]


def test_a_tree_is_named_by_its_commit_and_by_what_differs(tmp_path: Path) -> None:
    package = tmp_path / "kcoord"
    for name in journal.ENGINE:
        (package / name).mkdir(parents=True)
        (package / name / "a.py").write_text("1\n")
    assert tree(package).commit.startswith(NO_HISTORY)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *words], check=True)
    clean = tree(package)
    assert "+" not in clean.commit
    (package / "other.py").write_text("2\n")
    changed = tree(package)
    assert changed.commit.startswith(f"{clean.commit}+")
    assert changed.engine == clean.engine
    (package / "group" / "a.py").write_text('"""What it is."""\n\n1  # a comment\n')
    assert tree(package).engine == clean.engine
    (package / "group" / "a.py").write_text("3\n")
    assert tree(package).engine != clean.engine


def test_the_engine_is_where_the_journal_looks_for_it() -> None:
    """When the journal's file was moved into a folder, the digest was that of nothing, and equal for all engines."""
    assert {each for each in journal.ENGINE if not list((journal.PACKAGE / each).glob("*.py"))} == set()


# -- fingerprints -----------------------------------------------------------------------------------------------------


def _fingerprint(seeds: range, jobs: int = 1) -> int:
    return together(outcome.fingerprint for outcome in run_seeds(seeds, jobs))


def test_the_same_engine_has_the_same_fingerprint_in_whatever_order_seeds_run() -> None:
    """Two processes end the runs in another order than one."""
    count = fewer(20, 6)
    assert _fingerprint(range(count)) == _fingerprint(range(count), jobs=2) != _fingerprint(range(1, count + 1))


def test_an_engine_that_behaves_otherwise_has_another_fingerprint() -> None:
    before = _fingerprint(range(10))
    with put_in(MUTANTS[0]):
        assert _fingerprint(range(10)) != before


def test_a_block_sums_up_the_fingerprints_of_its_runs(file: Path) -> None:
    block = Block(HERE, "connect", (0, 3))
    for seed, fingerprint in enumerate((7, 0xFFFF_FFFF, 1)):
        block.add(attrs.evolve(_outcome(seed), fingerprint=fingerprint))
    Journal(file).add(block)
    assert [each.fingerprint for each in Journal(file).blocks()] == [7]


def test_a_block_of_a_release_without_fingerprints_is_read(file: Path) -> None:
    _ran(file, HERE, "connect", 0, BLOCK)
    line = json.loads(file.read_text())
    del line["fingerprint"]
    file.write_text(json.dumps(line) + "\n")
    assert [each.fingerprint for each in Journal(file).blocks()] == [0]
