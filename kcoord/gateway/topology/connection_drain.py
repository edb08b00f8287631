"""The connection drain: connected clients are sent to where the map has their brokers now.

A connection stays where it was made, whatever the map says later, and is served all the same. But the calls of its
groups are relayed then; and a client that knows this instance's addresses only, because the others were away when it
asked last, has nobody left when this one goes (most clients never go back to their bootstrap addresses).
Rules (GW-19, GW-20):

1. A connection that was made before its broker's place moved to another instance is closed, some time after the map has
   settled, few at a time, and while it has nothing in work. Its client connects anew, asks where everything is, and
   goes there. A connection that is made later is left alone: who comes has reasons.
2. So is a connection whose client was told last where everything is while this instance was alone: it knows no other
   address, and would have nobody if this one died.
3. Before this instance stops in good order, the answers that it gives name the others, and all connections are closed
   while its ports still are open for a moment: so clients learn the addresses of the others from here.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from kcoord.gateway.ports import Places

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ConnectionDrain"]

SETTLED_MS = 10_000
"""How long a broker must have had its place before anybody is sent there."""
AT_ONCE = 20
"""Connections that are closed in one look: their clients all ask for metadata."""
AWAY_S = 1.5
"""How long the ports of an instance that stops are still open for those that ask where to go."""
LOOK_S = 0.05


class ConnectionDrain:
    """The connections of one gateway, and where they belong."""

    def __init__(self, now_ms: Callable[[], int], places: Places) -> None:
        self._now_ms = now_ms
        self._places = places
        self._sessions: weakref.WeakSet[ClientSession] = weakref.WeakSet()
        self._elsewhere_since_ms: dict[int, int] = {}
        self._in_company_since_ms: int | None = 0
        """Since when there are others; None: there are none. Whoever has seen none yet has not been alone."""

    def add(self, session: ClientSession) -> None:
        """A connection was made."""
        self._sessions.add(session)

    def look(self, now_ms: int) -> None:
        """Send a few home; called some times a second."""
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
        """This instance stops: let every client learn where the others are."""
        if not self._places.others():
            return
        loop = asyncio.get_running_loop()
        began_s, began_ms = loop.time(), self._now_ms()
        while loop.time() - began_s < AWAY_S:
            self._close([session for session in self._sessions if session.since_ms <= began_ms])
            await asyncio.sleep(LOOK_S)

    def _is_lost(self, session: ClientSession, settled: set[int], met_ms: int | None) -> bool:
        """Rules 1 and 2 above."""
        if session.broker_id in settled and session.since_ms < self._elsewhere_since_ms[session.broker_id]:
            return True
        return met_ms is not None and session.told_nodes_ms < met_ms

    def _close(self, sessions: list[ClientSession]) -> None:
        for session in sessions:
            if not session.gone and session.is_idle:
                session.client.end()
