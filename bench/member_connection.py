"""How does a membership of the libraries live on a connection in the load generator, whichever kind of group it is in?

It has time, answers and outcomes given to it, and its actions carried out. What an action means, a subclass says.
"""

from __future__ import annotations

import asyncio
import struct
import time
from abc import abstractmethod
from collections import deque
from typing import Generic, Protocol, TypeVar, cast

from bench.lines import request_frame
from kcoord.protocol.frame import decode_response_header
from kcoord.protocol.messages import RESPONSES, ApiVersionsRequest, Request, Response

_SIZE = struct.Struct(">i")
_IDS = struct.Struct(">ii")
A = TypeVar("A")
NOBODYS = -1
"""The number of a request whose answer nobody waits for."""


def now_ms() -> int:
    """The members' clock."""
    return time.monotonic_ns() // 1_000_000


class Membership(Protocol[A]):
    """What all memberships have in common."""

    def answered(self, now_ms: int, number: int, response: Response) -> list[A]: ...
    def poll(self, now_ms: int) -> list[A]: ...
    def wake_at(self) -> int | None: ...


class MemberConnection(asyncio.Protocol, Generic[A]):
    """One membership and its connection. Its requests have the version `VERSION`."""

    VERSION: int

    def __init__(self, member: Membership[A]) -> None:
        self._member = member
        self._transport: asyncio.Transport | None = None
        self._data = b""
        self._requests: dict[int, Request] = {}
        self._wake: asyncio.TimerHandle | None = None
        self.is_gone = False
        """Whether its membership is over."""
        self.failure = ""

    @abstractmethod
    def _act(self, action: A) -> list[A]:
        """Carry out one action; what its outcome leads to."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        while len(self._data) >= 4 and len(self._data) >= (end := 4 + _SIZE.unpack_from(self._data)[0]):
            frame, self._data = self._data[:end], self._data[end:]
            number = _IDS.unpack_from(frame)[1]
            request = self._requests.pop(number, None)
            if request is None:
                continue  # the answer to ApiVersions
            _, pos = decode_response_header(request.API_KEY, self.VERSION, frame, 4)
            response = RESPONSES[request.API_KEY].decode(frame, self.VERSION, pos)
            self.do(self._member.answered(now_ms(), number, response))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def do(self, actions: list[A]) -> None:
        """Carry out actions in their order, and then what follows from them."""
        todo = deque(actions)
        while todo:
            todo.extend(self._act(todo.popleft()))
        self._set_timer()

    def _write(self, number: int, request: Request) -> None:
        self._requests[number] = request
        if self._transport is not None:
            self._transport.write(request_frame(request, self.VERSION, number))

    def say_name(self) -> None:
        """Say which client this is, as the libraries do when they connect."""
        if self._transport is not None:
            request = ApiVersionsRequest(client_software_name="kcoord", client_software_version="1")
            self._transport.write(request_frame(request, ApiVersionsRequest.MAX_VERSION, NOBODYS))

    def _set_timer(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
        at_ms = None if self.is_gone else self._member.wake_at()
        if at_ms is not None:
            delay_s = max(0, at_ms - now_ms()) / 1000
            self._wake = asyncio.get_running_loop().call_later(delay_s, self._poll)

    def _poll(self) -> None:
        self.do(self._member.poll(now_ms()))

    def close(self) -> None:
        """Be gone, without a word."""
        self.is_gone = True
        if self._wake is not None:
            self._wake.cancel()
        if self._transport is not None:
            self._transport.close()
