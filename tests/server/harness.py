"""A server in the test's own event loop, over either log, and a client that speaks raw frames to it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import ssl
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from kcoord.group.state.settings import GroupSettings
from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import Log
from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.messages import RESPONSES, Request, Response
from kcoord.server.server import Limits, Server
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone import Standalone
from kcoord.server.standalone_authorizer import Authorizer
from kcoord.server.standalone_nodes import OneNode

R = TypeVar("R", bound=Response)
LIMITS = Limits(
    frame_bytes=100 * 1024 * 1024,
    unauthenticated_frame_bytes=1 << 20,
    connections=1000,
    connections_per_address=1000,
    idle_ms=600_000,
)
SETTINGS = GroupSettings(initial_rebalance_delay_ms=0)
CLOSED = "the server closed the connection"


class Running:
    """A standalone server that listens, with its parts at hand."""

    def __init__(self, server: Server, coordinator: Coordinator, port: int) -> None:
        self.server = server
        self.coordinator = coordinator
        self.port = port


@asynccontextmanager
async def standalone(
    data_dir: Path, limits: Limits = LIMITS, settings: GroupSettings = SETTINGS, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Running]:
    """A standalone kcoord on a free port of loopback."""
    async with over(EmbeddedLog(data_dir, partitions=4), limits, settings, tls) as running:
        yield running


@asynccontextmanager
async def over(
    log: Log,
    limits: Limits = LIMITS,
    settings: GroupSettings = SETTINGS,
    tls: ssl.SSLContext | None = None,
    topics: Mapping[str, int] | None = None,
    authorizer: Authorizer | None = None,
) -> AsyncIterator[Running]:
    """The same over `log`, which is opened; all of its partitions are this one's. With `topics` it serves consumer
    groups.
    """
    run = uuid.uuid4().hex[:6]
    serial = itertools.count()
    await log.open()
    coordinator = Coordinator(log, settings, log.partitions, lambda: f"id-{run}-{next(serial)}")
    await coordinator.load()
    node = OneNode("test-cluster", None)
    alone = Standalone(coordinator, node, authorizer, consumer_groups=topics is not None, declared=topics)
    server = Server(limits, alone, tls, on_gone=coordinator.closed)
    following = None if topics is None else asyncio.create_task(alone.topics.follow())
    port = await server.listen("127.0.0.1", 0)
    try:
        yield Running(server, coordinator, port)
    finally:
        if following is not None:
            following.cancel()
        await server.close_listeners()
        await coordinator.stop()
        await server.close_connections()
        await log.close()


class Client:
    """One connection that writes requests and reads responses, one by one or pipelined."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.client_id = "tester"
        self._correlation = itertools.count(1)

    @classmethod
    async def connect(cls, port: int) -> Client:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()

    @property
    def is_closed(self) -> bool:
        """Whether the server has ended the connection, in order or by a reset, which comes where it had unread data."""
        return self.reader.at_eof() or self.reader.exception() is not None

    def frame(self, request: Request, version: int) -> tuple[int, bytes]:
        """A correlation id and the whole frame."""
        correlation_id = next(self._correlation)
        header = encode_request_header(RequestHeader(request.API_KEY, version, correlation_id, self.client_id))
        body = header + request.encode(version)
        return correlation_id, len(body).to_bytes(4, "big") + body

    async def read_frame(self) -> bytes:
        """The next response without its size; empty when the server closed the connection."""
        try:
            size = int.from_bytes(await self.reader.readexactly(4), "big")
            return await self.reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    async def read(self, request: Request, version: int, correlation_id: int) -> Response:
        """The next response, which must be the answer to `request`."""
        data = await self.read_frame()
        assert data, CLOSED
        answered, body_pos = decode_response_header(request.API_KEY, version, data)
        assert answered == correlation_id
        return RESPONSES[request.API_KEY].decode(data, version, body_pos)

    async def ask(self, request: Request, version: int) -> Response:
        """Send `request` and read its answer."""
        correlation_id, frame = self.frame(request, version)
        self.writer.write(frame)
        return await self.read(request, version, correlation_id)
