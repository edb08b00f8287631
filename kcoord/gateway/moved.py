"""What are clients told when the way to a coordinator has changed, but not the coordinator?

When an instance goes, another one stands before its brokers: the same node ids have other addresses. librdkafka takes a
new address for a node, but its connection to a coordinator keeps the old one while the id that FindCoordinator tells
stays the same: it would dial the instance that has gone for ever (seen with 2.16). COORDINATOR_NOT_AVAILABLE makes it,
and every client, forget the coordinator and ask again. Rules (gateway rule 19):

1. For some time after a broker's place has changed, and for all brokers after an instance has gone (members may have
   stayed where the map of before last sent them), each connection gets that answer once for each key that it asks for,
   and then the right one.
2. A coordinator of transactions has the same way, so it holds for all keys of FindCoordinator.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.contract import Places
from kcoord.gateway.settings import Address
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

if TYPE_CHECKING:
    from kcoord.gateway.leg import Leg

__all__ = ["Moves"]

REMEMBERED_MS = 120_000
"""How long after a change a client may come that has not heard of it."""
ANY_HOST = "localhost"
TOLD_BYTES = 64 * 1024
"""Keys of which it is remembered that one connection was told."""


class Moves:
    """Which brokers have changed their place lately, and which connections know."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._others: frozenset[tuple[int, int]] = frozenset()
        self._at: dict[int, Address | None] = {}
        self._changed_ms: dict[int, int] = {}
        self._told: weakref.WeakKeyDictionary[Leg, BoundedCache[tuple[int, str], int]] = weakref.WeakKeyDictionary()

    def look(self, now_ms: int) -> None:
        """See what has changed; called some times a second."""
        others = self._places.others()
        at = {broker_id: self._places.address_of(broker_id, ANY_HOST) for broker_id in self._places.brokers()}
        if not at:
            return
        is_one_gone = bool(self._others - others)
        for broker_id, address in at.items():
            if is_one_gone or self._at.get(broker_id) != address:
                self._changed_ms[broker_id] = now_ms
        self._others, self._at = others, at

    def tell(
        self, leg: Leg, request: FindCoordinatorRequest, response: FindCoordinatorResponse, now_ms: int
    ) -> FindCoordinatorResponse:
        """The response, or what it must be for one who may think of another way."""
        if request.coordinator_keys:
            for each in response.coordinators:
                if each.error_code == ErrorCode.NONE and self._is_news(leg, request, each.key, each.node_id, now_ms):
                    each.error_code, each.error_message = ErrorCode.COORDINATOR_NOT_AVAILABLE, None
                    each.node_id, each.host, each.port = -1, "", -1
            return response
        is_found = response.error_code == ErrorCode.NONE
        if is_found and self._is_news(leg, request, request.key, response.node_id, now_ms):
            return FindCoordinatorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, node_id=-1, host="", port=-1)
        return response

    def _is_news(self, leg: Leg, request: FindCoordinatorRequest, key: str, node_id: int, now_ms: int) -> bool:
        changed_ms = self._changed_ms.get(node_id)
        if changed_ms is None or now_ms - changed_ms > REMEMBERED_MS:
            return False
        told = self._told.get(leg)
        if told is None:
            told = self._told[leg] = BoundedCache(TOLD_BYTES)
        is_news = told.get((request.key_type, key)) != changed_ms
        told[request.key_type, key] = changed_ms
        return is_news
