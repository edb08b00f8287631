"""What does it cost when the coordinator, or a worker, is away for a while? (CM-28, CM-29)"""

from __future__ import annotations

from kcoord.group.shard import Shard
from kcoord.group.state.shard_state import ShardState
from kcoord.resource import Resource
from tests.sim.classic_worker.house import WALL_MS, Host
from tests.translation.fleet import SETTLED_MS, Fleet
from tests.translation.test_stories import assert_well, settled


def runs(fleet: Fleet) -> dict[str, frozenset[Resource]]:
    return {host.name: host.runs for host in fleet.alive}


def away(fleet: Fleet, ms: int) -> None:
    """The coordinator dies, and another one loads its log so much later."""
    fleet.shard.drop()
    fleet.checked = False
    for host in fleet.alive:
        host.cut_off = True
        host.lose()
    fleet.run(ms)
    fleet.checked = True
    fleet.reload()
    for host in fleet.alive:
        host.cut_off = False


def freeze(host: Host, ms: int) -> None:
    """Nothing of it comes through, either way; its connection stays."""
    host.cut_off = True
    host.house.run(ms)
    host.cut_off = False
    host.lose()


def test_an_outage_below_the_heartbeat_interval_costs_nothing() -> None:
    fleet = settled("w0", "w1", "w2")
    ran = runs(fleet)
    away(fleet, 2_000)
    fleet.run(SETTLED_MS)
    assert_well(fleet)
    assert runs(fleet) == ran
    assert not fleet.stops()
    assert not fleet.new_joins()


def test_after_a_longer_one_each_worker_gets_its_own_back_in_one_join() -> None:
    """CM-29."""
    fleet = settled("w0", "w1", "w2")
    ran = runs(fleet)
    away(fleet, 9_000)
    assert not any(runs(fleet).values()), "they have stopped all by themselves"
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    assert runs(fleet) == ran
    joins = fleet.new_joins()
    assert (joins["w1"], joins["w2"]) == (1, 1)


def test_a_coordinator_that_has_lost_its_log_takes_nothing_from_anybody() -> None:
    """CM-28, a cold start: all come as strangers within a heartbeat interval."""
    fleet = settled("w0", "w1", "w2")
    ran = runs(fleet)
    fleet.shard.drop()
    fleet.log.clear()
    fleet.shard, fleet._shadow = Shard(fleet.settings, fleet.make_id), ShardState(fleet.settings, fleet.make_id)
    fleet.take(fleet.shard.loaded(fleet.events.now_ms, WALL_MS + fleet.events.now_ms))
    for host in fleet.alive:
        host.lose()
    fleet.run(2 * SETTLED_MS)
    assert_well(fleet)
    assert runs(fleet) == ran
    assert not fleet.stops()


def test_a_follower_that_is_frozen_past_its_session_moves_nothing_if_it_is_back_within_the_delay() -> None:
    """CM-12."""
    fleet = settled("w0", "w1", "w2")
    ran = runs(fleet)
    freeze(fleet.hosts[1], 14_000)
    fleet.run(3 * SETTLED_MS)
    assert_well(fleet)
    assert runs(fleet) == ran
    joins = fleet.new_joins()
    assert "w2" not in joins
    assert joins.get("w0", 0) <= 3, "its looks after a quiet minute, which learn how long lost work waits"


def test_one_that_could_not_read_its_topic_gets_its_own_back() -> None:
    """CM-12, CM-13: it left, ran on, and comes by another member id."""
    fleet = settled("w0", "w1", "w2")
    ran, host = runs(fleet), fleet.hosts[1]
    host.reads = False
    fleet.configure(a=3)
    fleet.run(8_000)
    assert host.runs, "it runs on"
    host.reads = True
    fleet.run(4 * SETTLED_MS)
    assert_well(fleet)
    assert runs(fleet) == ran


def test_a_rolling_bounce_moves_nothing() -> None:
    """CM-18 to CM-20."""
    fleet = settled("w0", "w1", "w2")
    ran = runs(fleet)
    for at in range(3):
        predecessor = fleet.hosts[at]
        predecessor.kill()
        fleet.run(2_000)
        fleet.worker(predecessor.name)
        fleet.run(SETTLED_MS)
        assert_well(fleet)
        assert runs(fleet) == ran
    assert not fleet.stops()


def test_two_that_come_back_at_once() -> None:
    fleet = settled("w0", "w1", "w2", "w3")
    ran = runs(fleet)
    for at in (1, 2):
        fleet.hosts[at].kill()
    fleet.run(3_000)
    for at in (1, 2):
        fleet.worker(fleet.hosts[at].name)
    fleet.run(3 * SETTLED_MS)
    assert_well(fleet)
    assert runs(fleet) == ran
    assert "w3" not in fleet.new_joins()
