"""The standalone kcoord: what it answers when it runs without a cluster behind it.

To clients it is a cluster without data that coordinates every group. It has the topics that were declared, for consumer
groups (`standalone_topics`). The cluster has one node, or several if
instances share a log (`nodes`). One table says which APIs it serves and which function answers each. The only settings
that it has are those of groups; any instance accepts them and passes them to the instance that has the group. It stores
offsets in its own log, by topic name and partition.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Protocol, TypeGuard

import attrs

from kcoord.group.api_handlers_and_rights import ALL_APIS, InFront
from kcoord.group.consumer.client_software import is_patient
from kcoord.group.error_responses import needs_new_connection, refuse
from kcoord.group.request_limits import LARGE_FRAME, RequestLimits, TooLarge, judge
from kcoord.group.state.bounded_text import bounded_text
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.batch_splitting import RequestBatch
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import RequestHeader
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.generated.api_versions_response import ApiVersion, FinalizedFeatureKey, SupportedFeatureKey
from kcoord.protocol.generated.describe_cluster_response import DescribeClusterBroker
from kcoord.protocol.generated.find_coordinator_response import Coordinator as FoundCoordinator
from kcoord.protocol.generated.metadata_response import MetadataResponseBroker
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConnectGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    Request,
    Response,
    SyncGroupRequest,
    api_name,
)
from kcoord.protocol.undecoded_call import Call
from kcoord.server.clock import wall_ms
from kcoord.server.connections.connection import Connection
from kcoord.server.connections.multi_group_run import BatchRun
from kcoord.server.connections.sliced_call import SlicedCall
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone_authorizer import (
    NEEDED,
    AllowAll,
    Authorizer,
    Deliver,
    submit_allowed,
    submit_allowed_configs,
)
from kcoord.server.standalone_nodes import Nodes
from kcoord.server.standalone_topics import NO_DATA, Ask, StandaloneTopics
from kcoord.topic_patterns import PatternError

log = logging.getLogger("kcoord.server")

GROUP_KEY = 0
BROKER_ENDPOINTS = 1
SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""The pattern that the name and version of a client's software must match (KIP-511)."""

NAMED_FROM = 3
"""The first version of ApiVersions in which a client names its software."""

ABOUT_TOPICS = (MetadataRequest, ListOffsetsRequest, FetchRequest, ProduceRequest)
"""The requests whose answers depend on which topics there are."""
HEARD_WITHIN_S = 20.0
"""How long these requests wait at a start until it is known which topics there are."""
GROUP_VERSION = "group.version"
"""The feature of Kafka that stands for consumer groups; its level is 1."""
KEYS_FROM = 4
"""The first version of FindCoordinator in which a client names several keys, or none."""


class GroupSteps(Protocol):
    """Carries out a group's requests on the instance that has the group."""

    async def call(
        self, request: Request, context: RequestContext, submitted: Callable[[], None] | None = None
    ) -> tuple[Response, CachedReply | None]: ...


class Standalone:
    """Answers every request of every connection from this process's own groups."""

    authenticated_at_once = True

    def __init__(
        self,
        coordinator: Coordinator,
        nodes: Nodes,
        authorizer: Authorizer | None = None,
        connect_groups: bool = True,
        shared: GroupSteps | None = None,
        limits: RequestLimits | None = None,
        consumer_groups: bool = False,
        declared: Mapping[str, int] | None = None,
    ) -> None:
        """`connect_groups`: whether to offer the APIs of connect groups (`group.connect.enable`). `shared`: the groups
        of all instances, if there are several. `consumer_groups`: whether to offer the APIs of consumer groups, and
        topics (`group.consumer.enable`); `declared`: those that the setting `topics` names.
        """
        self.turns = TurnQueue()
        self._limits = limits or RequestLimits()
        self._coordinator = coordinator
        self._nodes = nodes
        self._shared = shared
        self._calls: set[asyncio.Task[None]] = set()
        self._authorizer = authorizer or AllowAll()
        ask: Ask = coordinator.call if shared is None else shared.call
        self.topics = StandaloneTopics(ask, coordinator, declared)
        self._has_topics = consumer_groups
        self._own: dict[type[Request], Callable[[Connection, Any, int], Response]] = {
            ApiVersionsRequest: self._api_versions,
            MetadataRequest: self._metadata,
            DescribeClusterRequest: self._describe_cluster,
            FindCoordinatorRequest: self._find_coordinator,
        }
        if consumer_groups:
            self._own[ListOffsetsRequest] = lambda _connection, request, _version: self.topics.list_offsets(request)
            self._own[ProduceRequest] = lambda _connection, request, _version: self.topics.produce(request)
        served: list[type[Request]] = [*self._own, *GROUP_APIS]
        if connect_groups:
            served += CONNECT_GROUP_APIS
        if consumer_groups:
            served += [FetchRequest, *CONSUMER_GROUP_APIS]
        self._served = {request.API_KEY: request for request in served}

    def session(self, _connection: Connection) -> None:
        """No client session: no cluster is behind."""

    def check(self, api_key: int, api_version: int) -> None:
        """Raise FrameRefused unless this API and version are served. ApiVersions is answered in any version."""
        served = self._served.get(api_key)
        if served is None:
            raise FrameRefused(f"{api_name(api_key)} is not served by a kcoord that runs alone")
        if not served.MIN_VERSION <= api_version <= served.MAX_VERSION and served is not ApiVersionsRequest:
            raise FrameRefused(
                f"{api_name(api_key)} is served in versions {served.MIN_VERSION} to {served.MAX_VERSION}, "
                f"not in {api_version}"
            )

    def dispatch(self, connection: Connection, call: Call) -> None:
        """Decode `call` and answer it, at once or when its group is ready to. Raises DecodeError."""
        header = call.header
        request_type = self._served[header.api_key]
        if header.api_version > request_type.MAX_VERSION:
            self._unsupported(connection, call)
            return
        context = RequestContext(
            api_version=header.api_version,
            client_id=header.client_id or "",
            client_host=connection.client_host,
            connection=connection.serial,
            wall_ms=wall_ms(),
            pipelined=connection.pipelined,
            opened=connection.opened,
            is_patient=connection.is_patient,
        )
        steps = self._steps(connection, call, request_type, context)
        if len(call.frame) > LARGE_FRAME:
            self.turns.add(SlicedCall(connection, call, steps).take_slice)
            return
        for _ in steps:
            pass

    def _steps(
        self, connection: Connection, call: Call, request_type: type[Request], context: RequestContext
    ) -> Iterator[None]:
        """The steps of handling a request. Each may take some time if the request is large."""
        try:
            batch = judge(request_type, call, self._limits)
        except TooLarge as refused:
            log.warning("%s: %s", connection.peer, refused)
            connection.answer(call, refused.answer)
            return
        if batch is not None:
            self._run_batch(connection, batch, context)
            return
        yield
        request = request_type.decode(call.frame, context.api_version, call.body_pos)
        yield
        is_gone = not connection.is_in_work(call)
        self._carry_out(connection, call, request, context)
        if is_gone:
            self._coordinator.closed(connection.serial)

    def _carry_out(self, connection: Connection, call: Call, request: Request, context: RequestContext) -> None:
        own = self._own.get(type(request))
        if self._has_topics and isinstance(request, ABOUT_TOPICS):
            self._about_topics(connection, call, request, context.api_version)
            return
        if own is not None:
            connection.answer(call, own(connection, request, context.api_version))
            return
        if isinstance(request, ConsumerGroupHeartbeatRequest) and self._brings_pattern(connection, request):
            self._run(self._subscribe(connection, call, request, context))
            return
        self._about_group(connection, call, request, context)

    def _brings_pattern(self, connection: Connection, request: ConsumerGroupHeartbeatRequest) -> bool:
        """Whether there is a regular expression to resolve, for a client that may have it: others are refused first."""
        may_read = self._authorizer.allows(connection, NEEDED[type(request)], request.group_id)
        return bool(request.subscribed_topic_regex) and may_read

    async def _subscribe(
        self, connection: Connection, call: Call, request: ConsumerGroupHeartbeatRequest, context: RequestContext
    ) -> None:
        """Carry out a heartbeat that brings a regular expression, once it is known which topics match it."""
        try:
            resolved = await self.topics.resolve(request.subscribed_topic_regex or "")
        except PatternError as error:
            if connection.is_in_work(call):
                connection.answer(call, _invalid_pattern(str(error)))
            return
        except Exception:
            log.exception("a fault of kcoord's own while a regular expression was resolved")
            if connection.is_in_work(call):
                connection.answer(call, refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR))
            return
        if connection.is_in_work(call):
            self._about_group(connection, call, request, attrs.evolve(context, resolved=resolved))

    def _about_group(self, connection: Connection, call: Call, request: Request, context: RequestContext) -> None:
        valid_ms = self._authorizer.holds_ms
        valid_until_ms = None if valid_ms is None else self._coordinator.now_ms() + valid_ms

        def deliver(response: Response, cached: CachedReply | None) -> None:
            connection.answer(call, response, cached, valid_until_ms)
            if needs_new_connection(response):
                connection.end()

        self._submit(connection, request, context, deliver, frozenset())
        if may_be_held(request):
            connection.when_more(call, partial(self._coordinator.flush_held_reply, request.group_id, connection.serial))

    def _submit(
        self,
        connection: Connection,
        request: Request,
        context: RequestContext,
        deliver: Deliver,
        twice: AbstractSet[tuple[int, str]],
    ) -> None:
        """Carry out a request about groups. `twice`: resources that the whole request names more than once."""

        def submit(allowed: Request, taker: Deliver) -> None:
            self._coordinator.submit(allowed, context, taker)

        def submit_anywhere(allowed: Request, taker: Deliver) -> None:
            if self._shared is None:
                self._coordinator.submit(allowed, context, taker)
            else:
                self._call(self._shared, allowed, context, taker)

        if isinstance(request, DescribeConfigsRequest | IncrementalAlterConfigsRequest):
            submit_allowed_configs(
                self._authorizer, connection, request, submit_anywhere, deliver, twice, self.topics.known
            )
        elif isinstance(request, TOPIC_APIS):
            submit_anywhere(request, partial(self._when_learned, deliver))
        else:
            submit_allowed(self._authorizer, connection, request, submit, deliver)

    def _run_batch(self, connection: Connection, batch: RequestBatch, context: RequestContext) -> None:
        """Carry out, slice by slice, a request that names several groups."""
        named: Counter[tuple[int, str]] = Counter()
        twice: set[tuple[int, str]] = set()
        own = self._own.get(batch.kind)

        def survey(request: Request) -> None:
            assert isinstance(request, IncrementalAlterConfigsRequest)
            for each in request.resources:
                resource = each.resource_type, each.resource_name
                named[resource] += 1
                if named[resource] == 2:
                    twice.add(resource)

        def submit(request: Request, deliver: Deliver) -> None:
            if own is not None:
                deliver(own(connection, request, context.api_version), None)
            else:
                self._submit(connection, request, context, deliver, twice)

        alters = batch.kind is IncrementalAlterConfigsRequest
        BatchRun(self.turns, self._limits, connection, batch, submit, survey if alters else None).start()

    def _when_learned(self, deliver: Deliver, response: Response, cached: CachedReply | None) -> None:
        """Answer when this instance knows what has become of the topics."""

        async def learn() -> None:
            try:
                await self.topics.look()
            finally:
                deliver(response, cached)

        self._run(learn())

    def _about_topics(self, connection: Connection, call: Call, request: Request, version: int) -> None:
        """Answer a request that depends on which topics there are, as soon as that is known."""
        if not self.topics.has_heard.is_set() and not (isinstance(request, MetadataRequest) and request.topics == []):
            self._run(self._when_heard(connection, call, request, version))
        elif isinstance(request, FetchRequest):
            self._fetch(connection, call, request, version)
        elif isinstance(request, ProduceRequest) and request.acks == 0:
            connection.close(f"it produces without waiting for an answer: {NO_DATA}")
        else:
            connection.answer(call, self._own[type(request)](connection, request, version))

    async def _when_heard(self, connection: Connection, call: Call, request: Request, version: int) -> None:
        try:
            async with asyncio.timeout(HEARD_WITHIN_S):
                await self.topics.has_heard.wait()
        except TimeoutError:
            if connection.is_in_work(call):
                connection.close("nobody knows which topics there are: the instance that has them does not answer")
            return
        if connection.is_in_work(call):
            self._about_topics(connection, call, request, version)

    def _fetch(self, connection: Connection, call: Call, request: FetchRequest, version: int) -> None:
        """Answer when the time to wait is over, or when the client sends something else."""
        response, wait_ms = self.topics.fetch(request, version)

        def answer() -> None:
            waiting.cancel()
            if connection.is_in_work(call):
                connection.answer(call, response)

        waiting = asyncio.get_running_loop().call_later(wait_ms / 1000, answer)
        connection.when_more(call, answer)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    def _call(self, shared: GroupSteps, request: Request, context: RequestContext, taker: Deliver) -> None:
        """Have `request` carried out by the instance that has the group."""

        async def call() -> None:
            try:
                taker(*await shared.call(request, context))
            except Exception:
                log.exception("a fault of kcoord's own while another instance was asked")
                taker(refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR), None)

        self._run(call())

    def _unsupported(self, connection: Connection, call: Call) -> None:
        """Answer an ApiVersions request of an unknown newer version as v0, with the list of APIs and
        UNSUPPORTED_VERSION (KIP-511).
        """
        header = call.header
        call.header = RequestHeader(header.api_key, 0, header.correlation_id, header.client_id)
        connection.answer(call, ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=self._ranges()))

    def _ranges(self) -> list[ApiVersion]:
        return [
            ApiVersion(api_key=key, min_version=request.MIN_VERSION, max_version=request.MAX_VERSION)
            for key, request in sorted(self._served.items())
        ]

    def _api_versions(self, connection: Connection, request: ApiVersionsRequest, version: int) -> Response:
        given = (request.client_software_name, request.client_software_version)
        if version >= NAMED_FROM and not all(SOFTWARE_NAME.fullmatch(text) for text in given):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        connection.is_patient = is_patient(request.client_software_name)
        answer = ApiVersionsResponse(api_keys=self._ranges())
        if self._has_topics:
            answer.supported_features = [SupportedFeatureKey(GROUP_VERSION, 0, 1)]
            answer.finalized_features = [FinalizedFeatureKey(GROUP_VERSION, 1, 1)]
            answer.finalized_features_epoch = 0
        return answer

    def _metadata(self, connection: Connection, request: MetadataRequest, version: int) -> Response:
        nodes = self._nodes.nodes(connection.local_address)
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=node.id, host=node.host, port=node.port) for node in nodes],
            cluster_id=self._nodes.cluster_id,
            controller_id=nodes[0].id,
            topics=self.topics.metadata(request.topics, version, nodes),
        )

    def _describe_cluster(self, connection: Connection, request: DescribeClusterRequest, _version: int) -> Response:
        if request.endpoint_type != BROKER_ENDPOINTS:
            return DescribeClusterResponse(
                error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
                error_message="this node is not a controller: ask for brokers (endpoint type 1)",
                endpoint_type=request.endpoint_type,
            )
        nodes = self._nodes.nodes(connection.local_address)
        return DescribeClusterResponse(
            cluster_id=self._nodes.cluster_id,
            controller_id=nodes[0].id,
            brokers=[DescribeClusterBroker(broker_id=node.id, host=node.host, port=node.port) for node in nodes],
        )

    def _find_coordinator(self, connection: Connection, request: FindCoordinatorRequest, version: int) -> Response:
        if version >= KEYS_FROM:
            return FindCoordinatorResponse(
                coordinators=[
                    FoundCoordinator(key=key, **self._found(connection, request.key_type, key))
                    for key in request.coordinator_keys
                ]
            )
        return FindCoordinatorResponse(**self._found(connection, request.key_type, request.key))

    def _found(self, connection: Connection, key_type: int, key: str) -> dict[str, Any]:
        """The node that coordinates `key`, as the fields of a FindCoordinator answer.

        Raises FrameRefused if this instance is cut off from the others: they may know better, and a client asks no
        other node while its connection works.
        """
        if key_type != GROUP_KEY:
            message = "a kcoord that runs alone coordinates groups only, no transactions or share groups"
            return _nowhere(ErrorCode.INVALID_REQUEST, message)
        reached = connection.local_address
        if not self._nodes.is_current() and len(self._nodes.nodes(reached)) > 1:
            raise FrameRefused("this instance has been cut off from the others: one of them may know who coordinates")
        node = self._nodes.owner(key, reached)
        if node is not None and node.is_self and not self._coordinator.serves(key):
            node = None
        if node is None:
            return _nowhere(ErrorCode.COORDINATOR_NOT_AVAILABLE, "nobody coordinates this group at the moment")
        return {"node_id": node.id, "host": node.host, "port": node.port, "error_code": 0, "error_message": None}


def may_be_held(
    request: Request,
) -> TypeGuard[ConnectGroupHeartbeatRequest | HeartbeatRequest | SyncGroupRequest | ConsumerGroupHeartbeatRequest]:
    """Whether the answer may be held back until there is news: a worker asks for that in its heartbeat; for classic
    members and consumers a setting says it.
    """
    if isinstance(request, ConnectGroupHeartbeatRequest):
        return request.max_wait_ms > 0
    return isinstance(request, HeartbeatRequest | SyncGroupRequest | ConsumerGroupHeartbeatRequest)


def _invalid_pattern(reason: str) -> ConsumerGroupHeartbeatResponse:
    message = f"the regular expression of the subscription cannot be used: {reason}"
    return ConsumerGroupHeartbeatResponse(
        error_code=ErrorCode.INVALID_REGULAR_EXPRESSION, error_message=bounded_text(message)
    )


def _nowhere(error: ErrorCode, message: str) -> dict[str, Any]:
    return {"node_id": -1, "host": "", "port": -1, "error_code": error, "error_message": message}


_OFFERED = tuple(row for row in ALL_APIS if row.relayed and row.in_front is not InFront.NOT_OFFERED)
GROUP_APIS = tuple(row.request for row in _OFFERED if not (row.of_connect_groups or row.of_consumer_groups))
CONNECT_GROUP_APIS = tuple(row.request for row in _OFFERED if row.of_connect_groups)
CONSUMER_GROUP_APIS = tuple(row.request for row in _OFFERED if row.of_consumer_groups)
"""The APIs of groups: those that are always served, and those that are served if connect groups, or consumer groups,
are enabled.
"""
TOPIC_APIS = tuple(row.request for row in _OFFERED if row.of_consumer_groups and row.right is None)
"""The APIs of declared topics, which name no group. A client sends them to any instance."""
