"""The server: listeners, connection limits, and when a connection is closed.

One `Server` owns the listeners and every connection. Rules:

1. The server checks the limits (in total, and for each address) when it accepts a connection, before the TLS
   handshake. Above a limit it closes the new connection.
2. It closes a connection that has sent nothing for `connections.max.idle.ms` and has no request in work.
3. It closes a connection whose client has not authenticated in time: by its TLS handshake and, in front of a cluster
   that uses SASL, by the SASL exchange. It also closes one whose client does not finish a request (`held_bytes`).
4. A stop closes the listeners first, answers the requests whose commits are under way, and then closes the connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Protocol

import attrs

from kcoord.group.state.connection_opening import Opening
from kcoord.loop.acceptor import Acceptor, Address, bind
from kcoord.loop.handshake_queue import HandshakeQueue
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.undecoded_call import Call
from kcoord.server.clock import monotonic_ms
from kcoord.server.connections.accept_clock import AcceptClock
from kcoord.server.connections.connection import ClientSession, Connection
from kcoord.server.connections.held_bytes import HeldBytes

log = logging.getLogger("kcoord.server")

SWEEPS = 20
"""How often, within each deadline, the server looks for connections that have passed it."""
LONGEST_SWEEP_PAUSE_MS = 30_000
BACKLOG = 4096
SINCE_BOOT_MS = 0
"""The earliest time at which a connection can have been made, on the clock of `now_ms`."""
FAREWELL_S = 5.0
"""How long a stop waits for clients to take their last answers."""


@attrs.frozen
class Limits:
    """What clients may use: bytes of a frame, bytes that all clients hold together, numbers of connections, and in ms
    how long a connection may be idle, authenticate, or take for a request that has begun.
    """

    frame_bytes: int
    unauthenticated_frame_bytes: int
    connections: int
    connections_per_address: int
    idle_ms: int
    authentication_ms: int = 30_000
    progress_ms: int = 30_000
    held_bytes: int = 512 << 20


class Behind(Protocol):
    """What handles the requests of the connections: `Standalone`, or a gateway."""

    authenticated_at_once: bool
    turns: TurnQueue
    """The event loop's turn queue, in which long work of this handler and of the connections waits."""

    def session(self, connection: Connection) -> ClientSession | None: ...
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
    ) -> None:
        """`serials` gives each connection its number; others may take numbers from it too. `on_gone` is called with the
        number of a connection that ended.
        """
        self.turns = behind.turns
        self.most_frames_at_once = 0
        """The most frames that one connection began within one turn of the event loop."""
        self.frame_limit = limits.frame_bytes
        self.unauthenticated_frame_limit = min(limits.unauthenticated_frame_bytes, limits.frame_bytes)
        self.now_ms: Callable[[], int] = monotonic_ms
        self.session = behind.session
        self.check = behind.check
        self.dispatch = behind.dispatch
        self._behind = behind
        self._limits = limits
        self._tls = tls
        self.handshakes: HandshakeQueue | None = None
        """The TLS handshakes of all ports; None until the server listens."""
        self.held = HeldBytes(limits.held_bytes, limits.progress_ms, limits.idle_ms)
        self._acceptors: list[Acceptor] = []
        self._newcomers: dict[Connection, int] = {}
        """Connections that have not authenticated, as far as the server knows, and the time when each was accepted."""
        self._connections: dict[Connection, str] = {}
        """All connections, also those in a TLS handshake, and the address that each came from."""
        self._listener_numbers = count()
        self._addresses: Counter[str] = Counter()
        self._all_gone = asyncio.Event()
        self._serials = serials or count(1)
        self._on_gone = on_gone
        self._sweeper: asyncio.Task[None] | None = None
        self._accept_clock = AcceptClock(lambda: self.now_ms())

    async def listen(
        self, host: str, port: int, broker_id: int | None = None, handed_down: Sequence[socket.socket] = ()
    ) -> int:
        """Accept connections on `host`:`port`, for upstream broker `broker_id` if one is given. Returns the port.
        Raises OSError. `handed_down`: sockets that listen there already, perhaps since before this process started.
        """
        self._accept_clock.start()
        listeners = list(handed_down) or await bind(host, port, BACKLOG)
        handshake_s = self._limits.authentication_ms / 1000
        self.handshakes = self.handshakes or HandshakeQueue()
        for listener in listeners:
            gate = _Port(self, broker_id, next(self._listener_numbers), self._accept_clock)
            acceptor = gate.acceptor = Acceptor(listener, gate, self._tls, handshake_s, self.handshakes)
            if handed_down:
                gate.begin_behind()
            self._acceptors.append(acceptor)
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())
        return int(listeners[0].getsockname()[1])

    async def close_listeners(self) -> None:
        """Stop accepting connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._accept_clock.stop()
        for acceptor in self._acceptors:
            acceptor.close()

    async def close_connections(self) -> None:
        """Close every connection after all sent bytes have left. Cut a connection whose client does not read them
        within `FAREWELL_S`.
        """
        for connection in list(self._connections):
            connection.end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                while self._connections:
                    self._all_gone.clear()
                    await self._all_gone.wait()
        for connection in list(self._connections):
            connection.cut()

    def enter(self, peer: Address, broker_id: int | None, listener: int, since_ms: int) -> Connection | None:
        """Count a new connection from `peer` and return it; or log why it is refused and return None. It was made at
        `since_ms` or later and came in by the listening socket with the number `listener`.
        """
        host = peer[0]
        if len(self._connections) >= self._limits.connections:
            reason = f"there are {self._limits.connections} connections already (max.connections)"
        elif self._addresses[host] >= self._limits.connections_per_address:
            reason = f"{host} has {self._limits.connections_per_address} connections already (max.connections.per.ip)"
        else:
            authenticated = self._behind.authenticated_at_once
            serial, now_ms = next(self._serials), self.now_ms()
            opened = Opening("", listener, serial, since_ms, now_ms)
            connection = Connection(self, serial, broker_id, authenticated, peer, opened)
            self._connections[connection] = host
            self._addresses[host] += 1
            self._newcomers[connection] = now_ms
            return connection
        log.warning("closed the connection of %s:%d: %s", *peer, reason)
        return None

    def entered(self, connection: Connection) -> None:
        """The connection is open: its TLS handshake, if it needs one, is done."""
        if connection.authenticated:
            self._newcomers.pop(connection, None)

    def forget(self, connection: Connection) -> None:
        """Remove `connection`, which has ended, from all counts."""
        host = self._connections.pop(connection, None)
        self._newcomers.pop(connection, None)
        self.held.drop(connection)
        if not self._connections:
            self._all_gone.set()
        if host is not None:
            self._addresses[host] -= 1
            if not self._addresses[host]:
                del self._addresses[host]
        if self._on_gone is not None:
            self._on_gone(connection.serial)

    async def _sweep(self) -> None:
        limits = self._limits
        idle_pause_ms = min(LONGEST_SWEEP_PAUSE_MS, limits.idle_ms / SWEEPS)
        pause_ms = min(idle_pause_ms, limits.progress_ms / SWEEPS, limits.authentication_ms / SWEEPS)
        idle_due_ms = 0.0
        while True:
            await asyncio.sleep(pause_ms / 1000)
            now_ms = self.now_ms()
            self.held.sweep(now_ms)
            self._close_unknown(now_ms)
            if now_ms >= idle_due_ms:
                idle_due_ms = now_ms + idle_pause_ms
                self._close_idle(now_ms - limits.idle_ms)

    def _close_idle(self, oldest_ms: int) -> None:
        for connection in [each for each in self._connections if each.last_active_ms < oldest_ms and not each.is_busy]:
            connection.close(f"nothing came for {self._limits.idle_ms} ms (connections.max.idle.ms)")

    def _close_unknown(self, now_ms: int) -> None:
        """Rule 3 above. The acceptor has a deadline of its own for the TLS handshake."""
        limit_ms = self._limits.authentication_ms
        for connection, since_ms in list(self._newcomers.items()):
            if now_ms - since_ms <= limit_ms:
                return  # all others were accepted later
            del self._newcomers[connection]
            if not connection.authenticated:
                connection.close(f"not authenticated after {limit_ms} ms (connections.authentication.timeout.ms)")


class _Port:
    """The gate of one listening socket. Its connections are for one upstream broker, or for the bootstrap port."""

    def __init__(self, server: Server, broker_id: int | None, number: int, clock: AcceptClock) -> None:
        self.acceptor: Acceptor | None = None
        self._server = server
        self._broker_id = broker_id
        self._number = number
        self._clock = clock
        self._since_ms = clock.since_ms()
        """A connection that is accepted now was made at this time or later. The time does not advance while the
        acceptor is behind, because some connections have waited since then.
        """

    def begin_behind(self) -> None:
        """Allow for waiting connections that were made before this process started."""
        assert self.acceptor is not None
        self._since_ms = SINCE_BOOT_MS
        self.acceptor.begin_behind()

    def enter(self, peer: Address) -> Connection | None:
        """See Gate."""
        if self.acceptor is None or not self.acceptor.is_behind:
            self._since_ms = self._clock.since_ms()
        return self._server.enter(peer, self._broker_id, self._number, self._since_ms)

    def failed(self, protocol: asyncio.BaseProtocol, reason: str) -> None:
        """See Gate."""
        assert isinstance(protocol, Connection)
        if reason:
            log.warning("closed the connection of %s: %s", protocol.peer, reason)
        self._server.forget(protocol)
