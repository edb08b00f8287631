"""How does a test get a fleet of real workers behind kcoord?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import attrs
import pytest

from tests.javafleet.figures import Figures, Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import overlaps
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord

INDIVIDUAL, BARRIER = "individual", "barrier"
DELAY = "scheduled.rebalance.max.delay.ms"


@attrs.frozen
class Stage:
    """A fleet, and the kcoord that owns its group, in front of a broker."""

    kafka: KafkaCluster
    kcoord: Kcoord
    fleet: JavaFleet

    def check_soundness(self) -> None:
        """It was kcoord that coordinated, and nothing ever ran on two workers at one time."""
        check_kcoord_owns(self.kafka, self.fleet.group)
        assert overlaps(self.fleet.notes.runs()) == []


StageMaker = Callable[..., Stage]


@pytest.fixture
def make_stage(kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[StageMaker]:
    """Makes a fleet without workers yet: its group, the delay after a worker's loss, how kcoord manages the group, and
    more settings of the workers.
    """
    with ExitStack() as stack:

        def make(group: str, delay_s: int, mode: str = INDIVIDUAL, **settings: object) -> Stage:
            kcoord = kcoord_of(kafka, tmp_path / "kcoord", [group], group_connect_legacy_mode=mode)
            stack.callback(kcoord.remove)
            named = {name.replace("_", "."): value for name, value in settings.items()}
            fleet = JavaFleet(java, tmp_path / "fleet", kcoord.bootstrap, group, {DELAY: delay_s * 1000, **named})
            stack.callback(fleet.remove)
            return Stage(kafka, kcoord, fleet)

        yield make


def check_undisturbed(figures: Figures, *concerned: str) -> None:
    """Nothing was stopped that did not have to be, and who joined had something to gain or to give, but for these."""
    assert not figures.twice
    assert not figures.needless
    for name in figures.rejoined() - set(concerned):
        assert figures.joins[name] > figures.idle[name], f"{name} joined for nothing: {figures}"


__all__ = ["BARRIER", "INDIVIDUAL", "Stage", "StageMaker", "Watch", "check_undisturbed"]
