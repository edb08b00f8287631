"""When is a consumer answered, what lets a held answer go, what may be repeated? (KG-10 to KG-13, KG-15, KG-25)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.modern_group import UNSET
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
)
from tests.group.consumer.world import REBALANCE_MS, World, topics, two, wire

FULL: dict[str, Any] = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": ["A"]}


# -- held answers ------------------------------------------------------------------------------------------------------


def waiting() -> World:
    """As `two`, where answers wait. b's join waits until a has let go."""
    world = World(ConsumerSettings())
    world.join("a")
    joining = world.send_beat("b", 0, "", connection=2, **FULL)
    assert world.beat("a", 2).brief == (2, "A0 A1")
    assert world.told(joining) is None
    assert world.beat("a", 2, "A0 A1").brief == (3, None)
    told = world.told(joining)
    assert told is not None
    assert told.brief == (3, "A2 A3")
    return world


def test_rule_10_and_25_an_answer_without_news_waits_for_four_fifths_of_the_interval_that_was_told() -> None:
    """After news that is a short one, and then twice as long each time. 500 ms are left for the round trip."""
    world = waiting()
    world.pass_ms(500)
    assert world.beat("a", 3).response.heartbeat_interval_ms == 1_000, "there is no time to wait"
    for waits_ms, interval_ms in ((500, 2_000), (1_500, 4_000), (3_200, 5_000), (4_000, 5_000)):
        token = world.send_beat("a", 3)
        world.pass_ms(waits_ms - 1)
        assert world.told(token) is None
        world.pass_ms(1)
        told = world.told(token)
        assert told is not None
        assert (told.brief, told.response.heartbeat_interval_ms) == ((3, None), interval_ms)


@pytest.mark.parametrize("compacted", [False, True])
def test_rule_25_after_a_load_an_answer_waits_as_if_the_shortest_interval_was_told(*, compacted: bool) -> None:
    world = waiting()
    for _ in range(5):
        token = world.send_beat("a", 3)
        world.pass_ms(4_000)
        assert world.told(token) is not None
    world.restart(compacted=compacted)
    assert world.beat("a", 3, "A0 A1", connection=7, **FULL).response.heartbeat_interval_ms == 500
    world.pass_ms(500)
    assert world.beat("a", 3, connection=7).response.heartbeat_interval_ms == 1_000


def test_rule_13_and_25_an_answer_that_waits_for_less_than_the_fuse_waits_for_that() -> None:
    """Seed 36826: a short wait was set, and of it a part only counts after news."""
    world = World(ConsumerSettings(heartbeat_wait_ms=300))
    world.join("a")
    world.beat("a", 2, "A0 A1 A2 A3")
    token = world.send_beat("a", 2)
    world.pass_ms(99)
    assert world.told(token) is None
    world.pass_ms(1)
    assert world.told(token) is not None


def test_rule_25_where_answers_never_wait_the_interval_is_always_the_groups() -> None:
    world = two()
    assert world.beat("a", 3, "A0 A1").response.heartbeat_interval_ms == 5_000
    assert world.join("c", connection=3).response.heartbeat_interval_ms == 5_000


def test_rule_11_an_answer_that_has_news_goes_out_when_it_has() -> None:
    world = waiting()
    world.beat("b", 3, "A2 A3", connection=2)
    held, losing = world.send_beat("a", 3), world.send_beat("b", 3, connection=2)
    joining = world.send_beat("c", 0, "", connection=3, **FULL)
    told = world.told(losing)
    assert told is not None
    assert told.brief == (3, "A2")
    assert world.told(joining) is None
    assert world.beat("b", 3, "A2", connection=2).brief == (4, None)
    told = world.told(joining)
    assert told is not None
    assert told.brief == (4, "A3")
    assert world.told(held) is None, "whose share does not change is not disturbed"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("it has something to let go of", {"member": "b", "epoch": 3, "connection": 2}),
        ("it says something new", {"member": "a", "epoch": 4, "rack_id": "r"}),
        ("it says something else that it owns", {"member": "a", "epoch": 4, "owned": "A0"}),
        ("it has not said what it owns on this connection", {"member": "a", "epoch": 4, "connection": 9}),
        ("its epoch is not its own", {"member": "a", "epoch": 7}),
        ("it is told another epoch", {"member": "a", "epoch": 3}),
    ],
)
def test_rule_11_what_never_waits(what: str, said: dict[str, Any]) -> None:
    world = waiting()
    world.send_beat("c", 0, "", connection=3, **FULL)
    assert world.row()[1]["a"] == "3 STABLE A0 A1"
    if said["epoch"] == 4:
        assert world.beat("a", 3).brief == (4, None)
    if said["member"] == "b":
        assert world.beat("b", 3, "A2 A3", connection=2).brief == (3, "A2")
    world.pass_ms(1_000)
    assert world.told(world.send_beat(**said)) is not None, what


def test_rule_11_a_heartbeat_behind_a_commit_is_answered_soon() -> None:
    """Seeds 64193 and 1202013: it had waited for the commit already. librdkafka gives up one interval after it has sent
    it; it came by a new connection again and again.
    """
    world = waiting()
    world.pass_ms(1_000)
    assert world.beat("a", 3, pipelined=True).brief == (3, None)
    held = world.send_beat("a", 3, pipelined=True)
    world.pass_ms(100)
    assert world.told(held) is not None, "two of them leave some time apart"


def test_rule_12_what_lets_a_held_answer_go() -> None:
    world = waiting()
    held = world.send_beat("a", 3)
    world.send_beat("a", 3)
    assert world.told(held) is not None
    held = world.send_beat("a", 3)
    assert world.beat("a", 3, "A0 A1", connection=5).brief == (3, None)
    told = world.told(held)
    assert told is not None
    assert told.brief == (3, None), "it is a member still, and must not hear that it is fenced"
    held = world.send_beat("a", 3, connection=5)
    world.leave("a", connection=6)
    told = world.told(held)
    assert told is not None
    assert told.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_rule_13_heartbeats_without_a_pause_are_slowed_down() -> None:
    """Java's consumer sends them as long as its metadata lacks a topic that it is assigned."""
    world = World(ConsumerSettings())
    world.join("a")
    until_ms, answered = world.now_ms + 1_000, 0
    while world.now_ms < until_ms:
        token = world.send_beat("a", 2)
        while world.told(token) is None:
            world.pass_ms(1)
        answered += 1
    assert answered == 10


def test_rule_11_who_has_something_to_confirm_has_not_converged_though_it_gets_its_partitions_back() -> None:
    """b goes before a has let go of what b was to have: a has all that its target names, and has not heard of it. While
    nothing can be written, its answer must not be one that needs a record.
    """
    world = World(ConsumerSettings())
    world.join("a")
    world.send_beat("b", 0, "", connection=2, **FULL)
    assert world.beat("a", 2).brief == (2, "A0 A1")
    held = world.send_beat("a", 2)
    world.leave("b", connection=3)
    assert world.row() == (4, {"a": "2 UNREVOKED A0 A1 - A2 A3"})
    assert world.group.state is ModernState.RECONCILING
    assert world.group.history[4].converged_timestamp == UNSET
    world.now_ms += 5_000
    step = world.shard.give_held(world.now_ms, world.wall_ms)
    assert (step.records, [reply.token for reply in step.replies]) == ([], [held])
    assert world.beat("a", 2, "A0 A1").brief == (4, "A0 A1 A2 A3")
    assert world.group.history[4].converged_timestamp != UNSET


def test_rule_10_0_means_never() -> None:
    world = two()
    world.beat("a", 3, "A0 A1")
    assert world.beat("a", 3).brief == (3, None)


def test_topics_that_change_reach_who_waits() -> None:
    world = waiting()
    held = world.send_beat("a", 3)
    world.learn(topics(A=6))
    told = world.told(held)
    assert told is not None
    assert told.brief == (4, "A0 A1 A4")


# -- the same heartbeat once more --------------------------------------------------------------------------------------


def at_rest() -> World:
    """As `two`, when both have come to their targets and nothing waits: each may be answered without being read."""
    world = two()
    world.beat("a", 3)
    world.beat("b", 3, connection=2)
    assert set(world.repeatable) == {1, 2}
    return world


@pytest.mark.parametrize(
    ("event", "left"),
    [
        (lambda world: world.join("c", connection=3), set()),
        (lambda world: world.leave("b", connection=2), set()),
        (lambda world: world.learn(topics(A=5)), set()),
        (lambda world: world.learn(topics(A=4, B=1)), {1, 2}),
        (lambda world: world.configure({"consumer.heartbeat.interval.ms": "6000"}), set()),
        (lambda world: world.beat("a", 3, connection=4), {2, 4}),
        (lambda world: world.beat("a", 3, rack_id="r1"), {2}),
        (lambda world: world.beat("a", 3, "A0 A1"), {1, 2}),
        (lambda world: world.beat("a", 3, "A0"), {2}),
        (lambda world: world.beat("a", 7), {2}),
        (lambda world: world.restart(), set()),
        (lambda world: world.pass_ms(44_000), {1, 2}),
        (lambda world: world.pass_ms(45_001), set()),
    ],
    ids=[
        "a newcomer", "a farewell", "its topic grows", "another topic", "its settings", "a newer connection",
        "something new", "what it has", "less than it has", "a wrong epoch", "a restart", "time", "the end of sessions",
    ],
)  # fmt: skip
def test_rule_15_what_ends_the_repetition_of_an_answer(event: Callable[[World], object], left: set[int]) -> None:
    world = at_rest()
    event(world)
    assert set(world.repeatable) == left


def test_rule_15_an_answer_that_may_wait_is_not_repeated() -> None:
    world = World(ConsumerSettings())
    world.join("a")
    world.beat("a", 2, "A0 A1 A2 A3")
    token = world.send_beat("a", 2)
    world.pass_ms(4_000)
    assert world.told(token) is not None
    assert not world.repeatable


@pytest.mark.parametrize(
    ("said", "writes"),
    [
        ({}, False),
        ({"owned": "A0 A1"}, False),
        ({"owned": "A0"}, True),
        ({"epoch": 2}, True),
        ({"member": "c"}, True),
        ({"rack_id": "r1"}, True),
        ({"instance_id": "i"}, True),
        ({"subscribed_topic_names": ["A"]}, True),
    ],
)
def test_rule_15_only_what_says_nothing_new_is_served_while_nothing_can_be_written(
    said: dict[str, Any], writes: bool
) -> None:
    world = at_rest()
    fields = {"member": "a", "epoch": 3, "owned": None, **said}
    member, epoch, owned = fields.pop("member"), fields.pop("epoch"), fields.pop("owned")
    listed = None if owned is None else wire(owned)
    request = ConsumerGroupHeartbeatRequest("g", member, epoch, topic_partitions=listed, **fields)
    assert world.shard.may_write(request) == writes
