"""Does a worker that was killed and comes back within the delay have its own work back at once?

The delay is longer than anything here waits: what came back did not wait for it.
"""

from __future__ import annotations

import pytest

from tests.javafleet.conftest import Stage, StageMaker, Watch
from tests.javafleet.fleet import DEADLINE_S
from tests.kafka.wait import eventually

WORKERS = ("w1", "w2", "w3")
DELAY_S = 600
assert DELAY_S > 2 * DEADLINE_S


@pytest.fixture
def stage(make_stage: StageMaker) -> Stage:
    """Three workers with 3 connectors of 3 tasks; a session outlasts a JVM's start, however slow the machine is."""
    stage = make_stage("returning", DELAY_S, session_timeout_ms=30_000)
    stage.fleet.start(*WORKERS)
    for name in ("a", "b", "c"):
        stage.fleet.create(name, 3)
    stage.fleet.wait_until_quiet()
    return stage


def test_a_follower_is_back_before_anybody_missed_it(stage: Stage) -> None:
    """The old member's connection is closed: it is dropped at once (legacy rule 19), its work is given back (18)."""
    fleet = stage.fleet
    owners, leader, follower = fleet.owners(), fleet.leader(), fleet.follower()
    watch = Watch(fleet)
    fleet.kill(follower)
    fleet.start(follower)
    assert fleet.wait_until_quiet() == owners
    check(stage, watch, follower, leader)


def test_a_follower_is_back_after_its_session(stage: Stage) -> None:
    """What it had is kept for it by its url (legacy rule 18); the leader's delay is reset, and no timer fires later."""
    fleet = stage.fleet
    owners, leader, follower = fleet.owners(), fleet.leader(), fleet.follower()
    watch = Watch(fleet)
    fleet.kill(follower)
    eventually(lambda: fleet.workers[leader].joins()[-1].delay_ms > 0, f"{leader} waits for {follower}")
    fleet.start(follower)
    assert fleet.wait_until_quiet() == owners
    check(stage, watch, follower, leader)


def test_the_leader_is_back_and_leads(stage: Stage) -> None:
    """It leads at once, at the same url, so that nobody else has to learn of it (legacy rules 19, 20)."""
    fleet = stage.fleet
    owners, leader = fleet.owners(), fleet.leader()
    watch = Watch(fleet)
    fleet.kill(leader)
    fleet.start(leader)
    assert fleet.wait_until_quiet() == owners
    check(stage, watch, leader, leader)
    assert fleet.leader() == leader


def check(stage: Stage, watch: Watch, returned: str, leader: str) -> None:
    """Only the one that returned and the leader have joined, and REST works."""
    figures = watch.figures()
    assert figures.rejoined() == {returned, leader}
    assert not figures.stopped
    assert stage.fleet.workers[leader].joins()[-1].delay_ms == 0
    for worker in WORKERS:
        stage.fleet.reconfigure("a", by=worker)
    stage.fleet.wait_until_settled()
    stage.check_soundness()
