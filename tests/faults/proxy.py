"""How is one instance cut from Kafka, and nobody else? By a proxy of its own before every broker.

It passes bytes on, and puts its own ports where Kafka's answers name brokers, so that the instance knows no other way.
It can be slow (`delay_s`), cut (connections are reset, and refused), or silent (bytes wait, connections stay: what was
sent before arrives late, after whatever happened meanwhile).
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import attrs

from kcoord.protocol.frame import decode_response_header, encode_response_frame
from kcoord.protocol.messages import RESPONSES
from kcoord.protocol.node_addresses import NODE_ADDRESSES, rewrite_addresses
from tests.kafka.ports import free_port

_HEADER = struct.Struct(">hhi")
_PASSED = frozenset({0, 1, 78, 79})
"""Produce, Fetch, ShareFetch, ShareAcknowledge name nodes only where a leader has moved, and are large."""

Change = Callable[[bytes], bytes]


@attrs.define(eq=False)
class KafkaProxy:
    """The way of one instance to all brokers (by port, all on 127.0.0.1). An async context manager: `opened`."""

    ports: Mapping[int, int]
    """A broker's port to that which stands before it."""
    delay_s: float = 0.0
    catch: Callable[[int], Awaitable[None]] | None = None
    """Is awaited with the API key of each request before it is passed on. What is caught so arrives late, also when who
    sent it has gone meanwhile.
    """
    watch: Callable[[bytes, bool], Awaitable[None]] | None = None
    """Is awaited with each request, before it is passed on (False) and once it is (True)."""
    _open: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _refusing: bool = attrs.field(default=False, init=False)
    _writers: set[asyncio.StreamWriter] = attrs.field(factory=set, init=False)
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    @property
    def bootstrap(self) -> str:
        """What stands in `bootstrap.servers` of who goes this way."""
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    @classmethod
    @asynccontextmanager
    async def opened(cls, brokers: Mapping[int, int]) -> AsyncIterator[KafkaProxy]:
        """A proxy before brokers (node id to port), until the end of the block."""
        self = cls({port: free_port() for port in brokers.values()})
        self._open.set()
        servers = [
            await asyncio.start_server(self._serve(behind), "127.0.0.1", before)
            for behind, before in self.ports.items()
        ]
        try:
            yield self
        finally:
            for server in servers:
                server.close()
            self._reset()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Reset what is connected, and refuse the rest."""
        self._refusing = True
        self._reset()

    def silence(self) -> None:
        """From now on nothing gets through, and nobody is told."""
        self._open.clear()

    def mend(self) -> None:
        """All is well again; what waited goes its way."""
        self._refusing = False
        self._open.set()

    def _reset(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def _serve(self, port: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._connection(port, reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return connected

    async def _connection(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            writer.transport.abort()
            return
        self._writers.add(writer)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                to_broker = await asyncio.open_connection("127.0.0.1", port)
                self._writers.add(to_broker[1])
                asked: dict[int, tuple[int, int]] = {}
                ways = [
                    asyncio.create_task(self._pass_on(reader, to_broker[1], lambda frame: _note(asked, frame), True)),
                    asyncio.create_task(
                        self._pass_on(to_broker[0], writer, lambda frame: self._rewrite(asked, frame), False)
                    ),
                ]
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()
                    await asyncio.gather(*ways, return_exceptions=True)
                    self._drop(to_broker[1])
        finally:
            self._drop(writer)

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        writer.close()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, change: Change, request: bool
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                frame = change(await reader.readexactly(size))
                if request and self.catch is not None:
                    await self.catch(_HEADER.unpack_from(frame)[0])
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await self._open.wait()
                if request and self.watch is not None:
                    await self.watch(frame, False)
                writer.write(len(frame).to_bytes(4, "big") + frame)
                await writer.drain()
                if request and self.watch is not None:
                    await self.watch(frame, True)

    def _rewrite(self, asked: dict[int, tuple[int, int]], frame: bytes) -> bytes:
        api_key, version = asked.pop(int.from_bytes(frame[:4], "big"), (-1, 0))
        if api_key in _PASSED or api_key not in NODE_ADDRESSES:
            return frame
        correlation_id, start = decode_response_header(api_key, version, frame)
        response = RESPONSES[api_key].decode(frame, version, start)
        rewrite_addresses(response, version, lambda _, host, port: (host, self.ports.get(port, port)))
        return bytes(encode_response_frame(api_key, version, correlation_id, response.encode(version)))[4:]


def _note(asked: dict[int, tuple[int, int]], frame: bytes) -> bytes:
    api_key, version, correlation_id = _HEADER.unpack_from(frame)
    asked[correlation_id] = (api_key, version)
    return frame
