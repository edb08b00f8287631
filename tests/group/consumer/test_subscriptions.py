"""Which topics count in a consumer group: by name, by a regular expression, and as they come and go? (KG-6, KG-16)"""

from __future__ import annotations

from typing import Any

from tests.group.consumer.world import World, text, topic_id, topics

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
    assert world.beat("a", 2, "A0", connection=9).brief == (2, "A0")
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


def test_members_that_subscribe_to_the_same_share_what_is_known_of_it() -> None:
    world = World(known=topics(A=1, B=1))
    world.join("a", "AB")
    world.join("b", "AB", connection=2)
    one, other = (world.group.subscribed_ids(world.member(each)) for each in "ab")
    assert one is other
    assert one == {topic_id("A"), topic_id("B")}
    world.learn(topics(A=1))
    assert world.group.subscribed_ids(world.member("a")) == {topic_id("A")}
    assert world.group.subscribed_names(world.member("b")) == {"A", "B"}


def test_what_nobody_subscribes_to_any_more_is_not_known_for_ever() -> None:
    world = World()
    world.join("a")
    member = world.member("a")
    for number in range(1_000):
        member.names = frozenset(["A", f"nowhere-{number}"])
        assert world.group.subscribed_names(member) == member.names
    assert len(world.group._subscriptions) < 110
