"""How are FindCoordinator and ApiVersions answered where the broker's answer cannot simply be rewritten?

FindCoordinator (GW-9) is asked upstream, read on its way back, and filled in where upstream has no
coordinator for a group that is kcoord's. ApiVersions of a version that nobody here can read is answered as KIP-511 has
it. While the broker is away both are answered from what it said last, for the sake of members that must not stop; see
`outage.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcoord.gateway.api_versions import API_VERSIONS
from kcoord.gateway.coordinators import KEYS_FROM, group_keys
from kcoord.gateway.here import seems_here
from kcoord.gateway.rewrite import decode, send
from kcoord.gateway.settings import Address
from kcoord.gateway.upstream import Expected
from kcoord.protocol.addresses import rewrite_addresses
from kcoord.protocol.call import Call
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import encode_response_frame
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from kcoord.gateway.leg import Leg

__all__ = ["api_versions", "find_coordinator", "find_slice"]


def find_coordinator(leg: Leg, call: Call, request: FindCoordinatorRequest) -> None:
    """Ask upstream, or answer from what is known while it is away."""
    if leg.upstream is None:
        _find_while_away(leg, call, request)
        return
    if not request.coordinator_keys and not request.key:
        leg.pass_on(call)  # it asks for nobody: there is nothing to learn of the answer, and nothing to fill in
        return

    def deliver(owed: Expected, frame: bytes) -> None:
        response = decode(owed, frame)
        assert isinstance(response, FindCoordinatorResponse)
        send(leg, owed, _filled_in(leg, request, response))

    leg.pass_on(call, deliver)


async def find_slice(leg: Leg, call: Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """The answer for some of the keys that `call` names, the nodes in it mapped. Raises UpstreamLost, CannotPass."""
    version = call.header.api_version
    response = await leg.ask(request, version, call.header.client_id)
    assert isinstance(response, FindCoordinatorResponse)
    response = _filled_in(leg, request, response)
    rewrite_addresses(response, version, leg.map_node)
    await leg.learn_nodes()
    return response


def _filled_in(leg: Leg, request: FindCoordinatorRequest, response: FindCoordinatorResponse) -> FindCoordinatorResponse:
    """Upstream's answer, with what is known here."""
    gateway = leg.gateway
    keys = group_keys(request)
    owned = {key for key in keys if gateway.owns(key)}
    for key in owned & gateway.coordinators.learn_from(keys, response):
        gateway.finder(key, leg)
    if owned:
        gateway.coordinators.patch(owned, request, response, gateway.any_broker(leg))
    if gateway.moves is not None:
        response = gateway.moves.tell(leg, request, response, gateway.now_ms())
    return response


def _find_while_away(leg: Leg, call: Call, request: FindCoordinatorRequest) -> None:
    gateway = leg.gateway
    reached = leg.client.local_address[0]
    at: dict[int, Address] = {
        broker_id: address
        for broker_id in gateway.brokers.ids
        if (address := gateway.address_of(broker_id, reached)) is not None
    }
    response = None
    if not request.coordinator_keys and call.header.api_version >= KEYS_FROM:
        response = FindCoordinatorResponse()  # nobody was asked for
    elif all(seems_here(gateway, key) for key in group_keys(request)):
        response = gateway.coordinators.answer(request, at)
    if response is None:
        leg.end_call(call)
        leg.client.end()  # never told
        return
    leg.answer(call, response)


async def api_versions(leg: Leg, call: Call) -> None:
    """Answer an ApiVersions of a version that is not known here, or one that comes while upstream is away. Raises
    UpstreamLost."""
    header = call.header
    known = header.api_version <= ApiVersionsRequest.MAX_VERSION
    if leg.upstream is not None:
        await leg.gateway.ensure_versions(leg, leg.upstream.name)
    said = leg.gateway.versions.of(leg.gateway.name_of(leg.broker_id))
    leg.end_call(call)
    if said is None:
        leg.client.end()  # never told
        return
    if known:
        leg.client.answer(call, said)
        return
    refused = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=said.api_keys)
    leg.client.send(encode_response_frame(API_VERSIONS, 0, header.correlation_id, refused.encode(0)))
    leg.client.finish(call)
