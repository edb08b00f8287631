"""The connections between workers and the coordinator: which bytes were sent and are not received yet.

These are TCP connections on the loopback interface. The kernel takes a moment to carry bytes from one end to the other,
and virtual time must not pass meanwhile. So both ends count bytes. A wire belongs to the process that connected. While
the wire is cut, neither end sees what the other one sends. Nothing is lost, as when TCP sends again.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from kcoord.testing.process import Process

LOOPBACK = "127.0.0.1"


class End:
    """One end of a wire."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.fd = -1
        self.sent = 0
        self.received = 0
        self.is_closed = False
        """Whether this end sends no more."""
        self.has_seen_end = False

    @property
    def peer(self) -> End:
        """The other end."""
        return self.wire.server if self is self.wire.client else self.wire.client

    @property
    def awaits(self) -> bool:
        """Whether something is on its way to this end, or has arrived and was not read."""
        if self.is_closed or self.has_seen_end:
            return False
        return self.peer.sent > self.received or self.peer.is_closed


class Wire:
    """One connection; `port` is the coordinator's."""

    def __init__(self, process: Process | None, port: int) -> None:
        self.process = process
        self.port = port
        self.is_offered = False
        """Whether the coordinator has accepted connections on the port since this one was made."""
        self.client = End(self)
        self.server = End(self)

    @property
    def is_cut(self) -> bool:
        """Whether nothing gets through at the moment."""
        return self.process is not None and self.process.is_cut


class CountingSocket(socket.socket):
    """A socket that counts on its end of a wire what is sent and received."""

    end: End
    network: Network

    def send(self, *arguments: Any) -> int:
        """See socket.socket.send."""
        return self._sent(super().send(*arguments))

    def sendmsg(self, *arguments: Any) -> int:
        """See socket.socket.sendmsg."""
        return self._sent(super().sendmsg(*arguments))

    def recv(self, *arguments: Any) -> bytes:
        """See socket.socket.recv."""
        try:
            data = super().recv(*arguments)
        except OSError as error:
            self._failed(error)
            raise
        self._received(len(data))
        return data

    def recv_into(self, *arguments: Any) -> int:
        """See socket.socket.recv_into."""
        try:
            size = super().recv_into(*arguments)
        except OSError as error:
            self._failed(error)
            raise
        self._received(size)
        return size

    def shutdown(self, how: int) -> None:
        """See socket.socket.shutdown."""
        super().shutdown(how)
        if how != socket.SHUT_RD:
            self.network.closed(self.end)

    def close(self) -> None:
        """See socket.socket.close."""
        if self.fileno() >= 0:
            self.network.forget(self.end)
        super().close()

    def _sent(self, size: int) -> int:
        self.end.sent += size
        self.network.expect(self.end.peer)
        return size

    def _received(self, size: int) -> None:
        self.end.received += size
        self.end.has_seen_end = size == 0
        self.network.look(self.end)

    def _failed(self, error: OSError) -> None:
        if not isinstance(error, BlockingIOError | InterruptedError):
            self.end.has_seen_end = True
            self.network.look(self.end)


class Network:
    """All wires of one event loop, and the ports that are listened on."""

    def __init__(self) -> None:
        self.ports: dict[int, int] = {}
        """Port → the file descriptor that listens on it."""
        self._by_client: dict[tuple[str, int], Wire] = {}
        """Address of the client's end → a wire that the coordinator has not accepted yet."""
        self._ends: dict[int, CountingSocket] = {}
        """File descriptor → the socket that has it."""
        self._expecting: set[End] = set()

    def connect(self, port: int, process: Process | None) -> CountingSocket:
        """Make a wire to the coordinator's `port`. Returns the client's end. Raises OSError."""
        wire = Wire(process, port)
        client = self._make(wire.client, socket.socket(socket.AF_INET, socket.SOCK_STREAM).detach())
        try:
            client.bind((LOOPBACK, 0))
            self._by_client[client.getsockname()] = wire
            client.connect((LOOPBACK, port))
        except BaseException:
            self._by_client.pop(client.getsockname(), None)
            client.close()
            raise
        client.setblocking(False)
        return client

    def accepted(self, server: socket.socket) -> socket.socket:
        """The connection as the server's end of its wire. If it has no wire, `server` itself."""
        wire = self._by_client.pop(server.getpeername()[:2], None)
        if wire is None:
            return server
        counting = self._make(wire.server, server.detach())
        counting.setblocking(False)
        self.look(wire.server)
        return counting

    def _make(self, end: End, fd: int) -> CountingSocket:
        counting = CountingSocket(fileno=fd)
        counting.end, counting.network = end, self
        end.fd = fd
        self._ends[fd] = counting
        return counting

    def listens(self, fd: int) -> bool:
        """Whether `fd`, which the loop is about to read, listens. If so, note its port as one of the coordinator's."""
        try:
            probe = socket.socket(fileno=fd)
        except OSError:
            return False  # a pipe
        try:
            listens = bool(probe.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
            if listens:
                self.ports[probe.getsockname()[1]] = fd
        finally:
            probe.detach()
        return listens

    def ignores(self, fd: int) -> None:
        """The loop reads `fd` no more: connections to it that were not accepted never will be."""
        gone = {port for port, each in self.ports.items() if each == fd}
        for port in gone:
            del self.ports[port]
        self._by_client = {address: wire for address, wire in self._by_client.items() if wire.port not in gone}

    # What is on its way

    def expect(self, end: End) -> None:
        """Something was sent to `end`."""
        self._expecting.add(end)

    def look(self, end: End) -> None:
        """Note whether something is on its way to `end`."""
        (self._expecting.add if end.awaits else self._expecting.discard)(end)

    def closed(self, end: End) -> None:
        """`end` sends no more."""
        end.is_closed = True
        self._expecting.discard(end)
        self.look(end.peer)

    def forget(self, end: End) -> None:
        """`end` is closed in both directions."""
        self._ends.pop(end.fd, None)
        self.closed(end)

    def awaited(self, *, is_idle: bool) -> Iterable[int]:
        """The file descriptors that something is on its way to. `is_idle`: there is nothing else to do."""
        yield from (end.fd for end in self._expecting if end.awaits)
        for wire in self._by_client.values():
            if wire.port in self.ports and not wire.client.is_closed and (is_idle or not wire.is_offered):
                yield self.ports[wire.port]

    def has_accepted(self, fd: int) -> None:
        """The coordinator has accepted all connections on the listening socket `fd` but those still on their way."""
        for wire in self._by_client.values():
            if self.ports.get(wire.port) == fd:
                wire.is_offered = True

    def is_cut(self, fd: int) -> bool:
        """Whether nothing gets to `fd` at the moment."""
        counting = self._ends.get(fd)
        return counting is not None and counting.end.wire.is_cut

    def hang_up(self, process: Process) -> None:
        """Close all connections of a dead process, as the operating system does. Their other ends see that."""
        for counting in list(self._ends.values()):
            end = counting.end
            if end is end.wire.client and end.wire.process is process and not end.is_closed:
                counting.shutdown(socket.SHUT_RDWR)
