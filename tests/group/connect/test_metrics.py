"""What does a shard count? (KIP-848's list, and why groups rebalance)"""

from __future__ import annotations

from collections import Counter

from tests.group.connect.world import INTERVAL_MS, REBALANCE_MS, SESSION_MS, World, assignor


def test_groups_are_counted_by_protocol_and_state() -> None:
    world = World()
    metrics = world.shard.metrics()
    assert metrics.groups["connect"] == {"Empty": 0, "Assigning": 0, "Reconciling": 0, "Stable": 0, "Dead": 0}
    assert set(metrics.groups["classic"].values()) == {0}
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    metrics = world.shard.metrics()
    assert metrics.groups["connect"]["Stable"] == 1
    assert metrics.members == {"classic": 0, "connect": 2, "consumer": 0}


def test_a_story_in_numbers() -> None:
    world = World.settled({"W1": "AC0", "W2": "BC0", "W3": ""}, instance_id=None)
    world.beat("W2", -1, connection=2)
    world.beat("W1", 3)
    world.prepare("W1", 3)
    world.install("W1", 3, 4, {"W9": ""})
    world.beat("W3", 3, connection=3)
    world.prepare("W3", 3, connection=3)
    world.install("W3", 3, 4, {}, error=1, connection=3)
    world.pass_ms(1_000)
    world.beat("W1", 3, "AC0")
    world.compute("W1", 4, {"W1": "", "W3": "AC0"})
    world.beat("W1", 4)
    world.pass_ms(500)
    world.beat("W1", 4, "")
    world.beat("W3", 3, connection=3)
    world.beat("W3", 1, connection=3)
    counters = world.shard.metrics().connect
    assert counters.rebalances == Counter({"worker joined": 3, "worker left": 1, "assignment tried again": 1})
    assert counters.members == Counter(joined=3, left=1)
    assert counters.refused == Counter(FENCED_MEMBER_EPOCH=1)
    assert counters.given_up == 2
    assert counters.rejected == 1
    assert counters.errors == Counter({"no worker left": 1})
    assert counters.installed == Counter(cooperative=2)
    assert counters.moved == 4
    assert counters.converged == 2
    assert counters.converging_ms == 500


def test_who_comes_and_goes_is_counted() -> None:
    world = World()
    world.join("W1", instance_id="i")
    world.join("W2", connection=2)
    world.beat("W1", -2, instance_id="i")
    world.join("W3", connection=3, instance_id="i")
    world.join("W3", connection=3)
    world.pass_ms(SESSION_MS)
    assert world.shard.metrics().connect.members == Counter(joined=2, away=1, replaced=1, rejoined=1, expired=2)

    world = World.settled({"W1": "AC0 AT1"})
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    world.compute("W1", 1, {"W1": "AC0"})
    world.beat("W1", 1)
    world.live(REBALANCE_MS - INTERVAL_MS, W1="AC0 AT1")
    world.pass_ms(INTERVAL_MS)
    assert world.shard.metrics().connect.members == Counter({"joined": 1, "put out": 1})


def test_a_look_is_a_copy_and_a_load_begins_anew() -> None:
    world = World.settled({"W1": "AC0"})
    before = world.shard.metrics().connect
    world.join("W2", connection=2)
    assert before.members == Counter(joined=1)
    world.restart()
    assert world.shard.metrics().connect.members == Counter()
