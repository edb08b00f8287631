"""Which way may a group go, and what is a worker told that may not take it along? What stays a classic group, why?"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.state.classic_workers.session import QUIET_MS
from kcoord.group.state.connect_settings import ClassicMode, MigrationPolicy
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import DeleteGroupsRequest, OffsetCommitRequest
from tests.conversion.fleet import SETTLED_MS, TASKS, Fleet, settings
from tests.conversion.hand import GROUP, Hand
from tests.conversion.test_states import stable

POLICIES = {
    # up: a worker of the new protocol may join workers of the classic one; back: a classic worker may join new ones
    # alone, and a group whose last new worker leaves becomes classic
    "bidirectional": (True, True),
    "upgrade": (True, False),
    "downgrade": (False, True),
    "disabled": (False, False),
}
EACH = pytest.mark.parametrize("policy", POLICIES)


@EACH
def test_up(policy: str) -> None:
    hand = Hand(settings(migration_policy=MigrationPolicy(policy)))
    stable(hand)
    records = len(hand.log)
    answer = hand.start_new()
    if POLICIES[policy][0]:
        assert (answer.error_code, answer.error_message) == (0, None)
        return
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message is not None
    assert f"its connect.migration.policy is {policy}: set it to bidirectional or upgrade" in answer.error_message
    assert len(hand.log) == records
    assert hand.beat("A") == hand.beat("B") == ErrorCode.NONE, "the group goes on"
    hand.configure(migration_policy="upgrade")
    assert hand.start_new().error_code == ErrorCode.NONE


@EACH
def test_down(policy: str) -> None:
    hand = Hand(settings())
    stable(hand)
    hand.start_new()
    hand.configure(migration_policy=policy, classic_heartbeat_wait_ms="0")
    hand.stop_new()
    down = POLICIES[policy][1]
    assert (GROUP in hand.state.groups) == down
    for found in (hand.reloaded(), hand.reloaded(compact=True)):
        assert (GROUP in found.state.groups) == down
    for who in "AB":
        assert hand.beat(who) in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
    hand.configure(migration_policy="downgrade")
    assert GROUP in hand.state.groups


@EACH
def test_a_classic_worker_that_joins_new_ones_alone(policy: str) -> None:
    hand = Hand(settings(migration_policy=MigrationPolicy(policy)))
    hand.start_new()
    refused = not POLICIES[policy][1]
    assert (hand.error(hand.join("A")) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL) == refused
    hand.configure(migration_policy=policy, classic_mode="individual")
    assert hand.error(hand.join("B")) is not ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@EACH
def test_a_classic_worker_may_always_join_others_of_its_kind(policy: str) -> None:
    hand = Hand(settings())
    stable(hand)
    hand.start_new()
    hand.configure(migration_policy=policy)
    assert hand.error(hand.join("C")) is not ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("policy", ["upgrade", "disabled"])
def test_without_the_way_down_classic_workers_are_managed_one_by_one(policy: str) -> None:
    fleet = Fleet()
    fleet.started(3, max_delay_ms=5_000)
    new = fleet.start_new("n0")
    fleet.run(2 * SETTLED_MS)
    fleet.configure_group(migration_policy=policy)
    new.leave()
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    assert fleet.is_connect()
    fleet.worker("late", max_delay_ms=5_000)
    fleet.run(3 * SETTLED_MS)
    fleet.must_be_well()
    assert fleet.is_connect()


# -- what is not converted --------------------------------------------------------------------------------------------


def garbled(hand: Hand) -> dict[str, Any]:
    return {"protocols": [JoinGroupRequestProtocol("sessioned", b"\x00\x02\x00\x09http")]}


def unknown(hand: Hand) -> dict[str, Any]:
    return {"protocols": [JoinGroupRequestProtocol("quantum", b"")]}


def consumer(hand: Hand) -> dict[str, Any]:
    return {"protocol_type": "consumer"}


def static(hand: Hand) -> dict[str, Any]:
    return {"group_instance_id": "s"}


REFUSED = {
    garbled: "the metadata of embedded protocol sessioned cannot be read",
    unknown: "none of the embedded protocols is known: quantum; known are default, compatible, sessioned",
    consumer: f"group {GROUP} is of protocol type consumer, and only groups of type connect can change",
    static: "is static (group.instance.id s), which a Connect worker never is",
}


@pytest.mark.parametrize("fields", REFUSED, ids=lambda each: each.__name__)
def test_a_group_that_cannot_be_read_stays_and_goes_on(fields: Any) -> None:
    hand = Hand()
    token = hand.join("A", **fields(hand))
    hand.pass_ms(5_000)
    answer: Any = hand.answers[token]
    assert answer.error_code == ErrorCode.NONE
    hand.member_ids["A"], hand.generations["A"] = answer.member_id, answer.generation_id
    hand.sync("A")
    records = len(hand.log)
    told = hand.start_new()
    assert told.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert told.error_message is not None
    assert told.error_message.startswith("it stays a group of the classic protocol: ")
    assert REFUSED[fields] in told.error_message
    assert len(hand.log) == records
    hand.configure(classic_mode="individual")
    assert GROUP in hand.state.groups, "the mode does not convert it either"
    assert len(hand.state.groups[GROUP].members) == 1


def test_an_assignment_that_cannot_be_read() -> None:
    hand = Hand()
    stable(hand)
    hand.assignment = lambda leader, what: b"\x00\x02\x00"  # type: ignore[method-assign]
    token = hand.join("A", "AC0 AT1")
    again = hand.join("B", "BC0 BT1")
    hand.joined(token, again)
    hand.sync("A", A="x", B="y")
    told = hand.start_new()
    assert told.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert told.error_message is not None
    assert f"member {hand.member_ids['A']} of group {GROUP}: cut short" in told.error_message


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"server_assignor": "best"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"server_assignor": None, "client_assignors": None}, None),
    ],
)
def test_a_worker_that_is_refused_converts_nothing(fields: dict[str, Any], error: ErrorCode | None) -> None:
    hand = Hand()
    stable(hand)
    records = len(hand.log)
    told = hand.start_new(**fields)
    if error is None:
        assert told.error_code == ErrorCode.NONE
        return
    assert told.error_code == error
    assert len(hand.log) == records
    assert GROUP in hand.state.groups


def test_a_full_group_is_not_converted_for_one_more() -> None:
    hand = Hand(settings(max_size=2))
    stable(hand)
    assert hand.start_new().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert GROUP in hand.state.groups


def test_a_group_with_offsets_keeps_them() -> None:
    """Connect commits none in its own group; but what is there is there."""
    hand = Hand()
    stable(hand)
    commit = OffsetCommitRequest(
        group_id=GROUP,
        generation_id_or_member_epoch=hand.generations["A"],
        member_id=hand.member_ids["A"],
        topics=[OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, 7)])],
    )
    answer: Any = hand.answers[hand.send(commit, 7)]
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    assert hand.start_new().error_code == ErrorCode.NONE
    for found in (hand, hand.reloaded(), hand.reloaded(compact=True)):
        assert GROUP not in found.state.groups
        assert found.state.offsets.of_group(GROUP)
    hand.stop_new()
    for found in (hand, hand.reloaded(), hand.reloaded(compact=True)):
        assert found.state.offsets.of_group(GROUP)
        assert len(found.state.groups[GROUP].members) == 2


def test_an_empty_group_of_connect_workers_with_offsets_is_taken_over() -> None:
    hand = Hand()
    stable(hand)
    commit = OffsetCommitRequest(
        group_id=GROUP,
        generation_id_or_member_epoch=hand.generations["A"],
        member_id=hand.member_ids["A"],
        topics=[OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, 7)])],
    )
    hand.send(commit, 7)
    hand.pass_ms(60_000)
    assert not hand.state.groups[GROUP].members
    assert hand.start_new().error_code == ErrorCode.NONE
    for found in (hand, hand.reloaded(), hand.reloaded(compact=True)):
        assert GROUP in found.state.connect
        assert GROUP not in found.state.groups
        assert found.state.offsets.of_group(GROUP)


def test_offsets_go_with_a_connect_group_that_is_deleted() -> None:
    hand = Hand(settings(classic_mode=ClassicMode.BARRIER))
    commit = OffsetCommitRequest(
        group_id=GROUP,
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, 7)])],
    )
    stable(hand)
    commit.generation_id_or_member_epoch, commit.member_id = hand.generations["A"], hand.member_ids["A"]
    hand.send(commit, 7)
    hand.start_new()
    hand.pass_ms(60_000)
    hand.stop_new()
    assert not hand.group.members
    assert hand.state.offsets.of_group(GROUP)
    hand.send(DeleteGroupsRequest([GROUP]), 0)
    for found in (hand, hand.reloaded(), hand.reloaded(compact=True)):
        assert not found.state.offsets.of_group(GROUP)
        assert not found.shard.group_ids()


def test_individual_mode_for_all_groups_leaves_other_protocol_types_alone() -> None:
    hand = Hand(settings(classic_mode=ClassicMode.INDIVIDUAL))
    hand.join("A", protocol_type="consumer")
    assert GROUP in hand.state.groups


def test_what_is_deleted_between_two_modes_is_stopped_all_the_same() -> None:
    """Plan 698649. The second look, which tells the leader's deletions, never comes: the group is classic before it. A
    leader that is shown what it does not remember takes it for something that exists, unless it is asked once more.
    """
    fleet = Fleet(settings(classic_mode=ClassicMode.INDIVIDUAL))
    fleet.started(1)
    fleet.run(2 * SETTLED_MS)
    fleet.reload()  # whether the leader remembers what exists is not known any more
    fleet.run(SETTLED_MS)
    for name in TASKS:
        fleet.topic.remove(name)
    fleet.tell()
    for _ in range(2 * SETTLED_MS):
        fleet.run(1)
        if (look := fleet.group.classic.look) is not None and look.existing is not None and look.picture:
            break
    assert look is not None, "it is asked twice, and has been shown the second picture"
    fleet.configure_group(classic_mode="barrier")
    fleet.run(1_000)
    assert not fleet.is_connect()
    fleet.configure_group(classic_mode="individual")
    fleet.run(QUIET_MS + SETTLED_MS)
    assert fleet.is_connect()
    assert not fleet.hosts[0].runs
