"""The connection drain: it closes clients' connections, so that clients go where the map has their brokers now.

A connection stays at the instance where it was made, even if the map changes, and that instance serves it. But then the
calls of its groups are relayed. And a client that knows only the addresses of this instance, because the others were
away when it last asked, has nowhere to go when this instance goes: most clients never go back to their bootstrap
addresses. Rules (GW-19, GW-20):

1. If a broker's place has moved to another instance, kcoord closes the connections that clients made to this broker
   here before the move. It waits until the map has settled, closes few connections at a time, and closes only those
   that have nothing in work. The client connects again, asks where everything is, and goes there. kcoord leaves later
   connections alone, because a client that comes after the move has a reason.
2. kcoord also closes a connection whose client last asked for the brokers while this instance was alone. The client
   knows no other address, and could go nowhere if this instance died.
3. Before an orderly stop, this instance names the others in its answers, and closes all connections that have nothing
   in work. Its ports stay open for a moment, so clients learn the addresses of the others from it.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from kcoord.gateway.interfaces import Places

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ConnectionDrain"]

SETTLED_MS = 10_000
"""How long, in ms, a broker's place must be elsewhere, or others be there, before kcoord closes connections."""
AT_ONCE = 20
"""The most connections that one look closes. Their clients all ask for metadata at the same time."""
AWAY_S = 1.5
"""How long, in seconds, the ports of a stopping instance stay open for clients that ask where to go."""
LOOK_S = 0.05


class ConnectionDrain:
    """The connections of one gateway, and where they belong."""

    def __init__(self, now_ms: Callable[[], int], places: Places) -> None:
        self._now_ms = now_ms
        self._places = places
        self._sessions: weakref.WeakSet[ClientSession] = weakref.WeakSet()
        self._elsewhere_since_ms: dict[int, int] = {}
        self._in_company_since_ms: int | None = 0
        """Since when there are other instances; None: there are none.

        It begins with 0, because an instance that has not looked yet does not count as alone.
        """

    def add(self, session: ClientSession) -> None:
        """Note a new connection."""
        self._sessions.add(session)

    def look(self, now_ms: int) -> None:
        """Close a few connections that belong elsewhere. Called several times a second."""
        known = self._places.brokers()
        away = {broker_id for broker_id in known if not self._places.is_here(broker_id)}
        since = self._elsewhere_since_ms
        self._elsewhere_since_ms = {broker_id: since.get(broker_id, now_ms) for broker_id in away}
        settled = {broker for broker, at_ms in self._elsewhere_since_ms.items() if now_ms - at_ms >= SETTLED_MS}
        if not self._places.others():
            self._in_company_since_ms = None
        elif self._in_company_since_ms is None:
            self._in_company_since_ms = now_ms
        met_ms = self._in_company_since_ms
        if met_ms is not None and now_ms - met_ms < SETTLED_MS:
            met_ms = None
        if settled or met_ms is not None:
            lost = [
                session
                for session in self._sessions
                if self._is_lost(session, settled, met_ms) and session.is_idle and not session.gone
            ]
            self._close(lost[:AT_ONCE])

    async def send_away(self) -> None:
        """Close connections before this instance stops, so that clients learn where the others are."""
        if not self._places.others():
            return
        loop = asyncio.get_running_loop()
        began_s, began_ms = loop.time(), self._now_ms()
        while loop.time() - began_s < AWAY_S:
            self._close([session for session in self._sessions if session.since_ms <= began_ms])
            await asyncio.sleep(LOOK_S)

    def _is_lost(self, session: ClientSession, settled: set[int], met_ms: int | None) -> bool:
        """Whether rule 1 or 2 above holds for this connection."""
        if session.broker_id in settled and session.since_ms < self._elsewhere_since_ms[session.broker_id]:
            return True
        return met_ms is not None and session.told_nodes_ms < met_ms

    def _close(self, sessions: list[ClientSession]) -> None:
        for session in sessions:
            if not session.gone and session.is_idle:
                session.client.end()
