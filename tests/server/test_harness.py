"""Does a test's connection know that it has ended, however it did?"""

from __future__ import annotations

import asyncio

import pytest

from tests.server.harness import Client


@pytest.mark.parametrize("reads", [True, False], ids=["in order", "by a reset"])
async def test_a_connection_that_the_server_has_ended_is_closed(reads: bool) -> None:
    """A socket that is closed with unread data sends a reset, and the reader then never is at its end."""

    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if reads:
            await reader.readexactly(4)
            writer.close()
        else:
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            await written.wait()
            await asyncio.sleep(0.05)
            writer.transport.abort()

    written = asyncio.Event()
    server = await asyncio.start_server(end, "127.0.0.1", 0)
    async with server:
        client = await Client.connect(server.sockets[0].getsockname()[1])
        seen = [client.is_closed]
        client.writer.write(b"four")
        await client.writer.drain()
        written.set()
        assert await client.read_frame() == b""
        seen.append(client.is_closed)
        await client.close()
    assert seen == [False, True]
