"""The handshake queue: a few TLS handshakes begin in each turn of the loop, each when its client hello is complete.

A server needs about a millisecond of CPU for a handshake, when it has read the client's hello. So the queue waits for a
hello without reading it, and passes only `BEGUN_AT_ONCE` complete hellos to TLS in one turn of the loop. However many
clients begin handshakes at once, the work in each turn is bounded.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque

__all__ = ["BEGUN_AT_ONCE", "HandshakeQueue", "is_whole"]

BEGUN_AT_ONCE = 2
"""The most handshakes that begin in one turn of the loop."""
LOOK_AGAIN_S = 0.05
"""The interval at which the queue checks whether the rest of a hello has arrived."""
LARGEST_HELLO = 32 * 1024
"""The most bytes of a hello that the queue looks at. Larger ones are left to TLS."""
RECORD, HELLO = 5, 4
"""Bytes of the headers of a record and of a handshake message."""
HANDSHAKE_RECORD = 0x16


def is_whole(data: bytes) -> bool:
    """Whether `data` holds a client's whole first handshake message, in one record or several, or cannot become one."""
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
        """The number of handshakes that have begun."""
        self.turns = 0
        """The number of turns of the loop in which a handshake began."""
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_due = False

    async def turn(self, accepted: socket.socket) -> None:
        """Wait until the client's hello is complete and its handshake may begin. Raises OSError."""
        while not is_whole(await self._seen(accepted)):  # noqa: ASYNC110  unread bytes keep the socket readable
            await asyncio.sleep(LOOK_AGAIN_S)
        come: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(come)
        self._come_back()
        await come

    async def _seen(self, accepted: socket.socket) -> bytes:
        """The bytes that have arrived. They stay unread. Raises ConnectionResetError if the client has gone."""
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
