"""Does a test's connection know that the server has ended it, however it did?"""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.server.harness import Client


@pytest.mark.parametrize("is_read", [True, False], ids=["in order", "by a reset"])
async def test_a_connection_that_the_server_has_ended_is_closed(is_read: bool) -> None:
    """A socket that is closed with unread data sends a reset, and the client's stream then never is at its end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = await Client.connect(server.getsockname()[1])
        peer, _ = await asyncio.to_thread(server.accept)
        seen = [client.is_closed]
        client.writer.write(b"four")
        with peer:
            assert await asyncio.to_thread(peer.recv, 4, 0 if is_read else socket.MSG_PEEK) == b"four"
        assert await client.read_frame() == b""
        seen.append(client.is_closed)
        assert client.reader.at_eof() == is_read
        await client.close()
    assert seen == [False, True]
