"""What if the coordinator dies after any step of a story? Another one loads what was written, and it ends as well.

What a step has written is there or not: a step is one atomic append. Its answers may be lost, and every connection is.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kcoord.group.state.step import Step
from tests.light import fewer
from tests.translation.fleet import SETTLED_MS, Fleet
from tests.translation.test_stories import assert_well


class Crashing(Fleet):
    """A fleet whose coordinator dies once."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.dies_after: int | None = None

    def take(self, step: Step) -> None:
        """Count what is written, and die."""
        super().take(step)
        if step.records and self.dies_after is not None:
            self.steps += 1
            if self.steps == self.dies_after:
                self.events.after(0, self.reload)


def join(fleet: Fleet) -> None:
    fleet.worker("w3")


def kill(fleet: Fleet) -> None:
    fleet.hosts[1].kill()


def kill_leader(fleet: Fleet) -> None:
    fleet.hosts[0].kill()


def leave(fleet: Fleet) -> None:
    host = fleet.hosts[2]
    host.do(host.worker.leave(fleet.events.now_ms))


def leader_leaves(fleet: Fleet) -> None:
    host = fleet.hosts[0]
    host.do(host.worker.leave(fleet.events.now_ms))


def bounce(fleet: Fleet) -> None:
    fleet.hosts[1].kill()
    fleet.run(3_000)
    fleet.worker("w1")


def bounce_leader(fleet: Fleet) -> None:
    fleet.hosts[0].kill()
    fleet.run(3_000)
    fleet.worker("w0")


def create(fleet: Fleet) -> None:
    fleet.configure(c=5)


def reconfigure(fleet: Fleet) -> None:
    fleet.configure(a=2)


def delete(fleet: Fleet) -> None:
    fleet.topic.remove("b")
    fleet.tell()


def cannot_read(fleet: Fleet) -> None:
    host = fleet.hosts[1]
    host.reads = False
    fleet.configure(c=2)
    fleet.run(8_000)
    host.reads = True


STORIES = [
    join,
    kill,
    kill_leader,
    leave,
    leader_leaves,
    bounce,
    bounce_leader,
    create,
    reconfigure,
    delete,
    cannot_read,
]


def _play(story: Callable[[Fleet], None], dies_after: int) -> int:
    """Returns how many steps there were."""
    fleet = Crashing()
    fleet.configure(a=3, b=4)
    for name in ("w0", "w1", "w2"):
        fleet.worker(name)
    fleet.run(SETTLED_MS)
    fleet.dies_after = dies_after
    story(fleet)
    fleet.run(6 * SETTLED_MS)
    assert_well(fleet)
    return fleet.steps


@pytest.mark.parametrize("story", STORIES)
def test_a_story_ends_well_wherever_the_coordinator_dies(story: Callable[[Fleet], None]) -> None:
    steps = _play(story, 0)
    assert steps > 1
    for dies_after in range(1, steps + 1, fewer(1, 3)):
        _play(story, dies_after)


def test_so_does_the_start_of_a_fleet() -> None:
    for dies_after in range(1, 30, fewer(1, 6)):
        fleet = Crashing()
        fleet.dies_after = dies_after
        fleet.configure(a=3, b=4)
        for name in ("w0", "w1", "w2"):
            fleet.worker(name)
        fleet.run(4 * SETTLED_MS)
        assert_well(fleet)
