"""What must be true of every assignment, whatever the group?"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcoord.assign import (
    CONNECTOR,
    NO_DELAY,
    Assignment,
    ConnectAssignor,
    CooperativeAssignor,
    Departed,
    EagerAssignor,
    Group,
    Member,
    MixedAssignor,
    Resource,
    ServerAssignor,
    UniformAssignor,
)
from kcoord.resource import ordered
from tests.light import fewer

ASSIGNORS = [UniformAssignor(), CooperativeAssignor(), EagerAssignor(), MixedAssignor()]
STICKY = [UniformAssignor(), CooperativeAssignor(), MixedAssignor()]
NOBODY = -1

EXAMPLES = settings(max_examples=fewer(100, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow])

RESOURCES = st.tuples(st.sampled_from("ABC"), st.integers(CONNECTOR, 6))
IDS = st.lists(st.text("abcdef", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)


@st.composite
def groups(draw: st.DrawFn, configured: bool = True) -> Group:
    """A group in any state, balanced or not: targets with what no longer exists, workers gone, a delay or none."""
    ids = draw(IDS)
    gone = draw(st.integers(0, len(ids) - 1))
    held: dict[str, set[tuple[str, int]]] = {each: set() for each in ids}
    everything = draw(st.frozensets(RESOURCES, max_size=24))
    for resource in sorted(everything):
        holder = draw(st.integers(NOBODY, len(ids) - 1))
        if holder != NOBODY:
            held[ids[holder]].add(resource)
    removed = draw(st.frozensets(RESOURCES, max_size=4))
    return Group(
        members=tuple(Member(each, target=frozenset(held[each])) for each in ids[gone:]),
        configured=everything - removed if configured else None,
        departed=tuple(Departed(each, target=frozenset(held[each])) for each in ids[:gone]),
        remaining_delay_ms=draw(st.sampled_from([NO_DELAY, 0, 1_000])),
        rebalance_delay_ms=draw(st.sampled_from([0, 300_000])),
    )


ANY_GROUP = st.booleans().flatmap(lambda configured: groups(configured=configured))


def everything_in(group: Group) -> frozenset[Resource]:
    """What there is to assign (CG-21)."""
    if group.configured is not None:
        return group.configured
    return frozenset(itertools.chain(*_targets(group.members), *_targets(group.departed)))


def may_wait(group: Group) -> frozenset[Resource]:
    """What belonged to the departed, and to nobody who is here."""
    return frozenset(itertools.chain(*_targets(group.departed))).difference(*_targets(group.members))


def _targets(workers: Sequence[Member] | Sequence[Departed]) -> list[frozenset[Resource]]:
    return [each.target for each in workers]


def assigned(assignment: Assignment) -> list[tuple[str, int]]:
    """All that is assigned; twice what is assigned twice."""
    return list(itertools.chain(*(each.resources for each in assignment.members)))


def loads(targets: Sequence[frozenset[tuple[str, int]]], connectors: bool) -> list[int]:
    """How many of one kind each has."""
    return [sum((task == CONNECTOR) == connectors for _, task in target) for target in targets]


def fewest_moves(have: Sequence[int], total: int) -> int:
    """Of all assignments that are balanced within one, the one that takes least from members: tried, all of them."""
    even, left_over = divmod(total, len(have))
    return min(
        sum(max(count - even - (at in luckier), 0) for at, count in enumerate(have))
        for luckier in itertools.combinations(range(len(have)), left_over)
    )


@given(st.lists(RESOURCES))
def test_names_and_numbers_are_sorted_apart_into_the_same_order(resources: list[Resource]) -> None:
    assert ordered(resources) == sorted(resources)


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_each_resource_is_assigned_once(assignor: ServerAssignor | ConnectAssignor, group: Group) -> None:
    """CG-21 and CG-22: all that exists and nothing else, but for what waits, which the install says."""
    assignment = assignor.assign(group)
    counted = Counter(assigned(assignment))
    missing = everything_in(group) - counted.keys()
    assert counted.keys() <= everything_in(group)
    assert set(counted.values()) <= {1}
    assert missing <= may_wait(group)
    assert bool(missing) == (assignment.scheduled_delay_ms > 0)
    assert {each.member_id for each in assignment.members} == {each.member_id for each in group.members}


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_nobody_has_more_than_one_more(assignor: ServerAssignor | ConnectAssignor, group: Group) -> None:
    targets = [each.resources for each in assignor.assign(group).members]
    for connectors in (True, False):
        have = loads(targets, connectors)
        assert max(have) - min(have) <= 1


@pytest.mark.parametrize("assignor", STICKY, ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_no_balance_takes_fewer_moves(assignor: ServerAssignor | ConnectAssignor, group: Group) -> None:
    before = {each.member_id: each.target & everything_in(group) for each in group.members}
    after = {each.member_id: each.resources for each in assignor.assign(group).members}
    for connectors in (True, False):
        moved = sum(loads([before[each] - after[each] for each in before], connectors))
        total = sum(loads(list(after.values()), connectors))
        assert moved == fewest_moves(loads(list(before.values()), connectors), total)


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_members_changes_nothing(
    assignor: ServerAssignor | ConnectAssignor, group: Group, shuffle: random.Random
) -> None:
    members, departed = list(group.members), list(group.departed)
    shuffle.shuffle(members)
    shuffle.shuffle(departed)
    other = attrs.evolve(group, members=tuple(members), departed=tuple(departed))
    assert assignor.assign(other) == assignor.assign(group)


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
@EXAMPLES
@given(group=groups())
def test_what_is_assigned_stays_so(assignor: ServerAssignor | ConnectAssignor, group: Group) -> None:
    """The same sets come back: nothing is built anew for those whom nothing touches."""
    first = assignor.assign(group)
    installed = _install(group, first)
    again = assignor.assign(installed)
    assert again == first
    if assignor in STICKY:
        assert all(one.resources is other.target for one, other in zip(again.members, installed.members, strict=True))


@EXAMPLES
@given(group=groups(), delay_ms=st.sampled_from([NO_DELAY, 1_000]))
def test_who_stays_keeps_all_while_the_departed_are_waited_for(group: Group, delay_ms: int) -> None:
    """CG-22, from any balanced group: no move when a worker goes, none when it returns in time."""
    assignor = CooperativeAssignor()
    before = _install(group, assignor.assign(attrs.evolve(group, departed=(), remaining_delay_ms=NO_DELAY)))
    gone, *stay = before.members
    if not stay:
        return
    without = attrs.evolve(
        before,
        members=tuple(stay),
        departed=(Departed(gone.member_id, target=gone.target),),
        remaining_delay_ms=delay_ms,
        rebalance_delay_ms=300_000,
    )
    waits = assignor.assign(without)
    expected_ms = (300_000 if delay_ms == NO_DELAY else delay_ms) if gone.target else 0
    assert waits.scheduled_delay_ms == expected_ms
    assert [each.resources for each in waits.members] == [each.target for each in stay]
    back = attrs.evolve(without, members=(*stay, gone), departed=())
    assert {each.member_id: each.resources for each in assignor.assign(back).members} == {
        each.member_id: each.target for each in before.members
    }


@EXAMPLES
@given(group=ANY_GROUP)
def test_when_the_delay_is_over_or_none_is_wanted_cooperative_does_as_uniform(group: Group) -> None:
    over = attrs.evolve(group, remaining_delay_ms=0)
    unwanted = attrs.evolve(group, remaining_delay_ms=NO_DELAY, rebalance_delay_ms=0)
    for each in (over, unwanted):
        assert CooperativeAssignor().assign(each) == UniformAssignor().assign(each)


def _install(group: Group, assignment: Assignment) -> Group:
    """The group when the assignment is its target."""
    running = assignment.scheduled_delay_ms
    return attrs.evolve(
        group,
        members=tuple(Member(each.member_id, target=each.resources) for each in assignment.members),
        departed=group.departed if running else (),
        remaining_delay_ms=running or NO_DELAY,
    )
