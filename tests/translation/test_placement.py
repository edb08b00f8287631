"""Do unmodified Connect workers run where placement rules say? The coordinator places, so they need not know."""

from __future__ import annotations

import json
from typing import Any

from kcoord.assign import tell
from tests.group.connect.world import res, text
from tests.translation.test_storms import Nonsense, Worker, live
from tests.translation.translated_world import TranslatedWorld

RUNS = {"W1": "AC0 AT0 AT3", "W2": "AT1 AT4 BC0", "W3": "AT2 AT5 BT0"}


def fleet() -> tuple[TranslatedWorld, list[Worker]]:
    """Three workers at rest that do what they are told."""
    world = TranslatedWorld.fleet(RUNS)
    return world, [Worker(world, name, Nonsense(), runs=res(runs)) for name, runs in RUNS.items()]


def rules(world: TranslatedWorld, **tables: Any) -> None:
    """The group's rules are these from now on."""
    world.configure(placement=json.dumps({name.replace("_", "-"): table for name, table in tables.items()}))


def runs(workers: list[Worker]) -> dict[str, str]:
    return {each.name: text(each.runs) for each in workers}


def everything(workers: list[Worker]) -> list[str]:
    return sorted(tell(resource) for each in workers for resource in each.runs)


def test_a_drained_worker_gives_its_work_away_a_little_at_a_time() -> None:
    world, workers = fleet()
    before = everything(workers)
    rules(world, max_moves=1, cordon=[{"worker": "http://W3", "drain": True}])
    epochs, fewest = set(), len(before)
    for _ in range(60):
        live(world, workers, 1)
        epochs.add(world.group.epoch)
        fewest = min(fewest, len(everything(workers)))
    assert runs(workers)["W3"] == ""
    assert everything(workers) == before, "the others run it all"
    assert fewest == len(before) - 1, "one at a time"
    assert world.group.epoch == world.group.assignment_epoch
    assert not world.group.placed.has_more
    assert [each for each in ("W1", "W2") if not res(RUNS[each]) <= res(runs(workers)[each])] == [], "only W3 gives"


def test_nothing_new_goes_to_a_cordoned_worker_until_it_is_uncordoned() -> None:
    world, workers = fleet()
    rules(world, cordon=[{"worker": "http://W4"}])
    workers.append(Worker(world, "W4", Nonsense(), has_to_join=True))
    live(world, workers, 10)
    assert runs(workers) == {**RUNS, "W4": ""}
    rules(world)
    live(world, workers, 10)
    assert runs(workers)["W4"] != ""


def test_a_load_forgets_no_rule() -> None:
    world, workers = fleet()
    rules(world, cordon=[{"worker": "http://W3", "drain": True}])
    world.restart()
    live(world, workers, 40)
    assert runs(workers)["W3"] == ""


def test_a_load_with_nothing_to_do_brings_no_rebalance() -> None:
    world, workers = fleet()
    rules(world, weight=[{"connectors": "B", "weight": 2}], capacity=[{"workers": "*", "weight": 2}])
    live(world, workers, 20)
    epoch, placed = world.group.epoch, world.group.placed
    world.restart()
    live(world, workers, 20)
    assert world.group.epoch == epoch
    assert world.group.placed == placed


def test_work_that_may_run_nowhere_is_told_with_the_reason() -> None:
    world, workers = fleet()
    rules(world, affinity=[{"connectors": "B", "workers": ["http://elsewhere"]}])
    live(world, workers, 20)
    assert runs(workers) == RUNS, "what runs is not stopped"
    assert set(world.group.placed.unmet) == res("BC0 BT0")


def test_a_drained_leader_hands_over_when_it_is_empty() -> None:
    """CM-48, CM-14: before it is stopped, and there are never two. Nobody stops anything for that."""
    world, workers = fleet()
    leader = world.group.computed_by
    rules(world, cordon=[{"worker": "http://W1", "drain": True}])
    live(world, workers, 40)
    assert runs(workers)["W1"] == ""
    assert world.group.computed_by != leader
    assert world.group.computed_by in world.group.members
    known = dict(world.generations)
    live(world, workers, 20)
    assert world.generations == known, "it is at rest"


def test_a_leader_that_is_drained_until_it_is_restarted_leads_on() -> None:
    """CM-48: its next process leads again, at the same url."""
    world, workers = fleet()
    leader = world.group.computed_by
    assert leader is not None
    rules(world, cordon=[{"worker": leader, "drain": True}])
    live(world, workers, 40)
    assert runs(workers)["W1"] == ""
    assert world.group.computed_by == leader


def test_a_drained_leader_leads_on_where_everybody_else_is_cordoned() -> None:
    world, workers = fleet()
    leader = world.group.computed_by
    rules(world, cordon=[{"worker": "http://W1", "drain": True}, {"worker": "http://W[23]"}])
    live(world, workers, 40)
    assert world.group.computed_by == leader
