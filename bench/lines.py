"""How does the load generator talk to a server: one question at a time, or one frame again and again?

`Asking` is for setting up: a coroutine asks and gets the decoded answer. `Repeating` is for load: its frames and their
answers are built before, so that what is measured is the server and not the generator. It compares each answer, byte
for byte, with the one that it must be; a wrong one ends the run.
"""

from __future__ import annotations

import asyncio
import struct
from typing import TypeVar, cast

import attrs

from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.messages import RESPONSES, Request, Response

CLIENT_ID = "bench"
_SIZE = struct.Struct(">i")
_ID_AT = 8
_ANSWER_ID_AT = 4

R = TypeVar("R", bound=Response)


def request_frame(request: Request, version: int, correlation_id: int = 0, client_id: str = CLIENT_ID) -> bytes:
    """`request` as a whole frame, size prefix included."""
    header = encode_request_header(RequestHeader(request.API_KEY, version, correlation_id, client_id))
    body = request.encode(version)
    return _SIZE.pack(len(header) + len(body)) + header + body


class Asking(asyncio.Protocol):
    """A connection on which one request at a time is asked."""

    __slots__ = ("_answer", "_data", "transport")

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is one without saying so

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) >= 4 and len(self._data) >= 4 + _SIZE.unpack_from(self._data)[0]:
            frame, self._data = self._data, b""
            answer = self._answer
            if answer is not None and not answer.done():
                answer.set_result(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server closed the connection"))

    def close(self) -> None:
        """Close the connection."""
        if self.transport is not None:
            self.transport.close()

    async def ask_frame(self, frame: bytes) -> bytes:
        """Send a request frame and return the whole frame of its answer. Raises ConnectionError."""
        if self.transport is None:
            raise ConnectionError("the connection is closed")
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(frame)
        return await self._answer

    async def ask(self, request: Request, version: int, kind: type[R]) -> R:
        """Send `request` and return its decoded answer, which is a `kind`."""
        frame = await self.ask_frame(request_frame(request, version))
        _, pos = decode_response_header(request.API_KEY, version, frame, 4)
        answer = RESPONSES[request.API_KEY].decode(frame, version, pos)
        assert isinstance(answer, kind)
        return answer


@attrs.define(slots=True, eq=False)
class Tally:
    """What many repeating connections have in common."""

    running: bool = False
    """Whether an answer is followed by the next request at once."""
    answers: int = 0
    in_flight: int = 0
    failure: str = ""


class Repeating(asyncio.Protocol):
    """A connection that sends one frame again and again, with `ring` different correlation ids in turn."""

    __slots__ = (
        "_answer_size",
        "_answers",
        "_at",
        "_frame_size",
        "_frames",
        "_next",
        "_rest",
        "_ring",
        "_tally",
        "_transport",
    )

    def __init__(self, transport: asyncio.Transport, tally: Tally, frame: bytes, answer: bytes, ring: int) -> None:
        self._transport = transport
        self._tally = tally
        ids = [_SIZE.pack(number) for number in range(ring)] * 2
        self._frames = b"".join(frame[:_ID_AT] + each + frame[_ID_AT + 4 :] for each in ids)
        at = _ANSWER_ID_AT if answer != frame else _ID_AT
        self._answers = b"".join(answer[:at] + each + answer[at + 4 :] for each in ids)
        self._frame_size = len(frame)
        self._answer_size = len(answer)
        self._ring = ring
        self._at = self._next = 0
        """Where in the ring the next answer is, and the next frame."""
        self._rest = b""

    def begin(self, depth: int) -> None:
        """Send `depth` requests; no more than the ring has may be under way."""
        self._tally.in_flight += depth
        self._send(depth)

    def _send(self, count: int) -> None:
        size, first = self._frame_size, self._next
        self._transport.write(self._frames[first * size : (first + count) * size])
        self._next = (first + count) % self._ring

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        size = self._answer_size
        count, odd = divmod(len(data), size)
        if odd:
            self._rest = data[-odd:]
            data = data[:-odd]
        else:
            self._rest = b""
        at = self._at
        tally = self._tally
        if data != self._answers[at * size : (at + count) * size]:
            tally.failure = f"a wrong answer: {data[:size].hex()} instead of {self._answers[at * size :][:size].hex()}"
            tally.running = False
        tally.answers += count
        self._at = (at + count) % self._ring
        if tally.running:
            self._send(count)
        else:
            tally.in_flight -= count

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._tally.in_flight:
            self._tally.failure = f"the server closed a connection under load: {exc}"
            self._tally.running = False
