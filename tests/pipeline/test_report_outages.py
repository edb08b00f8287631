"""Are outages of the coordinator booked where they were: not for the rebalances and workers before and after?

Fleets whose coordinator is away for half a minute, and is loaded again from its log.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.report.costs import OUTAGE, Cost, costs, rest_ms
from kcoord.pipeline.report.page import page
from kcoord.pipeline.report.reading import GroupHistory, read
from tests.conversion.fleet import SETTLED_MS, settings
from tests.group.connect.world import packed
from tests.pipeline.story import ALL, Recorder, entries, tables
from tests.pipeline.test_report import words, write
from tests.pipeline.watched import Watched

AWAY_MS = 30_000
DELAY_MS = 60_000


def away(fleet: Watched, ms: int = AWAY_MS, dies: int | None = None) -> Row:
    """The coordinator is away for so long, and worker number `dies` dies in that time; the row of `outages`."""
    began_ms = fleet.wall_ms
    fleet.shard.drop()
    fleet.checked = False
    for host in fleet.alive:
        host.cut_off = True
        host.lose()
    fleet.run(ms // 3)
    if dies is not None:
        fleet.hosts[dies].kill()
    fleet.run(ms - ms // 3)
    fleet.reload()
    for host in fleet.alive:
        host.cut_off = False
    return {"partition": None, "from_at": began_ms, "to_at": fleet.wall_ms, "duration_ms": fleet.wall_ms - began_ms}


def told(fleet: Watched, place: Path, *outages: Row) -> GroupHistory:
    found = tables(entries(fleet.written))
    [group] = read(write(place, found | {"outages": list(outages)})).groups
    return group


def by_reason(group: GroupHistory) -> dict[str, Cost]:
    return dict(costs(group).by_reason)


@pytest.mark.parametrize("mode", [ClassicMode.BARRIER, ClassicMode.INDIVIDUAL])
def test_workers_that_come_back_have_caused_nothing(mode: ClassicMode, tmp_path: Path) -> None:
    """Java's workers stop all that they run when they find no coordinator, and join again when it is back."""
    fleet = Watched(settings(classic_mode=mode))
    fleet.started(3, max_delay_ms=DELAY_MS)
    outage = away(fleet)
    fleet.run(SETTLED_MS)
    without, group = told(fleet, tmp_path / "without"), told(fleet, tmp_path / "with", outage)
    caused = [row for row in group.rebalances if row["started"] >= group.outages[0].to_at]
    assert caused, "they joined again, and that began a rebalance"
    assert sum(cost.rebalances for _, cost in costs(without).by_worker) > sum(
        cost.rebalances for _, cost in costs(group).by_worker
    )
    own = by_reason(group)[OUTAGE]
    assert own.rebalances == len(caused)
    assert own.stopped == sum(row["stopped"] for row in caused) > 0
    assert costs(group).by_outage == [own]
    assert costs(group).is_of_outage == [row in caused for row in group.rebalances]
    assert "; the coordinator had been away" in words("".join(page(read(tmp_path / "with"))))
    assert costs(without).total == costs(group).total, "it is the same that it cost, under another name"
    for cost in (cost for _, cost in costs(group).by_worker):
        assert cost.stopped <= sum(row["stopped"] for row in group.rebalances) - own.stopped


@pytest.mark.parametrize("mode", [ClassicMode.BARRIER, ClassicMode.INDIVIDUAL])
def test_a_worker_that_died_meanwhile_has_caused_what_it_caused(mode: ClassicMode, tmp_path: Path) -> None:
    fleet = Watched(settings(classic_mode=mode))
    fleet.started(3, max_delay_ms=DELAY_MS)
    outage = away(fleet, dies=1)
    fleet.run(3 * SETTLED_MS)
    group = told(fleet, tmp_path / "t", outage)
    after = {group.outages[0].to_at}
    lost = [row for row in group.rebalances if "session expired" in row["detail"]]
    assert lost
    assert all(row["started"] > min(after) for row in lost)
    workers = dict(costs(group).by_worker)
    assert workers["http://w1"].lost == 5
    assert by_reason(group)["session expired"].lost == 5
    for name in ("http://w0", "http://w2"):
        assert name not in workers or workers[name].lost == 0


def test_workers_of_ours_notice_nothing_and_cause_nothing(tmp_path: Path) -> None:
    fleet = Watched(settings())
    for number in range(3):
        fleet.start_new(f"w{number}")
    fleet.configure(a=3)
    fleet.run(SETTLED_MS)
    outage = away(fleet)
    fleet.run(SETTLED_MS)
    group = told(fleet, tmp_path / "t", outage)
    [cost] = costs(group).by_outage
    assert cost == Cost()
    said = words("".join(page(read(tmp_path / "t"))))
    assert "When the coordinator was away" in said
    assert "30.00 0 0 0 0 0.0 0.00" in said


def waiting(away_ms: int) -> tuple[Recorder, Row]:
    """W1 runs all, a static worker; it goes for a while, and the coordinator is away for a part of it."""
    world = Recorder()
    configured: dict[str, Any] = {"config_offset": 1, "configured_connectors_and_tasks": packed(ALL)}
    world.join("W1", instance_id="one", **configured)
    world.compute("W1", 0, {"W1": ALL})
    world.beat("W1", 0)
    world.beat("W1", -2, instance_id="one")
    world.now_ms += 5_000
    began_ms = world.wall_ms
    world.restart(lose_ms=0)
    world.now_ms += away_ms
    outage = {"partition": None, "from_at": began_ms, "to_at": world.wall_ms, "duration_ms": away_ms}
    world.now_ms += 2_000
    world.join("W1", instance_id="one", **configured)
    return world, outage


def test_the_part_of_a_gap_in_which_the_coordinator_was_away_is_the_outage_s(tmp_path: Path) -> None:
    world, outage = waiting(10_000)
    found = tables(entries(world.written))
    [group] = read(write(tmp_path / "t", found | {"outages": [outage]})).groups
    three = 3 * 10_000
    [own] = costs(group).by_outage
    assert (own.gaps_ms, own.longest_ms) == (three, 10_000)
    reasons = by_reason(group)
    assert reasons[OUTAGE].gaps_ms == three
    whole = sum(row["duration_ms"] for row in group.gaps if row["reason"] == "worker away")
    assert reasons["worker away"].gaps_ms == whole - three
    [without] = read(write(tmp_path / "without", found)).groups
    assert dict(costs(group).by_worker)["one"].gaps_ms == dict(costs(without).by_worker)["one"].gaps_ms - three
    assert costs(group).total.gaps_ms == sum(row["duration_ms"] for row in group.gaps)
    said = words("".join(page(read(tmp_path / "t"))))
    assert "worker away; coordinator away for 10.00 s of it" in said
    assert "In the shaded time the coordinator was away." in said


def test_a_rebalance_that_an_outage_interrupts_took_as_long_as_it_did_without_it(tmp_path: Path) -> None:
    """W2 comes and is to have a task of W1's, which has it yet when the coordinator goes away."""
    world = Recorder()
    world.join("W1", connection=1, config_offset=1, configured_connectors_and_tasks=packed(ALL))
    world.compute("W1", 0, {"W1": ALL})
    world.beat("W1", 0)
    world.beat("W1", 1, ALL)
    world.join("W2", connection=2)
    world.compute("W1", 1, {"W1": "AC0 AT0", "W2": "AT1"})
    began_ms = world.wall_ms
    world.restart()
    world.now_ms += 9_000
    outage = {"partition": None, "from_at": began_ms, "to_at": world.wall_ms, "duration_ms": 9_000}
    world.beat("W1", 1, ALL, connection=3)
    world.beat("W1", 1, "AC0 AT0", connection=3)
    world.beat("W2", 0, connection=4)
    world.beat("W1", 2, "AC0 AT0", connection=3)
    world.beat("W2", 2, "AT1", connection=4)
    found = tables(entries(world.written))
    [group] = read(write(tmp_path / "t", found | {"outages": [outage]})).groups
    row = group.rebalances[-1]
    assert row["started"] < group.outages[0].from_at < group.outages[0].to_at < row["settled"]
    assert rest_ms(group, row) == row["duration_ms"] - 9_000


def test_outages_elsewhere_or_before_the_group_had_members_are_none_of_its(tmp_path: Path) -> None:
    world, outage = waiting(10_000)
    early = outage | {name: outage[name] - 3_600_000 for name in ("from_at", "to_at")}
    elsewhere = outage | {"partition": 1}
    here = outage | {"partition": 0, "from_at": outage["from_at"] + 1}
    found = tables(entries(world.written))
    [group] = read(write(tmp_path / "t", found | {"outages": [outage, early, elsewhere, here]})).groups
    assert [each.partition for each in group.outages] == [None, 0]
    [older] = read(write(tmp_path / "older", found)).groups
    assert not older.outages, "tables that an older kcoord has made"
