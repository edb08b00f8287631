"""The dispatch of requests: each request that kcoord reads goes to its handler, when it is its turn.

A request waits until all earlier ones of its connection are answered (GW-4), until the client is known (GW-5), and
until its group is loaded and not held (AD-7). A large request is decoded in several turns of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol

from kcoord.gateway.handlers import (
    connect_groups,
    consumer_groups,
    discovery,
    group_calls,
    group_configs,
    listing,
    offsets,
    other_protocols,
)
from kcoord.gateway.handlers.batches import LARGE_GROUPS, BatchContext, answer_batch
from kcoord.gateway.handlers.metadata import MetadataContext, metadata
from kcoord.gateway.ownership.access.group_ownership import groups_named, wait_until_loaded
from kcoord.gateway.ownership.handover.group_traffic import GroupTraffic
from kcoord.gateway.rewriting.api_versions import API_VERSIONS, NEWER_HEARTBEATS
from kcoord.gateway.session.authentication import proved
from kcoord.gateway.session.client_session import OFFSET_FETCH, ClientSession
from kcoord.gateway.session.group_id_peek import ONE_GROUP, peek_group
from kcoord.gateway.session.upstream import CannotPass, UpstreamLost
from kcoord.group.api_handlers_and_rights import API_TABLE
from kcoord.group.error_responses import refuse
from kcoord.group.request_limits import LARGE_FRAME, SLICE, TooLarge, judge
from kcoord.protocol.batch_splitting import RequestBatch
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame_start import FrameRefused
from kcoord.protocol.messages import (
    REQUESTS,
    ConnectGroupDescribeRequest,
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupPrepareAssignmentRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    Request,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
    api_name,
)
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.undecoded_call import Call

__all__ = ["HANDLERS", "RequestDispatch"]

log = logging.getLogger("kcoord.gateway")

Handler = Callable[["DispatchContext", ClientSession, Call, Any], Awaitable[None]]

PASSING_PATIENCE_MS = 500
"""How long, in ms, a request that must pass waits for a broker that is away, before kcoord ends the connection.

Without this wait clients would come again at once, many times a second. A longer wait would hold up the requests behind
it, and members may need these for discovery.
"""


async def _metadata(gateway: DispatchContext, session: ClientSession, call: Call, request: MetadataRequest) -> None:
    await session.ready(PASSING_PATIENCE_MS)
    await metadata(gateway, session, call, request)


HANDLERS: dict[int, Handler] = {
    JoinGroupRequest.API_KEY: group_calls.join_group,
    SyncGroupRequest.API_KEY: group_calls.member_call,
    HeartbeatRequest.API_KEY: group_calls.member_call,
    LeaveGroupRequest.API_KEY: group_calls.member_call,
    ConnectGroupHeartbeatRequest.API_KEY: connect_groups.heartbeat,
    ConnectGroupPrepareAssignmentRequest.API_KEY: connect_groups.member_call,
    ConnectGroupInstallAssignmentRequest.API_KEY: connect_groups.member_call,
    ConnectGroupDescribeRequest.API_KEY: connect_groups.describe,
    DescribeGroupsRequest.API_KEY: listing.describe_groups,
    ListGroupsRequest.API_KEY: listing.list_groups,
    DeleteGroupsRequest.API_KEY: listing.delete_groups,
    DescribeConfigsRequest.API_KEY: group_configs.describe_configs,
    IncrementalAlterConfigsRequest.API_KEY: group_configs.alter_configs,
    OffsetCommitRequest.API_KEY: offsets.offset_commit,
    TxnOffsetCommitRequest.API_KEY: offsets.txn_offset_commit,
    OffsetDeleteRequest.API_KEY: offsets.offset_delete,
    **dict.fromkeys(NEWER_HEARTBEATS, other_protocols.newer_heartbeat),
    ConsumerGroupHeartbeatRequest.API_KEY: consumer_groups.heartbeat,
    ConsumerGroupPrepareAssignmentRequest.API_KEY: consumer_groups.member_call,
    ConsumerGroupInstallAssignmentRequest.API_KEY: consumer_groups.member_call,
    ConsumerGroupDescribeRequest.API_KEY: consumer_groups.describe,
    MetadataRequest.API_KEY: _metadata,
}
"""The handler of each API, by API key."""

NAMED_WHILE_AWAY = 1000
"""While its broker is away, a request that names at most this many groups is handled as a whole, not in slices."""
RETRIABLE_APIS = frozenset(row.key for row in API_TABLE)
"""The APIs that have a retriable error: kcoord can make such a response without upstream."""
NEVER_LOADING = frozenset(row.key for row in API_TABLE if row.ends_at_loading)
"""The APIs that get NOT_COORDINATOR instead of COORDINATOR_LOAD_IN_PROGRESS."""


class DispatchContext(BatchContext, MetadataContext, Protocol):
    """What all handlers together need from the gateway, and what the dispatch needs."""

    read_apis: frozenset[int]
    traffic: GroupTraffic


class RequestDispatch:
    """The dispatch of one gateway."""

    def __init__(self, gateway: DispatchContext) -> None:
        self._gateway = gateway

    def handle(self, session: ClientSession, call: Call) -> None:
        """Handle a request that kcoord reads. Raises DecodeError, FrameRefused."""
        header = call.header
        key = header.api_key
        if session.sasl is not None and session.sasl.is_expired(self._gateway.now_ms()):
            session.client.close("its SASL session has ended, and it has not authenticated again")
            return
        if key == API_VERSIONS:
            self._gateway.spawn(self._serve(session, call, _api_versions, None))
            return
        may_lack = key == ConsumerGroupHeartbeatRequest.API_KEY and self._gateway.settings.consumer_groups
        if key in ONE_GROUP and not may_lack and not self._gateway.owns(peek_group(call)):
            session.pass_on(call)
            return
        if key not in self._gateway.read_apis and key != OFFSET_FETCH:  # it waits a moment for a broker that is away
            self._gateway.spawn(self._serve(session, call, _pass_when_back, None))
            return
        if len(call.frame) > LARGE_FRAME:
            self._gateway.spawn(self._handle_large(session, call))
            return
        for _ in self._begin(session, call):
            pass

    async def _handle_large(self, session: ClientSession, call: Call) -> None:
        """As `handle`, for a large request: each step has its own turn of the event loop."""
        try:
            for _ in self._begin(session, call):
                await self._gateway.turns.turn()
        except (DecodeError, FrameRefused) as fault:
            session.client.close(f"{api_name(call.header.api_key)} v{call.header.api_version}: {fault}")

    def _begin(self, session: ClientSession, call: Call) -> Iterator[None]:
        """Check and decode a request, and start its handler. Yields between steps that take long for a large request.

        Raises DecodeError, FrameRefused.
        """
        header = call.header
        key = header.api_key
        try:
            batch = judge(REQUESTS[key], call, self._gateway.settings.request_limits)
        except TooLarge as refusal:
            session.refuse_large(call, refusal)
            return
        if batch is not None and batch.count <= SLICE and batch.kind not in LARGE_GROUPS:
            batch = None
        if batch is not None and (session.upstream is not None or batch.count > NAMED_WHILE_AWAY):
            self._gateway.spawn(self._serve(session, call, answer_batch, batch))
            return
        yield
        request = REQUESTS[key].decode(call.frame, header.api_version, call.body_pos)
        yield
        if isinstance(request, FindCoordinatorRequest):
            discovery.find_coordinator(self._gateway, session, call, request)
            return
        handler, named = HANDLERS.get(key, _pass_when_ready), list[str]()
        if key in HANDLERS:
            named = groups_named(request)
        self._gateway.spawn(self._serve(session, call, handler, request, named))

    async def _serve(
        self,
        session: ClientSession,
        call: Call,
        handler: Handler,
        request: Request | RequestBatch | None,
        named: Sequence[str] = (),
    ) -> None:
        try:
            await session.quiet()
            if call.header.api_key != API_VERSIONS:
                if session.sasl is not None and not session.sasl.may_ask:
                    session.pass_on(call)  # within an exchange: the broker decides
                    return
                await proved(session)
            if call.header.api_key in ONE_GROUP:
                await self._serve_one(session, call, handler, request)
            else:
                await wait_until_loaded(self._gateway, named)
                await handler(self._gateway, session, call, request)
        except UpstreamLost as lost:
            if session.call is call and not session.gone:
                self._cannot_answer(session, call, request, lost)
        except (DecodeError, EncodeError, CannotPass, FrameRefused) as fault:
            session.client.close(f"{api_name(call.header.api_key)} v{call.header.api_version}: {fault}")
        except asyncio.CancelledError:
            raise
        except Exception:
            session.client.close(f"a fault in kcoord while it handled {api_name(call.header.api_key)}")
            raise

    async def _serve_one(self, session: ClientSession, call: Call, handler: Handler, request: Any) -> None:
        """Serve a call of one group of kcoord's, once that group is not held (AD-7)."""
        was_held = await self._gateway.traffic.enter(request.group_id)
        try:
            if await wait_until_loaded(self._gateway, [request.group_id]) or was_held:
                session.has_waited()
            await handler(self._gateway, session, call, request)
        finally:
            self._gateway.traffic.leave(request.group_id)

    def _cannot_answer(
        self, session: ClientSession, call: Call, request: Request | RequestBatch | None, lost: UpstreamLost
    ) -> None:
        """Upstream is needed but away: answer with a retriable error if the API has one, else end the connection."""
        if isinstance(request, RequestBatch) and request.count <= SLICE:
            header = call.header
            request = REQUESTS[header.api_key].decode(call.frame, header.api_version, call.body_pos)
        if not isinstance(request, Request) or call.header.api_key not in RETRIABLE_APIS or not session.is_known:
            log.debug("%s of %s: %s", api_name(call.header.api_key), session.client.peer, lost)
            session.client.end()
            return
        self._gateway.paused_sessions.sign_of_life(session)
        error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        session.answer(
            call, refuse(request, ErrorCode.NOT_COORDINATOR if call.header.api_key in NEVER_LOADING else error)
        )


async def _api_versions(gateway: DispatchContext, session: ClientSession, call: Call, _request: None) -> None:
    await discovery.api_versions(gateway, session, call)


async def _pass_when_ready(_gateway: DispatchContext, session: ClientSession, call: Call, _request: Request) -> None:
    await session.ready()
    session.pass_on(call)


async def _pass_when_back(_gateway: DispatchContext, session: ClientSession, call: Call, _request: None) -> None:
    await session.ready(PASSING_PATIENCE_MS)
    session.pass_on(call)
