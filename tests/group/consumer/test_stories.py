"""What happens in a consumer group, row by row: epochs, what each member is told, and what it must let go of.

The numbers are those of KG rules: KG-3 to KG-16 (docs/rules/consumer-groups.md). `test_as_kafka.py` tries that the
answers are Kafka's; here is what time, loads and kcoord's own rules add.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from kcoord.group.consumer.reconciliation import Goal, Position, next_position
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import Stage
from kcoord.group.state.groups.modern_group import UNSET
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.quarantine import quarantined
from kcoord.group.state.settings import DAY_MS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
)
from tests.group.consumer.sides import flat
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, World, parts, text, topic_id, topics, wire
from tests.group.sabotage import Saboteur

FULL: dict[str, Any] = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": ["A"]}
STABLE, UNREVOKED, UNRELEASED = Stage.STABLE, Stage.UNREVOKED, Stage.UNRELEASED


def two(world: World | None = None) -> World:
    """a has A0 and A1, b has A2 and A3, both at epoch 3."""
    world = world or World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2)
    world.beat("a", 2, "A0 A1")
    world.beat("b", 3, connection=2)
    assert world.row() == (3, {"a": "3 STABLE A0 A1", "b": "3 STABLE A2 A3"})
    return world


# -- rule 8: one member, one step --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "goal", "owned", "after"),
    [
        # stage, epoch, assigned, pending | epoch, target, what others have | owned | stage, epoch, assigned, pending
        ((STABLE, 3, "A0", ""), (3, "A0", ""), None, (STABLE, 3, "A0", "")),
        ((STABLE, 3, "A0", ""), (5, "A0", ""), None, (STABLE, 5, "A0", "")),
        ((STABLE, 3, "A0", ""), (5, "A0 A1", ""), None, (STABLE, 5, "A0 A1", "")),
        ((STABLE, 3, "A0", ""), (5, "A0 A1", "A1"), None, (UNRELEASED, 5, "A0", "")),
        ((STABLE, 3, "A0", ""), (5, "A0 A1 A2", "A1"), None, (UNRELEASED, 5, "A0 A2", "")),
        ((STABLE, 3, "A0 A1", ""), (5, "A0", ""), None, (UNREVOKED, 3, "A0", "A1")),
        ((STABLE, 3, "A0 A1", ""), (5, "A0", ""), "A0 A1", (UNREVOKED, 3, "A0", "A1")),
        ((STABLE, 3, "A0 A1", ""), (5, "A0", ""), "A0", (STABLE, 5, "A0", "")),
        ((STABLE, 3, "A0 A1", ""), (5, "A2", ""), "", (STABLE, 5, "A2", "")),
        ((UNREVOKED, 3, "A0", "A1"), (5, "A0", ""), None, (UNREVOKED, 3, "A0", "A1")),
        ((UNREVOKED, 3, "A0", "A1"), (5, "A0", ""), "A0 A1", (UNREVOKED, 3, "A0", "A1")),
        ((UNREVOKED, 3, "A0", "A1"), (5, "A0", ""), "A0", (STABLE, 5, "A0", "")),
        ((UNREVOKED, 3, "A0", "A1"), (6, "A1", ""), "A0", (UNREVOKED, 3, "", "A0")),
        ((UNREVOKED, 3, "A0", "A1"), (6, "A0 A1", ""), "A0", (STABLE, 6, "A0 A1", "")),
        ((UNRELEASED, 5, "A0", ""), (5, "A0 A1", "A1"), None, (UNRELEASED, 5, "A0", "")),
        ((UNRELEASED, 5, "A0", ""), (5, "A0 A1", ""), None, (STABLE, 5, "A0 A1", "")),
        ((UNRELEASED, 5, "A0", ""), (7, "A1", "A1"), None, (UNREVOKED, 5, "", "A0")),
        # B is a topic that it subscribes to no longer: it loses that at once
        ((STABLE, 3, "A0 B0", ""), (3, "A0", ""), None, (UNREVOKED, 3, "A0", "B0")),
        ((STABLE, 3, "A0 B0", ""), (3, "A0", ""), "A0", (STABLE, 3, "A0", "")),
        ((UNREVOKED, 3, "A0 B0", "A1"), (5, "A0", ""), None, (UNREVOKED, 3, "A0", "A1 B0")),
    ],
)
def test_rule_8_one_step(
    before: tuple[Stage, int, str, str],
    goal: tuple[int, str, str],
    owned: str | None,
    after: tuple[Stage, int, str, str],
) -> None:
    stage, epoch, assigned, pending = before
    others = parts(goal[2])
    found = next_position(
        Position(stage, epoch, parts(assigned), parts(pending)),
        Goal(goal[0], parts(goal[1]), frozenset({topic_id("A")}), lambda each: each not in others),
        None if owned is None else parts(owned),
    )
    assert (found.stage, found.epoch, text(found.assigned), text(found.pending)) == after


# -- the group as a whole ----------------------------------------------------------------------------------------------


def test_rule_8_somebody_joins_and_gets_what_the_other_lets_go_of() -> None:
    world = World()
    assert world.join("a").brief == (2, "A0 A1 A2 A3")
    assert world.join("b", connection=2).brief == (3, "")
    assert world.row() == (3, {"a": "2 STABLE A0 A1 A2 A3", "b": "3 UNRELEASED"})
    assert world.beat("a", 2).brief == (2, "A0 A1")
    assert world.row() == (3, {"a": "2 UNREVOKED A0 A1 - A2 A3", "b": "3 UNRELEASED"})
    assert world.beat("b", 3, connection=2).brief == (3, None)
    assert world.beat("a", 2, "A0 A1").brief == (3, None)
    assert world.beat("b", 3, connection=2).brief == (3, "A2 A3")
    assert world.row() == (3, {"a": "3 STABLE A0 A1", "b": "3 STABLE A2 A3"})


def test_rule_3_epoch_0_of_a_dynamic_member_changes_nothing() -> None:
    world = two()
    assert world.join("a").brief == (3, "A0 A1")
    assert world.row() == (3, {"a": "3 STABLE A0 A1", "b": "3 STABLE A2 A3"})


def test_rule_1_an_id_is_made_for_who_has_none_in_version_0() -> None:
    world = World()
    told = world.join("", version=0)
    assert told.response.member_id in world.group.members
    assert told.brief == (2, "A0 A1 A2 A3")


def test_rule_2_a_newcomer_beyond_the_size_is_refused_and_nobody_else() -> None:
    world = two(World(ConsumerSettings(max_size=2, heartbeat_wait_ms=0)))
    assert world.join("c", connection=3).error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.join("a").brief == (3, "A0 A1")


def test_rule_7_the_assignor_is_the_one_that_most_wish_for() -> None:
    world = World()
    for member, wished, used in (("a", None, "uniform"), ("b", "range", "range"), ("c", "uniform", "uniform")):
        world.join(member, server_assignor=wished)
        assert world.group.assignor == used
    world.join("d", server_assignor="range")
    assert world.group.assignor == "range"


# -- rule 5: who goes, and who is lost ---------------------------------------------------------------------------------


def test_rule_5_whose_session_ends_loses_all_at_once_and_the_fence_is_moved() -> None:
    world = two()
    world.pass_ms(SESSION_MS - 1)
    world.beat("a", 3)
    world.pass_ms(1)
    assert world.row() == (4, {"a": "3 STABLE A0 A1"})
    assert world.group.fence_epoch == 4
    assert world.beat("a", 3).brief == (4, "A0 A1 A2 A3")
    assert world.beat("b", 3, connection=2).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_rule_5_who_leaves_has_let_go_and_moves_no_fence() -> None:
    world = two()
    world.leave("b", connection=2)
    assert (world.group.epoch, world.group.fence_epoch) == (4, 0)


def test_rule_5_who_does_not_let_go_in_time_is_removed() -> None:
    world = World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2)
    for _ in range(REBALANCE_MS // 10_000 - 1):
        world.pass_ms(10_000)
        assert world.beat("a", 2).brief == (2, None)
        assert world.beat("b", 3, connection=2).brief == (3, None)
    world.pass_ms(10_000)
    assert world.row() == (4, {"b": "3 UNRELEASED"})
    assert world.beat("a", 2).error is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.beat("b", 3, connection=2).brief == (4, "A0 A1 A2 A3")
    assert world.group.fence_epoch == 4


def test_rule_4_a_static_member_that_is_away_keeps_its_place_until_its_session_ends() -> None:
    world = World()
    world.join("a", instance_id="one")
    world.join("b", connection=2)
    world.beat("a", 2)
    world.beat("a", 2, "A0 A1")
    world.beat("b", 3, connection=2)
    assert world.beat("a", -2, instance_id="one").brief == (-2, None)
    assert world.row() == (3, {"a": "-2 STABLE A0 A1", "b": "3 STABLE A2 A3"})
    assert world.join("c", instance_id="one", connection=3).brief == (3, "A0 A1")
    assert world.row() == (3, {"b": "3 STABLE A2 A3", "c": "3 STABLE A0 A1"})
    world.beat("c", -2, instance_id="one", connection=3)
    world.pass_ms(SESSION_MS // 2)
    world.beat("b", 3, connection=2)
    world.pass_ms(SESSION_MS // 2)
    assert world.row() == (4, {"b": "3 STABLE A2 A3"})


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


def test_rule_10_an_answer_without_news_waits_for_four_fifths_of_the_interval() -> None:
    world = waiting()
    token = world.send_beat("a", 3)
    world.pass_ms(3_999)
    assert world.told(token) is None
    world.pass_ms(1)
    told = world.told(token)
    assert told is not None
    assert told.brief == (3, None)


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


# -- loads -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compacted", [False, True])
def test_rule_5_after_a_load_all_goes_on_and_times_begin_afresh(compacted: bool) -> None:
    world = World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2)
    world.pass_ms(20_000)
    world.restart(lose_ms=60_000, compacted=compacted)
    assert world.row() == (3, {"a": "2 UNREVOKED A0 A1 - A2 A3", "b": "3 UNRELEASED"})
    world.pass_ms(20_000)
    assert world.beat("b", 3, connection=12).brief == (3, None)
    assert world.beat("a", 2, "A0 A1", connection=11).brief == (2, None), "the list may be older than the load"
    assert world.beat("a", 2, connection=11).brief == (3, None)
    assert world.beat("b", 3, connection=12).brief == (3, "A2 A3")


def test_rule_8_an_epoch_that_moves_alone_is_no_record_and_is_believed_after_a_load() -> None:
    world = two()
    records = len(world.log)
    world.join("c", subscribed="", connection=3)
    world.leave("c", connection=3)
    grown = len(world.log)
    assert world.beat("a", 3).brief == (4, None)
    assert (grown > records, len(world.log)) == (True, grown)
    world.restart()
    assert world.beat("a", 5, connection=11).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert world.beat("a", 4, connection=11).brief == (4, None)
    assert world.beat("b", 3, connection=12).brief == (4, None)


def test_rule_8_letting_go_counts_on_the_newest_connection_only() -> None:
    world = World()
    world.join("a")
    world.join("b", connection=2)
    assert world.beat("a", 2, "A0 A1 A2 A3", connection=5).brief == (2, "A0 A1")
    assert world.beat("a", 2, "A0 A1", connection=1).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert world.beat("a", 2, "A0 A1", connection=5).brief == (3, None)


# -- topics ------------------------------------------------------------------------------------------------------------


def test_rule_6_topics_that_grow_appear_vanish_and_are_made_anew() -> None:
    world = World(known=topics(A=2))
    world.join("a", "AB")
    for known, told in (
        (topics(A=3), "A0 A1 A2"),
        (topics(A=3, B=1), "A0 A1 A2 B0"),
        (topics(A=3, B=1, C=9), None),
        (topics(B=1), "B0"),
    ):
        world.learn(known)
        epoch = world.member("a").epoch
        assert world.beat("a", epoch).has == told
        world.beat("a", world.member("a").epoch, text(world.member("a").assigned))
    assert world.row() == (5, {"a": "5 STABLE B0"})


def test_a_topic_that_nobody_subscribes_to_is_known_while_somebody_has_its_partitions() -> None:
    world = World(known=topics(A=1, B=1))
    world.join("a", "AB")
    world.beat("a", 2, subscribed_topic_names=["A"])
    assert world.group.topics.keys() == {"A", "B"}
    world.beat("a", 2, "A0")
    assert world.group.topics.keys() == {"A"}


# -- offsets -----------------------------------------------------------------------------------------------------------


def test_a_commit_is_good_for_what_the_member_has_had_since_its_epoch() -> None:
    """As Kafka has it since KIP-1251; what is lost without a farewell is fenced."""
    world = two()
    world.join("c", connection=3)
    world.beat("a", 3, "A0 A1")
    assert world.row()[1]["a"].startswith(("3 UNREVOKED", "4 STABLE"))
    kept = text(world.member("a").assigned)
    assert world.commit("a", 3, kept) is ErrorCode.NONE
    world.beat("a", 3, kept)
    assert world.member("a").epoch == 4
    assert world.commit("a", 3, kept) is ErrorCode.NONE
    assert world.commit("a", 3, "A0 A1 A2 A3") is ErrorCode.STALE_MEMBER_EPOCH
    assert world.commit("a", 5, kept) is ErrorCode.STALE_MEMBER_EPOCH
    world.pass_ms(SESSION_MS)
    assert world.commit("a", 4, kept) is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_topics_that_nobody_subscribes_to_expire_and_then_the_group() -> None:
    never_ends = ConsumerSettings(session_timeout_ms=30 * DAY_MS, heartbeat_wait_ms=0)
    world = World(never_ends, topics(A=1, B=1))
    world.join("a", "AB")
    assert world.commit("a", 2, "A0") is ErrorCode.NONE
    assert world.commit("a", 2, "B0") is ErrorCode.NONE
    world.beat("a", 2, subscribed_topic_names=["A"])
    world.beat("a", 2, "A0")
    delete = OffsetDeleteRequest(GROUP, [OffsetDeleteRequestTopic("A", [OffsetDeleteRequestPartition(0)])])
    told = world.ask(delete, OffsetDeleteResponse, version=0, connection=0)
    assert told.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    world.pass_ms(8 * DAY_MS)
    assert world.shard.offset_partitions(GROUP) == {"A": [0]}
    world.leave("a")
    world.pass_ms(8 * DAY_MS)
    assert GROUP not in world.shard.group_ids()


# -- names and other kinds ---------------------------------------------------------------------------------------------


def test_rule_2_a_group_of_another_kind_is_not_found_and_an_empty_one_makes_room() -> None:
    world = World()
    classic = JoinGroupRequest(GROUP, 30_000, 30_000, "", None, "consumer", [])
    joined = world.ask(classic, JoinGroupResponse, version=2)
    assert joined.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL  # it lists no protocols
    assert world.join("a").brief == (2, "A0 A1 A2 A3")
    described = world.ask(DescribeGroupsRequest([GROUP]), DescribeGroupsResponse, version=6, connection=0).groups[0]
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == f"Group {GROUP} is a consumer group: describe it as one."
    refused = world.ask(classic, JoinGroupResponse, version=2)
    assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    answer = world.ask(DeleteGroupsRequest([GROUP]), DeleteGroupsResponse, connection=0)
    assert answer.results[0].error_code == ErrorCode.NON_EMPTY_GROUP
    world.leave("a")
    answer = world.ask(DeleteGroupsRequest([GROUP]), DeleteGroupsResponse, connection=0)
    assert answer.results[0].error_code == ErrorCode.NONE
    assert GROUP not in world.shard.state.consumer


def test_a_step_that_breaks_off_leaves_nothing() -> None:
    world = World()
    world.saboteur = Saboteur(world.settings)
    assert world.commit("", -1, "A0 A3") is ErrorCode.NONE
    two(world)
    assert world.commit("a", 3, "A0") is ErrorCode.NONE
    world.join("c", "AB", connection=3, instance_id="i")
    world.beat("c", -2, instance_id="i", connection=3)
    world.join("d", "A", connection=4, instance_id="i")
    world.leave("b", connection=2)
    world.pass_ms(2 * SESSION_MS)
    assert world.row() == (world.group.epoch, {})
    assert world.commit("", -1, "A1") is ErrorCode.NONE
    assert sorted(world.shard.offset_partitions(GROUP)["A"]) == [0, 1, 3]
    world.ask(DeleteGroupsRequest([GROUP]), DeleteGroupsResponse, connection=0)
    assert world.shard.offset_partitions(GROUP) == {}
    assert world.saboteur.attacks > 20


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


# -- regular expressions -----------------------------------------------------------------------------------------------

BY_PATTERN = {"subscribed_topic_names": None, "subscribed_topic_regex": "x"}


def test_rule_16_a_regular_expression_subscribes_to_what_matches_it() -> None:
    world = World(known=topics(A=1, B=1, C=1))
    assert world.join("a", **BY_PATTERN, resolved="AB").brief == (2, "A0 B0")
    assert world.join("b", "C", connection=2).brief == (3, "C0")
    both: dict[str, Any] = {"subscribed_topic_names": ["A"], "subscribed_topic_regex": "y"}
    assert world.join("c", connection=3, **both, resolved="C").epoch == 4
    assert world.group.subscribed_names(world.member("c")) == {"A", "C"}, "names and matches together"


def test_rule_16_members_with_one_expression_share_what_matches_it_and_unresolved_is_nothing() -> None:
    world = World(known=topics(A=2))
    world.join("a", **BY_PATTERN, resolved="A")
    assert world.join("b", connection=2, **BY_PATTERN).brief == (3, ""), "it is resolved already"
    assert world.beat("a", 2).brief == (2, "A0")
    assert world.join("c", connection=3, subscribed_topic_names=None, subscribed_topic_regex="y").brief == (4, "")
    assert world.group.resolved == {"x": frozenset("A")}


def test_rule_16_a_change_of_what_matches_moves_the_epoch_once() -> None:
    world = World(known=topics(A=1, B=1))
    world.join("a", **BY_PATTERN, resolved="A")
    world.beat("a", 2, "A0")
    world.learn(topics(A=1, B=1), x="A")
    assert world.group.epoch == 2, "the same matches as before"
    world.learn(topics(A=1, B=1, C=1), x="ABC")
    assert world.group.epoch == 3
    assert world.beat("a", 2).brief == (3, "A0 B0 C0")
    world.beat("a", 3, "A0 B0 C0")
    world.learn(topics(A=1, B=1, C=1), x="B")
    assert world.group.epoch == 4
    assert world.beat("a", 3).brief == (3, "B0")
    assert world.beat("a", 3, "B0").brief == (4, None)


def test_rule_16_another_expression_is_another_subscription_and_the_last_one_goes() -> None:
    world = World(known=topics(A=1, B=1))
    world.join("a", **BY_PATTERN, resolved="A")
    world.beat("a", 2, "A0")
    assert world.beat("a", 2, subscribed_topic_regex="y", resolved="B").brief == (2, "")
    assert (world.group.epoch, world.group.resolved) == (3, {"y": frozenset("B")})
    assert world.beat("a", 2, "").brief == (3, "B0")
    world.beat("a", 3, subscribed_topic_regex="", subscribed_topic_names=["A"])
    assert (world.group.epoch, world.group.resolved) == (4, {})


def test_rule_16_a_load_goes_on_from_what_matched() -> None:
    world = World(known=topics(A=1, B=1))
    world.join("a", **BY_PATTERN, resolved="A")
    world.restart()
    assert world.beat("a", 2, "A0", connection=9).brief == (2, None)
    assert world.group.epoch == 2
    world.learn(topics(A=1, B=1), x="AB")
    assert world.group.epoch == 3


def test_rule_16_a_group_has_100_expressions() -> None:
    world = World(known=topics(A=1))
    for number in range(100):
        fields = {"subscribed_topic_names": None, "subscribed_topic_regex": f"x{number}"}
        assert not world.join(f"m{number}", connection=number, **fields).error
    over = {"subscribed_topic_names": None, "subscribed_topic_regex": "y"}
    assert world.join("n", connection=200, **over).brief == "INVALID_REQUEST"
    assert not world.join("n", connection=200, subscribed_topic_names=None, subscribed_topic_regex="x7").error
    assert not world.beat("m0", world.member("m0").epoch, connection=0, subscribed_topic_regex="z").error


# -- a name belongs to one kind of groups ------------------------------------------------------------------------------


def worker(world: World, epoch: int = 0) -> ErrorCode:
    """What a worker of a connect group hears."""
    request = ConnectGroupHeartbeatRequest(GROUP, "w", epoch)
    if epoch == 0:
        request = attrs.evolve(
            request,
            rebalance_timeout_ms=REBALANCE_MS,
            url="http://w",
            server_assignor="uniform",
            connectors_and_tasks=[],
        )
    answer = world.ask(request, ConnectGroupHeartbeatResponse, version=0, connection=5)
    return ErrorCode(answer.error_code)


@pytest.mark.parametrize("has_offsets", [False, True])
def test_rule_2_workers_cannot_join_consumers_and_take_the_name_when_nothing_is_left(has_offsets: bool) -> None:
    world = World()
    world.join("a")
    assert worker(world) is ErrorCode.GROUP_ID_NOT_FOUND
    if has_offsets:
        world.commit("a", 2, "A0")
    world.leave("a")
    assert worker(world, -1) is ErrorCode.GROUP_ID_NOT_FOUND
    if has_offsets:
        assert worker(world) is ErrorCode.GROUP_ID_NOT_FOUND, "the offsets are consumers'"
    else:
        assert worker(world) is ErrorCode.NONE
        assert (list(world.shard.state.connect), list(world.shard.state.consumer)) == ([GROUP], [])


def test_rule_2_consumers_cannot_join_workers_and_take_the_name_when_they_have_gone() -> None:
    world = World()
    worker(world)
    assert world.join("a").brief == "GROUP_ID_NOT_FOUND"
    worker(world, -1)
    assert world.join("a").brief == (2, "A0 A1 A2 A3")
    assert (list(world.shard.state.connect), list(world.shard.state.consumer)) == ([], [GROUP])
    world.restart()
    assert (list(world.shard.state.connect), list(world.shard.state.consumer)) == ([], [GROUP])


def test_rule_2_classic_workers_that_are_managed_one_by_one_do_not_take_the_name_of_consumers() -> None:
    world = World()
    world.configure({"connect.classic.mode": "individual"})
    world.join("a")
    protocols = [JoinGroupRequestProtocol("compatible", b"")]
    request = JoinGroupRequest(GROUP, 10_000, 30_000, "", None, "connect", protocols)
    refused = world.ask(request, JoinGroupResponse, version=3, connection=5)
    assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert not world.shard.state.connect


# -- what is told of a group -------------------------------------------------------------------------------------------


def test_the_history_is_told_to_whom_asks_for_it() -> None:
    """And what members must let go of. Nobody else gets a byte more than Kafka sends."""
    world = World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2)
    plain, told = world.describe(), world.describe(with_history=True)
    assert plain.history is None
    assert [each.pending for each in plain.members] == [[], []]

    assert told.history is not None
    assert [(each.epoch, each.reason, each.moved_count) for each in told.history] == [
        (2, "consumer joined: a", 4),
        (3, "consumer joined: b", 2),
    ]
    assert [(move.from_, move.to, text(flat(move.topic_partitions))) for move in told.history[1].moves] == [
        ("a", "b", "A2 A3")
    ]
    assert told.history[1].moves[0].topic_partitions[0].topic_name == "A"
    assert told.history[1].installed_ms == world.wall_ms
    assert told.history[1].converged_ms == UNSET
    assert [text(flat(each.pending)) for each in told.members] == ["A2 A3", ""]

    told.history = None
    for each in told.members:
        each.pending = []
    assert ConsumerGroupDescribeResponse(groups=[told]).encode(1) == ConsumerGroupDescribeResponse(
        groups=[plain]
    ).encode(1)


def test_moves_of_a_topic_that_is_gone_are_told_without_its_name() -> None:
    world = World()
    world.join("a")
    world.learn({})
    history = world.describe(with_history=True).history
    assert history is not None
    assert [[each.topic_name for move in entry.moves for each in move.topic_partitions] for entry in history] == [
        [""],
        [""],
    ]


def test_a_quarantine_is_told_to_whom_asks_for_the_history() -> None:
    world = World()
    world.join("a")
    world.shard.state.quarantine[GROUP] = quarantined(None, world.now_ms, "sweep", "out of luck", closed=False)
    assert world.describe().error_message is None
    told = world.describe(with_history=True)
    assert told.error_message is not None
    assert "in quarantine" in told.error_message
    assert told.error_code == ErrorCode.NONE
