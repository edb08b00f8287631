"""FindCoordinator and ApiVersions, where kcoord cannot simply rewrite the broker's response.

1. kcoord asks upstream for a coordinator and reads the answer. If upstream has no coordinator for one of kcoord's
   groups, kcoord fills it in (GW-9).
2. kcoord answers an ApiVersions of a version that it cannot read as KIP-511 says.
3. While the broker is away, kcoord answers both from what upstream said last, so that members need not stop
   (`outage.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kcoord.gateway.ownership.access.group_ownership import OwnershipContext, seems_here
from kcoord.gateway.rewriting.api_versions import API_VERSIONS, ApiVersionsMemory
from kcoord.gateway.session.collected_responses import decode, send
from kcoord.gateway.session.upstream import Asker, Expected
from kcoord.gateway.settings import Address
from kcoord.gateway.topology.brokers import BrokerMap
from kcoord.gateway.topology.coordinators import KEYS_FROM, Coordinators, group_keys
from kcoord.gateway.topology.stale_coordinators import StaleCoordinators
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import encode_response_frame
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kcoord.protocol.node_addresses import rewrite_addresses
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["api_versions", "find_coordinator", "find_slice"]


class DiscoveryContext(OwnershipContext, Protocol):
    """What these handlers need from the gateway: the known brokers, and their addresses for clients."""

    brokers: BrokerMap
    coordinators: Coordinators
    moves: StaleCoordinators | None
    versions: ApiVersionsMemory

    def address_of(self, broker_id: int, reached: str) -> Address | None: ...
    def any_broker(self, session: ClientSession) -> int | None: ...
    async def ensure_versions(self, asker: Asker, broker: str) -> None: ...
    def finder(self, group_id: str, session: ClientSession) -> None: ...
    def name_of(self, broker_id: int | None) -> str: ...


def find_coordinator(
    gateway: DiscoveryContext, session: ClientSession, call: Call, request: FindCoordinatorRequest
) -> None:
    """Answer a FindCoordinator: ask upstream, or use what kcoord knows while the broker is away."""
    if session.upstream is None:
        _find_while_away(gateway, session, call, request)
        return
    if not request.coordinator_keys and not request.key:
        session.pass_on(call)  # it names no key: there is nothing to learn or fill in
        return

    def deliver(owed: Expected, frame: bytes) -> None:
        response = decode(owed, frame)
        assert isinstance(response, FindCoordinatorResponse)
        send(session, owed, _filled_in(gateway, session, request, response))

    session.pass_on(call, deliver)


async def find_slice(
    gateway: DiscoveryContext, session: ClientSession, call: Call, request: FindCoordinatorRequest
) -> FindCoordinatorResponse:
    """The answer for the keys in `request`, which are some of those in `call`. Its nodes are mapped.

    Raises UpstreamLost, CannotPass.
    """
    version = call.header.api_version
    response = await session.ask(request, version, call.header.client_id)
    assert isinstance(response, FindCoordinatorResponse)
    response = _filled_in(gateway, session, request, response)
    rewrite_addresses(response, version, session.map_node)
    await session.learn_nodes()
    return response


def _filled_in(
    gateway: DiscoveryContext,
    session: ClientSession,
    request: FindCoordinatorRequest,
    response: FindCoordinatorResponse,
) -> FindCoordinatorResponse:
    """Learn from upstream's answer, and complete it with what kcoord knows."""
    keys = group_keys(request)
    owned = {key for key in keys if gateway.owns(key)}
    for key in owned & gateway.coordinators.learn_from(keys, response):
        gateway.finder(key, session)
    if owned:
        gateway.coordinators.patch(owned, request, response, gateway.any_broker(session))
    if gateway.moves is not None:
        response = gateway.moves.tell(session, request, response, gateway.now_ms())
    return response


def _find_while_away(
    gateway: DiscoveryContext, session: ClientSession, call: Call, request: FindCoordinatorRequest
) -> None:
    reached = session.client.local_address[0]
    at: dict[int, Address] = {
        broker_id: address
        for broker_id in gateway.brokers.ids
        if (address := gateway.address_of(broker_id, reached)) is not None
    }
    response = None
    if not request.coordinator_keys and call.header.api_version >= KEYS_FROM:
        response = FindCoordinatorResponse()  # it names no key
    elif all(seems_here(gateway, key) for key in group_keys(request)):
        response = gateway.coordinators.answer(request, at)
    if response is None:
        session.end_call(call)
        session.client.end()  # kcoord does not know the answer
        return
    session.answer(call, response)


async def api_versions(gateway: DiscoveryContext, session: ClientSession, call: Call) -> None:
    """Answer an ApiVersions of a version that kcoord does not know, or one that comes while upstream is away.

    Raises UpstreamLost.
    """
    header = call.header
    known = header.api_version <= ApiVersionsRequest.MAX_VERSION
    if session.upstream is not None:
        await gateway.ensure_versions(session, session.upstream.name)
    said = gateway.versions.of(gateway.name_of(session.broker_id))
    session.end_call(call)
    if said is None:
        session.client.end()  # no broker has told its versions yet
        return
    if known:
        session.client.answer(call, said)
        return
    refused = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=said.api_keys)
    session.client.send(encode_response_frame(API_VERSIONS, 0, header.correlation_id, refused.encode(0)))
    session.client.finish(call)
