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


def waiting(is_patient: bool = False, **settings: Any) -> World:
    """As `two`, where answers wait. b's join waits until a has let go."""
    world = World(ConsumerSettings(**settings))
    world.join("a", is_patient=is_patient)
    joining = world.send_beat("b", 0, "", connection=2, is_patient=is_patient, **FULL)
    assert world.beat("a", 2, is_patient=is_patient).brief == (2, "A0 A1")
    assert world.told(joining) is None
    world.send_beat("a", 2, "A0 A1", is_patient=is_patient)
    told = world.told(joining)
    assert told is not None
    assert told.brief == (3, "A2 A3")
    world.pass_ms(500)  # a is answered, too
    return world


def waits_ms(world: World, member: str = "a", **said: Any) -> tuple[int, int]:
    """How long the answer to a member's heartbeat without news waits, and the interval that it tells."""
    return until_answered(world, world.send_beat(member, world.member(member).epoch, **said))


def until_answered(world: World, token: object) -> tuple[int, int]:
    since_ms = world.now_ms
    while (told := world.told(token)) is None:
        world.pass_ms(1)
    return world.now_ms - since_ms, told.response.heartbeat_interval_ms


@pytest.mark.parametrize(
    ("what", "is_patient", "settings", "waits"),
    [
        ("two consumers", False, {}, (500, 1_000)),
        ("two that do not give up", True, {}, (300, 500)),
        ("two are many", False, {"heartbeats_per_s": 1}, (1_500, 2_000)),
        ("and do not give up", True, {"heartbeats_per_s": 1}, (1_800, 2_000)),
        ("a short interval is set", False, {"heartbeat_interval_ms": 600}, (300, 600)),
        ("a short wait is set", False, {"heartbeat_wait_ms": 400}, (400, 1_000)),
        ("a long wait is set", False, {"heartbeat_wait_ms": 20_000}, (500, 1_000)),
    ],
)
def test_rule_10_and_25_how_long_answers_without_news_wait(
    what: str, is_patient: bool, settings: dict[str, Any], waits: tuple[int, int]
) -> None:
    world = waiting(is_patient, **settings)
    world.pass_ms(4_000)
    waits_ms(world, is_patient=is_patient)
    assert waits_ms(world, is_patient=is_patient) == waits, what


@pytest.mark.parametrize(("is_patient", "join_waits_ms"), [(False, 500), (True, 4_800)])
def test_rule_10_and_11_how_long_a_join_waits(*, is_patient: bool, join_waits_ms: int) -> None:
    """A client that was a member before may still go by the short interval that it was told then."""
    world = World(ConsumerSettings())
    world.join("a")
    joining = world.send_beat("b", 0, "", connection=2, is_patient=is_patient, **FULL)
    assert until_answered(world, joining)[0] == join_waits_ms


@pytest.mark.parametrize(
    ("consumers", "per_s", "patient_ms", "others_ms"),
    [
        (1, 20, 500, 1_000),
        (10, 20, 500, 1_000),
        (11, 20, 1_000, 1_000),
        (20, 20, 1_000, 1_000),
        (21, 20, 2_000, 2_000),
        (3, 1, 4_000, 4_000),
        (5, 1, 5_000, 5_000),
    ],
)
def test_rule_25_the_fewer_consumers_the_shorter_is_their_interval(
    consumers: int, per_s: int, patient_ms: int, others_ms: int
) -> None:
    """Those of all groups count, as they were a second ago."""
    for is_patient, interval_ms in ((True, patient_ms), (False, others_ms)):
        world = World(ConsumerSettings(heartbeats_per_s=per_s), known=topics(A=1))
        for number in range(consumers):
            world.join(f"m{number}", "B", connection=10 + number, is_patient=is_patient)
        world.pass_ms(1_000)
        assert waits_ms(world, "m0", connection=10, is_patient=is_patient)[1] == interval_ms


def test_rule_25_the_interval_stays_while_it_is_about_right() -> None:
    """Java's consumer waits for a whole interval more whenever it is told another one."""
    world = World(ConsumerSettings(heartbeats_per_s=2), known=topics(A=1))
    told = []
    world.join("m0", "B", is_patient=True)
    for count in (1, 4, 5, 2, 1, 3, 20):
        for number in range(1, 20):
            if number < count and f"m{number}" not in world.group.members:
                world.join(f"m{number}", "B", connection=100 + number)
            elif number >= count and f"m{number}" in world.group.members:
                world.leave(f"m{number}", connection=100 + number)
        world.pass_ms(1_000)
        told.append(waits_ms(world, "m0", is_patient=True)[1])
    assert told == [500, 2_000, 4_000, 4_000, 500, 2_000, 5_000]


@pytest.mark.parametrize("compacted", [False, True])
def test_rule_9_and_25_after_a_load_the_first_answer_does_not_wait(*, compacted: bool) -> None:
    world = waiting(heartbeats_per_s=1)
    world.pass_ms(4_000)
    assert [waits_ms(world)[0] for _ in range(2)] == [500, 1_500]
    world.restart(compacted=compacted)
    assert world.beat("a", 3, "A0 A1").brief == (3, "A0 A1")
    assert until_answered(world, world.send_beat("a", 3))[0] == 1_500


def test_rule_9_and_25_nor_does_the_first_on_a_new_connection() -> None:
    """Seed 222403: the answer that told a longer interval may be lost with the old one."""
    world = waiting(heartbeats_per_s=1)
    world.pass_ms(4_000)
    assert [waits_ms(world)[0] for _ in range(2)] == [500, 1_500]
    assert world.beat("a", 3, "A0 A1", connection=99).brief == (3, "A0 A1")
    assert until_answered(world, world.send_beat("a", 3, connection=99))[0] == 1_500


def test_rule_13_and_25_an_answer_that_waits_for_less_than_the_fuse_waits_for_that() -> None:
    """Seed 36826: a short wait was set."""
    world = World(ConsumerSettings(heartbeat_wait_ms=30))
    world.join("a")
    token = world.send_beat("a", 2, "A0 A1 A2 A3")
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
    held, losing = world.send_beat("a", 3), world.send_beat("b", 3, "A2 A3", connection=2)
    joining = world.send_beat("c", 0, "", connection=3, **FULL)
    told = world.told(losing)
    assert told is not None
    assert told.brief == (3, "A2")
    assert world.told(joining) is None
    world.send_beat("b", 3, "A2", connection=2)
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
    ],
)
def test_rule_11_what_never_waits(what: str, said: dict[str, Any]) -> None:
    world = waiting()
    world.send_beat("c", 0, "", connection=3, **FULL)
    assert world.row()[1]["a"] == "3 STABLE A0 A1"
    if said["epoch"] == 4:
        waits_ms(world)
    if said["member"] == "b":
        assert world.beat("b", 3, "A2 A3", connection=2).brief == (3, "A2")
    world.pass_ms(1_000)
    assert world.told(world.send_beat(**said)) is not None, what


@pytest.mark.parametrize(
    ("what", "member", "said"),
    [
        ("what it was given", "b", {"epoch": 3, "owned": "A2 A3", "connection": 2}),
        ("that it has let go", "b", {"epoch": 3, "owned": "A2", "connection": 2}),
        ("that it lives; it has not heard of the newest epoch", "a", {"epoch": 3}),
    ],
)
def test_rule_11_what_a_member_says_while_its_answer_may_wait(what: str, member: str, said: dict[str, Any]) -> None:
    """It can be told of the next change at once."""
    world = waiting()
    if said.get("owned") != "A2 A3":
        world.send_beat("c", 0, "", connection=3, **FULL)
    if said.get("owned") == "A2":
        assert world.beat("b", 3, "A2 A3", connection=2).brief == (3, "A2")
    held = world.send_beat(member, **said)
    assert world.told(held) is None, what
    world.learn(topics(A=20))
    told = world.told(held)
    assert told is not None
    assert told.brief[1] is not None


def test_rule_3_and_11_whose_answer_waits_may_go_on_with_the_epoch_that_it_knows() -> None:
    """Its own has moved on meanwhile. It comes by other connections, and says no more than that it lives."""
    world = waiting()
    world.join("one", "B", connection=6)
    held = world.send_beat("a", 3)
    world.join("two", "C", connection=7)
    assert (world.member("a").epoch, world.group.epoch, world.told(held)) == (4, 5, None)
    assert world.commit("a", 3, "A0") is ErrorCode.NONE
    for connection in (8, 9):
        assert world.beat("a", 3, connection=connection).brief == (5, "A0 A1")
    token = world.send_beat("a", 5, connection=9)
    assert until_answered(world, token)[0] == 100


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("restarts", [False, True])
def test_rule_3_and_11_whose_answer_is_lost_may_say_the_epoch_before_though_it_has_to_let_go(
    *, restarts: bool, compacted: bool
) -> None:
    """The epoch that it knows is older than the previous one: what is to be let go of is still kept for it."""
    world = waiting()
    world.join("other", "B", connection=7)
    held = world.send_beat("a", 3)
    world.send_beat("c", 0, "", connection=3, **FULL)
    world.send_beat("d", 0, "", connection=4, **FULL)
    told = world.told(held)
    assert told is not None
    assert told.brief == (4, "A0"), "lost"
    if restarts:
        world.restart(compacted=compacted)
    assert world.beat("a", 3, "A0 A1", connection=8, **FULL).brief == (4, "A0")


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
    held = world.send_beat("a", 3, pipelined=True, is_patient=True)
    world.pass_ms(100)
    assert world.told(held) is None, "this one does not give up"


def test_rule_12_what_lets_a_held_answer_go() -> None:
    world = waiting()
    held = world.send_beat("a", 3)
    world.send_beat("a", 3)
    assert world.told(held) is not None
    held = world.send_beat("a", 3)
    world.send_beat("a", 3, "A0 A1", connection=5)
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
        (lambda world: world.beat("a", 3, connection=4), {2}),
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
    token = world.send_beat("a", 2, "A0 A1 A2 A3")
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
