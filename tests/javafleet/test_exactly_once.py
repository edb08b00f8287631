"""Are sources exactly-once while workers are managed one by one?

Each task writes 0, 1, 2, … and goes on where its source offset says, in transactions. A starting task has its
predecessor fenced by the leader (CM-15, CM-23).
"""

from __future__ import annotations

from tests.javafleet.conftest import StageMaker
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import running
from tests.javafleet.numbers import Numbers
from tests.kafka.wait import NotYet, eventually

TOPIC = "javafleet-numbers"
DELAY_S = 3


def test_numbers_are_written_once_each(make_stage: StageMaker) -> None:
    stage = make_stage("exactly-once", DELAY_S, exactly_once_source_support="enabled")
    fleet = stage.fleet
    stage.kafka.create_topic(TOPIC)
    with Numbers.of(stage.kafka, TOPIC) as numbers:

        def settle() -> None:
            """All run, and write."""
            fleet.wait_until_settled()
            numbers.wait_for_more(tasks_of(fleet))

        fleet.start("w1", "w2", "w3")
        for name in ("a", "b"):
            fleet.create(name, 3, topic=TOPIC, exactly_once_support="required")
        settle()

        bounced = fleet.follower()
        fleet.stop(bounced)
        fleet.start(bounced)
        settle()

        leader = fleet.leader()
        fleet.kill(leader)
        fleet.start(leader)
        settle()

        fleet.reconfigure("a", by=fleet.follower())
        settle()
        fleet.reconfigure("b", 2, by=fleet.follower())
        settle()

        frozen = fleet.follower()
        fleet.freeze(frozen)
        wait_until_others_run_all(fleet, frozen)
        numbers.wait_for_more(tasks_of(fleet))
        fleet.thaw(frozen)  # what it goes on with was fenced
        fleet.states_count = False
        settle()

        fleet.stop(fleet.leader())
        settle()

        for name in ("a", "b"):
            fleet.delete(name)
        eventually(lambda: not running(fleet.notes.runs()), "all have stopped")
        written = numbers.all_by_task()
    assert len(written) == 6
    for task, of_task in written.items():
        assert of_task == list(range(len(of_task))), f"{task}: doubled, or missing"


def tasks_of(fleet: JavaFleet) -> list[str]:
    """The tasks that are to run."""
    return [resource.removeprefix("task ") for resource in fleet.expected() if resource.startswith("task ")]


def wait_until_others_run_all(fleet: JavaFleet, frozen: str) -> None:
    """The others took over what the frozen worker runs, as it believes."""

    def all_run() -> bool:
        there = {run.resource for run in running(fleet.notes.runs()) if run.worker != frozen}
        if missing := fleet.expected().keys() - there:
            raise NotYet(f"missing {missing}")
        return True

    eventually(all_run, f"all runs without {frozen}", deadline_s=240)
