"""Is the authorizer asked for what each API needs (CG-30), and is its answer what clients get?"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.group.acl_operation import AclOperation
from kcoord.group.state.settings import GroupSettings
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    Request,
    SyncGroupRequest,
)
from kcoord.server.server import Server
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone import Standalone
from kcoord.server.standalone_authorizer import Client as Asker
from kcoord.server.standalone_nodes import OneNode
from tests.connectgroups.configs import asked, change
from tests.connectgroups.conftest import CONNECT
from tests.connectgroups.worker import Worker, resources
from tests.gateway.scripted import ask, connect
from tests.server.harness import LIMITS, Client

READ, DELETE, DESCRIBE = AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE
DESCRIBE_CONFIGS, ALTER_CONFIGS = AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS
DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED


@attrs.define
class Rules:
    """An authorizer whose rules a test can change: what is allowed on which group, and what was asked."""

    allowed: dict[str, set[AclOperation]] = attrs.Factory(dict)
    holds_ms: int | None = 0
    seen: list[tuple[str, AclOperation]] = attrs.Factory(list)

    def allows(self, client: Asker, operation: AclOperation, group_id: str) -> bool:
        assert client.client_host == "/127.0.0.1"
        self.seen.append((group_id, operation))
        return operation in self.allowed.get(group_id, set())


@pytest.fixture
def rules() -> Rules:
    return Rules()


@pytest.fixture
async def client(tmp_path: Path, rules: Rules) -> AsyncIterator[Client]:
    """A connection to a kcoord with these rules."""
    serial = itertools.count()
    log = EmbeddedLog(tmp_path, partitions=2)
    await log.open()
    settings = GroupSettings(initial_rebalance_delay_ms=0, connect=CONNECT)
    coordinator = Coordinator(log, settings, 2, lambda: f"id{next(serial)}")
    await coordinator.load()
    server = Server(LIMITS, Standalone(coordinator, OneNode("test", None), rules))
    port = await server.listen("127.0.0.1", 0)
    yield await connect(port)
    await server.close_listeners()
    await coordinator.stop()
    await server.close_connections()
    await log.close()


def error_of(answer: Any) -> ErrorCode:
    """The answer's one error, wherever it stands."""
    parts = next(
        (getattr(answer, name) for name in ("groups", "results", "responses") if getattr(answer, name, None)), [answer]
    )
    [code] = {ErrorCode(part.error_code) for part in parts}
    return code


TABLE: list[tuple[Callable[[str], Request], AclOperation]] = [
    (lambda g: ConnectGroupHeartbeatRequest(g, "w", 0, connectors_and_tasks=[], rebalance_timeout_ms=1), READ),
    (lambda g: ConnectGroupPrepareAssignmentRequest(g, "w", 1), READ),
    (lambda g: ConnectGroupInstallAssignmentRequest(g, "w", 1, 1), READ),
    (lambda g: ConnectGroupDescribeRequest([g]), DESCRIBE),
    (lambda g: DescribeGroupsRequest([g]), DESCRIBE),
    (lambda g: DeleteGroupsRequest([g]), DELETE),
    (lambda g: DescribeConfigsRequest([asked(g)]), DESCRIBE_CONFIGS),
    (lambda g: IncrementalAlterConfigsRequest([change(g, {})]), ALTER_CONFIGS),
    (lambda g: JoinGroupRequest(g, 30_000), READ),
    (lambda g: SyncGroupRequest(g), READ),
    (lambda g: HeartbeatRequest(g), READ),
    (lambda g: LeaveGroupRequest(g), READ),
    (lambda g: OffsetDeleteRequest(g), DELETE),
]


@pytest.mark.parametrize(("request_of", "needed"), TABLE, ids=[request("g").NAME for request, _ in TABLE])
async def test_rule_30_each_api_needs_its_right(
    client: Client, rules: Rules, name: str, request_of: Callable[[str], Request], needed: AclOperation
) -> None:
    for allowed in (set(), set(AclOperation) - {needed}):
        rules.allowed = {name: allowed}
        assert error_of(await ask(client, request_of(name))) == DENIED
    rules.allowed = {name: {needed}}
    assert error_of(await ask(client, request_of(name))) != DENIED
    assert set(rules.seen) == {(name, needed)}


async def test_offsets_need_rights_too(client: Client, rules: Rules, name: str) -> None:
    from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
    from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup

    commit = OffsetCommitRequest(
        name, topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
    )
    fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(name)])
    assert (await ask(client, commit, 9)).topics[0].partitions[0].error_code == DENIED
    assert (await ask(client, fetch, 9)).groups[0].error_code == DENIED
    rules.allowed = {name: {READ, DESCRIBE}}
    assert (await ask(client, commit, 9)).topics[0].partitions[0].error_code == ErrorCode.NONE
    assert (await ask(client, fetch, 9)).groups[0].error_code == ErrorCode.NONE


async def test_a_request_for_several_groups_is_answered_for_each(client: Client, rules: Rules, name: str) -> None:
    mine, others = f"{name}-mine", f"{name}-others"
    rules.allowed = {mine: set(AclOperation), others: {READ}}
    for group in (mine, others):
        assert await Worker(client, group).join(resources("a")) == ErrorCode.NONE
    described = await ask(client, ConnectGroupDescribeRequest([others, mine, others]))
    assert [each.error_code for each in described.groups] == [DENIED, 0, DENIED]
    assert [each.group_state for each in described.groups] == ["", "Stable", ""]
    altered = await ask(
        client, IncrementalAlterConfigsRequest([change(g, {"connect.max.size": "1"}) for g in (others, mine)])
    )
    assert [each.error_code for each in altered.responses] == [DENIED, 0]
    shown = await ask(client, DescribeConfigsRequest([asked(others), asked(mine, "connect.max.size")]))
    assert [(each.error_code, [entry.value for entry in each.configs]) for each in shown.results] == [
        (DENIED, []),
        (0, ["1"]),
    ]
    deleted = await ask(client, DeleteGroupsRequest([others, mine]))
    assert [each.error_code for each in deleted.results] == [DENIED, ErrorCode.NON_EMPTY_GROUP]


async def test_lists_show_what_may_be_described(client: Client, rules: Rules, name: str) -> None:
    rules.allowed = {f"{name}-{n}": {READ} for n in range(3)}
    for group in rules.allowed:
        await Worker(client, group).join(resources("a"))
    assert (await ask(client, ListGroupsRequest())).groups == []
    rules.allowed[f"{name}-1"] = {DESCRIBE}
    assert [each.group_id for each in (await ask(client, ListGroupsRequest())).groups] == [f"{name}-1"]


async def test_authorized_operations_are_told_where_they_are_asked_for(client: Client, rules: Rules, name: str) -> None:
    rules.allowed = {name: {READ, DESCRIBE}}
    await Worker(client, name).join(resources("a"))
    for include, expected in ((False, -(2**31)), (True, 1 << READ | 1 << DESCRIBE)):
        request = ConnectGroupDescribeRequest([name], include)
        assert (await ask(client, request)).groups[0].authorized_operations == expected


async def test_rule_25_a_right_that_is_taken_away_ends_what_is_remembered(
    client: Client, rules: Rules, name: str
) -> None:
    rules.allowed = {name: set(AclOperation)}
    worker = Worker(client, name)
    await worker.join(resources("a"))
    await worker.settle(resources("a"))
    for _ in range(3):
        assert await worker.heartbeat() == ErrorCode.NONE
    rules.allowed = {}

    while await worker.heartbeat() == ErrorCode.NONE:  # what was remembered holds for `holds_ms`, here not a full one
        pass
    assert worker.last.error_code == DENIED
