"""Stories of what simulated runs have found in consumer groups. The runs themselves are in `tests/sim/plans`."""

from __future__ import annotations

from typing import Any

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.messages import OffsetFetchRequest, OffsetFetchResponse
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, Told, World

ALL: dict[str, Any] = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": ["A"]}
"""What a consumer says besides what it owns after a lost connection."""


def two() -> World:
    """a and b with two partitions of A each, at epoch 3."""
    world = World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2, "A0 A1 A2 A3")
    world.beat("a", 2, "A0 A1")
    world.beat("b", 3, "", connection=2)
    world.beat("b", 3, "A2 A3", connection=2)
    assert world.row() == (3, {"a": "3 STABLE A0 A1", "b": "3 STABLE A2 A3"})
    return world


def given_back() -> World:
    """b has gone. a was told to consume everything, and c has joined since."""
    world = two()
    world.leave("b", connection=2)
    assert world.beat("a", 3).brief == (4, "A0 A1 A2 A3")
    world.join("c", connection=3)
    return world


def again(world: World, owned: str, connection: int) -> Told:
    """a has lost its connection, and says all that it has to say."""
    return world.beat("a", world.member("a").epoch, owned, connection=connection, **ALL)


def test_rule_5_a_session_begins_with_the_join_although_its_answer_waits() -> None:
    world = World(ConsumerSettings())
    world.join("a")
    world.pass_ms(SESSION_MS - 1_000)
    waits = world.send_beat("b", 0, "", connection=2, is_patient=True, **ALL)
    assert world.told(waits) is None
    world.pass_ms(1_000)
    told = world.told(waits)
    assert told is not None
    assert told.brief == (4, "A0 A1 A2 A3")


def test_rule_3_after_a_load_a_member_commits_and_fetches_with_the_epoch_that_it_was_told() -> None:
    world = two()
    world.join("c", subscribed="", connection=3)
    world.leave("c", connection=3)
    assert world.beat("a", 3).brief == (4, None)
    world.restart()
    assert world.commit("a", 4, "A0 A1") is ErrorCode.NONE
    assert world.commit("a", 3, "A0 A1") is ErrorCode.NONE
    assert world.commit("a", 4, "A0 A2") is ErrorCode.STALE_MEMBER_EPOCH
    assert world.commit("a", 5, "A0") is ErrorCode.STALE_MEMBER_EPOCH
    errors = []
    for epoch in (2, 3, 4, 5):
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, "a", epoch, None)])
        errors.append(world.ask(request, OffsetFetchResponse, version=9, connection=0).groups[0].error_code)
    stale = ErrorCode.STALE_MEMBER_EPOCH
    assert errors == [stale, ErrorCode.NONE, ErrorCode.NONE, stale]


def test_rule_8_letting_go_counts_although_a_commit_is_under_way() -> None:
    """A consumer commits on the same connection, and says only once that it has let go."""
    world = World()
    world.join("a")
    world.join("b", connection=2)
    assert world.beat("a", 2, "A0 A1 A2 A3").brief == (2, "A0 A1")
    assert world.beat("a", 2, "A0 A1", pipelined=True).brief == (3, None)


def test_rule_8_a_static_member_is_back_before_the_answer_to_its_farewell_has_left() -> None:
    """It owns nothing: it never has to let go of what its predecessor had."""
    world = World()
    world.join("a", instance_id="i")
    world.join("b", connection=2)
    world.beat("a", 2, instance_id="i")
    world.beat("a", -2, instance_id="i")
    told = world.join("a", instance_id="i", pipelined=True)
    assert told.epoch == 3


def test_rule_8_a_list_that_is_older_than_a_grant_does_not_let_go_of_it() -> None:
    """Java's consumer says what it had before as long as it follows an assignment."""
    world = given_back()
    assert again(world, "A0 A1", 5).brief == (4, "A0 A1")
    assert world.row()[1]["a"] == "4 UNREVOKED A0 A1 - A2 A3"
    assert world.beat("c", 5, connection=3).brief == (5, None)
    assert again(world, "A0 A1", 6).brief == (4, "A0 A1"), "it may not have heard that it is to let go"
    assert world.beat("a", 4, connection=6).brief == (5, None), "it has heard, and its list is what it was told"
    assert world.beat("c", 5, connection=3).brief == (5, "A2 A3")


def test_rule_8_a_heartbeat_without_a_list_lets_go_of_nothing_else() -> None:
    """librdkafka says a list when its application has followed an assignment, and nothing before."""
    world = two()
    world.beat("a", 3, "A0 A1")
    world.leave("b", connection=2)
    assert world.beat("a", 3).brief == (4, "A0 A1 A2 A3")
    world.join("c", connection=3)
    assert world.beat("a", 4).brief == (4, "A0 A1")
    assert world.beat("a", 4).brief == (4, None)
    assert world.row()[1]["a"] == "4 UNREVOKED A0 A1 - A2 A3"
    assert world.beat("a", 4, "A0 A1").brief == (5, None)


def test_rule_8_what_was_confirmed_is_let_go_of_by_any_list_without_it() -> None:
    world = given_back()
    world.beat("a", 4, "A0 A1 A2 A3")
    assert world.row()[1]["a"] == "4 UNREVOKED A0 A1 - A2 A3"
    assert again(world, "A0 A1", 5).brief == (5, "A0 A1")
    assert world.beat("c", 5, connection=3).brief == (5, "A2 A3")


def test_rule_8_what_is_given_back_before_it_was_let_go_of_must_be_confirmed_again() -> None:
    world = given_back()
    world.beat("a", 4, "A0 A1 A2 A3")
    world.leave("c", connection=3)
    assert again(world, "A0 A1", 5).brief == (6, "A0 A1 A2 A3")
    world.join("d", connection=4)
    assert again(world, "A0 A1", 6).brief == (6, "A0 A1")
    assert world.row()[1]["a"] == "6 UNREVOKED A0 A1 - A2 A3"


def test_rule_8_after_a_load_nobody_knows_what_was_confirmed() -> None:
    world = given_back()
    world.restart()
    assert again(world, "A0 A1", 15).brief == (4, "A0 A1")
    assert world.row()[1]["a"] == "4 UNREVOKED A0 A1 - A2 A3"
