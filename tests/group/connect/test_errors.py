"""What is refused, with which error, and does it change nothing? (CG-29, and what fields may hold)

Each row of a table is one invariant: the request breaks that one alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heartbeat_request
from kcoord.protocol.generated import connect_group_install_assignment_request as install_request
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupRequest,
)
from tests.group.connect.world import SETTINGS, World, assignor

INVALID = ErrorCode.INVALID_REQUEST
COMPUTE = ErrorCode.COMPUTE_ASSIGNMENT

CT = heartbeat_request.ConnectorsAndTasks
TASK = heartbeat_request.ConnectorTaskId


def error_of(response: Response) -> ErrorCode:
    return ErrorCode(getattr(response, "error_code"))  # noqa: B009


def refused(world: World, request: Request, connection: int = 1) -> ErrorCode:
    """The error that the request is answered with, having changed nothing."""
    with world.nothing_changes():
        return error_of(world.answers[world.send(request, connection)])


# -- ConnectGroupHeartbeat --------------------------------------------------------------------------------------------

JOIN: dict[str, Any] = {
    "group_id": "g",
    "member_id": "W9",
    "member_epoch": 0,
    "rebalance_timeout_ms": 1_000,
    "client_assignors": [assignor()],
    "connectors_and_tasks": [],
}
HEARTBEATS: list[dict[str, Any]] = [
    {"group_id": ""},
    {"member_id": ""},
    {"member_epoch": -3},
    {"member_epoch": -2},
    {"instance_id": ""},
    {"rebalance_timeout_ms": 0},
    {"rebalance_timeout_ms": -2},
    {"server_assignor": ""},
    {"server_assignor": "uniform"},
    {"client_assignors": [assignor("")]},
    {"client_assignors": [assignor(), assignor()]},
    {"client_assignors": [assignor(low=-2)]},
    {"client_assignors": [assignor(low=-1, high=-1)]},
    {"client_assignors": [assignor(low=3, high=2)]},
    {"client_assignors": [assignor(low=1, high=2, version=0)]},
    {"client_assignors": [assignor(low=1, high=2, version=3)]},
    {"connectors_and_tasks": [CT([""], [])]},
    {"connectors_and_tasks": [CT([], [TASK("", 0)])]},
    {"connectors_and_tasks": [CT([], [TASK("A", -1)])]},
    {"connectors_and_tasks": [CT(["A"], [])]},
    {"config_offset": -2},
    {"configured_connectors_and_tasks": [CT([], [TASK("A", -1)])], "config_offset": 1},
    {"configured_connectors_and_tasks": [CT([""], [])], "config_offset": 1},
    {"max_wait_ms": -1},
]


@pytest.mark.parametrize("wrong", HEARTBEATS)
def test_heartbeats_that_break_an_invariant(wrong: dict[str, Any]) -> None:
    """CG-6, CG-15, and the bounds of fields: INVALID_REQUEST with a text, for a worker that joins an existing group."""
    world = World.settled({"W1": "AC0"})
    request = ConnectGroupHeartbeatRequest(**{**JOIN, **wrong})
    assert refused(world, request) is INVALID
    assert getattr(next(reversed(world.answers.values())), "error_message")  # noqa: B009
    assert error_of(world.answers[world.send(ConnectGroupHeartbeatRequest(**JOIN))]) is ErrorCode.NONE


@pytest.mark.parametrize(
    "right",
    [
        {"rebalance_timeout_ms": 1},
        {"client_assignors": None},
        {"client_assignors": []},
        {"client_assignors": [], "server_assignor": "uniform"},
        {"client_assignors": [assignor(low=-1, high=0)]},
        {"client_assignors": [assignor(low=1, high=1)]},
        {"config_offset": -1},
        {"instance_id": "i"},
        {"max_wait_ms": 2**31 - 1},
    ],
)
def test_heartbeats_that_keep_them(right: dict[str, Any]) -> None:
    """The borders of the same list."""
    world = World()
    response = world.answers[world.send(ConnectGroupHeartbeatRequest(**{**JOIN, **right}))]
    assert error_of(response) in (ErrorCode.NONE, COMPUTE)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"member_epoch": 1}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_epoch": -1}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_epoch": -2, "instance_id": "i"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"client_assignors": [], "server_assignor": "range"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_who_is_no_member(exists: bool, fields: dict[str, Any], error: ErrorCode) -> None:
    """CG-29: nothing but a join creates a group or a member."""
    world = World.settled({"W1": "AC0"}) if exists else World()
    assert refused(world, ConnectGroupHeartbeatRequest(**{**JOIN, **fields})) is error
    assert bool(world.shard.state.connect) is exists


# -- Prepare and Install ----------------------------------------------------------------------------------------------

PREPARE: dict[str, Any] = {"group_id": "g", "member_id": "W1", "member_epoch": 1}
WHO: list[tuple[dict[str, Any], ErrorCode]] = [
    ({"group_id": ""}, INVALID),
    ({"member_id": ""}, INVALID),
    ({"member_epoch": -1}, INVALID),
    ({"group_id": "other"}, ErrorCode.GROUP_ID_NOT_FOUND),
    ({"member_id": "W9"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ({"member_epoch": 0}, ErrorCode.FENCED_MEMBER_EPOCH),
    ({"member_epoch": 2}, ErrorCode.FENCED_MEMBER_EPOCH),
    ({}, ErrorCode.UNKNOWN_MEMBER_ID),
]


@pytest.mark.parametrize(("wrong", "error"), WHO)
def test_prepare(wrong: dict[str, Any], error: ErrorCode) -> None:
    """CG-19, CG-29; the last row: nobody was chosen."""
    world = World.settled({"W1": "AC0"})
    assert refused(world, ConnectGroupPrepareAssignmentRequest(**{**PREPARE, **wrong})) is error


@pytest.mark.parametrize(("wrong", "error"), WHO)
def test_install(wrong: dict[str, Any], error: ErrorCode) -> None:
    """CG-19, CG-29; the last row: nobody was chosen."""
    world = World.settled({"W1": "AC0"})
    request = ConnectGroupInstallAssignmentRequest(**{**PREPARE, "group_epoch": 2, **wrong})
    assert refused(world, request) is error


INSTALL_CT = install_request.ConnectorsAndTasks
INSTALL_TASK = install_request.ConnectorTaskId


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"scheduled_delay_ms": -1}, INVALID),
        ({"members": [install_request.Member("", [])]}, INVALID),
        ({"members": [install_request.Member("W1", [INSTALL_CT([""], [])])]}, INVALID),
        ({"members": [install_request.Member("W1", [INSTALL_CT([], [INSTALL_TASK("A", -1)])])]}, INVALID),
        ({"group_epoch": 0}, ErrorCode.INVALID_ASSIGNMENT),
        ({"group_epoch": 3}, ErrorCode.INVALID_ASSIGNMENT),
    ],
)
def test_what_is_no_assignment_is_not_held_against_the_worker(fields: dict[str, Any], error: ErrorCode) -> None:
    """CG-18: it may try again."""
    world = World.settled({"W1": "AC0"})
    world.beat("W1", 1, client_assignors=[assignor(reason=1)])
    world.prepare("W1", 1)
    request = ConnectGroupInstallAssignmentRequest(**{**PREPARE, "group_epoch": 2, **fields})
    assert refused(world, request) is error
    assert world.install("W1", 1, 2, {"W1": "AC0"}) is ErrorCode.NONE


@pytest.mark.parametrize(
    "twice",
    [
        [INSTALL_CT(["A", "A"], [])],
        [INSTALL_CT(["A"], []), INSTALL_CT(["A"], [])],
        [INSTALL_CT([], [INSTALL_TASK("A", 0), INSTALL_TASK("A", 0)])],
    ],
)
def test_a_connector_or_task_is_assigned_only_once(twice: list[Any]) -> None:
    """CG-18: also not twice to the same worker; the target stays."""
    world = World()
    world.join("W1")
    world.prepare("W1", 0)
    members = [install_request.Member("W1", twice)]
    request = ConnectGroupInstallAssignmentRequest("g", "W1", 0, 1, 0, members)
    assert error_of(world.answers[world.send(request)]) is ErrorCode.INVALID_ASSIGNMENT
    assert world.targets() == {}
    members = [install_request.Member("W1", []), install_request.Member("W1", [])]
    world.pass_ms(1_000)
    world.beat("W1", 0)
    world.prepare("W1", 0)
    request = ConnectGroupInstallAssignmentRequest("g", "W1", 0, world.group.epoch, 0, members)
    assert error_of(world.answers[world.send(request)]) is ErrorCode.INVALID_ASSIGNMENT


# -- limits -----------------------------------------------------------------------------------------------------------


def test_a_full_group() -> None:
    """CG-29: GROUP_MAX_SIZE_REACHED, but not for who is a member, or comes back as one."""
    world = World()
    world.configure(max_size="2")
    world.join("W1")
    world.join("W2", connection=2, instance_id="i")
    with world.nothing_changes():
        assert world.join("W3", connection=3).error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.join("W1").error is COMPUTE
    world.beat("W2", -2, connection=2, instance_id="i")
    with world.nothing_changes():
        assert world.join("W3", connection=3).error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.join("W4", connection=4, instance_id="i").error is ErrorCode.NONE
    world.beat("W1", -1)
    assert world.join("W3", connection=3).error in (ErrorCode.NONE, COMPUTE)


def test_a_group_above_its_size_keeps_its_members() -> None:
    """CG-29: nobody is put out for a lower limit; the server's own limit is not exceeded by it."""
    world = World.settled({"W1": "AC0", "W2": "BC0"})
    world.configure(max_size="1")
    world.restart()
    assert set(world.group.members) == {"W1", "W2"}
    world.beat("W2", -1, connection=2)
    assert world.join("W2", connection=3).error is ErrorCode.GROUP_MAX_SIZE_REACHED


# -- other kinds of groups --------------------------------------------------------------------------------------------

CONSUMER_JOIN = JoinGroupRequest(
    "g", 10_000, 10_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")], None
)


def classic(world: World, members: bool = True) -> None:
    """A classic group of that name, with a member or without."""
    world.send(CONSUMER_JOIN, client="generic")
    assert world.group_id in world.shard.state.groups
    world.pass_ms(3_000)
    if not members:
        world.pass_ms(60_000)
        assert not world.shard.facts("g").has_members


def test_a_classic_group_is_no_connect_group() -> None:
    """CG-29: GROUP_ID_NOT_FOUND to whatever is asked of it, and nothing changes."""
    world = World()
    classic(world)
    for epoch in (0, 1, -1):
        request = ConnectGroupHeartbeatRequest(**{**JOIN, "member_epoch": epoch})
        assert refused(world, request) is ErrorCode.GROUP_ID_NOT_FOUND
    assert refused(world, ConnectGroupPrepareAssignmentRequest(**PREPARE)) is ErrorCode.GROUP_ID_NOT_FOUND
    assert refused(world, ConnectGroupInstallAssignmentRequest(**PREPARE)) is ErrorCode.GROUP_ID_NOT_FOUND
    described = world.describe()
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == "Group g is a group of the classic protocol."


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (CONSUMER_JOIN, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (attrs.evolve(CONSUMER_JOIN, protocol_type="connect"), ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (SyncGroupRequest("g", 1, "W1"), ErrorCode.UNKNOWN_MEMBER_ID),
        (HeartbeatRequest("g", 1, "W1"), ErrorCode.UNKNOWN_MEMBER_ID),
        (LeaveGroupRequest("g", "W1"), ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_connect_group_is_no_classic_group(request_: Request, error: ErrorCode) -> None:
    """CG-29: as long as it has members."""
    world = World.settled({"W1": "AC0"})
    assert refused(world, request_) is error


def test_offsets_are_not_committed_to_a_connect_group() -> None:
    """CG-29: GROUP_ID_NOT_FOUND, else there would be two groups of one name."""
    world = World.settled({"W1": "AC0"})
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])]
    with world.nothing_changes():
        response = world.ask(OffsetCommitRequest("g", topics=topics), OffsetCommitResponse)
    assert response.topics[0].partitions[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert "g" not in world.shard.state.groups


def test_an_empty_group_makes_room_for_the_other_kind() -> None:
    """CG-29: in both directions; the history of the one that goes, goes with it."""
    world = World()
    classic(world, members=False)
    assert world.join("W1").error is COMPUTE
    assert "g" not in world.shard.state.groups
    world.beat("W1", -1)
    world._epochs.clear()
    world.send(CONSUMER_JOIN, client="generic")
    assert "g" not in world.shard.state.connect
    assert "g" in world.shard.state.groups
    world.restart()
    assert "g" not in world.shard.state.connect


# -- DeleteGroups -----------------------------------------------------------------------------------------------------


def test_deleting() -> None:
    """CG-29: an empty group can be deleted, and its configuration survives it."""
    world = World.settled({"W1": "AC0"})
    world.configure(session_timeout_ms="6000")
    with world.nothing_changes():
        assert world.delete() is ErrorCode.NON_EMPTY_GROUP
    world.beat("W1", -1)
    assert world.delete() is ErrorCode.NONE
    with world.nothing_changes():
        assert world.delete() is ErrorCode.GROUP_ID_NOT_FOUND
    assert world.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    world.restart(compacted=True)
    assert not world.shard.state.connect
    assert world.shard.config("g") == {"connect.session.timeout.ms": "6000"}
    assert world.join("W1").response.session_timeout_ms == 6_000
    assert world.group.epoch == 1


Act = Callable[[World], object]


@pytest.mark.parametrize(
    "act",
    [
        lambda world: world.beat("W1", -1),
        lambda world: world.join("W1"),
        lambda world: world.beat("W1", -2, instance_id="i"),
    ],
)
def test_nothing_of_a_deleted_group_is_left_in_the_log(act: Act) -> None:
    """Every record that was written has its tombstone, so that compaction leaves nothing."""
    world = World()
    world.join("W1", instance_id="i", config_offset=1, configured_connectors_and_tasks=[CT(["A"], [])])
    world.join("W2", connection=2)
    world.beat("W1", 0)
    world.compute("W1", 0, {"W1": "AC0"}, delay_ms=1_000)
    world.beat("W1", 0)
    world.pass_ms(1_000)
    act(world)
    world.beat("W2", -1, connection=2)
    if "W1" in world.group.members:
        world.beat("W1", -1)
    assert world.delete() is ErrorCode.NONE
    assert world._compacted() == []


def test_what_a_group_may_be_configured_with() -> None:
    """Effective settings: what was stored under other bounds is brought within today's."""
    world = World()
    world.configure(session_timeout_ms="999999", heartbeat_interval_ms="1", max_size="0", assignors="gone")
    told = world.join("W1")
    assert told.response.session_timeout_ms == SETTINGS.max_session_timeout_ms
    assert told.response.heartbeat_interval_ms == SETTINGS.min_heartbeat_interval_ms
    assert world.join("W2", connection=2).error is ErrorCode.GROUP_MAX_SIZE_REACHED
