"""Simulated groups of two releases: coordinators of 0.1.0 and of this one take over from one another on one log, and
workers of both are members.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from kcoord.cli import app
from kcoord.sim.release.imported_release import load_release
from kcoord.sim.release.sides import Side
from kcoord.sim.release.world import ReleaseWorld
from kcoord.sim.series.run import beside, replay_command, run_seed, run_seeds
from tests.light import fewer
from tests.sim.mutants import MUTANTS, Mutant, put_in

FEW, MANY = fewer(40, 8), 5_000
SEEDS = 200
"""A mutant must be caught within so many seeds."""


def _failed(release: Path, seeds: range, jobs: int = 1) -> list[str]:
    kind = beside(release)
    return [
        f"{replay_command(each.seed, kind)}  # {each.violation}"
        for each in run_seeds(seeds, jobs, kind)
        if each.violation is not None
    ]


def test_few_seeds_find_nothing(release: Path) -> None:
    failed = _failed(release, range(FEW))
    assert not failed, "\n".join(failed)


@pytest.mark.proof
def test_many_seeds_find_nothing(release: Path) -> None:
    failed = _failed(release, range(FEW, MANY), jobs=2)
    assert not failed, "\n".join(failed)


def test_both_releases_coordinate_and_work(release: Path) -> None:
    lines: list[str] = []
    for seed in range(10):
        run_seed(seed, lines.append, beside(release))
    theirs = load_release(release).name
    coordinators = [line for line in lines if " coordinator " in line and " is of " in line]
    assert any("this release" in line for line in coordinators)
    assert any(theirs in line for line in coordinators)
    assert any(theirs in line and " w" in line for line in lines if " coordinator " not in line)


def test_the_other_release_is_all_of_the_other_release(release: Path) -> None:
    world = ReleaseWorld(3, release)
    world.run()
    shard = world.theirs.module("group.shard").Shard
    assert shard.__module__.startswith(f"{load_release(release).name}.")
    assert Path(world.theirs.module("group.shard").__file__).is_relative_to(release.resolve())
    assert shard is not world.ours.module("group.shard").Shard
    theirs = world.theirs.messages.ConnectGroupHeartbeatRequest(group_id="g", member_id="m")
    assert not world.ours.knows(theirs)
    read = world.ours.read(theirs, 0)
    assert world.ours.knows(read)
    assert (read.group_id, read.member_id) == ("g", "m")


@pytest.mark.parametrize("mutant", [
    next(each for each in MUTANTS if each.name == "rule 2: what others may be running is granted"),
    Mutant(0, "what one release writes does not reach the other", Side.encode,
           "if value is None else", 'if value is None or b"http" in value else'),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_what_a_release_does_wrong_is_noticed(mutant: Mutant, release: Path) -> None:
    with put_in(mutant):
        assert any(run_seed(seed, kind=beside(release)).violation is not None for seed in range(SEEDS))


def test_the_command_line_runs_a_release_beside_this_one(release: Path, tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["sim", "--seeds", "3", "--beside", str(release)])
    assert told.exit_code == 0, told.output
    assert "3 seeds from 0: none failed" in told.output
    assert CliRunner().invoke(app, ["sim", "--seeds", "1", "--beside", str(tmp_path)]).exit_code == 1
    both = CliRunner().invoke(app, ["sim", "--seeds", "1", "--beside", str(release), "--kind", "mixed"])
    assert both.exit_code == 2
