"""Workers in processes of their own, against kcoord in its own: killed, frozen, restarted. Nothing ever runs twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually, let_pass
from tests.worker.conftest import OWN, QUICK
from tests.worker.fleet import Fleet

pytestmark = pytest.mark.long("starts twenty processes")

SESSION_MS = int(str(QUICK["group.connect.session.timeout.ms"]))


@pytest.fixture
def fleet(kcoord: Kcoord, group: str, tmp_path: Path) -> Iterator[Fleet]:
    """No worker yet."""
    fleet = Fleet(kcoord.bootstrap, group, tmp_path)
    yield fleet
    fleet.remove()


def test_workers_come_and_go(fleet: Fleet) -> None:
    """CG-2, CG-3, CG-9"""
    fleet.start("w1")
    fleet.wait_for("w1")
    fleet.start("w2")
    fleet.start("w3")
    fleet.wait_for("w1", "w2", "w3")
    fleet.leave("w2")
    fleet.wait_for("w1", "w3")
    fleet.leave("w1")
    fleet.wait_for("w3")
    fleet.leave("w3")
    assert not any(fleet.running().values())
    fleet.check_one_owner()


@pytest.mark.parametrize("kcoord", [{"group.connect.session.timeout.ms": 60_000}], indirect=True)
def test_a_coordinator_that_is_killed_and_back_disturbs_nobody(fleet: Fleet, kcoord: Kcoord) -> None:
    fleet.start("w1")
    fleet.start("w2")
    fleet.wait_for("w1", "w2")
    starts = fleet.starts()
    for _ in range(3):
        kcoord.kill_and_restart()
        let_pass(1)  # within a session, in which they find it again
    fleet.start("w3")
    shared = fleet.wait_for("w1", "w2", "w3")
    assert fleet.starts() == starts + len(shared["w3"])
    fleet.check_one_owner()


@pytest.mark.parametrize("kcoord", [OWN], indirect=True)
def test_without_a_coordinator_they_stop_before_their_session_must_have_ended(fleet: Fleet, kcoord: Kcoord) -> None:
    """CG-8"""
    fleet.start("w1")
    fleet.start("w2")
    fleet.wait_for("w1", "w2")
    kcoord.kill()
    killed_ms = fleet.lines()[-1].at_ms

    def all_stopped() -> bool:
        if any(fleet.running().values()):
            raise NotYet("something runs")
        return True

    eventually(all_stopped, "all stop")
    ticks = [line.at_ms for line in fleet.lines() if line.what == "tick"]
    assert max(ticks) <= killed_ms + SESSION_MS
    kcoord.start()
    fleet.wait_for("w1", "w2")
    fleet.check_one_owner()


def test_a_frozen_worker_has_stopped_when_it_notices(fleet: Fleet) -> None:
    """CG-2, CG-5, CG-8: what others have taken meanwhile does not tick once more."""
    fleet.start("w1")
    fleet.start("w2")
    before = fleet.wait_for("w1", "w2")
    fleet.freeze("w1")

    def taken_over() -> bool:
        if not before["w1"] <= fleet.running()["w2"]:
            raise NotYet(f"{fleet.running()}")
        return True

    eventually(taken_over, "w2 takes over what w1 has")
    fleet.thaw("w1")
    fleet.wait_for("w1", "w2")
    fleet.check_one_owner()


def test_what_a_killed_worker_had_is_run_by_others(fleet: Fleet) -> None:
    """CG-8"""
    fleet.start("w1")
    fleet.start("w2")
    fleet.wait_for("w1", "w2")
    fleet.kill("w1")

    def taken_over() -> bool:
        if len(fleet.running()["w2"]) < 6:
            raise NotYet(f"{fleet.running()}")
        return True

    eventually(taken_over, "w2 has all")
    fleet.check_one_owner()


def test_a_static_worker_finds_its_share_when_it_is_back(fleet: Fleet) -> None:
    """CG-28: -2 at the end, nobody else is disturbed, the same share under a new member id."""
    fleet.start("w1", "i1")
    fleet.start("w2", "i2")
    before = fleet.wait_for("w1", "w2")
    starts = fleet.starts()
    fleet.leave("w1")
    fleet.start("w1", "i1")
    assert fleet.wait_for("w1", "w2") == before
    assert fleet.starts() == starts + len(before["w1"])
    fleet.check_one_owner()
