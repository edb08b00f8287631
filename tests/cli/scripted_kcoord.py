"""How does a test answer commands without Kafka? By a server that says of groups what the test has written down.

It answers as a kcoord in front of a cluster, or as one without, or as a broker.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator, Callable
from typing import Any

import attrs

from kcoord.group.state.consumer_settings import MIGRATION_POLICY
from kcoord.group.state.owner_setting import OWNER, Owner
from kcoord.group_owner_words import AT_CLUSTER, AT_KCOORD, THROUGH_KCOORD
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import decode_request_header, encode_response_frame
from kcoord.protocol.generated import connect_group_describe_response as connect_wire
from kcoord.protocol.generated import consumer_group_describe_response as consumer_wire
from kcoord.protocol.generated import describe_groups_response as classic_wire
from kcoord.protocol.generated.api_versions_response import ApiVersion
from kcoord.protocol.generated.delete_groups_response import DeletableGroupResult
from kcoord.protocol.generated.describe_configs_response import DescribeConfigsResourceResult, DescribeConfigsResult
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.generated.incremental_alter_configs_response import AlterConfigsResourceResponse
from kcoord.protocol.generated.list_groups_response import ListedGroup
from kcoord.protocol.generated.metadata_response import MetadataResponseBroker
from kcoord.protocol.messages import (
    REQUESTS,
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
    Request,
    Response,
)

NOBODY = "Dead"
NO_GROUP = ErrorCode.GROUP_ID_NOT_FOUND
INIT_PRODUCER_ID = 22
"""The key of an API that a kcoord without a cluster does not have."""
OF_GROUP, DEFAULT = 8, 5
"""Where a setting comes from: the group itself, or nowhere."""


@attrs.define
class Group:
    """A group: who has it (`AT_KCOORD`, `AT_CLUSTER` or `NOBODY`), and the client ids of its members."""

    by: str = AT_KCOORD
    type: str = "classic"
    clients: tuple[str, ...] = ()
    owner: str | None = None
    """Its own gateway.owner."""
    is_listed: bool = True
    why: str = ""
    """Why the cluster has it."""

    @property
    def state(self) -> str:
        return "Stable" if self.clients else "Empty"


NONE = Group(NOBODY, "", is_listed=False)


@attrs.define(eq=False)
class ScriptedKcoord:
    """The server. `after_change`: called with each group whose `gateway.owner` has been set."""

    groups: dict[str, Group] = attrs.Factory(dict)
    serves_consumers: bool = False
    is_away: bool = False
    """Whether the cluster behind it is away."""
    is_shut: bool = False
    """Whether it ends every new connection."""
    is_front: bool = True
    is_kcoord: bool = True
    after_change: Callable[[Group], None] = lambda _group: None
    changes: list[tuple[str, str | None]] = attrs.Factory(list)
    """Group and new `gateway.owner`, in the order of the changes."""
    asked: list[Request] = attrs.Factory(list)
    dies_at: type[Request] | None = None
    """The kind of request that ends the server."""
    port: int = 0
    _writers: list[asyncio.StreamWriter] = attrs.Factory(list)
    _server: asyncio.Server | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[ScriptedKcoord]:
        """While the server serves, at a port of its own."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self.end()

    def end(self) -> None:
        """End the server and its connections."""
        if self._server is not None:
            self._server.close()
        for each in self._writers:
            each.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                frame = await reader.readexactly(struct.unpack(">i", await reader.readexactly(4))[0])
                header, body = decode_request_header(frame)
                request = REQUESTS[header.api_key].decode(frame, header.api_version, body)
                self.asked.append(request)
                if self.dies_at is not None and isinstance(request, self.dies_at):
                    self.end()
                    return
                if self.is_shut or (
                    self.is_away and not isinstance(request, ApiVersionsRequest | FindCoordinatorRequest)
                ):
                    break
                answer = ANSWERS[type(request)](self, request).encode(header.api_version)
                writer.write(encode_response_frame(header.api_key, header.api_version, header.correlation_id, answer))
        writer.close()

    def group(self, name: str) -> Group:
        """The group; one that does not exist is nobody's."""
        return self.groups.get(name, NONE)


def _versions(server: ScriptedKcoord, _request: Any) -> Response:
    kinds: list[type[Request]] = [*ANSWERS]
    if not server.is_kcoord:
        kinds.remove(ConnectGroupDescribeRequest)
    keys = [ApiVersion(each.API_KEY, each.MIN_VERSION, each.MAX_VERSION) for each in kinds]
    front = [ApiVersion(INIT_PRODUCER_ID, 0, 1)] if server.is_front else []
    return ApiVersionsResponse(api_keys=[*keys, *front])


def _metadata(server: ScriptedKcoord, _request: Any) -> Response:
    return MetadataResponse(brokers=[MetadataResponseBroker(1, "127.0.0.1", server.port)])


def _coordinator(server: ScriptedKcoord, request: FindCoordinatorRequest) -> Response:
    return FindCoordinatorResponse(
        coordinators=[Coordinator(key, 1, "127.0.0.1", server.port) for key in request.coordinator_keys]
    )


def _list(server: ScriptedKcoord, request: ListGroupsRequest) -> Response:
    listed = [
        ListedGroup(name, "consumer", each.state, each.type)
        for name, each in server.groups.items()
        if each.is_listed and (not request.states_filter or each.state in request.states_filter)
    ]
    return ListGroupsResponse(groups=listed)


def _connect(server: ScriptedKcoord, request: ConnectGroupDescribeRequest) -> Response:
    def described(name: str) -> connect_wire.DescribedGroup:
        found = server.group(name)
        members = [
            connect_wire.Member(each, client_id=each, client_host="/h", state=THROUGH_KCOORD)
            for each in found.clients
            if found.by == AT_CLUSTER and not found.why
        ]
        return connect_wire.DescribedGroup(NO_GROUP, found.why, name, group_state=found.by, members=members)

    return ConnectGroupDescribeResponse(groups=[described(name) for name in request.group_ids])


def _consumer(server: ScriptedKcoord, request: ConsumerGroupDescribeRequest) -> Response:
    def described(name: str) -> consumer_wire.DescribedGroup:
        found = server.group(name)
        if found.type != "consumer":
            return consumer_wire.DescribedGroup(NO_GROUP, group_id=name)
        members = [
            consumer_wire.Member(each, client_id=each, client_host="/h", member_type=1) for each in found.clients
        ]
        return consumer_wire.DescribedGroup(group_id=name, group_state=found.state, members=members)

    return ConsumerGroupDescribeResponse(groups=[described(name) for name in request.group_ids])


def _classic(server: ScriptedKcoord, request: DescribeGroupsRequest) -> Response:
    def described(name: str) -> classic_wire.DescribedGroup:
        found = server.group(name)
        if found.type != "classic":
            return classic_wire.DescribedGroup(group_id=name, group_state="Dead")
        members = [classic_wire.DescribedGroupMember(each, None, each, "/h") for each in found.clients]
        return classic_wire.DescribedGroup(
            group_id=name, group_state=found.state, protocol_type="consumer", protocol_data="range", members=members
        )

    return DescribeGroupsResponse(groups=[described(name) for name in request.groups])


def _settings(server: ScriptedKcoord, request: DescribeConfigsRequest) -> Response:
    def described(name: str) -> DescribeConfigsResult:
        owner = server.group(name).owner
        source = DEFAULT if owner is None else OF_GROUP
        configs = [DescribeConfigsResourceResult(OWNER, owner or Owner.AUTO, config_source=source)]
        if server.serves_consumers:
            configs.append(DescribeConfigsResourceResult(MIGRATION_POLICY, "disabled", config_source=DEFAULT))
        return DescribeConfigsResult(resource_type=32, resource_name=name, configs=configs)

    return DescribeConfigsResponse(results=[described(each.resource_name) for each in request.resources])


def _change(server: ScriptedKcoord, request: IncrementalAlterConfigsRequest) -> Response:
    for resource in request.resources:
        for each in resource.configs:
            server.changes.append((resource.resource_name, each.value))
            group = server.groups.setdefault(resource.resource_name, Group(NOBODY, "", is_listed=False))
            group.owner = each.value
            server.after_change(group)
    responses = [AlterConfigsResourceResponse(0, None, 32, each.resource_name) for each in request.resources]
    return IncrementalAlterConfigsResponse(responses=responses)


def _delete(server: ScriptedKcoord, request: DeleteGroupsRequest) -> Response:
    return DeleteGroupsResponse(results=[DeletableGroupResult(name) for name in request.groups_names])


ANSWERS: dict[type[Request], Callable[[ScriptedKcoord, Any], Response]] = {
    ApiVersionsRequest: _versions,
    MetadataRequest: _metadata,
    FindCoordinatorRequest: _coordinator,
    ListGroupsRequest: _list,
    ConnectGroupDescribeRequest: _connect,
    ConsumerGroupDescribeRequest: _consumer,
    DescribeGroupsRequest: _classic,
    DescribeConfigsRequest: _settings,
    IncrementalAlterConfigsRequest: _change,
    DeleteGroupsRequest: _delete,
}
