"""What does a shard count of consumer groups? Rebalances and why, members, answers that wait (KG-10, KG-13)."""

from __future__ import annotations

from collections import Counter

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.metrics import ConsumerCounters
from tests.group.consumer.world import SESSION_MS, World, topics, two


def counted(world: World) -> ConsumerCounters:
    return world.shard.metrics().consumer


def test_groups_are_counted_by_state_and_protocol() -> None:
    world = World(ConsumerSettings(heartbeat_wait_ms=0, assignment_interval_ms=1_000))
    states = {"Empty": 0, "Assigning": 0, "Reconciling": 0, "Stable": 0, "Dead": 0}
    assert world.shard.metrics().groups["consumer"] == states
    world.join("a")
    assert world.shard.metrics().groups["consumer"] == {**states, "Stable": 1}
    world.join("b", connection=2)
    assert world.shard.metrics().groups["consumer"] == {**states, "Assigning": 1}
    world.pass_ms(1_000)
    assert world.shard.metrics().groups["consumer"] == {**states, "Reconciling": 1}
    metrics = world.shard.metrics()
    assert metrics.members == {"classic": 0, "connect": 0, "consumer": 2}
    assert set(metrics.groups["connect"].values()) == {0}
    world.leave("a")
    world.leave("b", connection=2)
    assert world.shard.metrics().groups["consumer"] == {**states, "Empty": 1}


def test_a_story_in_numbers() -> None:
    world = World()
    world.join("a")
    world.pass_ms(700)
    world.join("b", connection=2)
    world.beat("a", 2)
    world.pass_ms(300)
    world.beat("a", 2, "A0 A1")
    world.beat("b", 3, connection=2)
    world.learn(topics(A=6))
    world.beat("a", 3, subscribed_topic_names=["A", "B"], server_assignor="range")
    world.leave("b", connection=2)
    world.beat("a", 1)
    world.beat("nobody", 4)
    found = counted(world)
    assert found.rebalances == Counter(
        {"consumer joined": 2, "topics changed": 1, "subscription changed": 1, "consumer left": 1}
    )
    assert found.members == Counter(joined=2, left=1)
    assert found.refused == Counter(FENCED_MEMBER_EPOCH=1, UNKNOWN_MEMBER_ID=1)
    assert found.installed == Counter(uniform=3, range=2)
    assert found.moved == 4 + 2 + 2 + 2 + 3, "the fourth time by range, which swaps two"
    assert (found.converged, found.converging_ms) == (2, 300)


def test_who_comes_and_goes_is_counted() -> None:
    world = World()
    world.join("a", instance_id="i")
    world.join("b", connection=2)
    world.beat("a", -2, instance_id="i")
    world.join("c", connection=3, instance_id="i")
    world.pass_ms(SESSION_MS)
    assert counted(world).members == Counter(joined=2, away=1, replaced=1, expired=2)


def test_answers_that_wait_are_counted_by_what_they_wait_for() -> None:
    world = World(ConsumerSettings())
    world.join("a")
    world.send_beat("a", 2, "A0 A1 A2 A3")
    assert (counted(world).held, counted(world).fused) == (1, 0)
    world.join("b", connection=2, subscribed="")
    world.send_beat("a", 2)
    world.learn(topics(A=6))
    world.send_beat("a", 3)
    assert (counted(world).held, counted(world).fused) == (2, 1), "it has something to confirm"


def test_a_load_begins_anew_and_other_kinds_are_counted_elsewhere() -> None:
    world = two()
    assert world.shard.metrics().connect.members == Counter()
    assert world.shard.metrics().connect.rebalances == Counter()
    before = counted(world)
    world.leave("b", connection=2)
    assert before.members == Counter(joined=2), "a look is a copy"
    world.restart()
    assert counted(world) == ConsumerCounters()
