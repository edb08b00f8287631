"""Does a worker that was killed and comes back within the delay have its own work back at once?

The delay is longer than anything here waits: what came back did not wait for it. A proof: at each commit
`test_individual.py` has workers that die and return, `test_drains.py` a restart of all.
"""

from __future__ import annotations

import pytest

from tests.javafleet import events
from tests.javafleet.conftest import Stage, StageMaker, Watch
from tests.javafleet.figures import restarts
from tests.javafleet.fleet import DEADLINE_S
from tests.kafka.wait import eventually

WORKERS = ("w1", "w2", "w3")
DELAY_S = 600
assert DELAY_S > 2 * DEADLINE_S
SESSION_MS = 20_000
"""Longer than a JVM's start, however slow the machine is."""


SEVEN, LONG_DELAY_S = 7, 300
MOST_JOINS = 4
"""Of all workers, for each that is bounced."""


@pytest.mark.proof
def test_seven_are_bounced_and_nothing_moves(make_stage: StageMaker) -> None:
    """Each has the work of before, leaders included, and nobody stops anything for another (CM-18, CM-20, CM-48).
    `python -m bench java_fleet` measures how long its tasks run nowhere.
    """
    stage = make_stage("seven", LONG_DELAY_S, session_timeout_ms=SESSION_MS)
    fleet = stage.fleet
    events.begin(fleet, SEVEN, SEVEN)
    stage.ask("config", "set", f"connect.classic.leader.wait.ms={300_000}")
    owners = fleet.owners()
    figures = events.let_happen(fleet, events.ROLLING).figures
    assert fleet.owners() == owners
    assert not figures.stopped
    assert not figures.twice
    assert sum(figures.joins.values()) <= MOST_JOINS * SEVEN, figures.joins
    assert len(restarts(fleet, figures.began_ms)) == SEVEN, "each of them has all of its own again"
    stage.check_soundness()


@pytest.mark.proof
def test_who_returns_has_its_own_back(make_stage: StageMaker) -> None:
    stage = make_stage("returning", DELAY_S, session_timeout_ms=SESSION_MS)
    fleet = stage.fleet
    fleet.start(*WORKERS)
    for name in ("a", "b", "c"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()
    stage.ask("config", "set", f"connect.classic.leader.wait.ms={300_000}")

    all_are_bounced(stage)
    a_follower_is_back_before_anybody_missed_it(stage)
    a_follower_is_back_after_its_session(stage)
    the_leader_is_back_and_leads(stage)
    kcoord_is_killed_and_back(stage)

    for worker in WORKERS:  # REST works, and forwards to who leads
        fleet.reconfigure("a", by=worker)
    fleet.wait_until_settled()
    stage.check_soundness()


def all_are_bounced(stage: Stage) -> None:
    """Each has its own back, and the leader leads on (CM-18, CM-48): nobody stops anything for another."""
    fleet, watch = stage.fleet, Watch(stage.fleet)
    owners, leader = fleet.owners(), fleet.leader()
    for name in WORKERS:
        fleet.stop(name)
        fleet.start(name)
    assert fleet.wait_until_quiet() == owners
    assert fleet.leader() == leader
    figures = watch.figures()
    assert not figures.stopped
    assert sum(figures.joins.values()) <= 4 * len(WORKERS), figures.joins


def a_follower_is_back_before_anybody_missed_it(stage: Stage) -> None:
    """The old member's connection is closed: it is dropped at once (CM-19), its work is given back (CM-18)."""
    comes_back(stage, stage.fleet.follower())


def a_follower_is_back_after_its_session(stage: Stage) -> None:
    """What it had is kept for it by its url (CM-18)."""
    comes_back(stage, stage.fleet.follower(), missed=True)


def the_leader_is_back_and_leads(stage: Stage) -> None:
    """It leads at once, at the same url, so that nobody else has to learn of it (CM-19, CM-20)."""
    leader = stage.fleet.leader()
    comes_back(stage, leader)
    assert stage.fleet.leader() == leader


def kcoord_is_killed_and_back(stage: Stage) -> None:
    """It has forgotten nobody, and nothing of what each has: nothing moves, also where workers that missed it for too
    long have stopped all (CM-5, CM-28, CM-29).
    """
    owners = stage.fleet.owners()
    stage.kcoord.kill_and_restart()
    assert stage.fleet.wait_until_quiet() == owners


def comes_back(stage: Stage, name: str, *, missed: bool = False) -> None:
    """This worker is killed and started again: in the end each runs what it ran, and nobody else joined but the leader,
    once for each question: how long the work of a lost worker waits (CM-36), and who runs what now (CM-35).
    """
    fleet = stage.fleet
    owners, leader, watch = fleet.owners(), fleet.leader(), Watch(fleet)
    fleet.kill(name)
    if missed:
        eventually(lambda: "session expired" in stage.said_last(), f"{name} is missed", deadline_s=DEADLINE_S)
    fleet.start(name)
    assert fleet.wait_until_quiet() == owners
    figures = watch.figures()
    assert name in figures.rejoined() <= {name, leader}
    assert not figures.stopped
    assert fleet.workers[leader].joins()[-1].delay_ms == 0
