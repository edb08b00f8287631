"""Can a running fleet's group be switched to individual management and back, without stopping a task?"""

from __future__ import annotations

from tests.javafleet.conftest import BARRIER, INDIVIDUAL, Stage, StageMaker, Watch
from tests.kafka.wait import eventually

WORKERS = ("w1", "w2", "w3")
TOLD = {BARRIER: "group {}: generation", INDIVIDUAL: "connect group {}: epoch"}
"""What kcoord logs of a group that is managed so."""
DELAY_S = 600


def test_barrier_individual_barrier(make_stage: StageMaker) -> None:
    stage = make_stage("switched", DELAY_S, BARRIER, session_timeout_ms=30_000)
    fleet = stage.fleet
    fleet.start(*WORKERS)
    for name in ("a", "b"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()

    switch(stage, INDIVIDUAL)
    follower, leader = fleet.follower(), fleet.leader()
    watch = Watch(fleet)
    fleet.kill(follower)
    fleet.start(follower)
    fleet.wait_until_quiet()
    assert watch.figures().rejoined() <= {follower, leader}, "this is no barrier"

    switch(stage, BARRIER)
    watch = Watch(fleet)
    fleet.create("c", 3, by=follower)
    fleet.wait_until_quiet()
    assert watch.figures().rejoined() == set(WORKERS)
    assert not watch.figures().stopped
    stage.check_soundness()


def switch(stage: Stage, mode: str) -> None:
    """Set the group's mode; nothing is stopped, and nobody else runs anything, also once the fleet is quiet again."""
    fleet = stage.fleet
    owners, watch = fleet.owners(), Watch(fleet)
    stage.ask("config", "set", f"connect.classic.mode={mode}")
    eventually(lambda: managed(stage, mode), f"{fleet.group} is managed in mode {mode}")
    assert fleet.wait_until_quiet() == owners
    figures = watch.figures()
    assert not figures.stopped
    assert figures.until_ms == 0, "something was started"


def managed(stage: Stage, mode: str) -> bool:
    """Whether kcoord said last of the group what it says of one that is managed so."""
    return f": {TOLD[mode].format(stage.fleet.group)}" in stage.said_last()
