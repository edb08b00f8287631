"""What happens in a consumer group, row by row: epochs, what each member is told, and what it must let go of.

The numbers are those of KG rules: KG-3 to KG-16 (docs/rules/consumer-groups.md). `test_as_kafka.py` tries that the
answers are Kafka's; here is what time, loads and kcoord's own rules add.
"""

from __future__ import annotations

import pytest

from kcoord.group.consumer.reconciliation import Goal, Position, next_position
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import Stage
from kcoord.group.state.groups.modern_group import UNSET
from kcoord.group.state.quarantine import quarantined
from kcoord.group.state.settings import DAY_MS
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.messages import (
    ConsumerGroupDescribeResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
)
from tests.group.consumer.sides import flat
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, World, parts, text, topic_id, topics, two

STABLE, UNREVOKED, UNRELEASED = Stage.STABLE, Stage.UNREVOKED, Stage.UNRELEASED


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
    for late in (None, "A0 A1"):
        assert world.beat("a", 3, late, instance_id="one").error is ErrorCode.FENCED_MEMBER_EPOCH, "it has gone"
    assert world.join("c", instance_id="one", connection=3).brief == (3, "A0 A1")
    assert world.row() == (3, {"b": "3 STABLE A2 A3", "c": "3 STABLE A0 A1"})
    world.beat("c", -2, instance_id="one", connection=3)
    world.pass_ms(SESSION_MS // 2)
    world.beat("b", 3, connection=2)
    world.pass_ms(SESSION_MS // 2)
    assert world.row() == (4, {"b": "3 STABLE A2 A3"})


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
    assert world.beat("b", 3, connection=12).brief == (3, "")
    assert world.beat("a", 2, "A0 A1", connection=11).brief == (2, "A0 A1"), "the list may be older than the load"
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
    assert world.beat("a", 4, connection=11).brief == (4, "A0 A1")
    assert world.beat("b", 3, connection=12).brief == (4, "A2 A3")


def test_rule_8_letting_go_counts_on_the_newest_connection_only() -> None:
    world = World()
    world.join("a")
    world.join("b", connection=2)
    assert world.beat("a", 2, "A0 A1 A2 A3", connection=5).brief == (2, "A0 A1")
    assert world.beat("a", 2, "A0 A1", connection=1).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert world.beat("a", 2, "A0 A1", connection=5).brief == (3, None)


def test_rule_9_who_comes_by_a_new_connection_is_told_what_it_may_have_missed() -> None:
    """librdkafka gives a heartbeat up, and says by a new connection only what had no answer: it kept all for ever."""
    world = World()
    world.join("a")
    world.join("b", connection=2)
    assert world.beat("a", 2).brief == (2, "A0 A1"), "lost"
    assert world.beat("a", 2, "A0 A1 A2 A3", connection=5).brief == (2, "A0 A1")
    assert world.beat("a", 2, "A0 A1", connection=5).brief == (3, None)
    assert world.beat("a", 3, connection=6).brief == (3, "A0 A1")
    assert world.beat("a", 3, connection=6).brief == (3, None)
    assert world.beat("a", 3, "A0 A1", connection=7).brief == (3, "A0 A1"), "it may be about to follow something else"


def test_rule_3_on_a_new_connection_the_epoch_before_may_be_said_without_what_is_owned() -> None:
    """Seed 302507: librdkafka says only what has changed."""
    world = World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2)
    assert world.beat("a", 2, "A0 A1").brief == (3, None), "lost"
    assert world.beat("a", 2, connection=5).brief == (3, "A0 A1")
    assert world.beat("a", 2, connection=5).error is ErrorCode.FENCED_MEMBER_EPOCH


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
