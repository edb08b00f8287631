"""What do people see of groups with classic workers: by kcoord's own description, and by the classic one?"""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.protocol.embedded import decode_assignment, decode_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_describe_response import DescribedGroup
from kcoord.protocol.generated.describe_groups_response import DescribedGroup as ClassicGroup
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kcoord.protocol.resources import unpack
from tests.conversion.fleet import settings
from tests.conversion.hand import GROUP, Hand
from tests.conversion.test_states import preparing, stable, unsynced
from tests.group.connect.world import text


def described(hand: Hand) -> DescribedGroup:
    answer: Any = hand.answers[hand.send(ConnectGroupDescribeRequest([GROUP]), 0)]
    found = answer.groups[0]
    assert isinstance(found, DescribedGroup)
    return found


def classic(hand: Hand, version: int = 6) -> ClassicGroup:
    answer: Any = hand.answers[hand.send(DescribeGroupsRequest([GROUP]), version)]
    found = answer.groups[0]
    assert isinstance(found, ClassicGroup)
    return found


def listed(hand: Hand, **filters: Any) -> list[tuple[str, str, str]]:
    answer = hand.answers[hand.send(ListGroupsRequest(**filters), 5)]
    assert isinstance(answer, ListGroupsResponse)
    return [(each.group_type, each.protocol_type, each.group_state) for each in answer.groups]


def test_a_mixed_group_tells_who_speaks_what_and_who_leads() -> None:
    hand = Hand()
    stable(hand)
    generation = hand.generations["A"]
    hand.start_new()
    found = described(hand)
    assert (found.error_code, found.classic_mode, found.migration_policy) == (0, "barrier", "bidirectional")
    assert (found.barrier, found.embedded_protocol) == (None, "sessioned")
    members = {each.member_id.partition("-")[0]: each for each in found.members}
    assert {who: each.protocol for who, each in members.items()} == {
        "A": "sessioned",
        "B": "sessioned",
        "new": "connect",
    }
    assert {who: each.generation for who, each in members.items()} == {"A": generation, "B": generation, "new": -1}
    assert {who for who, each in members.items() if each.leads} == {"A"}
    assert text(unpack(members["B"].owned)) == "BC0 BT1"
    assert classic(hand).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert listed(hand) == [("connect", "connect", found.group_state)]


def test_a_mixed_group_with_default_says_whom_the_barrier_is_for() -> None:
    hand = Hand(version=0)
    stable(hand)
    hand.start_new()
    both = ", ".join(sorted(hand.member_ids.values()))
    assert described(hand).barrier == f"{both} speak only the embedded protocol default (connect.protocol=eager)"


def test_a_classic_group_says_why_it_has_a_barrier() -> None:
    hand = Hand()
    stable(hand)
    found = described(hand)
    assert found.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert (found.classic_mode, found.barrier) == ("barrier", "connect.classic.mode is barrier")
    eager = Hand(settings(classic_mode=ClassicMode.INDIVIDUAL), version=0)
    stable(eager)
    found = described(eager)
    assert found.classic_mode == "individual"
    assert found.barrier is not None
    assert found.barrier.endswith("speak only the embedded protocol default (connect.protocol=eager)")


def test_one_worker_that_cannot_be_read_is_named() -> None:
    hand = Hand(settings(classic_mode=ClassicMode.INDIVIDUAL))
    token = hand.join("A", protocols=[JoinGroupRequestProtocol("sessioned", b"\x00")])
    hand.pass_ms(5_000)
    hand.joined(token)
    assert described(hand).barrier == (
        f"member {hand.member_ids['A']} of group {GROUP}: the metadata of embedded protocol sessioned cannot be read: "
        "cut short: 1 bytes, and 2 more are said to follow 0"
    )


def test_a_consumer_group_has_nothing_of_that() -> None:
    hand = Hand()
    hand.join("A", protocol_type="consumer")
    found = described(hand)
    assert (found.classic_mode, found.barrier, found.migration_policy) == (None, None, None)


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_in_individual_mode_looks_as_its_workers_see_it(version: int) -> None:
    hand = Hand(version=version)
    stable(hand)
    before, line = classic(hand), listed(hand)
    hand.configure(classic_mode="individual", classic_heartbeat_wait_ms="0")
    assert (described(hand).classic_mode, described(hand).barrier) == ("individual", None)
    after = classic(hand)
    assert (after.error_code, after.group_state, after.protocol_type) == (0, "Stable", "connect")
    assert after.protocol_data == before.protocol_data == ("compatible", "sessioned")[version - 1]
    assert [(each.member_id, each.client_id, each.client_host) for each in after.members] == [
        (each.member_id, each.client_id, each.client_host) for each in before.members
    ]
    shown = {each.member_id.partition("-")[0]: each for each in after.members}
    state = decode_state(shown["B"].member_metadata)
    assert (state.version, state.url, state.config_offset) == (version, "http://B", 7)
    assert state.allocation is not None
    given = decode_assignment(shown["B"].member_assignment)
    assert text(state.allocation.assigned) == text(given.assigned) == "BC0 BT1"
    assert (given.leader, given.leader_url) == (hand.member_ids["A"], "http://A")
    assert listed(hand) == line == [("classic", "connect", "Stable")]
    assert listed(hand, types_filter=["classic"]) == line
    assert listed(hand, types_filter=["connect"]) == []


def test_its_state_is_that_of_the_worker_with_the_longest_way() -> None:
    hand = Hand()
    unsynced(hand)
    hand.configure(classic_mode="individual")
    assert classic(hand).group_state == "PreparingRebalance"
    hand.joined(hand.join("B"))
    assert classic(hand).group_state == "CompletingRebalance"
    other = Hand()
    preparing(other)
    other.configure(classic_mode="individual")
    assert listed(other, states_filter=["preparingrebalance"]) == [("classic", "connect", "PreparingRebalance")]
