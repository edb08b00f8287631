"""Does a group go on, whenever its coordinator is killed? (CG-7, CG-8, CG-11, CG-14, CG-18, CG-22)

A long story of workers that come, go, let go and compute is told again and again, with a load of the log after each of
its moments: with the answer of that moment delivered, or lost. `World` checks that the load gives the same state; here,
that nobody ever runs what another runs, that epochs do not go back, and that all comes to rest.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from kcoord.protocol.records import decode_record
from tests.group.connect.consistency import durable
from tests.group.connect.workers import Worker, check_running, settle
from tests.group.connect.world import INTERVAL_MS, SESSION_MS, SETTINGS, World
from tests.light import fewer

SOON = attrs.evolve(SETTINGS, rebalance_delay_ms=5_000)
LISTED = "AC0 AT1 AT2 BC0 BT1"
Moment = Callable[[], object]


class Story:
    """W1, W2, W3 and a static one. `listed`: they say what exists; else the assignments define it."""

    def __init__(self, listed: bool, server: str | None) -> None:
        self.world = World(SOON)
        self.workers: list[Worker] = []
        self.listed = listed
        self.server = server

    def start(self, name: str, instance: str | None = None) -> Worker:
        configured = LISTED if self.listed else None
        worker = Worker(self.world, name, configured, instance, self.server)
        self.workers.append(worker)
        return worker

    def named(self, name: str) -> Worker:
        return next(each for each in reversed(self.workers) if each.name == name)

    def acts(self, *names: str) -> list[Moment]:
        return [lambda name=name: self.act(name) for name in names]  # type: ignore[misc]

    def act(self, name: str, lose: bool = False) -> None:
        self.named(name).act(lose)

    def moments(self) -> list[Moment]:
        """The story: joins, a handover, a session that ends, a bounce, an instance that returns, a slow one."""
        later: list[Moment] = [lambda: self.world.pass_ms(INTERVAL_MS)]
        return [
            lambda: self.start("W1"),
            *self.acts("W1", "W1", "W1"),
            lambda: self.start("W2"),
            *self.acts("W2", "W1", "W2", "W1", "W2", "W1", "W2"),
            *later,
            lambda: self.start("S1", "i"),
            *self.acts("S1", "W1", "W2", "S1", "W1", "W2", "S1", "W1", "W2", "S1"),
            lambda: self.named("W2").die(),
            *(self.acts("W1", "S1") + later) * 3,
            lambda: self.world.pass_ms(SESSION_MS - INTERVAL_MS),
            *self.acts("W1", "S1", "W1", "S1"),
            lambda: self.start("W2"),
            *self.acts("W2", "W1", "S1", "W2", "W1"),
            lambda: self.named("S1").leave(),
            *self.acts("W1", "W2"),
            lambda: self.start("S2", "i"),
            *self.acts("S2", "W1", "S2"),
            lambda: setattr(self.named("W1"), "data", b"new"),
            *self.acts("W1", "W2", "S2", "W1"),
            lambda: self.named("W1").leave(),
            *(self.acts("W2", "S2") + later) * 2,
        ]

    def tell(self, load_at: int, lost: bool, compacted: bool = False) -> None:
        moments = self.moments()
        for at, moment in enumerate(moments):
            moment()
            if at == load_at:
                if lost:
                    for worker in self.workers:
                        worker.reconnect()
                self.world.restart(compacted=compacted)
            check_running(self.workers)
        settle(self.world, self.workers)


KINDS = pytest.mark.parametrize(("listed", "server"), [(True, None), (False, None), (True, "cooperative")])
MOMENTS = len(Story(True, None).moments())


@KINDS
def test_the_story_without_a_load(listed: bool, server: str | None) -> None:
    story = Story(listed, server)
    story.tell(-1, lost=False)
    reasons = {entry.reason.partition(":")[0] for entry in story.world.group.history.values()}
    assert {"worker joined", "session expired", "worker left"} <= reasons


@KINDS
@pytest.mark.parametrize("lost", [False, True])
def test_a_load_after_every_moment(listed: bool, server: str | None, lost: bool) -> None:
    """CG-11, CG-12, CG-14: the coordinator is killed when the moment's records are committed."""
    for load_at in range(int(lost), MOMENTS, fewer(2, 10)):  # the other half is told with the other fate of the answer
        Story(listed, server).tell(load_at, lost, compacted=load_at % 4 > 1)


def test_a_load_at_every_moment_of_one_story() -> None:
    """Loads upon loads."""
    story = Story(True, None)
    for moment in story.moments():
        moment()
        story.world.restart()
        check_running(story.workers)
    settle(story.world, story.workers)


def test_answers_of_every_moment_are_lost() -> None:
    """CG-12: each worker hears one answer of two."""
    story = Story(True, None)
    moments = story.moments()
    original = story.act
    turn = [0]

    def act(name: str, lose: bool = False) -> None:
        turn[0] += 1
        original(name, lose=turn[0] % 2 == 0)

    story.act = act  # type: ignore[method-assign]
    for moment in moments:
        moment()
        check_running(story.workers)
    settle(story.world, story.workers)


@KINDS
def test_a_log_that_ends_anywhere(listed: bool, server: str | None) -> None:
    """Steps are appended whole, so that does not happen; but even in the midst of a step a group loads, and workers who
    come anew get all of it.
    """
    story = Story(listed, server)
    for moment in story.moments():
        moment()
    world = story.world
    for end in range(0, len(world.log), 3):
        successor = World(SOON)
        successor.now_ms = world.now_ms
        successor.log = world.log[:end]
        successor.checked = False
        successor.restart(lose_ms=SESSION_MS)
        successor.pass_ms(SESSION_MS)
        workers = [Worker(successor, f"N{at}", LISTED if listed else None, None, server) for at in range(2)]
        for _ in range(3):
            for worker in workers:
                worker.act()
        successor.pass_ms(INTERVAL_MS)
        settle(successor, workers)


def test_an_empty_log_and_one_of_tombstones() -> None:
    """A deleted group is not there; records of members without their group are nothing."""
    world = World.settled({"W1": "AC0"})
    world.restart(lose_ms=0)
    world.beat("W1", 1, "AC0", connection=2)
    world.beat("W1", -1, connection=2)
    world.delete()
    world.restart()
    assert not world.shard.state.connect
    world.restart(compacted=True)
    assert not world.shard.state.connect
    assert world.log
    assert decode_record(*world.log[0]).value is not None


def test_two_loads_are_one() -> None:
    """A load writes only what has fallen due."""
    story = Story(True, None)
    for moment in story.moments():
        moment()
        if story.world.shard.state.connect:
            story.world.restart()
            before = durable(story.world.shard.state), len(story.world.log)
            story.world.restart()
            assert (durable(story.world.shard.state), len(story.world.log)) == before
