"""The handshake queue: TLS handshakes begin a few a turn of the loop, when all that they take has come.

What a server computes for a handshake, about a millisecond, it computes when it has read the client's hello. So a
hello is waited for without being read, and only `BEGUN_AT_ONCE` of those that have come whole are given to TLS in one
turn of the loop: however many clients shake hands at once, each turn has a bounded share of it.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque

__all__ = ["BEGUN_AT_ONCE", "HandshakeQueue", "is_whole"]

BEGUN_AT_ONCE = 2
"""Handshakes that begin in one turn of the loop."""
LOOK_AGAIN_S = 0.05
"""How often it is looked whether the rest of a hello has come."""
LARGEST_HELLO = 32 * 1024
"""Bytes of a hello that are looked at; TLS judges larger ones."""
RECORD, HELLO = 5, 4
"""Bytes of the headers of a record and of a handshake message."""
HANDSHAKE_RECORD = 0x16


def is_whole(data: bytes) -> bool:
    """Whether a client's first handshake message is there, in one record or several, or `data` cannot become one."""
    message = b""
    at = 0
    while at + RECORD <= len(data):
        if data[at] != HANDSHAKE_RECORD:
            return True
        end = at + RECORD + int.from_bytes(data[at + 3 : at + RECORD], "big")
        message += data[at + RECORD : end]
        if len(message) >= HELLO and len(message) >= HELLO + int.from_bytes(message[1:HELLO], "big"):
            return True
        at = end
    return len(data) >= LARGEST_HELLO or (at < len(data) and data[at] != HANDSHAKE_RECORD)


class HandshakeQueue:
    """The handshakes of one event loop's listeners."""

    def __init__(self) -> None:
        self.begun = 0
        """Handshakes that have begun in all."""
        self.turns = 0
        """Turns of the loop in which some began."""
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_due = False

    async def turn(self, accepted: socket.socket) -> None:
        """Come back when the hello of a client is there and may be read. Raises OSError."""
        while not is_whole(await self._seen(accepted)):  # noqa: ASYNC110  what is there keeps the socket readable
            await asyncio.sleep(LOOK_AGAIN_S)
        come: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(come)
        self._come_back()
        await come

    async def _seen(self, accepted: socket.socket) -> bytes:
        """What has come, which stays there to be read; empty when the client has gone."""
        readable: asyncio.Future[None] = self._loop.create_future()

        def tell() -> None:
            self._loop.remove_reader(accepted.fileno())
            if not readable.done():
                readable.set_result(None)

        self._loop.add_reader(accepted.fileno(), tell)
        try:
            await readable
        finally:
            self._loop.remove_reader(accepted.fileno())
        data = accepted.recv(LARGEST_HELLO, socket.MSG_PEEK)
        if not data:
            raise ConnectionResetError("the client has gone")
        return data

    def _come_back(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._begin_some)

    def _begin_some(self) -> None:
        self._is_due = False
        begun = 0
        while self._waiting and begun < BEGUN_AT_ONCE:
            come = self._waiting.popleft()
            if not come.done():  # else its deadline has passed
                come.set_result(None)
                begun += 1
        self.begun += begun
        self.turns += bool(begun)
        if self._waiting:
            self._come_back()
