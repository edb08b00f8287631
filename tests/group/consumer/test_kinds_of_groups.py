"""Of which kind is a group, if consumers, workers and classic members come to the same name? (KG-2)"""

from __future__ import annotations

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    JoinGroupRequest,
    JoinGroupResponse,
)
from tests.group.consumer.world import GROUP, REBALANCE_MS, SESSION_MS, World, two
from tests.group.sabotage import Saboteur

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
