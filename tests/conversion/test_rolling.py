"""Does a fleet go over to the new protocol and back, one worker at a time? Nothing runs twice, and a conversion itself
stops nothing.
"""

from __future__ import annotations

import pytest

from kcoord.group.state.connect_settings import ClassicMode
from tests.conversion.fleet import SETTLED_MS, Fleet, settings
from tests.light import some

VERSIONS = pytest.mark.parametrize("protocol", [0, 1, 2], ids=["default", "compatible", "sessioned"])
INCREMENTAL = pytest.mark.parametrize("protocol", [1, 2], ids=["compatible", "sessioned"])
DELAY_MS = 5_000


@VERSIONS
def test_the_first_worker_of_the_new_protocol_takes_the_group_along(protocol: int) -> None:
    fleet = Fleet()
    fleet.started(3, protocol=protocol, max_delay_ms=DELAY_MS)
    assert not fleet.is_connect()
    generation, ran = fleet.epoch(), fleet.runs()
    new = fleet.start_new("n0")
    fleet.run(5)
    assert fleet.is_connect()
    assert fleet.epoch() == generation + 1, "the worker's join; the conversion itself has the generation's number"
    assert fleet.group.history[generation].reason.startswith("migrated")
    assert {name: runs for name, runs in fleet.runs().items() if name in ran} == ran
    assert fleet.shard.metrics().connect.conversions == {"to connect": 1}
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    assert new.runs


@INCREMENTAL
def test_a_conversion_disturbs_nobody_whose_assignment_stays(protocol: int) -> None:
    """Who must give something up does so once; the leader computes; the others are not called."""
    fleet = Fleet()
    fleet.started(6, protocol=protocol, max_delay_ms=DELAY_MS)
    fleet.mark()
    before = fleet.stops()
    fleet.start_new("n0")
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    stopped = {name for name, count in fleet.stops().items() if count > before.get(name, 0)}
    joins = fleet.new_joins()
    leader = fleet.group.members[fleet.group.computed_by or ""].metadata.url or ""
    assert joins.keys() <= stopped | {leader.removeprefix("http://")}
    assert sum(joins.values()) <= 2 * len(stopped) + 3


@INCREMENTAL
def test_all_the_way_up_and_down_again(protocol: int) -> None:
    fleet = Fleet()
    old = fleet.started(3, protocol=protocol, max_delay_ms=DELAY_MS)
    for number, host in enumerate(old):
        fleet.stop(host)
        fleet.start_new(f"n{number}")
        fleet.run(3 * SETTLED_MS)
        fleet.must_be_well()
        assert fleet.is_connect()
    assert not fleet.group.classic.members
    for number, worker in enumerate(fleet.news):
        worker.leave()
        fleet.worker(f"v{number}", protocol=protocol, max_delay_ms=DELAY_MS)
        fleet.run(3 * SETTLED_MS)
        fleet.must_be_well()
    assert not fleet.is_connect()
    assert fleet.classic.state.label == "Stable"
    assert fleet.shard.metrics().connect.conversions == {"to connect": 1, "to classic": 1}


@VERSIONS
def test_the_last_worker_of_the_new_protocol_leaves_the_others_a_classic_group(protocol: int) -> None:
    fleet = Fleet()
    old = fleet.started(3, protocol=protocol, max_delay_ms=DELAY_MS)
    new = fleet.start_new("n0")
    fleet.run(3 * SETTLED_MS)
    epoch, ran = fleet.epoch(), {host.name: host.runs for host in old}
    before = fleet.stops()
    new.leave()
    fleet.run(5)
    assert not fleet.is_connect()
    assert fleet.classic.state.label == "PreparingRebalance"
    assert fleet.classic.generation == epoch + 1, "its leaving"
    assert {host.name: host.runs for host in old} == ran
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    assert fleet.classic.generation > epoch
    if protocol:
        assert {name: count for name, count in fleet.stops().items() if name != "n0"} == before


@pytest.mark.parametrize("protocol", [1, 2])
def test_a_new_worker_that_dies_is_missed_until_its_session_ends(protocol: int) -> None:
    fleet = Fleet()
    fleet.started(3, protocol=protocol, max_delay_ms=DELAY_MS)
    new = fleet.start_new("n0")
    fleet.run(3 * SETTLED_MS)
    new.kill()
    fleet.run(5 * SETTLED_MS)
    assert not fleet.is_connect()
    fleet.must_be_well()


@pytest.mark.parametrize("protocol", [1, 2])
def test_the_coordinator_dies_wherever_a_conversion_has_come_to(protocol: int) -> None:
    """Each cut of the log at a step shows the one group or the other, and the fleet goes on from there."""
    fleet = Fleet()
    fleet.started(3, protocol=protocol, max_delay_ms=DELAY_MS)
    for at_ms in some((0, 1, 3, 40, 700, 3_100, 3_300, 6_500), 4):
        new = fleet.start_new(f"n{at_ms}")
        fleet.run(at_ms + 1)
        fleet.reload()
        fleet.run(3 * SETTLED_MS)
        fleet.must_be_well()
        new.leave()
        fleet.run(at_ms + 2)
        fleet.reload()
        fleet.run(3 * SETTLED_MS)
        fleet.must_be_well()
        assert not fleet.is_connect()


# -- individual mode --------------------------------------------------------------------------------------------------


def test_individual_mode_from_the_first_worker_on() -> None:
    fleet = Fleet(settings(classic_mode=ClassicMode.INDIVIDUAL))
    fleet.started(3)
    assert fleet.is_connect()
    new = fleet.start_new("n0")
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    new.leave()
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    assert fleet.is_connect()


@INCREMENTAL
def test_the_mode_is_switched_both_ways_and_nothing_stops(protocol: int) -> None:
    fleet = Fleet()
    fleet.started(4, protocol=protocol, max_delay_ms=DELAY_MS)
    stops, ran = fleet.stops(), fleet.runs()
    for _ in range(2):
        fleet.mark()
        generation = fleet.epoch()
        fleet.configure_group(classic_mode="individual")
        assert fleet.is_connect()
        assert fleet.epoch() == generation
        fleet.run(2 * SETTLED_MS)
        assert fleet.runs() == ran
        assert not fleet.new_joins(), "nothing has changed for anybody"
        fleet.configure_group(classic_mode="barrier")
        assert not fleet.is_connect()
        fleet.run(2 * SETTLED_MS)
        assert fleet.runs() == ran
        assert set(fleet.new_joins().values()) == {1}
        fleet.must_be_well()
    assert fleet.stops() == stops


@INCREMENTAL
def test_the_mode_is_switched_in_the_midst_of_anything(protocol: int) -> None:
    """Rebalances of either kind are cut off at many a point."""
    for cut_ms in (1, 5, 25, 60, 120, 900, 2_900, 3_050, 3_200):
        fleet = Fleet()
        fleet.started(3, protocol=protocol, max_delay_ms=DELAY_MS)
        for mode in ("individual", "barrier"):
            fleet.worker(f"late-{mode}", protocol=protocol, max_delay_ms=DELAY_MS)
            fleet.run(cut_ms)
            fleet.configure_group(classic_mode=mode)
            fleet.run(3 * SETTLED_MS)
            fleet.must_be_well()
            assert fleet.is_connect() == (mode == "individual")


def test_a_load_finds_the_servers_mode_changed() -> None:
    fleet = Fleet()
    fleet.started(3, max_delay_ms=DELAY_MS)
    ran, stops = fleet.runs(), fleet.stops()
    for mode in (ClassicMode.INDIVIDUAL, ClassicMode.BARRIER):
        fleet.settings = settings(classic_mode=mode)
        fleet.reload()
        assert fleet.is_connect() == (mode is ClassicMode.INDIVIDUAL)
        fleet.run(3 * SETTLED_MS)
        assert fleet.runs() == ran
        fleet.must_be_well()
    assert fleet.stops() == stops


def test_workers_that_speak_only_default_have_their_barrier_until_the_last_of_them_goes() -> None:
    fleet = Fleet(settings(classic_mode=ClassicMode.INDIVIDUAL))
    eager = fleet.started(3, protocol=0)
    assert not fleet.is_connect()
    for number, host in enumerate(eager):
        assert fleet.classic.protocol_name == "default"
        fleet.worker(f"v{number}", max_delay_ms=DELAY_MS)
        fleet.run(2 * SETTLED_MS)
        fleet.must_be_well()
        fleet.stop(host)
        fleet.run(2 * SETTLED_MS)
        fleet.must_be_well()
    assert fleet.is_connect()
    assert fleet.group.classic.protocol == "sessioned"


def test_one_that_speaks_only_default_brings_the_barrier_back() -> None:
    """What Connect's workers make of that is their own affair: they do the same on Kafka's coordinator."""
    fleet = Fleet(settings(classic_mode=ClassicMode.INDIVIDUAL))
    fleet.started(3, max_delay_ms=DELAY_MS)
    assert fleet.is_connect()
    eager = fleet.worker("eager", protocol=0)
    fleet.run(2 * SETTLED_MS)
    assert not fleet.is_connect()
    assert fleet.classic.protocol_name == "default"
    assert len(fleet.classic.members) == 4
    fleet.stop(eager)
    fleet.run(2 * SETTLED_MS)
    assert fleet.is_connect()
    assert not fleet.errors
