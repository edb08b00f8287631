"""Do six real Connect workers live behind kcoord without a barrier, managed one by one?"""

from __future__ import annotations

import pytest

from tests.javafleet import events
from tests.javafleet.conftest import StageMaker, check_undisturbed

DELAY_S = 15
"""Whoever goes here comes back, and sooner than that, however busy the machine is."""
SEVERAL = 5
"""A change of configuration is a few records, each of which may make every worker join by its own decision; who must
let something go for it joins once more.
"""


@pytest.mark.proof
def test_workers_and_connectors_come_and_go(make_stage: StageMaker) -> None:
    """A worker that nothing concerns makes no JoinGroup (CM-3, CM-4, CM-9, CM-30), nothing runs twice or is stopped
    without need (CM-5 to CM-8, CM-11, CM-12, CM-41), REST of any worker works throughout, and in the end all runs.
    """
    stage = make_stage("one-by-one", DELAY_S)
    fleet = stage.fleet
    events.begin(fleet, connectors=4, tasks=3)
    for event in (events.ADDED, events.ROLLING, events.FOLLOWER_BACK, events.KILLED):
        seen = events.let_happen(fleet, event)
        if event is events.ROLLING:  # all of them are concerned
            check_undisturbed(seen.figures, *seen.figures.joins)
        else:
            check_undisturbed(seen.figures, seen.leader, seen.concerned)
    for event in (events.CREATED, events.RECONFIGURED, events.FEWER, events.DELETED):
        seen = events.let_happen(fleet, event)
        check_undisturbed(seen.figures, *seen.figures.joins)
        assert max(seen.figures.joins.values()) <= SEVERAL, seen
    stage.check_soundness()


def test_stops_come_before_starts_where_configurations_change(make_stage: StageMaker) -> None:
    """Every worker has stopped a reconfigured connector's tasks before any starts them anew (CM-25), also where that
    takes them a while.
    """
    stage = make_stage("config-round", DELAY_S)
    fleet = stage.fleet
    fleet.start("w1", "w2", "w3")
    fleet.create("slow", 6, stop_ms=700)
    fleet.wait_until_settled()
    for name in ("w1", "w2", "w3"):
        fleet.reconfigure("slow", by=name)
        fleet.wait_until_settled()
        version = fleet.connectors["slow"].version
        tasks = [run for run in fleet.notes.runs() if run.resource.startswith("task ")]
        stopped = [run.to_ms for run in tasks if run.version == str(version - 1)]
        started = [run.from_ms for run in tasks if run.version == str(version)]
        assert max(at for at in stopped if at is not None) <= min(started)
    stage.check_soundness()
