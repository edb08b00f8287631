"""Who may connect, and when does a connection end?

One `Server` owns the listeners and every connection. Rules:

1. Limits in total and for each address are checked before anything is read; above them the newest connection is closed.
2. A connection that has sent nothing for `connections.max.idle.ms` and has no request in work is closed.
3. A stop closes the listeners first, lets what is being committed be answered, and then closes the connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Protocol

import attrs

from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.call import Call
from kcoord.server.clock import monotonic_ms
from kcoord.server.connection import Connection, Leg

log = logging.getLogger("kcoord.server")

IDLE_SWEEPS = 20
"""How often in one idle time the connections are looked through."""
LONGEST_SWEEP_PAUSE_S = 30.0
BACKLOG = 4096
FAREWELL_S = 5.0
"""How long a stop waits for clients to take their last answers."""


@attrs.frozen
class Limits:
    """What clients may take: frames in bytes, connections in number, idleness in ms."""

    frame_bytes: int
    unauthenticated_frame_bytes: int
    connections: int
    connections_per_address: int
    idle_ms: int


class Behind(Protocol):
    """What stands behind the connections: standalone answers, or a gateway."""

    authenticated_at_once: bool

    def leg(self, connection: Connection) -> Leg | None: ...
    def check(self, api_key: int, api_version: int) -> None: ...
    def dispatch(self, connection: Connection, call: Call) -> None: ...


class Server:
    """The listeners and connections of one process."""

    def __init__(
        self,
        limits: Limits,
        behind: Behind,
        tls: ssl.SSLContext | None = None,
        serials: Iterator[int] | None = None,
        on_gone: Callable[[int], None] | None = None,
        turns: TurnQueue | None = None,
    ) -> None:
        """`serials` numbers connections, others may take some too; `on_gone` is told the number of one that ended.
        `turns`: the loop's turn queue, where others use it too.
        """
        self.turns = turns or TurnQueue()
        self.most_frames_at_once = 0
        """The most frames that one connection began without a turn of the loop between them."""
        self.frame_limit = limits.frame_bytes
        self.unauthenticated_frame_limit = min(limits.unauthenticated_frame_bytes, limits.frame_bytes)
        self.now_ms: Callable[[], int] = monotonic_ms
        self.leg = behind.leg
        self.check = behind.check
        self.dispatch = behind.dispatch
        self._behind = behind
        self._limits = limits
        self._tls = tls
        self._listeners: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._addresses: Counter[str] = Counter()
        self._all_gone = asyncio.Event()
        self._serials = serials or count(1)
        self._on_gone = on_gone
        self._sweeper: asyncio.Task[None] | None = None

    async def listen(self, host: str, port: int, broker_id: int | None = None) -> int:
        """Accept connections on `host`:`port`, for upstream broker `broker_id` if there is one; gives the port. Raises
        OSError.
        """
        loop = asyncio.get_running_loop()

        def accept() -> Connection:
            return Connection(self, next(self._serials), broker_id, self._behind.authenticated_at_once)

        listener = await loop.create_server(accept, host, port, ssl=self._tls, backlog=BACKLOG, reuse_address=True)
        self._listeners.append(listener)
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())
        return int(listener.sockets[0].getsockname()[1])

    async def close_listeners(self) -> None:
        """Accept nobody any more."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for listener in self._listeners:
            listener.close()

    async def close_connections(self) -> None:
        """Close every connection after what was sent has left; one that does not take it in time is cut."""
        for connection in list(self._connections):
            connection.end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                while self._connections:
                    self._all_gone.clear()
                    await self._all_gone.wait()
        for connection in list(self._connections):
            connection.cut()

    def admit(self, connection: Connection) -> str | None:
        """Count `connection` in, or say why not."""
        host = connection.client_host
        self._connections.add(connection)
        self._addresses[host] += 1
        if len(self._connections) > self._limits.connections:
            return f"there are {self._limits.connections} connections already (max.connections)"
        if self._addresses[host] > self._limits.connections_per_address:
            return f"{host[1:]} has {self._limits.connections_per_address} connections already (max.connections.per.ip)"
        return None

    def forget(self, connection: Connection) -> None:
        """Count `connection` out."""
        self._connections.discard(connection)
        if not self._connections:
            self._all_gone.set()
        self._addresses[connection.client_host] -= 1
        if not self._addresses[connection.client_host]:
            del self._addresses[connection.client_host]
        if self._on_gone is not None:
            self._on_gone(connection.serial)

    async def _sweep(self) -> None:
        pause_s = min(LONGEST_SWEEP_PAUSE_S, self._limits.idle_ms / 1000 / IDLE_SWEEPS)
        while True:
            await asyncio.sleep(pause_s)
            oldest = self.now_ms() - self._limits.idle_ms
            for connection in [each for each in self._connections if each.last_active_ms < oldest and not each.is_busy]:
                connection.close(f"nothing came for {self._limits.idle_ms} ms (connections.max.idle.ms)")
