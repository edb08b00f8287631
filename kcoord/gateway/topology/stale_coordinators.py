"""Stale coordinators: the address of a coordinator has changed, but not its id, so clients must ask again.

When an instance goes, another one stands before its brokers, and the same node ids have other addresses. librdkafka
takes a new address for a node. But its connection to a coordinator keeps the old address while FindCoordinator tells
the same id, so it would try the instance that has gone for ever (seen with 2.16). COORDINATOR_NOT_AVAILABLE makes
librdkafka, and every other client, forget the coordinator and ask again. Rules (GW-19):

1. For some time after a broker's place has changed, a connection gets that error once for each key that it asks for,
   and then the right answer. After an instance has gone this holds for all brokers, because members may still be where
   the map before the last one sent them.
2. A client may hang up at that error and ask by another connection, as kcoord's own workers always do. It would get the
   error again and again. So for each connection that ended like this, one connection from the same host gets the right
   answer for that key.
3. The way to a coordinator of transactions changes in the same manner, so this holds for all keys of FindCoordinator.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.interfaces import Places
from kcoord.gateway.settings import Address
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["StaleCoordinators"]

REMEMBERED_MS = 120_000
"""How long, in ms, after a change clients may come that do not know of it."""
ANY_HOST = "localhost"
Key = tuple[int, str]
"""A key type of FindCoordinator, and a key."""
TOLD_BYTES, HUNG_UP_BYTES = 64 * 1024, 1 << 20
"""Size limits, in bytes, of what kcoord remembers of one connection, and of those that have ended."""


class StaleCoordinators:
    """The brokers whose place has changed lately, and the connections that know of it."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._others: frozenset[tuple[int, int]] = frozenset()
        self._at: dict[int, Address | None] = {}
        self._changed_ms: dict[int, int] = {}
        self._told: weakref.WeakKeyDictionary[ClientSession, BoundedCache[Key, tuple[int, bool]]] = (
            weakref.WeakKeyDictionary()
        )
        self._hung_up: BoundedCache[tuple[str, Key], tuple[int, int]] = BoundedCache(HUNG_UP_BYTES)
        """By host and key: the change that ended connections were told of, and how many of them did not ask again."""

    def look(self, now_ms: int) -> None:
        """Note what has changed. Called several times a second."""
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
        """The response, with COORDINATOR_NOT_AVAILABLE where the client may still use an old address."""
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
        """Whether rule 2 above gives this connection the right answer. This uses an ended connection up."""
        at = session.client.client_host, of
        change_ms, times = self._hung_up.get(at) or (0, 0)
        if change_ms != changed_ms or not times:
            return False
        self._hung_up[at] = change_ms, times - 1
        return True

    def gone(self, session: ClientSession) -> None:
        """Note that a client has hung up."""
        told = self._told.pop(session, None)
        if told is None:
            return
        for of, (change_ms, has_asked_again) in told.items():
            if not has_asked_again:
                at = session.client.client_host, of
                known_ms, times = self._hung_up.get(at) or (0, 0)
                self._hung_up[at] = change_ms, 1 + (times if known_ms == change_ms else 0)
