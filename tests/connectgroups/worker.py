"""A scripted worker of a connect group: it says exactly what a test wants said, and keeps what it was told.

It uses nothing of `kcoord.worker`: what that library does right must not hide what the coordinator does wrong.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as beat
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
)
from kcoord.protocol.resources import pack, unpack
from kcoord.resource import CONNECTOR, Resource
from tests.gateway.scripted import until
from tests.server.harness import Client


def resources(*names: str) -> frozenset[Resource]:
    """`a` is a connector, `a-0` its first task."""
    found = set[Resource]()
    for name in names:
        connector, dash, number = name.rpartition("-")
        found.add(Resource(connector, int(number)) if dash else Resource(name, CONNECTOR))
    return frozenset(found)


def packed(owned: Collection[tuple[str, int]]) -> list[beat.ConnectorsAndTasks]:
    """As a heartbeat carries it."""
    return pack(owned, beat.ConnectorsAndTasks, beat.ConnectorTaskId)


@attrs.define
class Worker:
    """One worker on one connection."""

    client: Client
    group_id: str
    member_id: str = "w1"
    epoch: int = 0
    owned: frozenset[Resource] = frozenset()
    last: ConnectGroupHeartbeatResponse = attrs.Factory(ConnectGroupHeartbeatResponse)

    def join_request(self, configured: Collection[tuple[str, int]] | None = None, **fields: Any) -> Any:
        """All top-level fields, nothing owned; `uniform` in the coordinator unless `fields` say otherwise."""
        asked = {"server_assignor": "uniform", "rebalance_timeout_ms": 60_000, "connectors_and_tasks": [], **fields}
        if configured is not None:
            asked = {"config_offset": 1, "configured_connectors_and_tasks": packed(configured), **asked}
        return ConnectGroupHeartbeatRequest(self.group_id, self.member_id, 0, **asked)

    def request(self, **fields: Any) -> ConnectGroupHeartbeatRequest:
        """The shortest heartbeat, with what it owns."""
        asked: dict[str, Any] = {"connectors_and_tasks": packed(self.owned), **fields}
        return ConnectGroupHeartbeatRequest(self.group_id, self.member_id, self.epoch, **asked)

    async def ask(self, request: ConnectGroupHeartbeatRequest) -> ConnectGroupHeartbeatResponse:
        """Say it, whatever it is, and take what is answered."""
        answer = await self.client.ask(request, 0)
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        self.take(answer)
        return answer

    def take(self, answer: ConnectGroupHeartbeatResponse) -> None:
        """Own at once what it is told to."""
        self.last = answer
        if answer.error_code in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT):
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = unpack(answer.assignment.connectors_and_tasks)

    async def join(self, configured: Collection[Resource] | None = None, **fields: Any) -> ErrorCode:
        """Join anew."""
        return ErrorCode((await self.ask(self.join_request(configured, **fields))).error_code)

    async def heartbeat(self, **fields: Any) -> ErrorCode:
        """One heartbeat."""
        return ErrorCode((await self.ask(self.request(**fields))).error_code)

    async def leave(self, epoch: int = -1, **fields: Any) -> ErrorCode:
        """Leave, for good or for a while."""
        answer = await self.client.ask(ConnectGroupHeartbeatRequest(self.group_id, self.member_id, epoch, **fields), 0)
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        return ErrorCode(answer.error_code)

    async def prepare(self, **fields: Any) -> ConnectGroupPrepareAssignmentResponse:
        """Ask for what is to be computed from."""
        asked = {"member_epoch": self.epoch, **fields}
        answer = await self.client.ask(ConnectGroupPrepareAssignmentRequest(self.group_id, self.member_id, **asked), 0)
        assert isinstance(answer, ConnectGroupPrepareAssignmentResponse)
        return answer

    async def install(
        self, epoch: int, targets: dict[str, frozenset[Resource]], **fields: Any
    ) -> ConnectGroupInstallAssignmentResponse:
        """Hand in targets by member id."""
        members = [
            install.Member(member_id, pack(target, install.ConnectorsAndTasks, install.ConnectorTaskId))
            for member_id, target in targets.items()
        ]
        asked: dict[str, Any] = {"member_epoch": self.epoch, "group_epoch": epoch, "members": members, **fields}
        answer = await self.client.ask(ConnectGroupInstallAssignmentRequest(self.group_id, self.member_id, **asked), 0)
        assert isinstance(answer, ConnectGroupInstallAssignmentResponse)
        return answer

    async def settle(self, wanted: Collection[Resource]) -> None:
        """Heartbeat until it owns just that and has been told so without more to come."""

        async def owns() -> bool:
            assert await self.heartbeat() == ErrorCode.NONE, self.last
            return self.owned == frozenset(wanted) and self.last.assignment is None

        await until(owns, f"{self.member_id} owns {sorted(wanted)}")


async def describe(client: Client, group_id: str, **fields: Any) -> Any:
    """The group as ConnectGroupDescribe shows it."""
    answer = await client.ask(ConnectGroupDescribeRequest([group_id], **fields), 0)
    assert isinstance(answer, ConnectGroupDescribeResponse)
    [described] = answer.groups
    return described
