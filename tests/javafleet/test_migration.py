"""Does a fleet of Java workers become one of ours, worker by worker, and one of Java's again, without a worker being
disturbed that has nothing to give or to gain?
"""

from __future__ import annotations

from tests.javafleet.conftest import BARRIER, Stage, StageMaker, Watch
from tests.javafleet.fleet import Connector
from tests.javafleet.notes import Run
from tests.kafka.wait import eventually

JAVA, PYTHON = ("java1", "java2", "java3"), ("python1", "python2", "python3")
CONNECTORS, TASKS = 6, 5
DELAY_S = 5
EXTRA = "extra"
"""Where one of ours runs it, it has no tasks: who runs a connector splits it into them, and ours ask no Java class."""


def test_up_one_at_a_time_and_down_again(make_stage: StageMaker) -> None:
    """The group is a classic group until the first worker of kcoord joins, and again once the last one has left."""
    stage = make_stage("migrated", DELAY_S, BARRIER)
    fleet = stage.fleet
    fleet.start(*JAVA)
    for number in range(CONNECTORS):
        fleet.create(f"c{number}", TASKS, by=JAVA[number % len(JAVA)])
    fleet.wait_until_quiet()

    for theirs, ours in zip(JAVA, PYTHON, strict=True):
        moves(stage, added=ours)
        moves(stage, removed=theirs)
        works(stage)
    assert not fleet.java_alive

    for theirs, ours in zip(JAVA, PYTHON, strict=True):
        moves(stage, added=theirs)
        moves(stage, removed=ours)
        works(stage)
    stage.check_soundness()


def moves(stage: Stage, *, added: str = "", removed: str = "") -> None:
    """One worker comes, or goes; nothing is stopped that does not have to be."""
    fleet = stage.fleet
    before, watch = fleet.owners(), Watch(fleet)
    if removed:
        fleet.stop(removed)
    elif added in PYTHON:
        fleet.start_python(added)
    else:
        fleet.start(added)
    after = fleet.wait_until_quiet()
    figures = watch.figures()
    assert not figures.twice
    assert not figures.needless
    if added:
        assert {owner for resource, owner in after.items() if owner != before[resource]} == {added}
    else:
        moved: list[Run] = [run for run in figures.stopped if before[run.resource] != removed]
        assert not moved, "these did not have to move"


def works(stage: Stage) -> None:
    """REST works through any Java worker, as long as there is one: it forwards what it may not do itself."""
    fleet = stage.fleet
    config = Connector(1).config(fleet.notes.file)
    for worker in fleet.java_alive:
        fleet.rest.ask(worker.id, "PUT", f"/connectors/{EXTRA}/config", config)
        eventually(lambda: f"connector {EXTRA}" in fleet.owners(), f"{EXTRA}, created by {worker.name}, runs")
        fleet.rest.ask(worker.id, "DELETE", f"/connectors/{EXTRA}")
        fleet.wait_until_settled()
