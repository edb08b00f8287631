"""Stale coordinators: the way to a coordinator has changed, but not the coordinator, so clients must ask again.

When an instance goes, another one stands before its brokers: the same node ids have other addresses. librdkafka takes a
new address for a node, but its connection to a coordinator keeps the old one while the id that FindCoordinator tells
stays the same: it would dial the instance that has gone for ever (seen with 2.16). COORDINATOR_NOT_AVAILABLE makes it,
and every client, forget the coordinator and ask again. Rules (GW-19):

1. For some time after a broker's place has changed, and for all brokers after an instance has gone (members may have
   stayed where the map of before last sent them), each connection gets that answer once for each key that it asks for,
   and then the right one.
2. A client that hangs up on that answer and asks by another connection (kcoord's own workers always do) would hear it
   again and again: for each connection that ended so, one of the same host is given the right answer for that key.
3. A coordinator of transactions has the same way, so it holds for all keys of FindCoordinator.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.ports import Places
from kcoord.gateway.settings import Address
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["StaleCoordinators"]

REMEMBERED_MS = 120_000
"""How long after a change a client may come that has not heard of it."""
ANY_HOST = "localhost"
Key = tuple[int, str]
"""A key type of FindCoordinator, and a key."""
TOLD_BYTES, HUNG_UP_BYTES = 64 * 1024, 1 << 20
"""Keys of which one connection was told: of which change, and whether it has asked again."""


class StaleCoordinators:
    """Which brokers have changed their place lately, and which connections know."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._others: frozenset[tuple[int, int]] = frozenset()
        self._at: dict[int, Address | None] = {}
        self._changed_ms: dict[int, int] = {}
        self._told: weakref.WeakKeyDictionary[ClientSession, BoundedCache[Key, tuple[int, bool]]] = (
            weakref.WeakKeyDictionary()
        )
        self._hung_up: BoundedCache[tuple[str, Key], tuple[int, int]] = BoundedCache(HUNG_UP_BYTES)
        """By host and key: the change that connections which ended were told of, and how many did not ask again."""

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
        self, session: ClientSession, request: FindCoordinatorRequest, response: FindCoordinatorResponse, now_ms: int
    ) -> FindCoordinatorResponse:
        """The response, or what it must be for one who may think of another way."""
        if request.coordinator_keys:
            for each in response.coordinators:
                if each.error_code == ErrorCode.NONE and self._is_news(
                    session, request, each.key, each.node_id, now_ms
                ):
                    each.error_code, each.error_message = ErrorCode.COORDINATOR_NOT_AVAILABLE, None
                    each.node_id, each.host, each.port = -1, "", -1
            return response
        is_found = response.error_code == ErrorCode.NONE
        if is_found and self._is_news(session, request, request.key, response.node_id, now_ms):
            return FindCoordinatorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, node_id=-1, host="", port=-1)
        return response

    def _is_news(
        self, session: ClientSession, request: FindCoordinatorRequest, key: str, node_id: int, now_ms: int
    ) -> bool:
        changed_ms = self._changed_ms.get(node_id)
        if changed_ms is None or now_ms - changed_ms > REMEMBERED_MS:
            return False
        told = self._told.get(session)
        if told is None:
            told = self._told[session] = BoundedCache(TOLD_BYTES)
        of = request.key_type, key
        told_ms, _ = told.get(of) or (None, True)
        is_news = told_ms != changed_ms and not self._is_credited(session, of, changed_ms)
        told[of] = changed_ms, not is_news
        return is_news

    def _is_credited(self, session: ClientSession, of: Key, changed_ms: int) -> bool:
        """Rule 2 above."""
        at = session.client.client_host, of
        change_ms, times = self._hung_up.get(at) or (0, 0)
        if change_ms != changed_ms or not times:
            return False
        self._hung_up[at] = change_ms, times - 1
        return True

    def gone(self, session: ClientSession) -> None:
        """A client has hung up."""
        told = self._told.pop(session, None)
        if told is None:
            return
        for of, (change_ms, has_asked_again) in told.items():
            if not has_asked_again:
                at = session.client.client_host, of
                known_ms, times = self._hung_up.get(at) or (0, 0)
                self._hung_up[at] = change_ms, 1 + (times if known_ms == change_ms else 0)
