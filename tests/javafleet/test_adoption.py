"""Does a live Connect fleet move behind kcoord and back to the brokers without a stop? AD-6 to AD-20."""

from __future__ import annotations

import pytest

from tests.javafleet.conftest import BARRIER, INDIVIDUAL, Stage, StageMaker, Watch
from tests.javafleet.notes import overlaps
from tests.kafka.wait import eventually

WORKERS = ("w1", "w2")
DELAY_S = 30


def move(stage: Stage, bootstrap: str) -> None:
    """Give each worker another address to begin with, one after the other, each time with a restart."""
    fleet = stage.fleet
    fleet.bootstrap = bootstrap
    for name in WORKERS:
        fleet.stop(name)
        fleet.start(name)
        fleet.wait_until_quiet()


def said(stage: Stage, what: str) -> bool:
    return f"group {stage.fleet.group} {what}" in stage.kcoord.log.read_text()


@pytest.mark.parametrize(
    ("mode", "protocol"),
    [
        (BARRIER, "sessioned"),
        pytest.param(INDIVIDUAL, "sessioned", marks=pytest.mark.proof),
        pytest.param(BARRIER, "compatible", marks=pytest.mark.proof),
        pytest.param(BARRIER, "eager", marks=pytest.mark.proof),
    ],
)
def test_in_and_out_without_a_stop(make_stage: StageMaker, mode: str, protocol: str) -> None:
    stage = make_stage(f"moves-{mode}-{protocol}", DELAY_S, mode, connect_protocol=protocol)
    fleet = stage.fleet
    behind, fleet.bootstrap = fleet.bootstrap, stage.kafka.bootstrap
    fleet.start(*WORKERS)
    for name in ("a", "b"):
        fleet.create(name, 3)
    fleet.wait_until_quiet()

    move(stage, behind)
    eventually(lambda: said(stage, "is kcoord's now: adopted"), "the group is adopted")
    watch = Watch(fleet)
    owners = fleet.wait_until_quiet()
    stage.check_soundness()
    if mode == BARRIER:
        assert watch.figures().rejoined() == set(), "nobody has to join for it"
    assert not watch.figures().stopped

    released = Watch(fleet)
    stage.ask("config", "set", "gateway.owner=cluster")
    eventually(lambda: said(stage, "is the cluster's again"), "the group is released")
    assert fleet.wait_until_quiet() == owners
    figures = released.figures()
    assert figures.rejoined() == set(WORKERS)
    if protocol != "eager":
        assert not figures.stopped
        assert set(figures.joins.values()) == {1}

    move(stage, stage.kafka.bootstrap)
    stage.kcoord.stop()
    gone = Watch(fleet)
    fleet.wait_until_quiet()
    assert gone.figures().rejoined() == set()
    assert overlaps(fleet.notes.runs()) == []
