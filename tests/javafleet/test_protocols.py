"""What if Java's workers of a group speak different embedded protocols, or the oldest, and ours are among them?

The embedded protocol is the whole group's: it is the best that all speak (CM-16).
"""

from __future__ import annotations

from tests.javafleet.conftest import DELAY, Stage, StageMaker, Watch
from tests.javafleet.notes import overlaps

DELAY_S = 5
COMPATIBLE, SESSIONED = 1, 2


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
