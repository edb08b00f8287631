"""How does a test get a fleet of real workers behind kcoord?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import attrs
import pytest

from tests.cli.run_cli import Outcome, kcoord
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

    def ask(self, *arguments: object) -> str:
        """What this command of kcoord's prints about the fleet's group, which it names second: "workers", "drain"."""
        done = self._done(*arguments)
        assert done.code == 0, done.err
        return done.out

    def refusal(self, *arguments: object) -> str:
        """Why this command, named likewise, is refused."""
        done = self._done(*arguments)
        assert done.code == 1, done
        return done.err

    def _done(self, first: object, second: object, *rest: object) -> Outcome:
        return kcoord(first, second, self.fleet.group, *rest, "--bootstrap-server", self.kcoord.bootstrap)

    def said_last(self) -> str:
        """The last line that kcoord has logged of the group."""
        said = [each for each in self.kcoord.log.read_text().splitlines() if f"group {self.fleet.group}: " in each]
        return said[-1]

    def check_soundness(self) -> None:
        """It was kcoord that coordinated, and nothing ever ran on two workers at one time."""
        check_kcoord_owns(self.kafka, self.fleet.group)
        assert overlaps(self.fleet.notes.runs()) == []


StageMaker = Callable[..., Stage]
_numbers = count(1)
"""A fleet that has the name of an earlier one would find that one's connectors."""


@pytest.fixture
def make_stage(kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[StageMaker]:
    """Makes a fleet without workers yet: its group's name, to which a number is added, the delay after a worker's loss,
    how kcoord manages the group, and more settings of the workers; `version` is theirs, and `upstream` is the cluster,
    the tests' own Kafka by default. kcoord owns `more_groups`, too.
    """
    with ExitStack() as stack:

        def make(
            group: str,
            delay_s: int,
            mode: str = INDIVIDUAL,
            version: str | None = None,
            more_groups: Sequence[str] = (),
            upstream: KafkaCluster | None = None,
            **settings: object,
        ) -> Stage:
            cluster, group = upstream or kafka, f"{group}-{next(_numbers)}"
            front = kcoord_of(cluster, tmp_path / "kcoord", [group, *more_groups], group_connect_classic_mode=mode)
            stack.callback(front.remove)
            named = {name.replace("_", "."): value for name, value in settings.items()}
            theirs = java if version is None else Java.find(version)
            fleet = JavaFleet(theirs, tmp_path / "fleet", front.bootstrap, group, {DELAY: delay_s * 1000, **named})
            stack.callback(fleet.remove)
            return Stage(cluster, front, fleet)

        yield make


def check_undisturbed(figures: Figures, *concerned: str) -> None:
    """Nothing was stopped that did not have to be, and who joined had something to gain or to give, but for these."""
    assert not figures.twice
    assert not figures.needless
    for name in figures.rejoined() - set(concerned):
        assert figures.joins[name] > figures.idle[name], f"{name} joined for nothing: {figures}"


__all__ = ["BARRIER", "INDIVIDUAL", "Stage", "StageMaker", "Watch", "check_undisturbed"]
