"""Are sources exactly-once while workers are managed one by one?

Each task writes 0, 1, 2, … and goes on where its source offset says, in transactions. A starting task has its
predecessor fenced by the leader (legacy rules 15, 23).
"""

from __future__ import annotations

import re
from collections import defaultdict

from tests.javafleet.conftest import StageMaker
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import running
from tests.kafka.cluster import KafkaCluster
from tests.kafka.topics import read_topic
from tests.kafka.wait import NotYet, eventually

TOPIC = "javafleet-numbers"
DELAY_S = 3
MORE = 5
"""So many more numbers of each task after each event."""


def test_numbers_are_written_once_each(make_stage: StageMaker) -> None:
    stage = make_stage("exactly-once", DELAY_S, exactly_once_source_support="enabled")
    fleet, kafka = stage.fleet, stage.kafka
    kafka.create_topic(TOPIC)
    fleet.start("w1", "w2", "w3")
    for name in ("a", "b"):
        fleet.create(name, 3, topic=TOPIC, exactly_once_support="required")
    fleet.wait_until_settled()
    wait_for_more(fleet, kafka)

    bounced = fleet.follower()
    fleet.stop(bounced)
    fleet.start(bounced)
    settle(fleet, kafka)

    leader = fleet.leader()
    fleet.kill(leader)
    fleet.start(leader)
    settle(fleet, kafka)

    fleet.reconfigure("a", by=fleet.follower())
    settle(fleet, kafka)
    fleet.reconfigure("b", 2, by=fleet.follower())
    settle(fleet, kafka)

    frozen = fleet.follower()
    fleet.freeze(frozen)
    wait_until_others_run_all(fleet, frozen)
    wait_for_more(fleet, kafka)
    fleet.thaw(frozen)  # what it goes on with was fenced
    settle(fleet, kafka)

    fleet.stop(fleet.leader())
    settle(fleet, kafka)

    for name in ("a", "b"):
        fleet.delete(name)
    eventually(lambda: not running(fleet.notes.runs()), "all have stopped")
    written = read(kafka)
    assert len(written) == 6
    for task, numbers in written.items():
        assert numbers == list(range(len(numbers))), f"{task}: doubled, or missing"


def settle(fleet: JavaFleet, kafka: KafkaCluster) -> None:
    """All run, and write."""
    fleet.wait_until_settled()
    wait_for_more(fleet, kafka)


def wait_until_others_run_all(fleet: JavaFleet, frozen: str) -> None:
    """The others took over what the frozen worker runs, as it believes."""

    def all_run() -> bool:
        there = {run.resource for run in running(fleet.notes.runs()) if run.worker != frozen}
        if missing := fleet.expected().keys() - there:
            raise NotYet(f"missing {missing}")
        return True

    eventually(all_run, f"all runs without {frozen}", deadline_s=120)


def wait_for_more(fleet: JavaFleet, kafka: KafkaCluster) -> None:
    """Every task that is to run has written some more numbers."""
    before = read(kafka)
    tasks = [resource.removeprefix("task ") for resource in fleet.expected() if resource.startswith("task ")]

    def more() -> bool:
        now = read(kafka)
        if slow := [task for task in tasks if len(now[task]) < len(before[task]) + MORE]:
            raise NotYet(f"{slow} write nothing")
        return True

    eventually(more, "all tasks write", deadline_s=120)


def read(kafka: KafkaCluster) -> dict[str, list[int]]:
    """The committed numbers by task, in the topic's order."""
    found: dict[str, list[int]] = defaultdict(list)
    for value in read_topic(kafka, TOPIC):
        told = re.fullmatch(r"(\S+):(\d+)", value)
        assert told is not None, value
        found[told[1]].append(int(told[2]))
    return found
