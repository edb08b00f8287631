"""What happens in a consumer group, row by row: epochs, what each member is told, and what it must let go of.

The numbers are those of KG rules: KG-3 to KG-13 (docs/rules/consumer-groups.md). `test_as_kafka.py` tries that the
answers are Kafka's; here is what time, loads and kcoord's own rules add.
"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.consumer.reconciliation import Goal, Position, next_position
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import Stage
from kcoord.group.state.groups.modern_group import UNSET
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.settings import DAY_MS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
)
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, World, parts, text, topic_id, topics
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
