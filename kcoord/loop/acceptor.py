"""The acceptor: it counts connections, and gives them a deadline, from the moment when they are accepted.

An event loop's own server reports a connection only after its TLS handshake. So a handshake that never ends would be
outside every limit. Rules:

1. The acceptor asks the gate for each connection before anything is read or written. The gate counts the connection or
   refuses it.
2. A TLS handshake may take `handshake_s` from the accept on. If it does not end in time, the connection is closed and
   no longer counted. Only a few handshakes begin in one turn of the loop (`kcoord.loop.handshake_queue`).
3. At most `ACCEPTED_AT_ONCE` connections are accepted in one turn of the loop.
4. If the process or the system has no open files or memory left for another connection, the acceptor logs that, at most
   once in `COMPLAIN_EVERY_S`, and goes on after `PAUSE_S`. Meanwhile clients wait in the listener's backlog.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import time
from typing import Protocol

from kcoord.loop.handshake_queue import HandshakeQueue

__all__ = ["Acceptor", "Gate", "bind"]

log = logging.getLogger("kcoord.loop")

ACCEPTED_AT_ONCE = 64
PAUSE_S = 0.5
LEAST_HANDSHAKE_S = 1.0
"""The least time, in seconds, that a handshake gets even if it has waited long for its turn."""
COMPLAIN_EVERY_S = 30.0
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
GONE_ALREADY = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EINTR})
"""Errors of accept for a client that hung up while it waited in the backlog."""
MAPPED = "::ffff:"
"""The prefix of an IPv4 address on an IPv6 socket (a socket that was handed down may accept both)."""
Address = tuple[str, int]


class Gate(Protocol):
    """Decides whether a connection is accepted."""

    def enter(self, peer: Address) -> asyncio.BaseProtocol | None:
        """The protocol for a connection from `peer`, which counts from now on; None: the connection is refused and
        closed.
        """

    def failed(self, protocol: asyncio.BaseProtocol, reason: str) -> None:
        """Called if a connection ended before its protocol was connected: its handshake failed with `reason`, or the
        listener was closed (empty `reason`).
        """


class Acceptor:
    """Accepts the connections of one listening socket."""

    def __init__(
        self,
        listener: socket.socket,
        gate: Gate,
        tls: ssl.SSLContext | None,
        handshake_s: float,
        handshakes: HandshakeQueue | None = None,
    ) -> None:
        """`handshakes` is shared with the other listeners of the same loop."""
        self.listener = listener
        self.handshake_s = handshake_s
        self.is_behind = False
        """Whether connections may still have been waiting after the last accept."""
        self._gate = gate
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._handshakes = handshakes or HandshakeQueue()
        self._entering: set[asyncio.Task[None]] = set()
        self._resume: asyncio.TimerHandle | None = None
        self._complained_at: float | None = None
        listener.setblocking(False)
        self._loop.add_reader(listener.fileno(), self._accept)

    def begin_behind(self) -> None:
        """Allow for connections that have waited since before this acceptor existed, and look for them soon."""
        self.is_behind = True
        self._loop.call_soon(self._accept_waiting)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.listener.getsockname()[1])

    def close(self) -> None:
        """Stop accepting. Connections in a handshake are closed."""
        if self.listener.fileno() < 0:
            return
        if self._resume is not None:
            self._resume.cancel()
        self._loop.remove_reader(self.listener.fileno())
        self.listener.close()
        for task in list(self._entering):
            task.cancel()

    def _accept_waiting(self) -> None:
        if self.listener.fileno() >= 0:
            self._accept()

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                accepted, peer = self.listener.accept()
            except BlockingIOError:
                self.is_behind = False
                return
            except OSError as error:
                if error.errno in GONE_ALREADY:
                    continue
                self._pause(error)
                return
            self._enter(accepted, (str(peer[0]).removeprefix(MAPPED), int(peer[1])))
        self.is_behind = True

    def _pause(self, error: OSError) -> None:
        """Rule 4. Other errors of a listener are treated in the same way, because they would come back at once."""
        self.is_behind = True
        now = time.monotonic()
        if self._complained_at is None or now - self._complained_at >= COMPLAIN_EVERY_S:
            self._complained_at = now
            hint = ": raise the limit of open files (ulimit -n)" if error.errno in EXHAUSTED else ""
            log.error("port %d accepts no connections for the moment: %s%s", self.port, error.strerror, hint)
        self._loop.remove_reader(self.listener.fileno())
        self._resume = self._loop.call_later(PAUSE_S, self._go_on)

    def _go_on(self) -> None:
        self._resume = None
        self._loop.add_reader(self.listener.fileno(), self._accept)

    def _enter(self, accepted: socket.socket, peer: Address) -> None:
        protocol = self._gate.enter(peer)
        if protocol is None:
            accepted.close()
            return
        accepted.setblocking(False)
        task = self._loop.create_task(self._connect(accepted, protocol))
        self._entering.add(task)
        task.add_done_callback(self._entering.discard)

    async def _connect(self, accepted: socket.socket, protocol: asyncio.BaseProtocol) -> None:
        """Hand the socket to the event loop, with a TLS handshake if the listener uses TLS."""
        try:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is None:
                await self._loop.connect_accepted_socket(lambda: protocol, accepted)
            else:
                await self._shake_hands(accepted, protocol, self._tls)
        except asyncio.CancelledError:
            accepted.close()
            self._gate.failed(protocol, "")
            raise
        except Exception as error:  # OSError, SSLError, TimeoutError: it concerns this connection only
            accepted.close()
            self._gate.failed(protocol, f"{_handshake_fault(error) if self._tls is not None else error}")

    async def _shake_hands(self, accepted: socket.socket, protocol: asyncio.BaseProtocol, tls: ssl.SSLContext) -> None:
        ends = self._loop.time() + self.handshake_s
        try:
            async with asyncio.timeout_at(ends):
                await self._handshakes.turn(accepted)
        except TimeoutError:
            raise TimeoutError(f"it did not begin within {self.handshake_s:g} s") from None
        left_s = max(LEAST_HANDSHAKE_S, ends - self._loop.time())
        await self._loop.connect_accepted_socket(lambda: protocol, accepted, ssl=tls, ssl_handshake_timeout=left_s)


def _handshake_fault(error: Exception) -> str:
    reason = getattr(error, "reason", None) or str(error) or type(error).__name__
    return f"its TLS handshake failed: {reason}"


async def bind(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Listening sockets on all addresses of `host`. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listeners: list[socket.socket] = []
    absent: OSError | None = None
    try:
        for family, kind, proto, _, address in dict.fromkeys(found):
            listener = socket.socket(family, kind, proto)
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind(address)
                listener.listen(backlog)
                listener.setblocking(False)
            except OSError as error:
                listener.close()
                if error.errno != errno.EADDRNOTAVAIL:  # a family that this machine does not have
                    raise OSError(error.errno, error.strerror) from None
                absent = error
            else:
                listeners.append(listener)
    except BaseException:
        _close_all(listeners)
        raise
    if not listeners:
        raise absent or OSError(errno.EADDRNOTAVAIL, f"{host} has no address")
    return listeners


def _close_all(listeners: list[socket.socket]) -> None:
    for listener in listeners:
        listener.close()
