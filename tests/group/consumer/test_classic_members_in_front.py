"""What is different for classic consumers in a consumer group where the topics are a cluster's? (KG-17, KG-19, KG-23)

Nobody but requests tells the group of topics, and what it does moves the name in which kcoord commits at the cluster.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kcoord.group.state.seen_topics import SeenTopics
from kcoord.protocol.errors import ErrorCode
from tests.group.consumer.classic_world import Classic
from tests.group.consumer.test_classic_members import beside_one, classic_group
from tests.group.consumer.test_seen_topics import agreed, shown
from tests.group.consumer.world import GROUP, SESSION_MS, World, topics

NONE, REBALANCE = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS
NOT_YET = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
A, B = topics(A=4, B=2).values()


def in_front() -> World:
    world = World()
    world.put_in_front(topics(A=4))
    return world


def fence(world: World) -> int | None:
    """The number for which kcoord's member at the cluster must stand."""
    return world.shard.facts(GROUP).generation


# -- topics ------------------------------------------------------------------------------------------------------------


def test_a_join_and_a_heartbeat_bring_what_was_seen() -> None:
    world = in_front()
    classic = beside_one(world)
    world.shows = topics(A=5)
    assert classic.beat() is REBALANCE
    assert classic.come() == "A2 A3 A4"
    other = Classic(world, topics="B")
    world.shows = topics(A=5, B=2)
    assert other.come() == "B0 B1"


NOT_ALL = [
    pytest.param(None, id="nothing was seen"),
    pytest.param(shown(B), id="only the newcomer's own topic was seen"),
    pytest.param(
        SeenTopics({"B": B}, {"A": None}, 10_000),
        id="looks from before the group's generation agree that a topic has gone",
    ),
]


@pytest.mark.parametrize("seen", NOT_ALL)
def test_a_group_waits_until_all_that_its_members_have_was_seen(seen: SeenTopics | None) -> None:
    """Else what they have would be free once somebody sees it."""
    world = in_front()
    world.shows = None
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    told = world.join("n", "B", seen=seen)
    assert told.error is NOT_YET
    assert "topic A" in str(told.response.error_message)
    assert GROUP in world.shard.state.groups
    assert [first.beat(), second.beat()] == [NONE, NONE]
    assert world.join("n", "B", seen=shown(A, B)).brief == (2, "B0 B1")
    assert [first.beat(), first.commit("A0"), second.commit("A3")] == [NONE, NONE, NONE]


def test_a_group_does_not_wait_for_a_topic_that_has_gone() -> None:
    """Its leader may not have seen it: a static one that was restarted since looks at what there is then."""
    world = in_front()
    world.shows = None
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    for wait_ms in (5_000, 5_001):
        world.pass_ms(wait_ms)
        assert [first.beat(), second.beat()] == [NONE, NONE]
    assert world.join("n", "B", seen=SeenTopics({"B": B}, {"A": None}, 10_000)).brief == (2, "B0 B1")
    assert [first.beat(), second.beat()] == [NONE, NONE]
    world.shows = topics(A=4)  # it has been made again
    assert [first.beat(), second.beat()] == [REBALANCE, REBALANCE]
    assert sorted([first.come(), second.come()]) == ["A0 A1", "A2 A3"]


def test_what_looks_agree_upon_counts_at_once_if_it_is_there() -> None:
    world = in_front()
    world.shows = None
    (member,) = classic_group(world, ["A0 A1 A2 A3"])
    assert world.join("n", seen=agreed(A, 10_000)).brief == (2, "")
    assert member.beat() is REBALANCE


def test_looks_from_before_the_upgrade_take_nothing_away() -> None:
    """Seed 595250: another process has looked for a while, and has not heard that the topic has grown."""
    world = in_front()
    world.shows = None
    (member,) = classic_group(world, ["A0 A1 A2 A3 A4"])
    told = world.join("n", "B", seen=shown(topics(A=5)["A"], B))
    assert told.brief == (2, "B0 B1")
    assert world.beat("n", 2, seen=agreed(A, 10_000)).error is NONE
    assert world.shard.state.consumer[GROUP].topics["A"].partitions == 5
    assert [member.beat(), member.commit("A4")] == [NONE, NONE]
    world.pass_ms(5_000)
    assert [member.beat(), world.beat("n", 2, seen=agreed(A, 4_000)).error] == [NONE, NONE]
    assert world.shard.state.consumer[GROUP].topics["A"].partitions == 4, "those looks came later"


# -- the fence epoch ---------------------------------------------------------------------------------------------------


def upgraded(world: World) -> None:
    """A member that left the classic group a moment ago may have sent a commit."""
    classic_group(world, ["A0 A1", "A2 A3"])
    before = fence(world)
    world.join("n")
    assert fence(world) != before


def downgraded(world: World) -> None:
    """kcoord's member has never stood for the next generation of the classic group."""
    classic = beside_one(world)
    world.leave("n")
    former = world.shard.facts(GROUP).generation
    token = classic.send_join()
    world.pass_ms(10_000)
    assert classic.joined(token) is NONE
    assert fence(world) != former


def downgraded_by_policy(world: World) -> None:
    """Without a new group epoch, at a fence epoch for which kcoord's member stands."""
    classic = beside_one(world, session_ms=10 * SESSION_MS)
    world.configure({"consumer.migration.policy": "upgrade"})
    world.pass_ms(SESSION_MS)
    assert "n" not in world.group.members
    stands_for = fence(world)
    world.configure({"consumer.migration.policy": "downgrade"})
    assert GROUP not in world.shard.state.consumer
    token = classic.send_join()
    world.pass_ms(10_000)
    assert classic.joined(token) is NONE
    assert fence(world) != stands_for


def replaced_twice_in_one_epoch(world: World) -> None:
    """Neither of the two has left."""
    world.join("n", "", instance_id=None)
    first = Classic(world, instance_id="i")
    first.come()
    seen = [fence(world)]
    epoch = world.group.epoch
    for _ in range(2):
        Classic(world, instance_id="i").come()
        seen.append(fence(world))
    assert world.group.epoch == epoch
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("happens", [upgraded, downgraded, downgraded_by_policy, replaced_twice_in_one_epoch])
def test_whoever_lost_partitions_is_kept_out_by_a_new_number(happens: Callable[[World], None]) -> None:
    happens(in_front())
