"""Requests that name many groups, in front of a cluster: kcoord carries them out in slices.

Between two slices other clients have their turns. Rules:

1. kcoord walks over the bytes of the whole batch first. A batch that cannot be decoded, or that names too much, changes
   nothing.
2. A batch that names none of kcoord's groups passes unchanged. kcoord looks for such groups slice by slice, so it never
   decodes the batch as a whole. OffsetFetch always passes; ConnectGroupDescribe and FindCoordinator never do.
3. In any other batch each slice is a request of its own, here and upstream. kcoord puts the answers together as bytes.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from kcoord.gateway.handlers import consumer_groups
from kcoord.gateway.handlers.connect_groups import describe_slice
from kcoord.gateway.handlers.consumer_groups import ConsumerGroupContext
from kcoord.gateway.handlers.discovery import DiscoveryContext, find_slice
from kcoord.gateway.handlers.group_configs import alter_slice, describe_configs_slice
from kcoord.gateway.handlers.listing import delete_slice, describe_groups_slice
from kcoord.gateway.ownership.access.group_ownership import groups_named, wait_until_loaded
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.group.api_handlers_and_rights import API_TABLE
from kcoord.group.multi_group_requests import BatchAnswer
from kcoord.group.request_limits import SLICE, SLICE_WEIGHT, TooLarge, too_many_elements
from kcoord.protocol.batch_splitting import RequestBatch
from kcoord.protocol.element_walk import TooManyElements
from kcoord.protocol.messages import (
    RESPONSES,
    ConnectGroupDescribeRequest,
    ConsumerGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    OffsetFetchRequest,
    Request,
    Response,
    api_name,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["LARGE_GROUPS", "BatchContext", "answer_batch"]

log = logging.getLogger("kcoord.gateway")

LARGE_GROUPS = frozenset(row.request for row in API_TABLE if row.batch is not None and row.batch.large)
"""Requests that have a large answer even if they name only a few groups."""
SliceHandler = Callable[["BatchContext", "ClientSession", Call, Any], Awaitable[Response]]

SLICE_HANDLERS: dict[type[Request], SliceHandler] = {
    DescribeGroupsRequest: describe_groups_slice,
    DeleteGroupsRequest: delete_slice,
    DescribeConfigsRequest: describe_configs_slice,
    ConnectGroupDescribeRequest: describe_slice,
    ConsumerGroupDescribeRequest: consumer_groups.describe_slice,
    FindCoordinatorRequest: find_slice,
}
"""The handler of each slice. IncrementalAlterConfigs has another (`alter_slice`), and OffsetFetch always passes."""


class BatchContext(ConsumerGroupContext, DiscoveryContext, Protocol):
    """What the handlers of slices need from the gateway."""

    @property
    def sentinels(self) -> Sentinels: ...


async def answer_batch(gateway: BatchContext, session: ClientSession, call: Call, batch: RequestBatch) -> None:
    """Answer a batch, or pass it on. Raises UpstreamLost, DecodeError, EncodeError, FrameRefused, CannotPass."""
    turn = gateway.turns.turn
    limits = gateway.settings.request_limits
    try:
        while not batch.walk_on(limits.elements):
            await turn()
    except TooManyElements:
        refusal = too_many_elements(batch.kind, call.header.api_version, limits)
        if not isinstance(refusal, TooLarge):
            raise refusal from None
        session.refuse_large(call, refusal)
        return
    twice = await _named_twice(gateway, session, batch)
    if batch.kind is OffsetFetchRequest or not await _is_ours(gateway, session, batch):
        await session.ready()
        session.pass_on(call)
        return
    answer = BatchAnswer(RESPONSES[batch.kind.API_KEY], call.header.api_version, limits.answer_bytes)
    for request in batch.slices(SLICE, SLICE_WEIGHT):
        await turn()
        if session.call is not call:
            return  # the client has gone
        if answer.is_full:
            answer.refuse(request)
            continue
        await wait_until_loaded(gateway, groups_named(request))
        if isinstance(request, IncrementalAlterConfigsRequest):
            response: Response = await alter_slice(gateway, session, call, request, twice)
        else:
            response = await SLICE_HANDLERS[batch.kind](gateway, session, call, request)
        for _ in answer.add(request, response):
            await gateway.turns.give_way()
    if answer.is_full:
        log.warning(
            "%s: the answer to %s is above %d bytes, what does not fit is refused (response.max.bytes)",
            session.client.peer,
            api_name(batch.kind.API_KEY),
            limits.answer_bytes,
        )
    session.answer(call, answer)


async def _is_ours(gateway: BatchContext, session: ClientSession, batch: RequestBatch) -> bool:
    """Whether the batch names one of kcoord's groups, or is a request that kcoord always answers."""
    if batch.kind in (ConnectGroupDescribeRequest, ConsumerGroupDescribeRequest, FindCoordinatorRequest):
        return True
    owns = gateway.owns
    for request in batch.slices(SLICE, SLICE_WEIGHT):
        if any(map(owns, groups_named(request))):
            return True
        await gateway.turns.turn()
    return False


async def _named_twice(
    gateway: BatchContext, session: ClientSession, batch: RequestBatch
) -> frozenset[tuple[int, str]]:
    """The resources that an IncrementalAlterConfigs names more than once. kcoord makes none of their changes."""
    if batch.kind is not IncrementalAlterConfigsRequest:
        return frozenset()
    named: Counter[tuple[int, str]] = Counter()
    for request in batch.slices(SLICE, SLICE_WEIGHT):
        named.update(_resources(request))
        await gateway.turns.turn()
    return frozenset(resource for resource, count in named.items() if count > 1)


def _resources(request: Request) -> Iterable[tuple[int, str]]:
    assert isinstance(request, IncrementalAlterConfigsRequest)
    return ((each.resource_type, each.resource_name) for each in request.resources)
