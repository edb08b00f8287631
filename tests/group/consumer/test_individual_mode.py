"""Are consumers of the classic protocol led one by one where the group's settings say so, and only then? (KG-26)"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kcoord.group.consumer.next_assignment import AT_ONCE_MS, GATHER_MS
from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.consumer_settings import CLASSIC_MODE, MIGRATION_POLICY, ConsumerSettings
from kcoord.group.state.owner_setting import OWNER, Owner
from kcoord.protocol.errors import ErrorCode
from tests.group.consumer.classic_world import Classic
from tests.group.consumer.test_classic_members import beside_one, classic_group
from tests.group.consumer.world import GROUP, World, topics

NONE, REBALANCE = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS
INDIVIDUAL, BARRIER = {CLASSIC_MODE: "individual"}, {CLASSIC_MODE: "barrier"}


def individual(wait_ms: int = 0, interval_ms: int = 0, **partitions: int) -> World:
    """A shard whose groups are all in individual mode."""
    settings = ConsumerSettings(
        heartbeat_wait_ms=wait_ms, assignment_interval_ms=interval_ms, classic_mode=ClassicMode.INDIVIDUAL
    )
    return World(settings, topics(**partitions or {"A": 4}))


def kind(world: World) -> str:
    return "consumer" if GROUP in world.shard.state.consumer else "classic"


def assignor(world: World) -> str:
    return str(world.describe().assignor_name)


# -- a new group -------------------------------------------------------------------------------------------------------


def test_rule_26_who_comes_and_goes_disturbs_only_those_whose_share_changes() -> None:
    """No barrier, no delay for more to come, and nobody leads."""
    world = individual(A=4, B=2)
    first = Classic(world, protocol="cooperative-sticky")
    assert first.come() == "A0 A1 A2 A3"
    assert (kind(world), first.leads) == ("consumer", False)
    of_b = Classic(world, "B", protocol="cooperative-sticky")
    assert of_b.come() == "B0 B1"
    assert first.beat() is NONE, "nothing of it changes"
    second = Classic(world, protocol="cooperative-sticky")
    assert second.come() == ""
    assert first.beat() is REBALANCE
    assert [first.come(), second.beat()] == ["A0 A1", NONE], "what it lets go of it says when it joins again"
    assert [first.come(), second.beat(), second.come()] == ["A0 A1", REBALANCE, "A2 A3"]
    assert [first.beat(), of_b.beat()] == [NONE, NONE]
    assert second.go() is NONE
    assert [of_b.beat(), first.beat(), first.come()] == [NONE, REBALANCE, "A0 A1 A2 A3"]
    assert assignor(world) == "uniform"


@pytest.mark.parametrize(
    ("named", "more", "assigns"),
    [
        ("range", (), "range"),
        ("range", ("cooperative-sticky",), "range"),
        ("roundrobin", (), "uniform"),
        ("sticky", (), "uniform"),
        ("cooperative-sticky", ("range",), "uniform"),
    ],
)
def test_rule_26_kcoord_assigns_as_the_first_assignor_would(named: str, more: tuple[str, ...], assigns: str) -> None:
    world = individual(A=3, B=3)
    members = [Classic(world, "AB", protocol=named, more=more, cooperative=False) for _ in range(2)]
    for _ in range(3):
        for each in members:
            each.come()
    assert assignor(world) == assigns
    assert sorted(len(each.has.split()) for each in members) == ([2, 4] if assigns == "range" else [3, 3])


def test_rule_26_most_members_decide_and_one_of_the_new_protocol_counts_too() -> None:
    world = individual()
    members = [Classic(world, protocol=name, more=("range",)) for name in ("range", "cooperative-sticky", "sticky")]
    for each in members:
        each.come()
    assert assignor(world) == "uniform"
    world.join("n", server_assignor="range")
    assert assignor(world) == "uniform"
    members[1].go()
    assert assignor(world) == "range"


NEED_A_LEADER: list[Any] = [
    pytest.param({"protocol": "streams"}, id="another assignor"),
    pytest.param({"protocol": "range", "more": ("mine",)}, id="another one beside a known one"),
    pytest.param({"protocol": "range", "data": b"weights"}, id="data for range, which has none"),
]


@pytest.mark.parametrize("how", NEED_A_LEADER)
def test_rule_26_a_group_that_needs_a_leader_has_one(how: dict[str, Any]) -> None:
    world = individual()
    member = Classic(world, **how)
    token = member.send_join()
    world.pass_ms(10_000)
    assert member.joined(token) is NONE
    assert (kind(world), member.leads) == ("classic", True)
    assert [member.sync({member.member_id: "A0"}), member.beat(), kind(world)] == [NONE, NONE, "classic"]


def test_rule_26_a_sticky_consumers_own_data_is_no_hindrance() -> None:
    world = individual()
    assert Classic(world, protocol="sticky", data=b"what I had").come() == "A0 A1 A2 A3"


def test_rule_26_of_a_cluster_that_shows_nothing_a_group_begins_with_a_leader() -> None:
    world = individual()
    world.put_in_front(None)
    member = Classic(world)
    token = member.send_join()
    world.pass_ms(10_000)
    assert [member.joined(token), kind(world)] == [NONE, "classic"]
    assert [member.sync({member.member_id: "A0 A1 A2 A3"}), member.beat(), kind(world)] == [NONE, NONE, "classic"]
    world.put_in_front(topics(A=4))
    assert [member.beat(), kind(world)] == [NONE, "consumer"]
    assert [member.beat(), member.commit("A0 A1 A2 A3")] == [NONE, NONE]


# -- a group that there is ---------------------------------------------------------------------------------------------


def test_rule_26_a_live_group_goes_over_and_nobody_stops() -> None:
    world = World()
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    assert [first.beat(), second.beat()] == [NONE, NONE]
    world.configure(INDIVIDUAL)
    assert [kind(world), first.beat(), kind(world)] == ["classic", NONE, "consumer"]
    assert [each.beat() for each in (first, second) * 2] == [NONE] * 4
    assert [first.commit("A0 A1"), second.commit("A2 A3"), first.commit("A2")] == [
        NONE,
        NONE,
        ErrorCode.ILLEGAL_GENERATION,
    ]


def test_rule_26_what_the_leader_left_out_is_given_to_somebody() -> None:
    world = World(known=topics(A=4))
    first, second = classic_group(world, ["A0 A1", "A2"])
    world.configure(INDIVIDUAL)
    assert [first.beat(), first.beat(), second.beat(), second.come()] == [NONE, NONE, REBALANCE, "A2 A3"]


def test_rule_26_a_rebalance_that_goes_on_ends_first() -> None:
    """Nobody is called a second time."""
    world = World()
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    third = Classic(world)
    token = third.send_join()
    world.configure(INDIVIDUAL)
    assert [first.beat(), second.beat(), kind(world)] == [REBALANCE, REBALANCE, "classic"]
    tokens = [first.send_join(), second.send_join()]
    assert [third.joined(token), first.joined(tokens[0]), second.joined(tokens[1])] == [NONE] * 3
    leader = next(each for each in (first, second, third) if each.leads)
    given = {first.member_id: "A0 A1", second.member_id: "A2", third.member_id: "A3"}
    others = [each for each in (first, second, third) if each is not leader]
    waiting = [each.send_sync() for each in others]
    assert leader.sync(given) is NONE
    assert [each.synced(token) for each, token in zip(others, waiting, strict=True)] == [NONE, NONE]
    assert [first.beat(), second.beat(), third.beat(), kind(world)] == [NONE, NONE, NONE, "consumer"]


def test_rule_26_the_barrier_comes_back_with_the_setting() -> None:
    world = individual()
    first, second = Classic(world), Classic(world)
    assert [first.come(), second.come()] == ["A0 A1 A2 A3", ""]
    world.configure(BARRIER)
    assert kind(world) == "classic"
    assert [first.beat(), second.beat()] == [REBALANCE, REBALANCE]
    tokens = [first.send_join(), second.send_join()]
    assert [first.joined(tokens[0]), second.joined(tokens[1])] == [NONE, NONE]
    assert [first.leads, second.leads].count(True) == 1


def test_rule_26_a_consumer_that_needs_a_leader_brings_one_and_takes_it_away() -> None:
    world = individual()
    first = Classic(world)
    assert first.come() == "A0 A1 A2 A3"
    other = Classic(world, protocol="range", more=("mine",))
    assert other.join() is NONE
    assert kind(world) == "classic"
    assert [first.beat(), other.beat()] == [REBALANCE, REBALANCE]
    tokens = [first.send_join(), other.send_join()]
    assert [first.joined(tokens[0]), other.joined(tokens[1])] == [NONE, NONE]
    leader, follower = (first, other) if first.leads else (other, first)
    waiting = follower.send_sync()
    assert leader.sync({first.member_id: "A0 A1", other.member_id: "A2 A3"}) is NONE
    assert [follower.synced(waiting), first.beat(), kind(world)] == [NONE, NONE, "classic"]
    assert other.go() is NONE
    token = first.send_join()
    assert [first.joined(token), first.sync({first.member_id: "A0 A1 A2 A3"})] == [NONE, NONE]
    assert [first.beat(), kind(world), first.beat()] == [NONE, "consumer", NONE]


def test_rule_26_the_last_of_the_new_protocol_leaves_no_barrier_behind() -> None:
    world = World()
    classic = beside_one(world)
    world.configure(INDIVIDUAL)
    world.leave("n")
    assert [kind(world), classic.beat(), classic.come()] == ["consumer", REBALANCE, "A0 A1 A2 A3"]


@pytest.mark.parametrize("policy", ["bidirectional", "upgrade", "downgrade", "disabled"])
def test_rule_26_no_policy_keeps_a_group_from_being_led_alone(policy: str) -> None:
    """It is about the new protocol. A group that may not become a classic one stays as it is, in barrier mode, too."""
    world = World()
    (member,) = classic_group(world, ["A0 A1 A2 A3"])
    world.configure({**INDIVIDUAL, MIGRATION_POLICY: policy})
    assert [member.beat(), kind(world)] == [NONE, "consumer"]
    world.configure({**BARRIER, MIGRATION_POLICY: policy})
    assert kind(world) == ("classic" if policy in ("bidirectional", "downgrade") else "consumer")


def test_rule_26_a_group_that_is_to_be_the_clusters_is_a_classic_one() -> None:
    world = individual()
    member = Classic(world, session_ms=60_000)
    assert [member.come(), kind(world)] == ["A0 A1 A2 A3", "consumer"]
    world.configure({OWNER: Owner.CLUSTER})
    assert [kind(world), member.beat()] == ["classic", REBALANCE]
    world.configure({})
    token = member.send_join()
    world.pass_ms(10_000)
    assert [member.joined(token), member.sync({member.member_id: "A0 A1 A2 A3"})] == [NONE, NONE]
    assert [member.beat(), kind(world)] == [NONE, "consumer"]


def test_rule_26_a_group_that_was_empty_begins_without_a_barrier() -> None:
    world = World()
    (member,) = classic_group(world, ["A0 A1 A2 A3"])
    assert member.go() is NONE
    world.configure(INDIVIDUAL)
    assert [kind(world), Classic(world).come(), kind(world)] == ["classic", "A0 A1 A2 A3", "consumer"]


def test_rule_26_a_load_goes_on() -> None:
    world = individual()
    first, second = (Classic(world, protocol="sticky", cooperative=False) for _ in range(2))
    first.come()
    second.come()
    world.restart(lose_ms=1_000)
    assert kind(world) == "consumer"
    assert [first.beat(), first.come(), second.beat(), second.come()] == [REBALANCE, "A0 A1", REBALANCE, "A2 A3"]


# -- held heartbeats ---------------------------------------------------------------------------------------------------


def test_rule_26_who_has_to_come_is_told_at_once() -> None:
    """By the answer to its last heartbeat, which has waited."""
    world = individual(wait_ms=-1, A=4, B=2)
    first, of_b = Classic(world), Classic(world, "B")
    first.come()
    of_b.come()
    waiting, others = first.send_beat(), of_b.send_beat()
    assert [first.beaten(waiting), of_b.beaten(others)] == [None, None]
    second = Classic(world)
    assert second.join() is NONE
    second.send_sync()
    assert [first.beaten(waiting), of_b.beaten(others)] == [REBALANCE, None]


def test_rule_26_who_must_let_go_waits_until_all_whose_share_changes_can_be_called() -> None:
    """Else what the first one lets go of would be nobody's until the last one has come, up to 3 s later."""
    world = individual(wait_ms=-1, A=6)
    first, second, third = (Classic(world, cooperative=False) for _ in range(3))
    first.come()
    waiting = first.send_beat()
    second.join()
    syncing = second.send_sync()
    assert [first.beaten(waiting), first.come()] == [REBALANCE, "A0 A1 A2"]
    assert [second.synced(syncing), second.has] == [NONE, "A3 A4 A5"]
    waiting = first.send_beat()
    third.join()
    syncing = third.send_sync()
    assert [first.beaten(waiting), syncing in world.answers] == [None, False], "second has sent no heartbeat yet"
    assert [first.commit("A2"), second.commit("A5")] == [NONE, NONE]
    last = second.send_beat()
    assert [first.beaten(waiting), second.beaten(last)] == [REBALANCE, REBALANCE]
    assert [first.come(), syncing in world.answers] == ["A0 A1", False]
    assert [second.come(), third.synced(syncing), third.has] == ["A4 A5", NONE, "A2 A3"]


def test_rule_26_nobody_waits_for_long_for_one_that_cannot_be_called() -> None:
    world = individual(wait_ms=-1, A=6)
    first, second, third = (Classic(world, cooperative=False, session_ms=30_000) for _ in range(3))
    first.come()
    second.join()
    syncing = second.send_sync()
    first.come()
    assert second.synced(syncing) is NONE
    waiting = first.send_beat()
    third.join()
    third.send_sync()
    world.pass_ms(GATHER_MS - 1)
    assert first.beaten(waiting) is None
    again = first.send_beat()
    assert [first.beaten(waiting), first.beaten(again)] == [NONE, None], "another request does not call it either"
    world.pass_ms(1)
    assert first.beaten(again) is REBALANCE


def test_rule_26_nobody_waits_for_one_that_has_gone() -> None:
    """Seed 316488: the last one that could not be called leaves, and the next assignment is not due yet."""
    world = individual(wait_ms=-1, interval_ms=5_000, A=6)
    first, second, third = (Classic(world, cooperative=False, session_ms=30_000) for _ in range(3))
    first.come()
    world.pass_ms(5_000)
    second.join()
    syncing = second.send_sync()
    first.come()
    assert second.synced(syncing) is NONE
    world.pass_ms(5_000)
    waiting = first.send_beat()
    third.join()
    third.send_sync()
    assert first.beaten(waiting) is None, "second has sent no heartbeat yet"
    assert second.go() is NONE
    assert first.beaten(waiting) is REBALANCE


def test_rule_26_a_newcomer_gets_what_nobody_has_before_what_others_have() -> None:
    """The others were to have it, and cannot be told before their next heartbeats."""
    world = individual(wait_ms=-1)
    first, second, third = (Classic(world, cooperative=False) for _ in range(3))
    first.come()
    assert second.join() is NONE
    assert [first.come(), second.sync(), second.has] == ["A0 A1", NONE, "A2 A3"]
    assert second.go() is NONE
    assert world.row()[1][first.member_id].endswith("A0 A1"), "it has sent no heartbeat yet"
    assert third.join() is NONE
    assert [third.synced(third.send_sync()), third.has] == [NONE, "A2 A3"]
    assert [first.beaten(first.send_beat()), first.commit("A1")] == [None, NONE]


def test_rule_26_while_many_come_nobody_has_all_for_long() -> None:
    """Each newcomer moves the assignment, and none of the last ones has sent a heartbeat yet."""
    world = individual(wait_ms=-1, A=64)
    first = Classic(world, cooperative=False, session_ms=60_000)
    first.come()
    waiting, called_ms = first.send_beat(), []
    for second in range(1, 21):
        newcomer = Classic(world, cooperative=False, session_ms=60_000)
        newcomer.join()
        newcomer.send_sync()
        world.pass_ms(1_000)
        if first.beaten(waiting) is REBALANCE:
            called_ms.append(second * 1_000)
            first.come()
            waiting = first.send_beat()
    longest_ms = GATHER_MS + AT_ONCE_MS + 1_000
    assert called_ms
    assert all(after - before <= longest_ms for before, after in pairwise([0, *called_ms, 20_000]))


def test_rule_26_a_newcomer_has_its_share_as_soon_as_that_is_free() -> None:
    """By the answer to its SyncGroup: it has sent no heartbeat yet."""
    world = individual(wait_ms=-1)
    first, second = (Classic(world, cooperative=False) for _ in range(2))
    first.come()
    called = first.send_beat()
    assert second.join() is NONE
    waiting = second.send_sync()
    assert [first.beaten(called), waiting in world.answers] == [REBALANCE, False]
    assert first.come() == "A0 A1"
    assert [second.synced(waiting), second.has] == [NONE, "A2 A3"]
    assert [second.commit("A2 A3"), second.beaten(second.send_beat())] == [NONE, None]


def test_rule_26_what_has_become_free_since_a_newcomer_joined_it_has_at_once() -> None:
    world = individual(wait_ms=-1)
    first, second = (Classic(world, cooperative=False) for _ in range(2))
    first.come()
    assert second.join() is NONE
    assert first.come() == "A0 A1"
    assert [second.sync(), second.has, second.commit("A2 A3")] == [NONE, "A2 A3", NONE]


def test_rule_26_a_newcomer_that_is_to_have_something_of_a_later_generation_joins_again() -> None:
    world = individual(wait_ms=-1, A=6)
    members = [Classic(world, cooperative=False) for _ in range(3)]
    first, second, third = members
    first.come()
    assert second.join() is NONE
    waiting = second.send_sync()
    assert third.join() is NONE
    parked = third.send_sync()
    assert first.come() == "A0 A1"
    assert [second.synced(waiting), second.come()] == [REBALANCE, "A4 A5"]
    assert [third.synced(parked), third.has] == [NONE, "A2 A3"]


def test_rule_26_of_two_syncs_the_first_waits_no_more() -> None:
    """The client has lost its connection, and asks once more by a new one."""
    world = individual(wait_ms=-1)
    first, second = (Classic(world, cooperative=False) for _ in range(2))
    first.come()
    assert second.join() is NONE
    lost = second.send_sync()
    second.reconnect()
    waiting = second.send_sync()
    assert [second.synced(lost), waiting in world.answers] == [REBALANCE, False]
    assert first.come() == "A0 A1"
    assert [second.synced(waiting), second.has] == [NONE, "A2 A3"]
    assert not world.shard.state.held


def test_rule_26_a_newcomer_waits_no_longer_than_a_heartbeat() -> None:
    world = individual(wait_ms=-1)
    first, second = Classic(world, session_ms=60_000), Classic(world, session_ms=9_000)
    first.come()
    assert second.join() is NONE
    waiting = second.send_sync()
    world.pass_ms(2_999)
    assert waiting not in world.answers
    world.pass_ms(1)
    assert [second.synced(waiting), second.has] == [NONE, ""]


HOW_LONG = [
    pytest.param(-1, 60_000, 10_000, id="for 10 s"),
    pytest.param(-1, 9_000, 3_000, id="for a third of its session"),
    pytest.param(2_000, 60_000, 2_000, id="for as long as is set"),
]


@pytest.mark.parametrize(("set_ms", "session_ms", "wait_ms"), HOW_LONG)
def test_rule_26_an_answer_that_says_nothing_new_waits(set_ms: int, session_ms: int, wait_ms: int) -> None:
    world = individual(wait_ms=set_ms)
    member = Classic(world, session_ms=session_ms)
    member.come()
    waiting = member.send_beat()
    world.pass_ms(wait_ms - 1)
    assert member.beaten(waiting) is None
    world.pass_ms(1)
    assert member.beaten(waiting) is NONE


def test_rule_26_the_next_heartbeat_ends_the_wait() -> None:
    world = individual(wait_ms=-1)
    member = Classic(world)
    member.come()
    waiting = member.send_beat()
    last = member.send_beat()
    assert [member.beaten(waiting), member.beaten(last)] == [NONE, None]


def removed(world: World, member: Classic) -> None:
    """An administrator removes the member, from somewhere else."""
    assert Classic(world, member_id=member.member_id).go() is NONE


ENDS: list[Any] = [
    pytest.param(lambda world, member: removed(world, member), ErrorCode.UNKNOWN_MEMBER_ID, id="it is removed"),
    pytest.param(lambda world, member: world.pass_ms(10_000), NONE, id="it is silent, and its wait is over first"),
    pytest.param(lambda world, member: world.configure(BARRIER), REBALANCE, id="it is to have a leader"),
]


@pytest.mark.parametrize(("happens", "told"), ENDS)
def test_rule_26_no_answer_waits_for_somebody_who_is_no_member_any_more(happens: Any, told: ErrorCode) -> None:
    world = individual(wait_ms=-1)
    member = Classic(world)
    member.come()
    waiting = member.send_beat()
    happens(world, member)
    assert member.beaten(waiting) is told


def test_rule_26_a_heartbeat_on_an_older_connection_is_let_go() -> None:
    world = individual(wait_ms=-1)
    member = Classic(world)
    member.come()
    waiting = member.send_beat()
    member.reconnect()
    assert [member.come(), member.beaten(waiting)] == ["A0 A1 A2 A3", REBALANCE]


def test_rule_26_in_barrier_mode_no_classic_heartbeat_waits() -> None:
    world = World(ConsumerSettings())
    world.join("n")
    classic = Classic(world)
    classic.come()
    assert classic.beat() is NONE
