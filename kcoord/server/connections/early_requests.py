"""Early requests: requests for a partition that will be served soon, and the room in which they wait.

While a partition is loaded, or its owner has died and the next one is not known, kcoord could only refuse most
requests, and a client that is refused looks for another coordinator, joins again, or gives up. So the requests wait, in
their order, and are carried out when the partition is served. No request waits longer than `WAIT_S`; then it gets the
refusal that it would have got at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

import attrs

from kcoord.group.state.step import RequestContext
from kcoord.protocol.messages import Request
from kcoord.server.connections.outbox import Waiting

WAIT_S = 2.0
"""Less than the heartbeat interval of a Connect worker (3 s), which stops its tasks if nobody answers for that long."""


@attrs.frozen(eq=False)
class Guest:
    """A request that waits."""

    request: Request
    context: RequestContext
    waiting: Waiting
    until_s: float


class WaitingRoom:
    """The waiting requests of one partition. `refuse` is called with each that has waited too long."""

    def __init__(self, refuse: Callable[[Guest], None]) -> None:
        self._refuse = refuse
        self._numbers = count()
        self._guests: dict[int, Guest] = {}
        """The waiting requests, in the order in which they came."""
        self._by_connection: dict[int, list[int]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._guests)

    def enter(self, request: Request, context: RequestContext, waiting: Waiting) -> None:
        """Let a request wait."""
        loop = asyncio.get_running_loop()
        number = next(self._numbers)
        self._guests[number] = Guest(request, context, waiting, loop.time() + WAIT_S)
        self._by_connection.setdefault(context.connection, []).append(number)
        if self._timer is None:
            self._timer = loop.call_later(WAIT_S, self._look)

    def empty(self) -> list[Guest]:
        """Take out all requests, in the order in which they came."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        guests = list(self._guests.values())
        self._guests.clear()
        self._by_connection.clear()
        return guests

    def leave(self, connection: int) -> list[Guest]:
        """Take out the requests of one connection."""
        numbers = self._by_connection.pop(connection, ())
        return [self._guests.pop(number) for number in numbers if number in self._guests]

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        while self._guests:
            number, guest = next(iter(self._guests.items()))
            if guest.until_s > loop.time():
                if self._timer is None:  # a refused client may have asked again
                    self._timer = loop.call_later(guest.until_s - loop.time(), self._look)
                return
            del self._guests[number]
            numbers = self._by_connection[guest.context.connection]
            numbers.remove(number)
            if not numbers:
                del self._by_connection[guest.context.connection]
            self._refuse(guest)
