"""One way between two processes that can be cut, silent, refused or dead: a proxy on 127.0.0.1 before one port.

Cut: connections are reset, and new ones too, as soon as they are made. Refused: connections are reset, and nobody
listens any more, as if the process behind had died. Silent: bytes wait, connections stay. Dead: silent, and whoever
asks for a new connection hears nothing at all, as if there were no host.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import attrs

from tests.kafka.ports import free_port

BACKLOG = 100
FILLING = 4
"""More connections than the shortest queue of a listening socket holds: Linux answers nobody while it is full."""


@attrs.define(eq=False)
class Wire:
    """Goes to `to`, a port. An async context manager: `opened`."""

    to: int
    port: int = attrs.field(factory=free_port)
    made: int = 0
    """Connections that have come."""
    _socket: socket.socket | None = None
    """What listens; the server has a copy of it, so that it can go while this stays."""
    _filling: list[socket.socket] = attrs.Factory(list)
    _server: asyncio.Server | None = None
    _is_cut: bool = False
    _open: asyncio.Event = attrs.Factory(asyncio.Event)
    _tasks: set[asyncio.Task[None]] = attrs.Factory(set)

    @classmethod
    @asynccontextmanager
    async def opened(cls, to: int, port: int | None = None) -> AsyncIterator[Wire]:
        """A way to this port, by `port` or any other, until the end of the block."""
        self = cls(to, free_port() if port is None else port)
        self._open.set()
        await self._listen()
        try:
            yield self
        finally:
            await self.refuse()

    @property
    def address(self) -> str:
        """What whoever goes this way calls."""
        return f"127.0.0.1:{self.port}"

    async def cut(self) -> None:
        """Reset what is connected, and whatever comes."""
        self._is_cut = True
        await self._reset()

    async def refuse(self) -> None:
        """Reset what is connected, and listen no more."""
        self._accept_nobody()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        await self._reset()

    def silence(self) -> None:
        """From now on nothing gets through, and nobody is told."""
        self._open.clear()

    def die(self) -> None:
        """As `silence`, and new connections do not come about."""
        self.silence()
        self._accept_nobody()
        if self._socket is None:
            return
        self._socket.listen(0)
        for _ in range(FILLING):
            self._filling.append(socket.socket())
            self._filling[-1].setblocking(False)
            self._filling[-1].connect_ex(("127.0.0.1", self.port))

    async def mend(self) -> None:
        """All is well again; what waited goes its way."""
        self._is_cut = False
        self._open.set()
        if self._server is None:
            await self._listen()

    async def _listen(self) -> None:
        if self._socket is None:
            self._socket = socket.create_server(("127.0.0.1", self.port))
        self._server = await asyncio.start_server(self._connected, sock=self._socket.dup(), backlog=BACKLOG)

    def _accept_nobody(self) -> None:
        while self._filling:
            self._filling.pop().close()
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _reset(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        task = asyncio.create_task(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind: asyncio.StreamWriter | None = None
        ways: list[asyncio.Task[None]] = []
        try:
            if self._is_cut:
                return
            answers, behind = await asyncio.open_connection("127.0.0.1", self.to)
            ways = [asyncio.create_task(self._pass_on(*way)) for way in ((reader, behind), (answers, writer))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            pass
        finally:
            for way in ways:
                way.cancel()
            writer.transport.abort()
            if behind is not None:
                behind.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._open.wait()
                writer.write(data)
                await writer.drain()
