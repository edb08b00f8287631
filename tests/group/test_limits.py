"""What one request may bring into a group: up to each limit it is taken, one more is refused and nothing changes."""

from __future__ import annotations

from typing import Any, cast

import attrs
import pytest

from kcoord.group.group_content_limits import LAST_EPOCH, MAX_INSTANCE_ID_CHARS
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.settings import GroupLimits, GroupSettings
from kcoord.protocol.embedded import WorkerAssignment, WorkerState, encode_assignment, encode_state
from kcoord.protocol.embedded import resources_in_assignment as in_assignment
from kcoord.protocol.embedded import resources_in_state as in_state
from kcoord.protocol.errors import ErrorCode as Err
from kcoord.protocol.generated import connect_group_heartbeat_request as heartbeat
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.generated import consumer_group_heartbeat_request as consumer
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    Request,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.records import (
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitValue,
    Record,
)
from kcoord.resource import connector, task
from tests.group.world import WALL_MS, World

LIMITS = GroupLimits(id_length=300, member_metadata_bytes=2_000, group_bytes=5_000, resources=10, offsets=3)
SETTINGS = GroupSettings(initial_rebalance_delay_ms=0, limits=LIMITS, consumer=ConsumerSettings(client_assignors=True))
JOIN = JoinGroupRequest("g", 10_000, 30_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"m")])
BEAT = ConnectGroupHeartbeatRequest(
    "c", "w", 0, rebalance_timeout_ms=30_000, connectors_and_tasks=[], url="http://w", server_assignor="uniform"
)
CONSUMER = ConsumerGroupHeartbeatRequest(
    "k", "w", 0, rebalance_timeout_ms=30_000, subscribed_topic_names=["t"], topic_partitions=[]
)
INSTALL = ConnectGroupInstallAssignmentRequest("c", "w", 0, 1, 0, [], 0)
TAKEN = (Err.NONE, Err.COMPUTE_ASSIGNMENT, Err.MEMBER_ID_REQUIRED, Err.UNKNOWN_MEMBER_ID)


def protocols(*sizes: int, name: str = "range") -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(f"{name}{at}", b"m" * size) for at, size in enumerate(sizes)]


def listed(count: int, name: str = "A") -> list[heartbeat.ConnectorsAndTasks]:
    return [heartbeat.ConnectorsAndTasks([name], [heartbeat.ConnectorTaskId(name, at) for at in range(count - 1)])]


def assigned(count: int, name: str = "A") -> list[install.Member]:
    tasks = [install.ConnectorTaskId(name, at) for at in range(count - 1)]
    return [install.Member("w", [install.ConnectorsAndTasks([name], tasks)])]


def assignors(size: int, name: str = "x") -> ConnectGroupHeartbeatRequest:
    each = heartbeat.Assignor(name, 0, 1, 0, 1, b"m" * (size - len(name)))
    return attrs.evolve(BEAT, server_assignor=None, client_assignors=[each])


def many_assignors(request: Any, count: int) -> Any:
    """Entries that have nearly nothing in them, and take memory all the same."""
    kind = heartbeat.Assignor if isinstance(request, ConnectGroupHeartbeatRequest) else consumer.Assignor
    listed = [kind(f"{at}", 0, 1, 0, 1, b"") for at in range(count)]
    return attrs.evolve(request, server_assignor=None, client_assignors=listed)


def own_assignor(size: int, name: str = "x") -> ConsumerGroupHeartbeatRequest:
    each = consumer.Assignor(name, 0, 1, 0, 1, b"m" * (size - len(name)))
    return attrs.evolve(CONSUMER, client_assignors=[each])


def running(count: int) -> JoinGroupRequest:
    runs = WorkerAssignment(1, assigned=frozenset(task("A", at) for at in range(count)))
    metadata = encode_state(WorkerState(1, "http://w", 1, runs))
    return attrs.evolve(JOIN, protocol_type="connect", protocols=[JoinGroupRequestProtocol("compatible", metadata)])


def error_of(response: object) -> Err:
    assert isinstance(
        response,
        JoinGroupResponse
        | SyncGroupResponse
        | ConnectGroupHeartbeatResponse
        | ConnectGroupInstallAssignmentResponse
        | ConsumerGroupHeartbeatResponse,
    )
    return Err(response.error_code)


@pytest.mark.parametrize(
    ("within", "beyond", "error"),
    [
        (attrs.evolve(JOIN, group_id="g" * 300), attrs.evolve(JOIN, group_id="g" * 301), Err.INVALID_GROUP_ID),
        (attrs.evolve(JOIN, member_id="m" * 300), attrs.evolve(JOIN, member_id="m" * 301), Err.INVALID_REQUEST),
        (
            attrs.evolve(JOIN, group_instance_id="i" * MAX_INSTANCE_ID_CHARS),
            attrs.evolve(JOIN, group_instance_id="i" * (MAX_INSTANCE_ID_CHARS + 1)),
            Err.INVALID_REQUEST,
        ),
        (
            attrs.evolve(JOIN, protocol_type="p" * 300),
            attrs.evolve(JOIN, protocol_type="p" * 301),
            Err.INVALID_REQUEST,
        ),
        (
            attrs.evolve(JOIN, protocols=protocols(1, name="p" * 299)),
            attrs.evolve(JOIN, protocols=protocols(1, name="p" * 300)),
            Err.INVALID_REQUEST,
        ),
        (
            attrs.evolve(JOIN, protocols=protocols(988, 1_000)),
            attrs.evolve(JOIN, protocols=protocols(989, 1_000)),
            Err.INVALID_REQUEST,
        ),
        (running(10), running(11), Err.INVALID_REQUEST),
        (attrs.evolve(BEAT, group_id="g" * 300), attrs.evolve(BEAT, group_id="g" * 301), Err.INVALID_GROUP_ID),
        (attrs.evolve(BEAT, member_id="m" * 300), attrs.evolve(BEAT, member_id="m" * 301), Err.INVALID_REQUEST),
        (attrs.evolve(BEAT, url="u" * 300), attrs.evolve(BEAT, url="u" * 301), Err.INVALID_REQUEST),
        (
            attrs.evolve(BEAT, instance_id="i" * MAX_INSTANCE_ID_CHARS),
            attrs.evolve(BEAT, instance_id="i" * (MAX_INSTANCE_ID_CHARS + 1)),
            Err.INVALID_REQUEST,
        ),
        (
            attrs.evolve(BEAT, config_offset=1, configured_connectors_and_tasks=listed(10)),
            attrs.evolve(BEAT, config_offset=1, configured_connectors_and_tasks=listed(11)),
            Err.INVALID_REQUEST,
        ),
        (
            attrs.evolve(BEAT, config_offset=1, configured_connectors_and_tasks=listed(2, "n" * 300)),
            attrs.evolve(BEAT, config_offset=1, configured_connectors_and_tasks=listed(2, "n" * 301)),
            Err.INVALID_REQUEST,
        ),
        (assignors(2_000), assignors(2_001), Err.INVALID_REQUEST),
        (assignors(400, "n" * 300), assignors(400, "n" * 301), Err.INVALID_REQUEST),
        (many_assignors(BEAT, 31), many_assignors(BEAT, 32), Err.INVALID_REQUEST),
        (many_assignors(CONSUMER, 31), many_assignors(CONSUMER, 32), Err.INVALID_REQUEST),
        (own_assignor(2_000), own_assignor(2_001), Err.INVALID_REQUEST),
        (own_assignor(400, "n" * 300), own_assignor(400, "n" * 301), Err.INVALID_REQUEST),
    ],
)
def test_what_is_within_the_limit_is_taken_and_one_more_changes_nothing(
    within: Request, beyond: Request, error: Err
) -> None:
    world = World(SETTINGS)
    version = 0 if isinstance(within, ConnectGroupHeartbeatRequest | ConsumerGroupHeartbeatRequest) else 9
    ticket, _ = world.call(beyond, version)
    assert error_of(ticket.response) is error
    assert world.log == []
    assert sum(world.state.counters.over_limit.values()) == 1
    ticket, _ = world.call(within, version)
    assert ticket.response is None or error_of(ticket.response) in TAKEN
    assert sum(world.state.counters.over_limit.values()) == 1


def test_connect_groups_are_told_what_was_too_much_and_by_which_setting() -> None:
    world = World(SETTINGS)
    ticket, _ = world.call(attrs.evolve(BEAT, connectors_and_tasks=listed(11)), 0)
    response = cast(ConnectGroupHeartbeatResponse, ticket.response)
    assert response.error_message == (
        "connectors and tasks in one list: 11 is more than 10 (group.connect.max.resources)"
    )
    ticket, _ = world.call(attrs.evolve(INSTALL, members=assigned(11)), 0)
    refused = cast(ConnectGroupInstallAssignmentResponse, ticket.response)
    assert refused.error_code == Err.INVALID_REQUEST
    assert "group.connect.max.resources" in (refused.error_message or "")


@pytest.mark.parametrize("count", [0, 1, 4])
def test_resources_are_counted_as_they_are_read(count: int) -> None:
    some = frozenset([connector("A"), task("A", 0), task("B", 7), task("C", 1)][:count])
    for version in (1, 2):
        both = WorkerAssignment(version, assigned=some, revoked=frozenset([task("D", 0)]))
        assert in_assignment(encode_assignment(both), 99) == count + 1
        assert in_state(encode_state(WorkerState(version, "u", 1, both)), 99) == count + 1
    assert in_assignment(encode_assignment(WorkerAssignment(0, assigned=some)), 99) == count
    assert in_state(encode_state(WorkerState(0, "u", 1)), 99) == 0
    assert in_state(b"\0", 99) == in_assignment(b"\0\1\0", 99) == 0


def test_a_million_connectors_are_not_counted_to_the_end() -> None:
    """4 MiB of connectors without a name or a task; behind the last one that is counted nothing can be read."""
    head = encode_assignment(WorkerAssignment(1))[: 2 + 2 + 2 + 2 + 8]
    claimed = head + (1_000_000).to_bytes(4, "big")
    assert in_assignment(claimed + b"\0" * 6 * 11, 10) == 11
    assert in_assignment(claimed + b"\0" * 6 * 10, 10) == 0


# -- a group in all ---------------------------------------------------------------------------------------------------


def test_the_member_that_would_make_the_group_too_large_is_not_taken_in() -> None:
    world = World(SETTINGS)
    large = attrs.evolve(JOIN, protocols=protocols(1_900))
    for who in ("a", "b"):
        world.call(large, 3, who)
    before = len(world.log)
    ticket, _ = world.call(large, 3, "c")
    assert error_of(ticket.response) is Err.GROUP_MAX_SIZE_REACHED
    assert len(world.log) == before
    ticket, _ = world.call(JOIN, 3, "d")
    assert ticket.response is None or error_of(ticket.response) is not Err.GROUP_MAX_SIZE_REACHED


def test_a_member_may_replace_what_it_brought_itself() -> None:
    world = World(attrs.evolve(SETTINGS, limits=attrs.evolve(LIMITS, group_bytes=2_500)))
    ticket, _ = world.call(attrs.evolve(JOIN, protocols=protocols(1_900)), 3)
    member_id = cast(JoinGroupResponse, ticket.response).member_id
    again = attrs.evolve(JOIN, member_id=member_id, protocols=protocols(1_950))
    ticket, _ = world.call(again, 3)
    assert error_of(ticket.response) is Err.NONE
    assert world.state.groups["g"].weight < 2_500


def test_the_weight_of_a_group_follows_its_members() -> None:
    world = World(SETTINGS)
    ticket, _ = world.call(attrs.evolve(JOIN, protocols=protocols(1_000)), 3)
    member_id = cast(JoinGroupResponse, ticket.response).member_id
    assert world.state.groups["g"].weight > 1_000
    world.call(attrs.evolve(JOIN, member_id=member_id, protocols=protocols(10)), 3)
    assert 10 < world.state.groups["g"].weight < 200
    world.crash()
    assert 10 < world.state.groups["g"].weight < 200
    world.advance_to(world.now_ms + 60_000)
    assert world.state.groups["g"].weight == 0


def test_assignments_that_the_record_could_not_hold_are_refused_and_smaller_ones_are_taken() -> None:
    world = World(SETTINGS)
    ticket, _ = world.call(JOIN, 3)
    joined = cast(JoinGroupResponse, ticket.response)

    def sync(size: int) -> Err:
        each = SyncGroupRequestAssignment(joined.member_id, b"a" * size)
        answer, _ = world.call(SyncGroupRequest("g", joined.generation_id, joined.member_id, assignments=[each]), 3)
        return error_of(answer.response)

    before = len(world.log)
    assert sync(5_000) is Err.INVALID_REQUEST
    assert len(world.log) == before
    assert sync(4_000) is Err.NONE


def test_the_metadata_of_all_workers_together_is_bounded() -> None:
    world = World(SETTINGS)
    for who in ("v", "w"):
        ticket, _ = world.call(attrs.evolve(assignors(2_000), member_id=who), 0)
        assert error_of(ticket.response) in (Err.NONE, Err.COMPUTE_ASSIGNMENT)
    ticket, _ = world.call(attrs.evolve(assignors(2_000), member_id="x"), 0)
    assert error_of(ticket.response) is Err.GROUP_MAX_SIZE_REACHED
    ticket, _ = world.call(attrs.evolve(assignors(900), member_id="y"), 0)
    assert error_of(ticket.response) in (Err.NONE, Err.COMPUTE_ASSIGNMENT)


# -- offsets ----------------------------------------------------------------------------------------------------------


def commit(world: World, *partitions: int, topic: str = "t", retention_ms: int = -1, version: int = 9) -> list[Err]:
    each = [OffsetCommitRequestPartition(index, 1, committed_metadata="") for index in partitions]
    topics = [OffsetCommitRequestTopic(name=topic, partitions=each)]
    request = OffsetCommitRequest("g", -1, "", retention_time_ms=retention_ms, topics=topics)
    ticket, _ = world.call(request, version)
    response = cast(OffsetCommitResponse, ticket.response)
    return [Err(partition.error_code) for answered in response.topics for partition in answered.partitions]


def test_a_group_keeps_so_many_offsets_and_known_ones_move_on() -> None:
    world = World(SETTINGS)
    assert commit(world, 0, 1, 2, 3) == [Err.NONE, Err.NONE, Err.NONE, Err.INVALID_COMMIT_OFFSET_SIZE]
    assert commit(world, 1) == [Err.NONE]
    assert commit(world, 0, topic="u") == [Err.INVALID_COMMIT_OFFSET_SIZE]
    world.crash()
    assert world.state.offsets.count("g") == 3
    assert commit(world, 4) == [Err.INVALID_COMMIT_OFFSET_SIZE]


def test_a_topic_has_a_name_that_kafka_allows() -> None:
    world = World(SETTINGS)
    assert commit(world, 0, topic="t" * 249) == [Err.NONE]
    assert commit(world, 0, topic="t" * 250) == [Err.UNKNOWN_TOPIC_OR_PARTITION]


@pytest.mark.parametrize(
    ("retention_ms", "expires_ms"),
    [(2**63 - 1, 2**63 - 1), (2**63 - 1 - WALL_MS, 2**63 - 1), (5, WALL_MS + 5), (-(2**63), WALL_MS - 2**63), (-1, -1)],
)
def test_an_offset_that_stays_for_ever_has_the_last_time_that_there_is(retention_ms: int, expires_ms: int) -> None:
    world = World(SETTINGS)
    assert commit(world, 0, retention_ms=retention_ms, version=4) == [Err.NONE]
    (record,) = [each for each in world.log if isinstance(each.value, OffsetCommitValue)]
    assert isinstance(record.value, OffsetCommitValue)
    assert record.value.expire_timestamp == expires_ms


# -- the last generation ----------------------------------------------------------------------------------------------


def test_nobody_joins_a_classic_group_whose_generations_are_used_up() -> None:
    used_up = Record(GroupMetadataKey("g"), GroupMetadataValue("consumer", LAST_EPOCH + 1, None, None, state="Empty"))
    world = World(SETTINGS, [used_up])
    ticket, _ = world.call(JOIN, 9)
    assert error_of(ticket.response) is Err.INVALID_REQUEST
    ticket, _ = world.call(attrs.evolve(JOIN, group_id="h"), 3)
    assert error_of(ticket.response) is Err.NONE


def test_nobody_joins_a_connect_group_whose_epochs_are_used_up_and_it_is_said_what_to_do() -> None:
    used_up = Record(
        ConnectWorkerGroupMetadataKey("c"), ConnectWorkerGroupMetadataValue(LAST_EPOCH + 1, "why", WALL_MS)
    )
    world = World(SETTINGS, [used_up])
    ticket, _ = world.call(BEAT, 0)
    response = cast(ConnectGroupHeartbeatResponse, ticket.response)
    assert response.error_code == Err.INVALID_REQUEST
    assert "delete it" in (response.error_message or "")


def test_a_client_id_is_cut_and_its_sender_served() -> None:
    world = World(SETTINGS)
    ticket, _ = world.call(JOIN, 3, "c" * 5_000)
    assert error_of(ticket.response) is Err.NONE
    (member,) = world.state.groups["g"].members.values()
    assert len(member.client_id) == 300
