"""How long does work run nowhere while a fleet is restarted? Scripted Java workers on virtual time, so it is counted.

Seen first with real workers, whose benchmark is the only other place that measures it.
"""

from __future__ import annotations

import json

import pytest

from kcoord.resource import Resource
from tests.light import some
from tests.sim.classic_worker.house import GROUP, WALL_MS, Host
from tests.translation.fleet import SETTLED_MS, Fleet
from tests.translation.test_stories import assert_well

STEP_MS = 10
AWAY_MS = 2_000
"""From the stop of a process to the start of the next one."""
HAND_OVER_MS = 600
"""A stop, a start and what they say, after the half second for which a part waits for the rest."""


class Timed(Fleet):
    """A fleet that notes for how long each resource ran nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.since_ms: dict[Resource, int] = {}
        self.longest_ms = 0

    def pass_time(self, ms: int) -> None:
        """Let time pass, and look every 10 ms."""
        for _ in range(ms // STEP_MS):
            self.run(STEP_MS)
            now_ms = self.events.now_ms
            there = frozenset[Resource]().union(*[host.runs for host in self.alive])
            for resource in self.topic.newest.resources():
                since_ms = self.since_ms.setdefault(resource, now_ms)
                if resource in there:
                    self.longest_ms = max(self.longest_ms, now_ms - since_ms - STEP_MS)
                    self.since_ms[resource] = now_ms

    def drain(self, *names: str) -> None:
        """These are drained from now on, and nobody else."""
        cordons = [{"worker": f"http://{name}", "drain": True} for name in names]
        now_ms, rules = self.events.now_ms, json.dumps({"cordon": cordons})
        self.take(self.shard.alter_config(GROUP, {"connect.placement": rules}, now_ms, WALL_MS + now_ms))


def six() -> Timed:
    """Six workers at rest, in the order in which they joined: the first leads."""
    fleet = Timed()
    fleet.configure(a=5, b=5, c=5, d=5, e=5, f=5)
    for name in ("w0", "w1", "w2", "w3", "w4", "w5"):
        fleet.worker(name)
    fleet.pass_time(2 * SETTLED_MS)
    assert_well(fleet)
    fleet.longest_ms = 0
    return fleet


def restart(fleet: Timed, host: Host) -> Host:
    """In good order."""
    host.do(host.worker.leave(fleet.events.now_ms))
    fleet.pass_time(AWAY_MS)
    back = fleet.worker(host.name)
    back.slow_to_stop_ms = host.slow_to_stop_ms
    return back


@pytest.mark.parametrize(
    ("rest_ms", "slower_ms"),
    some([(0, 0), (0, 60), (700, 0), (SETTLED_MS, 0), (300, 60), (SETTLED_MS, 60), (700, 150), (1_300, 150)], 2),
)
def test_a_rolling_restart_by_drains_leaves_nothing_without_a_place(rest_ms: int, slower_ms: int) -> None:
    """The next one is drained so long after the last one has started again; each worker takes that much longer to stop
    something than the one before. Tasks of real workers ran nowhere for four seconds: who was to start them could not
    be told. (CM-4, CM-24.)
    """
    fleet = six()
    for place, host in enumerate(fleet.hosts):
        host.slow_to_stop_ms = place * slower_ms
    for host in list(fleet.hosts):
        fleet.drain(host.name)
        for _ in range(600):
            if not host.runs:
                break
            fleet.pass_time(100)
        assert not host.runs
        restart(fleet, host)
        fleet.drain()
        fleet.pass_time(rest_ms)
    fleet.pass_time(2 * SETTLED_MS)
    assert_well(fleet)
    assert fleet.longest_ms <= HAND_OVER_MS + 5 * slower_ms


def test_who_is_restarted_without_a_drain_has_its_work_when_it_is_back() -> None:
    """CM-38, CM-48, CM-53: leaders included. Told -1 between two looks, one that had just started did nothing for
    a heartbeat interval.
    """
    fleet = six()
    for host in list(fleet.hosts):
        had = host.runs
        back = restart(fleet, host)
        fleet.pass_time(SETTLED_MS)
        assert back.runs == had
    assert_well(fleet)
    assert fleet.longest_ms <= AWAY_MS + HAND_OVER_MS
