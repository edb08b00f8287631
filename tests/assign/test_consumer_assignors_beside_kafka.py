"""Are kcoord's assignors of consumer groups as even as Kafka's, and do they move as little?

Kafka's own UniformAssignor and RangeAssignor get the same random groups, with the same targets, in one JVM: half of the
groups live with kcoord's targets, half with Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import pytest

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup
from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from tests.assign.java_consumer_assignors import asked, order
from tests.assign.random_consumers import (
    RandomConsumers,
    moved,
    plain,
    sizes,
    unevenness,
    widest_gap,
    with_targets,
)
from tests.kafka.java import Java

GROUPS, STEPS = 150, 12
MOST_EXTRA_MOVES = 9
"""In one case of mixed subscriptions, where kcoord's target is the more even one."""


@attrs.frozen
class Case:
    """One call of an assignor, and what both made of it."""

    assignor: str
    mixed: bool
    first: bool
    group: SubscribedGroup
    ours: ConsumerTargets
    kafkas: ConsumerTargets

    @property
    def moves(self) -> tuple[int, int]:
        """kcoord's and Kafka's."""
        return moved(self.group, self.ours), moved(self.group, self.kafkas)

    @property
    def unevenness(self) -> tuple[int, int]:
        """kcoord's and Kafka's."""
        return unevenness(sizes(self.group, self.ours)), unevenness(sizes(self.group, self.kafkas))


@attrs.frozen
class Planned:
    """A call that Kafka's class is asked for."""

    assignor: str
    mixed: bool
    step: int
    group: SubscribedGroup
    """With kcoord's targets, or without any: then with Kafka's of the step before."""
    follows: bool


def _planned() -> Iterator[Planned]:
    for seed in range(GROUPS):
        for mixed in (False, True):
            consumers = RandomConsumers.of(seed, mixed)
            steps = [consumers.step() for _ in range(STEPS)]
            for name, make in CONSUMER_ASSIGNORS.items():
                targets: ConsumerTargets = {}
                for step, group in enumerate(steps):
                    if seed % 2:
                        yield Planned(name, mixed, step, group, follows=step > 0)
                    else:
                        yield Planned(name, mixed, step, with_targets(group, targets), follows=False)
                        targets = make().assign(with_targets(group, targets))


@pytest.fixture(scope="module")
def cases(java: Java) -> list[Case]:
    """All calls."""
    planned = list(_planned())
    answers = asked(java, [order(each.assignor, each.group, each.follows) for each in planned])
    found = []
    before: ConsumerTargets = {}
    for each, kafkas in zip(planned, answers, strict=True):
        group = with_targets(each.group, before) if each.follows else each.group
        ours = CONSUMER_ASSIGNORS[each.assignor]().assign(group)
        found.append(Case(each.assignor, each.mixed, each.step == 0, group, ours, kafkas))
        before = kafkas
    return found


@pytest.fixture
def uniform(cases: list[Case]) -> Callable[[bool], list[Case]]:
    """Those of uniform, mixed or not."""
    return lambda mixed: [each for each in cases if each.assignor == "uniform" and each.mixed == mixed]


@pytest.fixture
def ranges(cases: list[Case]) -> list[Case]:
    """Those of range."""
    return [each for each in cases if each.assignor == "range"]


def test_uniform_is_as_even_and_moves_no_more(uniform: Callable[[bool], list[Case]]) -> None:
    """Rule 21 of consumer groups, in each case, where all members subscribe to the same topics."""
    for case in uniform(False):
        assert widest_gap(case.group, case.ours) <= 1
        assert sorted(sizes(case.group, case.ours)) == sorted(sizes(case.group, case.kafkas))
        ours, kafkas = case.moves
        assert ours <= kafkas, case


def test_uniform_is_as_even_and_moves_no_more_where_subscriptions_differ(
    uniform: Callable[[bool], list[Case]],
) -> None:
    """Rule 21 of consumer groups: never less even; more moves only where it is more even, fewer in all."""
    extra = []
    for case in uniform(True):
        unevenness, kafkas_unevenness = case.unevenness
        assert unevenness <= kafkas_unevenness, case
        ours, kafkas = case.moves
        if ours > kafkas:
            assert unevenness < kafkas_unevenness, case
            extra.append(ours - kafkas)
    moves = [case.moves for case in uniform(True)]
    assert sum(ours for ours, _ in moves) < sum(kafkas for _, kafkas in moves)
    assert len(extra) < len(moves) / 20
    assert max(extra) <= MOST_EXTRA_MOVES


def test_range_never_moves_more(ranges: list[Case]) -> None:
    """Rule 21 of consumer groups, in each case; less than two thirds in all."""
    moves = [case.moves for case in ranges]
    assert all(ours <= kafkas for ours, kafkas in moves)
    assert sum(ours for ours, _ in moves) * 3 < sum(kafkas for _, kafkas in moves) * 2


def test_range_from_nothing_is_kafkas(ranges: list[Case]) -> None:
    """Rule 21 of consumer groups: the very same ranges."""
    first = [case for case in ranges if case.first]
    assert len(first) == 2 * GROUPS
    for case in first:
        assert _without_empty(case.ours) == _without_empty(case.kafkas), case


def _without_empty(targets: ConsumerTargets) -> object:
    return {member: target for member, target in plain(targets).items() if target}
