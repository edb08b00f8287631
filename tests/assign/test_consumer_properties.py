"""What must be true of every target of a consumer group, whatever the group?"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcoord.assign.consumer import (
    ConsumerAssignor,
    ConsumerTargets,
    RangeConsumerAssignor,
    SubscribedGroup,
    Subscriber,
    UniformConsumerAssignor,
    exchange_cycles,
    range_orders,
)
from tests.assign.consumer_story import topic_id
from tests.assign.random_consumers import moved, sizes, unevenness, widest_gap, with_targets
from tests.light import fewer

ROOT = Path(__file__).parents[2]
UNIFORM, RANGE = UniformConsumerAssignor(), RangeConsumerAssignor()
EACH = pytest.mark.parametrize("assignor", [UNIFORM, RANGE], ids=lambda each: each.name)
EXAMPLES = settings(max_examples=fewer(60, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOPICS = [topic_id(topic) for topic in "wxyz"]
PARTITION = st.tuples(st.sampled_from(TOPICS), st.integers(0, 6))


@st.composite
def groups(draw: st.DrawFn, same: bool | None = None, largest: int = 6, members: int = 5) -> SubscribedGroup:
    """A group in any state: targets that are uneven, double, of topics that are gone or were never subscribed to."""
    topics = draw(st.dictionaries(st.sampled_from(TOPICS), st.integers(0, largest), max_size=len(TOPICS)))
    ids = draw(st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=members, unique=True))
    all_same = draw(st.booleans()) if same is None else same
    subscription = draw(st.frozensets(st.sampled_from(TOPICS), min_size=1))
    return SubscribedGroup(
        tuple(
            Subscriber(
                each,
                instance_id=draw(st.none() | st.just(f"i{at % 3}{at}")),
                rack_id=draw(st.none() | st.just("rack")),
                subscribed_topics=subscription if all_same else draw(st.frozensets(st.sampled_from(TOPICS))),
                target=_by_topic(draw(st.frozensets(PARTITION, max_size=9))),
            )
            for at, each in enumerate(ids)
        ),
        topics,
    )


def _by_topic(partitions: frozenset[tuple[bytes, int]]) -> dict[bytes, frozenset[int]]:
    topics = {topic for topic, _ in partitions}
    return {topic: frozenset(number for each, number in partitions if each == topic) for topic in topics}


def _pairs(targets: ConsumerTargets) -> list[tuple[bytes, int]]:
    return [(topic, each) for target in targets.values() for topic, numbers in target.items() for each in numbers]


def _without_doubles(group: SubscribedGroup) -> SubscribedGroup:
    """Each partition in the target of the first member that claims it and may have it."""
    taken: set[tuple[bytes, int]] = set()
    members = []
    for member in sorted(group.members, key=lambda each: each.member_id):
        wanted = {(topic, each) for topic, numbers in member.target.items() for each in numbers}
        kept = {
            (topic, each)
            for topic, each in wanted - taken
            if topic in member.subscribed_topics and each < group.topics.get(topic, 0)
        }
        taken |= kept
        members.append(attrs.evolve(member, target=_by_topic(frozenset(kept))))
    return attrs.evolve(group, members=tuple(members))


@EACH
@EXAMPLES
@given(group=groups())
def test_each_partition_of_each_subscribed_topic_is_assigned_once(
    assignor: ConsumerAssignor, group: SubscribedGroup
) -> None:
    """Rule 21 of consumer groups: only to subscribers, and nothing that does not exist."""
    targets = assignor.assign(group)
    subscribed = frozenset().union(*(each.subscribed_topics for each in group.members)) & group.topics.keys()
    assert Counter(_pairs(targets)) == Counter(
        (topic, each) for topic in subscribed for each in range(group.topics[topic])
    )
    assert targets.keys() == {each.member_id for each in group.members}
    assert all(targets[each.member_id].keys() <= each.subscribed_topics for each in group.members)
    assert all(all(target.values()) for target in targets.values()), "no topic without partitions"


@EACH
@EXAMPLES
@given(group=groups(), shuffle=st.randoms(use_true_random=False))
def test_the_order_of_members_changes_nothing(
    assignor: ConsumerAssignor, group: SubscribedGroup, shuffle: random.Random
) -> None:
    members, topics = list(group.members), list(group.topics.items())
    shuffle.shuffle(members)
    shuffle.shuffle(topics)
    assert assignor.assign(SubscribedGroup(tuple(members), dict(topics))) == assignor.assign(group)


@EACH
@EXAMPLES
@given(group=groups())
def test_racks_change_nothing(assignor: ConsumerAssignor, group: SubscribedGroup) -> None:
    """Rule 22 of consumer groups."""
    without = attrs.evolve(group, members=tuple(attrs.evolve(each, rack_id=None) for each in group.members))
    assert assignor.assign(without) == assignor.assign(group)


@EACH
@EXAMPLES
@given(group=groups())
def test_what_is_assigned_stays_so(assignor: ConsumerAssignor, group: SubscribedGroup) -> None:
    """The same targets come back as the same objects: nothing is built anew for those whom nothing touches."""
    installed = with_targets(group, assignor.assign(group))
    again = assignor.assign(installed)
    assert all(again[each.member_id] is each.target for each in installed.members)


@EACH
@EXAMPLES
@given(group=groups())
def test_sets_that_do_not_change_are_the_same_objects(assignor: ConsumerAssignor, group: SubscribedGroup) -> None:
    targets = assignor.assign(group)
    for member in group.members:
        for topic, partitions in targets[member.member_id].items():
            if partitions == member.target.get(topic):
                assert partitions is member.target[topic]


@EXAMPLES
@given(group=groups(same=True).map(_without_doubles))
def test_uniform_needs_the_fewest_moves_to_be_even(group: SubscribedGroup) -> None:
    """Rule 21 of consumer groups, all members with the same topics: of all balanced counts, those that take least."""
    targets = UNIFORM.assign(group)
    assert widest_gap(group, targets) <= 1
    have = [sum(map(len, each.target.values())) for each in group.members]
    even, left_over = divmod(len(_pairs(targets)), len(have))
    assert moved(group, targets) == min(
        sum(max(count - even - (at in luckier), 0) for at, count in enumerate(have))
        for luckier in itertools.combinations(range(len(have)), left_over)
    )


@EXAMPLES
@given(group=groups(same=False, largest=2, members=3).map(_without_doubles))
def test_no_target_is_more_even_than_uniforms_and_none_as_even_moves_less(group: SubscribedGroup) -> None:
    """Rule 21 of consumer groups, mixed subscriptions: all assignments that there are, tried."""
    targets = UNIFORM.assign(group)
    found = unevenness(sizes(group, targets)), moved(group, targets)
    assert found == min((unevenness(sizes(group, each)), moved(group, each)) for each in _all_targets(group))


def _all_targets(group: SubscribedGroup) -> Iterator[ConsumerTargets]:
    partitions, choices = [], []
    for topic, count in group.topics.items():
        subscribers = [each.member_id for each in group.members if topic in each.subscribed_topics]
        for each in range(count if subscribers else 0):
            partitions.append((topic, each))
            choices.append(subscribers)
    for owners in itertools.product(*choices):
        by_owner: dict[str, set[tuple[bytes, int]]] = {}
        for owner, partition in zip(owners, partitions, strict=True):
            by_owner.setdefault(owner, set()).add(partition)
        yield {owner: _by_topic(frozenset(each)) for owner, each in by_owner.items()}


@EXAMPLES
@given(group=groups())
def test_ranges_are_contiguous_and_cut_alike(group: SubscribedGroup) -> None:
    """Rule 21 of consumer groups: co-partitioned where topics have equal counts and equal subscribers."""
    targets = RANGE.assign(group)
    cuts: dict[object, list[Sequence[tuple[str, int, int]]]] = {}
    for topic, count in group.topics.items():
        subscribers = frozenset(each.member_id for each in group.members if topic in each.subscribed_topics)
        ranges = sorted(
            (min(target[topic]), max(target[topic]) + 1, member)
            for member, target in targets.items()
            if topic in target
        )
        assert all(end - first == len(targets[member][topic]) for first, end, member in ranges)
        lengths = [end - first for first, end, _ in ranges]
        assert lengths == sorted(lengths, reverse=True)
        assert not ranges or max(lengths) - min(lengths) <= 1
        assert not subscribers or len(ranges) == min(count, len(subscribers))
        cuts.setdefault((count, subscribers), []).append([(member, first, end) for first, end, member in ranges])
    assert all(each == alike[0] for alike in cuts.values() for each in alike)


@EXAMPLES
@given(group=groups())
def test_range_from_nothing_goes_by_instance_id_then_by_member_id(group: SubscribedGroup) -> None:
    """Rule 21 of consumer groups: static members first."""
    targets = RANGE.assign(with_targets(group, {}))
    order = sorted(group.members, key=lambda each: (each.instance_id is None, each.instance_id or each.member_id))
    for topic in group.topics:
        firsts = [min(each[topic]) for member in order if topic in (each := targets[member.member_id])]
        assert firsts == sorted(firsts)


@EXAMPLES
@given(group=groups(), newcomer=st.text("d", min_size=1, max_size=1))
def test_range_never_moves_more_than_in_kafkas_order(group: SubscribedGroup, newcomer: str) -> None:
    """Rule 21 of consumer groups: from any target, and when a member joins a group that range has assigned."""
    subscription = group.members[0].subscribed_topics
    installed = with_targets(group, RANGE.assign(group))
    joined = attrs.evolve(installed, members=(*installed.members, Subscriber(newcomer, subscribed_topics=subscription)))
    for each in (group, joined):
        assert moved(each, RANGE.assign(each)) <= moved(each, RANGE.assign(with_targets(each, {})))


@EXAMPLES
@given(group=groups(same=False))
def test_without_a_search_uniform_evens_out_each_topic(group: SubscribedGroup) -> None:
    """Rule 21 of consumer groups: what 16 rounds over the topics do in a group that is too large for chains."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(exchange_cycles, "_LOOKS", 0)
        targets = UNIFORM.assign(group)
    size = dict(zip([each.member_id for each in group.members], sizes(group, targets), strict=True))
    for topic in group.topics:
        holders = [member for member, target in targets.items() if topic in target]
        subscribers = [each.member_id for each in group.members if topic in each.subscribed_topics]
        assert all(size[holder] - size[other] <= 1 for holder in holders for other in subscribers)


@EXAMPLES
@given(group=groups(), joined=groups(largest=0))
def test_without_a_search_newcomers_stand_at_the_end(group: SubscribedGroup, joined: SubscribedGroup) -> None:
    """Rule 21 of consumer groups: `range` moves no more than Kafka's then, either."""
    known = {each.member_id for each in group.members}
    newcomers = [attrs.evolve(each, target={}) for each in joined.members if each.member_id not in known]
    larger = attrs.evolve(group, members=(*with_targets(group, RANGE.assign(group)).members, *newcomers))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(range_orders, "_LOOKS", 0)
        targets = RANGE.assign(larger)
    assert moved(larger, targets) <= moved(larger, RANGE.assign(with_targets(larger, {})))


IN_A_PROCESS = """
from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from tests.assign.random_consumers import RandomConsumers, plain, with_targets

for make in CONSUMER_ASSIGNORS.values():
    for seed in range(20):
        consumers, targets = RandomConsumers.of(seed, mixed=seed % 2 == 0), {}
        for _ in range(5):
            targets = make().assign(with_targets(consumers.step(), targets))
            print(plain(targets))
"""


def test_another_process_computes_the_same() -> None:
    """The order of sets of topic ids differs from process to process."""
    first, second = (
        subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert first
    assert first == second


def test_a_group_without_members_has_no_targets() -> None:
    for assignor in (UNIFORM, RANGE):
        assert isinstance(assignor, ConsumerAssignor)
        assert assignor.assign(SubscribedGroup((), {TOPICS[0]: 3})) == {}
