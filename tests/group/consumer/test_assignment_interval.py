"""When is the next assignment made, and what does a group do while it waits for it? (KG-7)

a has all of A's four partitions. The interval is 1 s, and the last assignment has just been made.
"""

from __future__ import annotations

import pytest

from kcoord.group.consumer.next_assignment import LONG_MS, LONGEST_REST_MS, RESTS
from kcoord.group.state.consumer_settings import ConsumerSettings
from tests.group.consumer.world import World, topics

INTERVAL_MS = 1_000
ASSIGNMENT = "consumer.assignment.interval.ms"


def paced(interval_ms: int = INTERVAL_MS, wait_ms: int = 0) -> World:
    world = World(ConsumerSettings(assignment_interval_ms=interval_ms, heartbeat_wait_ms=wait_ms))
    assert world.join("a").brief == (2, "A0 A1 A2 A3"), "the first assignment waits for nothing"
    return world


def test_whatever_changes_meanwhile_comes_into_one_assignment() -> None:
    world = paced()
    assert world.join("b", connection=2).brief == (2, "")
    assert world.join("c", connection=3).brief == (2, "")
    world.leave("c", connection=3)
    world.learn(topics(A=6))
    assert world.row() == (5, {"a": "2 STABLE A0 A1 A2 A3", "b": "2 STABLE"})
    assert (world.group.assignment_epoch, world.describe().group_state) == (2, "Assigning")
    world.pass_ms(INTERVAL_MS - 1)
    assert world.group.assignment_epoch == 2
    world.pass_ms(1)
    assert world.group.assignment_epoch == 5
    assert world.beat("a", 2).brief == (2, "A0 A1 A2")
    assert world.beat("a", 2, "A0 A1 A2").brief == (5, None)
    assert world.beat("b", 2, "", connection=2).brief == (5, "A3 A4 A5")
    assert world.row() == (5, {"a": "5 STABLE A0 A1 A2", "b": "5 STABLE A3 A4 A5"})


def test_after_the_interval_a_change_is_assigned_at_once() -> None:
    world = paced()
    world.pass_ms(INTERVAL_MS)
    assert world.join("b", connection=2).brief == (3, "")
    assert world.group.assignment_epoch == 3


def test_nobody_is_disturbed_until_the_assignment_is_made() -> None:
    soon_ms = 400
    world = paced(soon_ms, wait_ms=-1)
    waits = world.send_beat("a", 2, "A0 A1 A2 A3")
    world.join("b", connection=2)
    assert world.told(waits) is None
    world.pass_ms(soon_ms)
    told = world.told(waits)
    assert told is not None
    assert told.brief == (2, "A0 A1")


def test_who_subscribes_to_a_topic_no_longer_loses_it_at_once_as_with_a_topic_that_goes() -> None:
    world = World(ConsumerSettings(assignment_interval_ms=INTERVAL_MS), topics(A=1, B=1, C=1))
    assert world.join("a", "ABC").brief == (2, "A0 B0 C0")
    assert world.beat("a", 2, "A0 B0 C0", subscribed_topic_names=["A", "B"]).brief == (2, "A0 B0")
    waits = world.send_beat("a", 2, "A0 B0")
    assert world.told(waits) is None
    world.learn(topics(A=1, C=1))
    told = world.told(waits)
    assert told is not None
    assert told.brief == (2, "A0")
    assert world.group.assignment_epoch == 2


def test_the_same_of_a_topic_that_its_expression_matches_no_longer() -> None:
    world = World(ConsumerSettings(assignment_interval_ms=INTERVAL_MS), topics(A=1, B=1))
    assert world.join("a", None, subscribed_topic_regex=".", resolved="AB").brief == (2, "A0 B0")
    waits = world.send_beat("a", 2, "A0 B0")
    assert world.told(waits) is None
    world.learn(topics(A=1, B=1), **{".": "A"})
    told = world.told(waits)
    assert told is not None
    assert told.brief == (2, "A0")


def test_who_wants_again_what_it_dropped_hears_of_it_with_the_next_assignment() -> None:
    soon_ms = 300
    world = paced(soon_ms, wait_ms=-1)
    assert world.beat("a", 2, subscribed_topic_names=[]).brief == (2, "")
    world.send_beat("a", 2, "")
    assert world.beat("a", 2, subscribed_topic_names=["A"]).brief == (2, None)
    waits = world.send_beat("a", 2)
    world.pass_ms(soon_ms)
    told = world.told(waits)
    assert told is not None
    assert told.brief == (4, "A0 A1 A2 A3"), "although its target has never changed"


@pytest.mark.parametrize(
    ("lost_ms", "wall_jump_ms", "waits_ms"),
    [
        # how long nobody served the group, how far the time of day has jumped meanwhile, how long it waits then
        (0, 0, 900),
        (300, 0, 600),
        (900, 0, 0),
        (60_000, 0, 0),
        (0, 60_000, 0),
        (0, -60_000, 1_000),
    ],
)
@pytest.mark.parametrize("compacted", [False, True])
def test_a_load_goes_on_waiting(lost_ms: int, wall_jump_ms: int, waits_ms: int, compacted: bool) -> None:
    world = paced()
    world.pass_ms(100)
    world.join("b", connection=2)
    world.wall_jump_ms = wall_jump_ms
    world.restart(lost_ms, compacted)
    if waits_ms:
        world.pass_ms(waits_ms - 1)
        assert world.group.assignment_epoch == 2
        world.pass_ms(1)
    assert world.group.assignment_epoch == 3


def test_a_groups_own_interval_counts_at_once() -> None:
    world = paced(15_000)
    world.join("b", connection=2)
    world.pass_ms(300)
    world.configure({ASSIGNMENT: "500"})
    assert world.group.assignment_epoch == 2
    world.pass_ms(200)
    assert world.group.assignment_epoch == 3
    world.join("c", connection=3)
    world.configure({ASSIGNMENT: "0"})
    assert world.group.assignment_epoch == 4


def test_a_group_that_everybody_has_left_is_not_assigned() -> None:
    world = paced()
    world.leave("a")
    world.pass_ms(INTERVAL_MS)
    assert (world.group.epoch, world.group.assignment_epoch) == (3, 2)
    assert world.join("b", connection=2).brief == (4, "A0 A1 A2 A3")


@pytest.mark.parametrize(
    ("took_ms", "interval_ms", "rest_ms"),
    [
        (LONG_MS - 1, 0, 0),
        (LONG_MS, 0, RESTS * LONG_MS),
        (100, 300, 1_000),
        (100, 2_000, 2_000),
        (60_000, 0, LONGEST_REST_MS),
    ],
)
def test_the_longer_an_assignment_takes_the_later_comes_the_next(took_ms: int, interval_ms: int, rest_ms: int) -> None:
    world = paced(interval_ms)
    world.took_ms = took_ms
    world.pass_ms(interval_ms)
    world.join("b", connection=2)
    assert world.group.assignment_epoch == 3, "nobody has told yet how long it takes"
    world.join("c", connection=3)
    if rest_ms:
        world.pass_ms(rest_ms - 1)
        assert world.group.assignment_epoch == 3
        world.pass_ms(1)
    assert world.group.assignment_epoch == 4


def test_what_a_step_took_counts_in_equal_parts_for_the_groups_that_it_has_assigned() -> None:
    world = paced(0)
    step = world.shard.learn_topics(topics(A=5), world.now_ms, world.wall_ms)
    assert step.computed == ["g"]
    step.computed.append("another group, which is gone")
    world.shard.took(step, 300)
    assert world.group.took_ms == 150
