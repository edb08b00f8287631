"""What happens to classic consumers in a consumer group, beyond what `test_classic_members_as_kafka.py` has?

Time, loads, connections, and kcoord's own rules. The numbers are those of KG rules (docs/rules/consumer-groups.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from kcoord.group.state.consumer_settings import MIGRATION_POLICY, ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import JoinGroupRequest, JoinGroupResponse, SyncGroupRequest
from tests.group.consumer.classic_sides import subscription
from tests.group.consumer.classic_world import JOIN_VERSION, Classic
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, World, text, topics
from tests.group.sabotage import Saboteur

NONE, REBALANCE, UNKNOWN = ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.UNKNOWN_MEMBER_ID
ILLEGAL, NOT_FOUND = ErrorCode.ILLEGAL_GENERATION, ErrorCode.GROUP_ID_NOT_FOUND


def beside_one(world: World, session_ms: int = 10_000) -> Classic:
    """n of the new protocol has A0 and A1, a classic consumer A2 and A3, both at epoch 3."""
    world.join("n")
    classic = Classic(world, session_ms=session_ms)
    assert classic.come() == ""
    world.beat("n", 2)
    world.beat("n", 2, "A0 A1")
    assert classic.beat() is REBALANCE
    assert classic.come() == "A2 A3"
    assert classic.beat() is NONE
    return classic


# -- rule 22: it is called for its own share only ----------------------------------------------------------------------


def test_rule_22_a_member_whose_share_stays_is_not_called() -> None:
    """And what it commits with the generation that it knows lands."""
    world = World(known=topics(A=4, B=2))
    classic = beside_one(world)
    world.join("m", "B", connection=2)
    assert world.row()[0] == 4
    assert [classic.beat(), classic.generation] == [NONE, 3]
    assert world.member(classic.member_id).epoch == 4
    assert classic.commit("A2 A3") is NONE
    assert classic.commit("A0") is ILLEGAL
    world.leave("m", connection=2)
    assert [classic.beat(), classic.commit("A2"), classic.sync(), classic.has] == [NONE, NONE, NONE, "A2 A3"]


def test_rule_22_it_is_called_once_all_that_it_waits_for_is_free() -> None:
    world = World(known=topics(A=4))
    classic = Classic(world)
    world.join("n")
    world.join("m", connection=2)
    world.beat("n", 2)
    world.beat("n", 2, "A0 A1")
    world.beat("m", 3, connection=2)
    assert classic.come() == ""
    world.join("o", connection=3)
    assert [classic.beat() for _ in range(3)] == [NONE] * 3, "others have what it is to get"


# -- rule 21: time -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("until_it_stops", "after_ms"),
    [
        pytest.param(lambda each: each.beat(), 10_000, id="no heartbeat in its own session"),
        pytest.param(lambda each: each.join(), REBALANCE_MS, id="joined and never synced"),
    ],
)
def test_rule_21_who_is_gone_is_removed(until_it_stops: Callable[[Classic], ErrorCode], after_ms: int) -> None:
    world = World()
    classic = beside_one(world, session_ms=10_000 if after_ms == 10_000 else 60_000)
    assert until_it_stops(classic) is NONE
    for _ in range(after_ms // 5_000 - 1):
        world.pass_ms(5_000)
        world.beat("n", world.member("n").epoch)
        if after_ms != 10_000:
            assert classic.beat() is NONE
    assert classic.member_id in world.group.members
    world.pass_ms(5_000)
    assert classic.member_id not in world.group.members
    assert classic.beat() is UNKNOWN
    assert world.beat("n", 3).brief == (4, "A0 A1 A2 A3")


def test_rule_21_who_is_called_and_does_not_join_is_removed() -> None:
    world = World()
    classic = beside_one(world, session_ms=60_000)
    world.configure({MIGRATION_POLICY: "upgrade"})
    world.leave("n")
    world.join("n")
    for _ in range(REBALANCE_MS // 5_000):
        assert classic.beat() is REBALANCE
        world.pass_ms(5_000)
        world.beat("n", world.member("n").epoch)
    assert classic.beat() is UNKNOWN


def test_rule_21_who_was_removed_and_still_consumes_joins_as_nobody() -> None:
    """With its new generation it could commit what another member has by now."""
    world = World()
    classic = beside_one(world)
    world.pass_ms(5_000)
    world.beat("n", 3)
    world.pass_ms(5_000)
    assert world.beat("n", 3).brief == (4, "A0 A1 A2 A3")
    assert [classic.join(), classic.commit("A2 A3")] == [UNKNOWN, UNKNOWN]
    classic.has = ""
    assert [classic.join(), classic.generation] == [NONE, 5]


# -- rule 21: connections ----------------------------------------------------------------------------------------------


def test_rule_21_a_join_that_was_delayed_lets_nothing_go() -> None:
    world = World()
    classic = beside_one(world)
    old = Classic(world, member_id=classic.member_id, connection=classic.connection)
    classic.reconnect()
    assert classic.come() == "A2 A3"
    assert old.join() is REBALANCE
    assert world.member(classic.member_id).connection == classic.connection


# -- rule 21: loads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compacted", [False, True])
def test_rule_21_a_load_goes_on(compacted: bool) -> None:
    world = World(known=topics(A=4, B=2))
    classic = beside_one(world)
    world.join("m", "B", connection=2)
    assert classic.beat() is NONE
    world.restart(compacted=compacted)
    assert [classic.beat(), classic.commit("A2")] == [NONE, NONE]
    classic.generation += 5
    assert classic.beat() is ILLEGAL


def test_rule_22_after_a_load_the_generation_that_a_member_knows_is_valid_still() -> None:
    """It waits for what another has to let go of, and was not told."""
    world = World(known=topics(A=4, B=2))
    classic = beside_one(world)
    assert world.beat("n", 3, subscribed_topic_names=["B"]).error is NONE
    assert classic.beat() is NONE
    assert world.row()[1][classic.member_id] == "4 UNRELEASED A2 A3"
    world.restart()
    assert [classic.beat(), classic.commit("A2 A3"), classic.generation] == [NONE, NONE, 3]


def test_rule_21_after_a_load_a_member_goes_on_by_its_connection_but_does_not_let_go_by_it() -> None:
    world = World(known=topics(A=4, B=2))
    world.join("n", "B")
    classic = Classic(world)
    assert classic.come() == "A0 A1 A2 A3"
    world.join("m", connection=2)
    world.restart()
    world.shard.state.predecessor_connection = classic.connection
    assert classic.commit("A2") is NONE
    had, classic.has = classic.has, ""  # as a JoinGroup that was sent long ago, and lay somewhere
    assert classic.join() is NONE
    assert text(world.member(classic.member_id).current) == had
    assert classic.beat() is REBALANCE, "it is to say so once more"
    classic.has = had
    assert len(classic.come().split()) == 2


def test_rule_21_after_a_load_a_join_that_was_delayed_makes_no_known_generation_illegal() -> None:
    """Seed 427815: its sender would have let go of all that it has."""
    world = World()
    classic = beside_one(world)
    old = Classic(world, "AB", member_id=classic.member_id, connection=classic.connection)
    classic.reconnect()
    assert classic.beat() is NONE
    world.restart()
    world.shard.state.predecessor_connection = classic.connection
    assert [old.join(), old.generation] == [NONE, 4]
    assert [classic.beat(), classic.commit("A2 A3")] == [NONE, NONE]
    assert text(world.member(classic.member_id).current) == "A2 A3"


def test_rule_21_after_a_load_a_heartbeat_that_was_delayed_makes_no_known_generation_illegal() -> None:
    """Seed 588544: more than one of them, on a connection that the member has given up."""
    world = World()
    classic = beside_one(world)
    old = Classic(world, member_id=classic.member_id, generation=classic.generation, connection=classic.connection)
    classic.reconnect()
    classic.topics = "AB"
    assert (classic.come(), classic.generation) == ("A2 A3", old.generation + 1)
    world.restart()
    world.shard.state.predecessor_connection = classic.connection
    assert [old.beat(), old.beat()] == [NONE, NONE]
    assert [classic.beat(), classic.commit("A2 A3")] == [NONE, NONE]
    assert old.beat() is REBALANCE, "nobody reads that"


def test_rule_21_a_step_that_breaks_off_leaves_nothing() -> None:
    world = World()
    world.saboteur = Saboteur(world.settings)
    classic = beside_one(world)
    world.leave("n")
    assert classic.beat() is REBALANCE
    world.pass_ms(4 * SESSION_MS)


# -- rule 23: a classic group is upgraded ------------------------------------------------------------------------------


def classic_group(world: World, shares: list[str]) -> list[Classic]:
    """A stable classic group; the first leads."""
    members = [Classic(world) for _ in shares]
    tokens = [each.send_join() for each in members]
    world.pass_ms(10_000)
    assert {each.joined(token) for each, token in zip(members, tokens, strict=True)} == {NONE}
    syncs = [each.send_sync() for each in members if not each.leads]
    leader = next(each for each in members if each.leads)
    given = {each.member_id: share for each, share in zip(members, shares, strict=True)}
    assert leader.sync(given) is NONE
    others = [each for each in members if not each.leads]
    assert {each.synced(token) for each, token in zip(others, syncs, strict=True)} <= {NONE}
    assert [each.has for each in members] == shares
    return members


def test_rule_23_only_those_whose_share_changes_are_called() -> None:
    world = World(known=topics(A=4, B=2))
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    third = world.join("n", "B")
    assert third.brief == (2, "B0 B1")
    assert [first.beat(), second.beat()] == [NONE, NONE]
    assert [first.commit("A0"), second.commit("A2"), first.commit("A2")] == [NONE, NONE, ILLEGAL]
    assert world.join("m", connection=2).has == ""
    called = [each for each in (first, second) if each.beat() is REBALANCE]
    assert len(called) == 1
    before = called[0].has
    assert called[0].come() in before
    assert called[0].come() in before
    taken = set(before.split()) - set(called[0].has.split())
    assert world.beat("m", 3, connection=2).has == taken.pop()


def test_rule_23_what_the_leader_did_not_know_of_is_assigned() -> None:
    """The newcomer subscribes to nothing, so that it does not move the epoch itself."""
    world = World(known=topics(A=2))
    (member,) = classic_group(world, ["A0 A1"])
    world.learn(topics(A=3))
    assert world.join("n", "").brief == (2, "")
    assert member.beat() is REBALANCE
    assert member.come() == "A0 A1 A2"


@pytest.mark.parametrize("policy", ["downgrade", "disabled"])
def test_rule_23_not_against_the_policy(policy: str) -> None:
    world = World()
    (member,) = classic_group(world, ["A0 A1 A2 A3"])
    world.configure({MIGRATION_POLICY: policy})
    told = world.join("n")
    assert told.error is NOT_FOUND
    assert told.response.error_message is not None
    assert policy in told.response.error_message
    assert member.beat() is NONE
    world.configure({MIGRATION_POLICY: "upgrade"})
    assert world.join("n").brief == (2, "")


@pytest.mark.parametrize(
    ("protocol", "error"),
    [
        pytest.param("stream", NOT_FOUND, id="Kafka Streams keeps tasks there"),
        pytest.param("cooperative-sticky", NONE, id="librdkafka has a copy there of what the members said"),
    ],
)
def test_rule_23_data_of_an_assignor_is_not_lost(protocol: str, error: ErrorCode) -> None:
    world = World()
    classic = Classic(world, protocol=protocol)
    token = classic.send_join()
    world.pass_ms(10_000)
    assert classic.joined(token) is NONE
    assignment = SyncGroupRequestAssignment(classic.member_id, b"\0\0\0\0\0\0\0\0\0\2up")
    request = SyncGroupRequest(GROUP, 1, classic.member_id, None, "consumer", protocol, [assignment])
    world.send(request, connection=classic.connection, version=5)
    assert world.join("n").error is error
    assert classic.beat() in (NONE, REBALANCE)


def test_rule_23_what_a_leader_gave_to_two_is_one_members() -> None:
    world = World()
    first, second = classic_group(world, ["A0 A1 A2", "A2 A3"])
    assert world.join("n").brief == (2, "")
    assert world.member(first.member_id).current.isdisjoint(world.member(second.member_id).current)
    assert [first.beat(), second.beat()].count(REBALANCE) >= 1


def test_rule_23_not_above_the_size_of_a_consumer_group() -> None:
    world = World(ConsumerSettings(heartbeat_wait_ms=0, max_size=1))
    classic_group(world, ["A0 A1", "A2 A3"])
    assert world.join("n").error is NOT_FOUND


def test_rule_23_who_waits_for_the_rebalance_is_told_to_come_again() -> None:
    world = World()
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    token = first.send_join()
    assert token not in world.answers
    assert world.join("n").brief == (2, "")
    assert first.joined(token) is REBALANCE
    assert first.come() in {"A0 A1", "A0", "A1"}
    assert second.has == "A2 A3"


def test_rule_23_what_cooperative_members_go_on_consuming_is_nobodys_else_in_the_middle_of_a_rebalance() -> None:
    """Between JoinGroup and SyncGroup of a classic group nobody is assigned anything, and all go on."""
    world = World()
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    tokens = [first.send_join(), second.send_join()]
    assert [first.joined(tokens[0]), second.joined(tokens[1])] == [NONE, NONE]
    assert world.join("n").brief == (3, "")
    assert world.beat("n", 3).brief == (3, None)
    assert sorted(f"{first.has} {second.has}".split()) == ["A0", "A1", "A2", "A3"]


# -- rule 24: and becomes one again ------------------------------------------------------------------------------------


def test_rule_24_all_join_again_and_one_of_them_leads() -> None:
    world = World(known=topics(A=4, B=2))
    first, second = classic_group(world, ["A0 A1", "A2 A3"])
    world.join("n", "B")
    assert [first.beat(), second.beat()] == [NONE, NONE]
    assert first.generation == 1
    assert world.commit("n", 2, "B0") is NONE
    world.leave("n")
    assert GROUP in world.shard.state.groups
    assert GROUP not in world.shard.state.consumer
    assert world.shard.metrics().connect.conversions == {"to consumer": 1, "to classic": 1}
    assert [first.beat(), second.beat()] == [REBALANCE, REBALANCE], "whatever generation they know"
    assert [first.commit("A0"), second.commit("A3")] == [NONE, NONE]
    tokens = [first.send_join(), second.send_join()]
    world.pass_ms(5_000)
    assert [first.joined(tokens[0]), second.joined(tokens[1])] == [NONE, NONE]
    assert sorted([first.leads, second.leads]) == [False, True]
    assert first.generation == second.generation > 3
    assert sorted(world.shard.offset_partitions(GROUP)) == ["A", "B"]


@pytest.mark.parametrize("is_loaded", [False, True])
def test_rule_24_the_leader_is_shown_one_generation_of_all(*, is_loaded: bool) -> None:
    """Until a leader has assigned. It would take what members of an older generation have for nobody's."""
    world = World()
    members = classic_group(world, ["A0 A1", "A2 A3"])
    assert world.join("n").error is NONE
    called = next(each for each in members if each.beat() is REBALANCE)
    called.come()  # it hears what to let go of
    called.come()
    assert sorted(each.generation for each in members) == [1, 2]
    world.leave("n")
    members.sort(key=lambda each: each is not called)
    for _ in range(2):
        tokens = [each.send_join() for each in members]
        leader = _leader(members, tokens)
        assert leader.shown == dict.fromkeys((each.member_id for each in members), leader.generation - 1)
        if is_loaded:
            world.restart()
        called.has += " A9"  # it says something else, so all join again
    newcomer = Classic(world)
    tokens = [each.send_join() for each in (newcomer, *members)]
    leader = _leader([newcomer, *members], tokens)
    assert sorted(leader.shown.values()) == [-1, leader.generation - 1, leader.generation - 1]
    assert leader.sync({leader.member_id: "A0 A1"}) is NONE
    called.since, newcomer.has = 1, "A8"
    tokens = [each.send_join() for each in (newcomer, *members)]
    leader = _leader([newcomer, *members], tokens)
    assert leader.shown[called.member_id] == 1, "after that it counts who has missed a rebalance"


def _leader(members: Sequence[Classic], tokens: Iterable[object]) -> Classic:
    """All are answered; the one that leads now."""
    assert [each.joined(token) for each, token in zip(members, tokens, strict=True)] == [NONE] * len(members)
    return next(each for each in members if each.leads)


@pytest.mark.parametrize("is_loaded", [False, True])
def test_rule_24_what_a_member_knows_from_before_the_upgrade_is_no_generation_after_it(*, is_loaded: bool) -> None:
    """A static member that stood still while the classic group was rebalanced: what it reads is another's since."""
    world = World(known=topics(A=4, B=2))
    leads = Classic(world, session_ms=10 * REBALANCE_MS)
    frozen = Classic(world, instance_id="i", session_ms=10 * REBALANCE_MS)
    tokens = [leads.send_join(), frozen.send_join()]
    world.pass_ms(10_000)
    assert [leads.joined(tokens[0]), frozen.joined(tokens[1])] == [NONE, NONE]
    assert leads.leads
    waits = frozen.send_sync()
    assert leads.sync({leads.member_id: "A0 A1", frozen.member_id: "A2 A3"}) is NONE
    assert frozen.synced(waits) is NONE
    again = leads.send_join()
    world.pass_ms(REBALANCE_MS)
    assert leads.joined(again) is NONE
    assert leads.sync({leads.member_id: "A0 A1 A2", frozen.member_id: "A3"}) is NONE
    assert world.join("n", "B").error is NONE
    world.leave("n")
    if is_loaded:
        world.restart()
    assert GROUP in world.shard.state.groups
    assert leads.commit("A2") is NONE
    assert frozen.commit("A2") is ILLEGAL
    assert world.join("n", "B").error is NONE
    world.leave("n")
    assert [leads.commit("A2"), frozen.commit("A2")] == [NONE, ILLEGAL], "nor after the next time"


@pytest.mark.parametrize("policy", ["upgrade", "disabled"])
def test_rule_24_not_against_the_policy_and_when_the_policy_allows_it(policy: str) -> None:
    world = World()
    classic = beside_one(world)
    world.configure({MIGRATION_POLICY: policy})
    world.leave("n")
    assert GROUP in world.shard.state.consumer
    assert classic.beat() is REBALANCE
    assert classic.come() == "A0 A1 A2 A3"
    world.configure({MIGRATION_POLICY: "downgrade"})
    assert GROUP in world.shard.state.groups
    assert classic.beat() is REBALANCE


def test_rule_24_there_and_back_and_there_again() -> None:
    """A consumer of the new protocol comes before the classic ones have joined again."""
    world = World()
    classic = beside_one(world)
    world.leave("n")
    assert GROUP in world.shard.state.groups
    assert world.join("n").error is NONE
    assert GROUP in world.shard.state.consumer
    assert classic.beat() in {NONE, REBALANCE}
    assert classic.come() in {"A2 A3", "A2", "A3"}


def test_rule_23_who_was_only_given_an_id_joins_with_it() -> None:
    """Both start at once: the classic consumer is told to join with its id, and the other one comes first."""
    world = World()
    classic = Classic(world)
    request = JoinGroupRequest(
        GROUP, 10_000, REBALANCE_MS, "", None, "consumer", [JoinGroupRequestProtocol("range", subscription("A", {}))]
    )
    told = world.ask(request, JoinGroupResponse, connection=classic.connection, version=5)
    assert ErrorCode(told.error_code) is ErrorCode.MEMBER_ID_REQUIRED
    assert world.join("n").brief == (2, "A0 A1 A2 A3")
    classic.member_id = told.member_id
    assert classic.come() == ""
    assert world.beat("n", 2).brief == (2, "A0 A1")


def test_rule_24_an_empty_consumer_group_makes_room_for_a_classic_one() -> None:
    world = World()
    world.join("n")
    world.leave("n")
    classic = Classic(world)
    token = classic.send_join()
    world.pass_ms(10_000)
    assert classic.joined(token) is NONE
    assert classic.leads


def test_rule_21_a_subscription_that_cannot_be_read_is_refused() -> None:
    world = World()
    world.join("n")
    for metadata in (b"", b"\0\3\0\0\0\1", b"\0\3\x7f\xff\xff\xff", b"\0\0\0\0\0\1\0\1\xff\xff\xff\xff\xff"):
        protocols = [JoinGroupRequestProtocol("range", metadata)]
        request = JoinGroupRequest(GROUP, 10_000, REBALANCE_MS, "x", None, "consumer", protocols)
        told = world.ask(request, JoinGroupResponse, connection=77, version=JOIN_VERSION)
        assert told.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert "x" not in world.group.members
