"""What if Java's workers of a group speak different embedded protocols, or the oldest, and ours are among them?

The embedded protocol is the whole group's: it is the best that all speak (CM-16).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.javafleet.conftest import DELAY, Stage, StageMaker, Watch
from tests.javafleet.notes import overlaps

DELAY_S = 5
EAGER, COMPATIBLE, SESSIONED = 0, 1, 2


@pytest.mark.proof
def test_rolling_upgrade_and_one_that_is_behind(make_stage: StageMaker) -> None:
    """Compatible workers become sessioned one by one, and one that is compatible joins sessioned ones: in individual
    mode nothing is stopped for it.
    """
    stage = make_stage("upgraded", DELAY_S, connect_protocol="compatible")
    fleet = stage.fleet
    fleet.start("w1", "w2", "w3")
    for name in ("a", "b", "c"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()
    assert protocols(stage) == {COMPATIBLE}

    fleet.settings = {**fleet.settings, "connect.protocol": "sessioned"}
    for name in ("w1", "w2", "w3"):
        fleet.stop(name)
        fleet.start(name)
        fleet.wait_until_settled()
    fleet.wait_until_quiet()
    assert protocols(stage) == {SESSIONED}, "with the last one the protocol changes"

    fleet.settings = {**fleet.settings, "connect.protocol": "compatible"}
    watch = Watch(fleet)
    fleet.start("w4")
    fleet.wait_until_quiet()
    assert protocols(stage) == {COMPATIBLE}
    assert not watch.figures().needless
    for worker in fleet.java_alive:  # with signatures, and without
        fleet.reconfigure("a", by=worker.name)
    fleet.wait_until_settled()
    stage.check_soundness()


def protocols(stage: Stage) -> set[int]:
    """What each worker was told last that the group speaks."""
    return {worker.joins()[-1].protocol for worker in stage.fleet.alive}


@pytest.mark.proof
def test_eager_workers_beside_ours(make_stage: StageMaker) -> None:
    """Eager workers stop everything before each join, and there is a barrier for them, with ours in the group too:
    nothing ever runs twice (CM-16).
    """
    stage = make_stage("eager", DELAY_S, connect_protocol="eager")
    fleet = stage.fleet
    assert fleet.settings[DELAY] == DELAY_S * 1000
    fleet.start("java1", "java2")
    for name in ("a", "b", "c"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()
    fleet.start_python("python1")
    fleet.wait_until_quiet()
    fleet.start("java3")
    fleet.wait_until_quiet()
    fleet.kill("java1")
    fleet.wait_until_quiet()
    fleet.stop("java2")
    fleet.wait_until_quiet()
    fleet.stop("java3")
    fleet.wait_until_quiet()
    assert overlaps(fleet.notes.runs()) == []
    stage.check_soundness()


@pytest.mark.proof
@pytest.mark.parametrize("version", ["3.9.1", "2.8.2"])
def test_eager_workers_of_older_versions(make_stage: StageMaker, tmp_path: Path, version: str) -> None:
    """In individual mode, too, they have the barrier (CM-16, CM-50). No rule says where they run, until the last of
    them has another `connect.protocol`.
    """
    stage = make_stage("eager-of-old", DELAY_S, version=version, connect_protocol="eager")
    fleet = stage.fleet
    fleet.start("w1", "w2")
    for name in ("a", "b", "c"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()
    watch = Watch(fleet)
    fleet.start("w3")
    fleet.wait_until_quiet()
    assert protocols(stage) == {EAGER}
    assert watch.figures().rejoined() == {"w1", "w2", "w3"}, "this is a barrier"
    rules_are_refused(stage, tmp_path / "rules.toml")

    fleet.kill("w1")
    fleet.wait_until_quiet()
    fleet.start("w1")
    fleet.wait_until_quiet()
    assert overlaps(fleet.notes.runs()) == []

    fleet.settings = {**fleet.settings, "connect.protocol": "sessioned"}
    for name in ("w1", "w2", "w3"):
        fleet.stop(name)
        fleet.start(name)
        fleet.wait_until_quiet()
    assert protocols(stage) == {SESSIONED}
    stage.ask("workers", "drain", fleet.workers["w2"].url, "--wait")
    assert "w2" not in fleet.owners().values()
    stage.check_soundness()


def rules_are_refused(stage: Stage, file: Path) -> None:
    """The error names the setting that is in the way, and nobody notices anything."""
    fleet, url = stage.fleet, stage.fleet.workers["w2"].url
    owners, joins = fleet.owners(), fleet.join_counts()
    file.write_text(f'[[affinity]]\nconnectors = "a"\nworkers = ["{url}"]\n')
    for command in (
        ("placement", "apply", file),
        ("placement", "diff", file),
        ("workers", "cordon", url),
        ("workers", "drain", url, "--wait"),
    ):
        why = stage.refusal(*command)
        assert "only connect groups have placement rules" in why
        assert "speak only the embedded protocol default (connect.protocol=eager)" in why
    assert fleet.wait_until_quiet() == owners
    assert fleet.join_counts() == joins
