"""Are placement rules kept, at no more moves than they need, whatever assignor they stand behind?"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcoord.assign import (
    CONNECTOR,
    NO_DELAY,
    Departed,
    Group,
    Member,
    Resource,
    ServerAssignor,
)
from kcoord.assign.built_in import SERVER_SIDE
from kcoord.assign.placement import (
    Affinity,
    Capacity,
    Cordon,
    Domain,
    Placement,
    Rules,
    Separation,
    Spread,
    Weight,
    Zone,
    place,
)
from kcoord.assign.placement.compiled_rules import FEW_DOMAINS
from kcoord.assign.placement.rules import fits
from kcoord.assign.placement.working_placement import Board
from kcoord.resource import resources_of, task
from tests.assign.placed_groups import ALL, THREE, UNIFORM, Resources, after, group, moved, paced, runs, settled, tasks
from tests.light import fewer


def test_without_rules_the_assignment_is_the_assignors_own() -> None:
    made = UNIFORM(group(THREE, ALL))
    assert place(group(THREE, ALL), lambda _: made, Rules()).assignment is made


# -- where it may run --------------------------------------------------------------------------------------------------


def test_only_there() -> None:
    rules = Rules(affinities=(Affinity("a*", ("http://w2", "http://w3")),))
    then, placed, _ = settled(group(THREE, ALL | tasks("a2", 1)), rules)
    assert not any(name.startswith("a") for name, _ in runs(then)["w1"])
    assert not placed.unplaced


def test_what_may_run_nowhere_is_not_placed_if_it_is_new_and_stays_if_it_runs() -> None:
    rules = Rules(affinities=(Affinity("a", ("elsewhere",)), Affinity("d", ("elsewhere",))))
    then, placed, _ = settled(group(THREE, ALL | tasks("d", 1)), rules)
    assert {resource for each in runs(then).values() for resource in each} == ALL
    assert placed.unplaced == dict.fromkeys(tasks("d", 1), "no worker is allowed to run it")
    assert placed.unmet.keys() == tasks("a", 2)


def test_what_may_run_nowhere_is_stopped_if_the_user_says_so() -> None:
    rules = Rules(affinities=(Affinity("a", ("elsewhere",)),), capacities=(Capacity("w2", 2),), stops=True)
    then, placed, _ = settled(group(THREE, ALL), rules)
    assert {resource for each in runs(then).values() for resource in each} == ALL - tasks("a", 2)
    assert placed.unplaced == dict.fromkeys(tasks("a", 2), "no worker is allowed to run it")
    assert not placed.unmet
    assert len(runs(then)["w2"]) == 2, "what it has too much another worker can run"
    then, placed, _ = settled(group(THREE, ALL), attrs.evolve(rules, cordons=(Cordon("w1"),)))
    assert not runs(then)["w1"], "on a cordoned worker too"
    assert placed.unplaced.keys() == tasks("a", 2)
    then, placed, _ = settled(group(THREE, ALL), attrs.evolve(rules, cordons=(Cordon("w1", drains=True),)))
    assert runs(then)["w1"] == tasks("a", 2), "a drain stops nothing"
    assert placed.unmet.keys() == tasks("a", 2)


def test_rather_there_but_elsewhere_if_that_has_no_room() -> None:
    rules = Rules(affinities=(Affinity("a", ("w3",), is_hard=False),), capacities=(Capacity("w3", 4),))
    then, placed, _ = settled(group(THREE, ALL), rules)
    assert tasks("a", 2) <= runs(then)["w3"]
    assert len(runs(then)["w3"]) <= 4
    assert not placed.unplaced
    assert not placed.unmet


def test_not_beside() -> None:
    rules = Rules(separations=(Separation("a", "b"),))
    then, _, _ = settled(
        group({"w1": tasks("a", 2) | tasks("b", 2), "w2": frozenset()}, tasks("a", 2) | tasks("b", 2)), rules
    )
    for each in runs(then).values():
        assert len({name for name, _ in each}) <= 1


def test_tasks_lie_on_as_many_zones_as_there_are() -> None:
    names = [f"{zone}-{number}" for zone in ("x", "y", "z") for number in range(4)]
    zones = tuple(Zone(f"http://{zone}-*", zone) for zone in ("x", "y", "z"))
    before = group(dict.fromkeys(names, frozenset()), tasks("a", 6) | tasks("b", 3))
    then, _, _ = settled(before, Rules(spreads=(Spread("*", Domain.ZONE),), zones=zones))
    for spread, count in (("a", 2), ("b", 1)):
        by_zone = dict.fromkeys(("x", "y", "z"), 0)
        for name, target in runs(then).items():
            by_zone[name[0]] += sum(each.connector == spread and not each.is_connector for each in target)
        assert set(by_zone.values()) == {count}


def two_on_each(hosts: Iterable[str], exists: Resources, all_on: str = "") -> Group:
    """Two workers on each host, at different ports: `x-1` is http://x:8081. One of them may have all."""
    names = [(host, number) for host in hosts for number in (1, 2)]
    members = [
        Member(f"{host}-{number}", None, f"http://{host}:808{number}", exists if f"{host}-{number}" == all_on else ())
        for host, number in names
    ]
    return Group(tuple(members), exists)


def tasks_by_host(found: Group, name: str) -> dict[str, int]:
    """How many tasks of the connector each host runs."""
    counts = {str(member.url).rpartition(":")[0]: 0 for member in found.members}
    for member in found.members:
        counts[str(member.url).rpartition(":")[0]] += sum(
            each.connector == name and not each.is_connector for each in member.target
        )
    return counts


def is_spread(found: Group, names: Iterable[str]) -> bool:
    """Whether the tasks of each connector are spread as evenly over hosts as can be."""
    counts = [tasks_by_host(found, name).values() for name in names]
    return all(max(each) - min(each) <= 1 for each in counts)


ON_HOSTS = Rules(spreads=(Spread("*"),))


@pytest.mark.parametrize("all_on", ["", "x-1"], ids=["new work", "from one worker"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 7])
def test_tasks_lie_on_different_hosts(count: int, all_on: str) -> None:
    """Of three hosts, two workers each: no host has two tasks more than another, though its workers are two."""
    exists = tasks("a", count) | tasks("b", 3)
    then, placed, _ = settled(two_on_each("xyz", exists, all_on), ON_HOSTS)
    assert is_spread(then, "ab")
    assert frozenset().union(*runs(then).values()) == exists
    assert not placed.unmet
    numbers = [sum(not each.is_connector for each in target) for target in runs(then).values()]
    assert max(numbers) - min(numbers) <= 2, "and workers are as even as that allows"


def test_without_the_rule_a_host_has_two_tasks_and_another_has_none() -> None:
    """What the tests above would not find out if three tasks were spread anyway."""
    then, _, _ = settled(two_on_each("xyz", tasks("a", 3)), Rules())
    assert sorted(tasks_by_host(then, "a").values()) == [0, 1, 2]
    then, _, _ = settled(then, ON_HOSTS)
    assert sorted(tasks_by_host(then, "a").values()) == [1, 1, 1]


def test_tasks_lie_on_different_hosts_when_hosts_come_and_go() -> None:
    exists = tasks("a", 6) | tasks("b", 4)
    before, _, _ = settled(two_on_each("xyz", exists), ON_HOSTS)
    without = attrs.evolve(before, members=tuple([each for each in before.members if each.member_id[0] != "y"]))
    then, _, _ = settled(without, ON_HOSTS)
    assert tasks_by_host(then, "a") == {"http://x": 3, "http://z": 3}
    assert tasks_by_host(then, "b") == {"http://x": 2, "http://z": 2}
    assert not any(runs(without)[name] - target for name, target in runs(then).items()), "who stays gives nothing up"
    more = attrs.evolve(then, members=(*then.members, *two_on_each("v", frozenset()).members))
    grown, _, _ = settled(more, ON_HOSTS)
    assert is_spread(grown, "ab")
    assert tasks_by_host(grown, "a") == dict.fromkeys(("http://v", "http://x", "http://z"), 2)


def test_tasks_lie_on_different_hosts_of_many() -> None:
    """With more hosts than `FEW_DOMAINS` each worker is looked at by itself."""
    hosts = [f"h{at:02}" for at in range(FEW_DOMAINS + 2)]
    exists = tasks("a", len(hosts)) | tasks("b", len(hosts) + 5)
    for all_on in ("", "h03-1"):
        then, _, _ = settled(two_on_each(hosts, exists, all_on), ON_HOSTS)
        assert set(tasks_by_host(then, "a").values()) == {1}
        assert set(tasks_by_host(then, "b").values()) == {1, 2}


RATHER_APART = Rules(separations=(Separation("a", "b", is_hard=False),))
A_AND_B = tasks("a", 2) | tasks("b", 2)


def beside(found: Group) -> Resources:
    """What is beside a part of the other connector."""
    targets = [target for target in runs(found).values() if {name for name, _ in target} == {"a", "b"}]
    return frozenset().union(*targets)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("first_has", [frozenset[Resource](), A_AND_B], ids=["new work", "from one worker"])
def test_rather_not_beside_if_there_is_room(count: int, first_has: Resources) -> None:
    """Both connectors are new, or run on one worker, and part. All of it runs."""
    targets = {"w0": first_has} | {f"w{at}": frozenset[Resource]() for at in range(1, count)}
    then, placed, _ = settled(group(targets, A_AND_B), RATHER_APART)
    assert not beside(then)
    assert frozenset().union(*runs(then).values()) == A_AND_B
    assert not placed.unmet


@pytest.mark.parametrize("is_hard", [True, False])
@pytest.mark.parametrize("count", [2, 3])
def test_if_both_are_on_every_worker_they_part_once_one_is_empty(count: int, is_hard: bool) -> None:
    """Each move has to make something better by itself, and here none does: wherever something could go, the other
    connector is. A worker that is drained and used again gives them the room.
    """
    exists = tasks("a", count) | tasks("b", count)
    names = [f"w{at}" for at in range(count)]
    mixed, _, _ = settled(group(dict.fromkeys(names, frozenset()), exists), Rules())
    rules = Rules(separations=(Separation("a", "b", is_hard),))
    then, placed, _ = settled(mixed, rules)
    assert runs(then) == runs(mixed)
    assert placed.unmet.keys() == (beside(then) if is_hard else set()), "and only what must not be is told"
    emptied, _, _ = settled(mixed, Rules(cordons=(Cordon("w0", drains=True),)))
    then, placed, _ = settled(emptied, rules)
    assert not beside(then)
    assert not placed.unmet
    assert frozenset().union(*runs(then).values()) == exists


WITHOUT_ROOM = {
    "there is one worker": (["w1"], RATHER_APART),
    "capacities": (["w1", "w2"], attrs.evolve(RATHER_APART, capacities=(Capacity("w1", 2), Capacity("w2", 4)))),
    "hard affinities": (["w1", "w2"], attrs.evolve(RATHER_APART, affinities=(Affinity("*", ("w2",)),))),
    "cordons": (["w1", "w2"], attrs.evolve(RATHER_APART, cordons=(Cordon("w2"),))),
}


@pytest.mark.parametrize(("names", "rules"), WITHOUT_ROOM.values(), ids=WITHOUT_ROOM)
def test_beside_if_there_is_no_room(names: list[str], rules: Rules) -> None:
    """A soft rule keeps nothing from running. With room the two part again; a hard rule would not run all of it."""
    then, placed, _ = settled(group(dict.fromkeys(names, frozenset()), A_AND_B), rules)
    assert frozenset().union(*runs(then).values()) == A_AND_B
    assert beside(then)
    assert not placed.unplaced
    assert not placed.unmet
    hard = attrs.evolve(rules, separations=(Separation("a", "b"),))
    _, refused, _ = settled(group(dict.fromkeys(names, frozenset()), A_AND_B), hard)
    assert refused.unplaced
    room = attrs.evolve(then, members=(*then.members, Member("w3", None, "http://w3")))
    then, _, _ = settled(room, RATHER_APART)
    assert not beside(then)


def test_the_heavy_ones_count_for_more() -> None:
    exists = tasks("heavy", 2) | tasks("light", 8)
    rules = Rules(weights=(Weight("heavy", 4),))
    then, _, _ = settled(group({"w1": exists, "w2": frozenset()}, exists), rules)
    for target in runs(then).values():
        assert sum((4 if name == "heavy" else 1) for name, task in target if task != CONNECTOR) == 8


def test_no_more_than_it_can_run() -> None:
    exists = tasks("a", 9)
    then, placed, _ = settled(
        group(dict.fromkeys(("w1", "w2"), frozenset()), exists), Rules(capacities=(Capacity("*", 3),))
    )
    assert [len(each) for each in runs(then).values()] == [3, 3]
    assert len(placed.unplaced) == 4
    assert all("has a capacity of 3" in why for why in placed.unplaced.values())


def test_new_weights_move_a_few_at_a_time() -> None:
    """A change of rules on a live fleet; the last figures are those of a balance in one go."""
    exists = tasks("heavy", 8) | tasks("light", 24)
    before = attrs.evolve(group(dict.fromkeys(("w1", "w2", "w3"), frozenset()), exists))
    before, _, _ = settled(before, Rules(separations=(Separation("heavy", "light"),)))
    rules = Rules(weights=(Weight("heavy", 4),), max_moves=3)
    first = place(before, UNIFORM, rules)
    assert len(moved(before, after(before, first))) == 3
    assert first.has_more
    then, _, steps = settled(before, rules)
    loads = [sum(4 if name == "heavy" else 1 for name, task in each if task >= 0) for each in runs(then).values()]
    assert max(loads) - min(loads) <= 1
    assert len(moved(before, then)) <= 3 * steps


def test_a_new_worker_gets_its_share_at_once() -> None:
    """As without rules: nothing of that is because of one."""
    exists = tasks("a", 30)
    before, _, _ = settled(group(dict.fromkeys(("w1", "w2"), frozenset()), exists), Rules())
    grown = attrs.evolve(before, members=(*before.members, Member("w3", url="http://w3")))
    placed = place(grown, UNIFORM, Rules(weights=(Weight("b", 2),), max_moves=2))
    assert len(runs(after(grown, placed))["w3"]) == 10
    assert not placed.has_more


def test_what_moves_on_from_a_new_worker_to_an_older_one_is_a_move() -> None:
    """The new worker takes light ones, gets a heavy task after them, and has no use for them any more: on the way over
    it they reached others beside the two moves that there are (plan 353034).
    """
    targets = {
        "w1": resources_of([("a", 3), ("c", CONNECTOR), ("d", 2)]),
        "w2": resources_of([("a", CONNECTOR), ("a", 2), ("d", 0), ("d", 3)]),
        "w3": resources_of([("b", 0), ("b", 1), ("b", 2), ("b", 3), ("c", 0), ("c", 2), ("d", CONNECTOR), ("d", 1)]),
        "w4": resources_of([("a", 1), ("b", CONNECTOR), ("c", 3)]),
        "w5": resources_of([("a", 0), ("c", 1)]),
        "w6": frozenset[Resource](),
    }
    before = group(targets, frozenset().union(*targets.values()))
    rules = Rules(weights=(Weight("a", 5),), max_moves=2)
    first = place(before, UNIFORM, rules)
    assert runs(after(before, first))["w6"]
    assert len(paced(before, after(before, first))) == 2
    assert first.has_more


def test_what_had_no_place_is_tried_again_when_something_has_moved() -> None:
    """`c` may go to w1 as soon as what it must not be beside has left it."""
    rules = Rules(
        cordons=(Cordon("w2", drains=True),),
        separations=(Separation("c", "[ab]"),),
        affinities=(Affinity("c", ("w[12]",)),),
    )
    targets = {
        "w1": tasks("a", 0) | tasks("b", 0) | {task("c", 0)},
        "w2": frozenset([task("c", 1)]),
        "w3": frozenset[Resource](),
    }
    then, placed, _ = settled(group(targets, frozenset().union(*targets.values())), rules)
    assert runs(then)["w2"] == frozenset()
    assert not placed.unmet


def test_what_has_no_place_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a thousand workers that are full cost seconds: each task would ask each worker."""
    looked = 0
    find = Board._find

    def counted(board: Board, *given: Any) -> Any:
        nonlocal looked
        looked += 1
        return find(board, *given)

    monkeypatch.setattr(Board, "_find", counted)
    targets = {f"w{at}": tasks(f"c{at}", 9) for at in range(50)}
    full = group(targets, frozenset().union(*targets.values()))
    placed = place(full, UNIFORM, Rules(capacities=(Capacity("*", 5),)))
    assert len(placed.unmet) == 500
    assert looked == 1


# -- always ------------------------------------------------------------------------------------------------------------

NAMES = ("w1", "w2", "w3", "w4")
worker_pattern = st.sampled_from([*NAMES, "w[12]", "w*"])
connector_pattern = st.sampled_from(["a", "b", "c", "[ab]", "*"])
some_rules = st.builds(
    Rules,
    cordons=st.lists(st.builds(Cordon, worker_pattern, st.booleans()), max_size=2).map(tuple),
    weights=st.lists(st.builds(Weight, connector_pattern, st.integers(1, 5)), max_size=2).map(tuple),
    affinities=st.lists(
        st.builds(Affinity, connector_pattern, st.tuples(worker_pattern), st.booleans()), max_size=2
    ).map(tuple),
    separations=st.lists(st.builds(Separation, connector_pattern, connector_pattern, st.booleans()), max_size=1).map(
        tuple
    ),
    spreads=st.lists(st.builds(Spread, connector_pattern), max_size=1).map(tuple),
    capacities=st.lists(st.builds(Capacity, worker_pattern, st.integers(1, 9)), max_size=2).map(tuple),
    max_moves=st.integers(1, 4),
    stops=st.booleans(),
)


@st.composite
def some_group(draw: st.DrawFn) -> Group:
    """A group in any state: balanced or not, with work that nobody has, or that waits for workers that are gone."""
    exists = sorted(
        frozenset().union(*[tasks(name, draw(st.integers(0, 4))) for name in draw(st.sets(st.sampled_from("abc")))])
    )
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    gone = draw(st.integers(0, len(names) - 1))
    owners = {resource: draw(st.sampled_from([*names, ""])) for resource in exists}
    targets = {name: frozenset([each for each in exists if owners[each] == name]) for name in names}
    return group(
        {name: targets[name] for name in names[gone:]},
        frozenset(exists),
        departed=tuple([Departed(name, None, f"http://{name}", targets[name]) for name in names[:gone]]),
        remaining_delay_ms=draw(st.sampled_from([NO_DELAY, 0, 1_000])) if gone else NO_DELAY,
        rebalance_delay_ms=draw(st.sampled_from([0, 5_000])),
    )


MANY = settings(max_examples=fewer(120, 40), deadline=None)
"""For each assignor. One in two thousand once found that more moved than the rules say."""
BEHIND_ANY_ASSIGNOR = pytest.mark.parametrize("assignor", [make() for make in SERVER_SIDE.values()], ids=SERVER_SIDE)


@BEHIND_ANY_ASSIGNOR
@MANY
@given(before=some_group(), rules=some_rules)
def test_rules_are_kept_and_it_ends(assignor: ServerAssignor, before: Group, rules: Rules) -> None:
    placed = place(before, assignor.assign, rules)
    mirrored = place(attrs.evolve(before, members=before.members[::-1]), assignor.assign, rules)
    assert placed == mirrored, "the order of members says nothing"
    _keeps(before, placed, rules)
    then, last, _ = settled(before, rules, assignor.assign)
    again = place(then, assignor.assign, rules)
    assert runs(after(then, again)) == runs(then), "at rest nothing moves"
    assert not again.has_more
    assert not again.assignment.scheduled_delay_ms
    assert last.unplaced == again.unplaced


@BEHIND_ANY_ASSIGNOR
@MANY
@given(before=some_group(), rules=some_rules)
def test_no_more_moves_at_a_time_than_the_rules_say(assignor: ServerAssignor, before: Group, rules: Rules) -> None:
    """But for what is given to workers that had nothing; with cordons alone the assignor balances."""
    then = after(before, place(before, assignor.assign, rules))
    assert len(paced(before, then)) <= rules.max_moves or not rules.are_shaping


def test_so_it_is_when_a_place_becomes_free_for_what_was_stopped() -> None:
    """All of b has no place beside a, and is stopped; then something of a leaves, and there is a place."""
    exists = tasks("a", 4) | tasks("b", 4) | tasks("c", 1)
    others = frozenset([each for each in tasks("c", 1) if each.is_connector])
    before = group({"w1": exists - others, "w2": frozenset(), "w3": frozenset(), "w4": others}, exists)
    full = tuple(Capacity(worker, 1) for worker in ("w2", "w3"))
    apart = Separation("a", "b", True)
    rules = Rules(weights=(Weight("[ab]", 2),), separations=(apart,), capacities=full, max_moves=1, stops=True)
    placed = place(before, UNIFORM, rules)
    assert len(paced(before, after(before, placed))) <= 1
    assert placed.has_more
    _, last, _ = settled(before, rules)
    assert not last.unplaced


def test_so_it_is_when_a_worker_comes_to_a_lopsided_group() -> None:
    """A few of these once moved more, over the new worker."""
    for seed in range(1000):
        random = Random(seed)
        names = [f"w{at}" for at in range(7)]
        exists = frozenset().union(*[tasks(name, 4) for name in "abcd"])
        owners = {each: random.choices(names, [1, 1, 1, 1, 1, 1, 3])[0] for each in sorted(exists)}
        targets = {name: frozenset([each for each in exists if owners[each] == name]) for name in names}
        before = group({**targets, "new": frozenset()}, exists)
        rules = Rules(weights=(Weight(random.choice("abcd"), 5),), max_moves=random.randint(1, 2))
        assert len(paced(before, after(before, place(before, UNIFORM, rules)))) <= rules.max_moves, seed


def _keeps(before: Group, placed: Placement, rules: Rules) -> None:
    assert before.configured is not None
    found, had = runs(after(before, placed)), runs(before)
    listed = [resource for each in found.values() for resource in each]
    assert len(listed) == len(set(listed)), "nothing runs twice"
    lost = frozenset().union(*[each.target for each in before.departed])
    waiting = lost if placed.assignment.scheduled_delay_ms else frozenset()
    assert before.configured - waiting <= {*listed, *placed.unplaced} <= before.configured
    assert not {*listed} & placed.unplaced.keys()
    stopped = frozenset().union(*had.values()) & placed.unplaced.keys()
    assert rules.stops or not stopped, "what runs is not stopped"
    for member in before.members:
        new = found[member.member_id] - had[member.member_id]
        if rules.cordon_of(member) is not None:
            assert not new
        assert all(rules.allows(name, member) for name, _ in new)
        capacity = rules.capacity_of(member)
        if new and capacity is not None:
            assert sum(rules.weight_of(name) for name, _ in found[member.member_id]) <= capacity
        for each in new:
            others = {name for name, _ in found[member.member_id] - {each}}
            assert not any(_are_apart(rules, each.connector, name) for name in others), "it is apart"


def _are_apart(rules: Rules, name: str, other: str) -> bool:
    """Whether a hard separation forbids to run resources of both on one worker."""
    return any(
        each.is_hard
        and ((fits(name, each.connectors) and fits(other, each.others))
             or (fits(other, each.connectors) and fits(name, each.others)))
        for each in rules.separations
    )  # fmt: skip
