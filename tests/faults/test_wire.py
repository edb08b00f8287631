"""Is a wire that is dead like a host that is gone? Nobody is refused, nobody is connected, and nothing is lost."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.faults.wire import FILLING, Wire
from tests.kafka.ports import free_port

PASSES_S = 0.5
"""A connection on one machine comes about in far less."""


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(100):
            writer.write(data)
    writer.close()


async def test_who_was_connected_waits_and_who_comes_hears_nothing() -> None:
    to = free_port()
    server = await asyncio.start_server(echo, "127.0.0.1", to)
    async with Wire.opened(to) as wire, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
        connections = [(reader, writer)]
        writer.write(b"before")
        assert await reader.readexactly(6) == b"before"
        wire.die()
        writer.write(b"meanwhile")
        answer = asyncio.create_task(reader.readexactly(9))
        coming = [asyncio.create_task(asyncio.open_connection("127.0.0.1", wire.port)) for _ in range(FILLING)]
        done, _ = await asyncio.wait([answer, *coming], timeout=PASSES_S)
        assert not done, "somebody was answered, or refused"
        await wire.mend()
        assert await answer == b"meanwhile"
        for each in coming:
            connections.append(await each)
            reader, writer = connections[-1]
            writer.write(b"late")
            assert await reader.readexactly(4) == b"late"
        for _, writer in connections:
            writer.close()
            await writer.wait_closed()
    server.close()
