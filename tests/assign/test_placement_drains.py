"""Do cordons and drains hold: nothing new goes there, and what runs there moves on a few at a time?"""

from __future__ import annotations

import attrs
import pytest

from kcoord.assign import (
    Assignment,
    CooperativeAssignor,
    Departed,
    Group,
)
from kcoord.assign.placement import (
    Affinity,
    Capacity,
    Cordon,
    Rules,
    Separation,
    place,
)
from kcoord.resource import connector, task
from tests.assign.placed_groups import ALL, THREE, UNIFORM, after, group, moved, runs, settled, tasks


@pytest.mark.parametrize("pattern", ["w1", "http://w1", "http://w1*"])
def test_nothing_new_goes_to_a_cordoned_worker_and_nothing_leaves_it(pattern: str) -> None:
    more = ALL | tasks("d", 6)
    placed = place(group(THREE, more), UNIFORM, Rules(cordons=(Cordon(pattern),)))
    found = runs(after(group(THREE, more), placed))
    assert found["w1"] == THREE["w1"]
    assert frozenset().union(*found.values()) == more
    assert not placed.has_more


def test_a_drained_workers_work_moves_a_few_at_a_time() -> None:
    before = group({"w1": tasks("a", 11), "w2": frozenset(), "w3": frozenset()}, tasks("a", 11))
    rules = Rules(cordons=(Cordon("w1", drains=True),), max_moves=5)
    first = place(before, UNIFORM, rules)
    assert len(runs(after(before, first))["w1"]) == 7
    assert first.has_more
    then, _, steps = settled(before, rules)
    assert runs(then)["w1"] == frozenset()
    assert steps == 3
    assert {len(runs(then)[name]) for name in ("w2", "w3")} == {6}


def test_a_drain_moves_nothing_but_what_runs_there() -> None:
    before = group(THREE, ALL)
    then, _, _ = settled(before, Rules(cordons=(Cordon("w1", drains=True),)))
    assert moved(before, then) == THREE["w1"]


def test_when_all_are_cordoned_everybody_keeps_what_it_has() -> None:
    placed = place(group(THREE, ALL | {connector("d")}), UNIFORM, Rules(cordons=(Cordon("*", drains=True),)))
    assert runs(after(group(THREE, ALL), placed)) == THREE
    assert placed.unplaced == {connector("d"): "all workers are cordoned"}


def test_what_drained_workers_run_is_told_when_all_are_cordoned() -> None:
    placed = place(group(THREE, ALL), UNIFORM, Rules(cordons=(Cordon("w1", drains=True), Cordon("*"))))
    assert placed.unmet == dict.fromkeys(THREE["w1"], "w1 is drained, and all workers are cordoned")
    assert not placed.has_more


def test_what_waits_for_a_departed_worker_waits_on_when_all_are_cordoned() -> None:
    lost = tasks("d", 2)
    before = group(THREE, ALL | lost, departed=(Departed("w4", None, "http://w4", lost),), rebalance_delay_ms=5_000)
    for waits in (before, attrs.evolve(before, remaining_delay_ms=3_000)):
        placed = place(waits, CooperativeAssignor().assign, Rules(cordons=(Cordon("*"),)))
        assert placed.assignment.scheduled_delay_ms == (5_000 if waits is before else 3_000)
        assert not placed.unplaced
    over = place(attrs.evolve(before, remaining_delay_ms=0), CooperativeAssignor().assign, Rules((Cordon("*"),)))
    assert over.unplaced.keys() == lost


def test_a_cordoned_worker_gives_away_what_a_hard_rule_forbids_there() -> None:
    rules = Rules(cordons=(Cordon("w1"),), affinities=(Affinity("a", ("w2",)),), max_moves=2)
    first = place(group(THREE, ALL), UNIFORM, rules)
    assert len(runs(after(group(THREE, ALL), first))["w1"]) == 1
    assert first.has_more
    then, placed, _ = settled(group(THREE, ALL), rules)
    assert runs(then)["w1"] == frozenset()
    assert tasks("a", 2) <= runs(then)["w2"]
    assert not placed.unmet


def test_what_a_hard_rule_forbids_on_a_cordoned_worker_stays_if_there_is_no_other_place() -> None:
    rules = Rules(cordons=(Cordon("w1"),), capacities=(Capacity("w1", 1), Capacity("*", 3)))
    then, placed, _ = settled(group(THREE, ALL), rules)
    assert runs(then) == THREE
    assert placed.unmet.keys() == THREE["w1"]
    assert "w1 has a capacity of 1, and of 2 workers" in placed.unmet[task("a", 0)]


def test_what_has_lost_its_neighbour_is_not_told_any_more() -> None:
    """Both may not be together; one of them has no other place, and the other one leaves it."""
    rules = Rules(cordons=(Cordon("w1"),), separations=(Separation("a", "b"),), affinities=(Affinity("a", ("w1",)),))
    exists = tasks("a", 0) | tasks("b", 0)
    then, placed, _ = settled(group({"w1": exists, "w2": frozenset()}, exists), rules)
    assert runs(then) == {"w1": tasks("a", 0), "w2": tasks("b", 0)}
    assert not placed.unmet


def test_drains_and_other_rules_move_no_more_than_they_may_together() -> None:
    rules = Rules(cordons=(Cordon("w1", drains=True),), affinities=(Affinity("b", ("w3",)),), max_moves=2)
    before = group(THREE, ALL)
    for _ in range(5):
        placed = place(before, UNIFORM, rules)
        then = after(before, placed)
        drained = runs(before)["w1"] - runs(then)["w1"]
        forbidden = {each for each in runs(before)["w2"] - runs(then)["w2"] if each.connector == "b"}
        assert len(drained | forbidden) <= 2
        before = then
    assert not placed.has_more
    assert (runs(then)["w1"], tasks("b", 2) <= runs(then)["w3"]) == (frozenset(), True)


def test_a_drain_that_finds_no_room_is_not_tried_a_few_at_a_time() -> None:
    asked = []

    def assign(given: Group) -> Assignment:
        asked.append(given)
        return UNIFORM(given)

    full = {"w1": tasks("a", 99), "w2": tasks("b", 99)}
    before = group(full, tasks("a", 99) | tasks("b", 99))
    placed = place(before, assign, Rules(cordons=(Cordon("w1", drains=True),), capacities=(Capacity("w2", 100),)))
    assert placed.unmet.keys() == full["w1"]
    assert len(asked) <= 4


def test_what_may_run_nowhere_else_stays_on_the_drained_worker() -> None:
    rules = Rules(cordons=(Cordon("w1", drains=True),), affinities=(Affinity("a", ("w1",)),))
    then, placed, _ = settled(group(THREE, ALL), rules)
    assert runs(then) == THREE
    assert set(placed.unmet) == THREE["w1"]
    assert "w1 is drained, and no other worker is allowed to run it" in placed.unmet.values()


def test_what_waits_for_a_departed_worker_waits_on() -> None:
    lost = tasks("d", 2)
    before = group(THREE, ALL | lost, departed=(Departed("w4", None, "http://w4", lost),), rebalance_delay_ms=5_000)
    placed = place(before, CooperativeAssignor().assign, Rules(cordons=(Cordon("w1", drains=True),)))
    assert placed.assignment.scheduled_delay_ms == 5_000
    found = runs(after(before, placed))
    assert not lost & frozenset().union(*found.values())
    assert not found["w1"]
    assert not placed.unplaced
