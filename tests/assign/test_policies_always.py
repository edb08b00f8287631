"""What must be true of every assignment by a policy, whatever the group? Beside what `test_properties` says of all."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcoord.assign import CONNECTOR, NO_DELAY, Assignment, Group, Member, Resource
from kcoord.assign.built_in import POLICIES
from kcoord.assign.policies import DESIGN_1, DESIGN_2, DESIGN_3, IncrementalAssignor, Kip415Assignor, Policy, Weights
from tests.assign.test_properties import (
    ANY_GROUP,
    EXAMPLES,
    assigned,
    everything_in,
    fewest_moves,
    groups,
    loads,
    may_wait,
)

ALL = [make() for make in POLICIES.values()]
WEIGHTS = Weights({"A": 7, "B": 3})
PACED = attrs.evolve(DESIGN_3, at_most=2, interval_ms=500)
DESIGNS = [IncrementalAssignor(each) for each in (DESIGN_1, DESIGN_2)]
WEIGHING = [IncrementalAssignor(each, WEIGHTS) for each in (DESIGN_1, DESIGN_2)]


def known(group: Group) -> Group:
    """Nobody in it is new."""
    return attrs.evolve(group, members=tuple(attrs.evolve(each, epoch=1) for each in group.members))


def installed(group: Group, assignment: Assignment) -> Group:
    """The group when the assignment is its target, and its delay is over."""
    running = assignment.scheduled_delay_ms
    return attrs.evolve(
        group,
        members=tuple(Member(each.member_id, target=each.resources, epoch=1) for each in assignment.members),
        departed=group.departed if running else (),
        remaining_delay_ms=0 if running else NO_DELAY,
    )


def before_and_after(
    group: Group, assignment: Assignment
) -> list[tuple[frozenset[Resource], frozenset[tuple[str, int]]]]:
    """What each had that exists, no resource twice, and what it has."""
    seen: set[Resource] = set()
    found = []
    after = {each.member_id: each.resources for each in assignment.members}
    for member in sorted(group.members, key=lambda each: each.member_id):
        found.append(((member.target & everything_in(group)) - seen, after[member.member_id]))
        seen |= member.target
    return found


def weight(resource: tuple[str, int]) -> int:
    name, _ = resource
    return WEIGHTS.by_name.get(name, 1)


def weighs(resources: frozenset[tuple[str, int]], connectors: bool) -> int:
    return sum(weight((name, task)) for name, task in resources if (task == CONNECTOR) == connectors)


@pytest.mark.parametrize("assignor", [*ALL, *WEIGHING, IncrementalAssignor(PACED, WEIGHTS)], ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_each_resource_is_assigned_once(assignor: IncrementalAssignor, group: Group) -> None:
    """CG-21 and CG-22: all that exists and nothing else, but for what waits, which the install says."""
    assignment = assignor.assign(group)
    counted = Counter(assigned(assignment))
    missing = everything_in(group) - counted.keys()
    assert counted.keys() <= everything_in(group)
    assert set(counted.values()) <= {1}
    assert missing <= may_wait(group)
    assert not missing or assignment.scheduled_delay_ms > 0
    assert {each.member_id for each in assignment.members} == {each.member_id for each in group.members}


@pytest.mark.parametrize("assignor", [*ALL, *WEIGHING, IncrementalAssignor(PACED, WEIGHTS)], ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP, shuffle=st.randoms(use_true_random=False))
def test_the_same_group_gives_the_same(assignor: IncrementalAssignor, group: Group, shuffle: random.Random) -> None:
    members, departed = list(group.members), list(group.departed)
    shuffle.shuffle(members)
    shuffle.shuffle(departed)
    other = attrs.evolve(group, members=tuple(members), departed=tuple(departed))
    assert assignor.assign(other) == assignor.assign(group)


@pytest.mark.parametrize("assignor", ALL, ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_when_nothing_is_left_to_wait_for_all_is_even(assignor: IncrementalAssignor, group: Group) -> None:
    assignment = assignor.assign(group)
    for _ in range(30):
        if not assignment.scheduled_delay_ms:
            break
        group = installed(group, assignment)
        assignment = assignor.assign(group)
    assert not assignment.scheduled_delay_ms
    for connectors in (True, False):
        have = loads([each.resources for each in assignment.members], connectors)
        assert max(have) - min(have) <= 1


@pytest.mark.parametrize("policy", [DESIGN_1, DESIGN_2, PACED], ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_by_weight_nobody_has_more_than_the_heaviest_more(policy: Policy, group: Group) -> None:
    assignor = IncrementalAssignor(policy, WEIGHTS)
    assignment = assignor.assign(group)
    for _ in range(60):
        if not assignment.scheduled_delay_ms:
            break
        group = installed(group, assignment)
        assignment = assignor.assign(group)
    assert not assignment.scheduled_delay_ms
    for connectors in (True, False):
        have = [weighs(each.resources, connectors) for each in assignment.members]
        kind = [weight(each) for each in everything_in(group) if each.is_connector == connectors]
        assert max(have) - min(have) <= max(kind, default=0)


@pytest.mark.parametrize("assignor", DESIGNS, ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_no_balance_takes_fewer_moves(assignor: IncrementalAssignor, group: Group) -> None:
    """Also Connect's own, where no wait has just ended: then those who had nothing get it all, and give again."""
    group = attrs.evolve(known(group), remaining_delay_ms=NO_DELAY, rebalance_delay_ms=0)
    for each in (assignor, Kip415Assignor()):
        changes = before_and_after(group, each.assign(group))
        for connectors in (True, False):
            moved = sum(loads([before - after for before, after in changes], connectors))
            total = sum(loads([after for _, after in changes], connectors))
            assert moved == fewest_moves(loads([before for before, _ in changes], connectors), total)


@pytest.mark.parametrize("assignor", WEIGHING, ids=lambda each: each.name)
@EXAMPLES
@given(group=groups())
def test_by_weight_no_single_move_could_be_left_out(assignor: IncrementalAssignor, group: Group) -> None:
    group = attrs.evolve(known(group), remaining_delay_ms=0)
    changes = before_and_after(group, assignor.assign(group))
    after = [now for _, now in changes]
    for connectors in (True, False):
        kind = [each for each in everything_in(group) if each.is_connector == connectors]
        heaviest = max(map(weight, kind), default=0)
        have = [weighs(each, connectors) for each in after]
        for giver, (before, now) in enumerate(changes):
            for resource in before - now:
                if resource.is_connector != connectors or len({weight(each) for each in everything_in(group)}) < 2:
                    continue
                taker = next(at for at, each in enumerate(after) if resource in each)
                without = list(have)
                without[giver] += weight(resource)
                without[taker] -= weight(resource)
                assert max(without) - min(without) > heaviest


@pytest.mark.parametrize("assignor", [*ALL[2:], *WEIGHING[1:]], ids=lambda each: each.name)
@EXAMPLES
@given(group=ANY_GROUP)
def test_while_something_waits_nobody_has_to_stop_anything(assignor: IncrementalAssignor, group: Group) -> None:
    """Design II: with a ScheduledRebalanceTimeout there is nothing to revoke."""
    assignment = assignor.assign(group)
    if everything_in(group) - set(assigned(assignment)):
        assert all(before <= after for before, after in before_and_after(group, assignment))


@EXAMPLES
@given(group=groups(), at_most=st.integers(1, 4))
def test_a_round_moves_so_many_of_one_weight_and_each_round_less_is_left(group: Group, at_most: int) -> None:
    """Design III; where no weights are given the rounds together move what balance asks for at once."""
    group = attrs.evolve(known(group), departed=(), remaining_delay_ms=NO_DELAY)
    at_once = before_and_after(group, IncrementalAssignor(DESIGN_2).assign(group))
    for weights in (Weights(), WEIGHTS):
        assignor = IncrementalAssignor(attrs.evolve(PACED, at_most=at_most), weights)
        now, moved = group, 0
        for _ in itertools.count():
            assignment = assignor.assign(now)
            stopped = [each for before, after in before_and_after(now, assignment) for each in before - after]
            moved += len(stopped)
            if not weights:
                assert len(stopped) <= at_most
            elif len(stopped) <= at_most:
                assert len({weight(each) for each in stopped}) <= 1
            if not assignment.scheduled_delay_ms:
                break
            assert stopped
            now = installed(now, assignment)
        if not weights:
            assert moved == sum(len(before - after) for before, after in at_once)


@EXAMPLES
@given(group=groups(), events=st.lists(st.integers(0, 500), max_size=40))
def test_a_wait_cannot_be_prolonged_for_ever(group: Group, events: list[int]) -> None:
    """Whatever the delay that runs is taken for: each time that it begins anew there is one resource less to wait."""
    group = attrs.evolve(group, rebalance_delay_ms=10_000)
    for assignor in (IncrementalAssignor(DESIGN_2), IncrementalAssignor(PACED), Kip415Assignor()):
        now, waits, begun = group, len(may_wait(group) & everything_in(group)), 0
        for left in events:
            assignment = assignor.assign(now)
            begun += assignment.scheduled_delay_ms > max(now.remaining_delay_ms, 0)
            if not everything_in(now) - set(assigned(assignment)):
                break
            now = attrs.evolve(installed(now, assignment), remaining_delay_ms=min(left, assignment.scheduled_delay_ms))
        assert begun <= waits + 1
