"""A client's connection: one request after the other, each answered or lost."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.messages import RESPONSES, Request, SaslAuthenticateRequest, SaslHandshakeRequest
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.loop import SimLoop
from kcoord.sim.adoption.sasl import MECHANISM, TOKEN
from kcoord.sim.adoption.wires import Address, End

_SIZE = struct.Struct(">i")


class ConnectionLost(Exception):
    """The connection has ended, or no response came in time."""


class Client(asyncio.Protocol):
    """One connection."""

    def __init__(self, loop: SimLoop, name: str) -> None:
        self._loop = loop
        self._name = name
        self._transport: End | None = None
        self._rest = b""
        self._number = 0
        self._answer: asyncio.Future[bytes] | None = None
        self.is_lost = False

    @classmethod
    async def connect(cls, context: AdoptionContext, name: str, address: Address) -> Client:
        """Connect, and say who it is where the cluster wants to know. Raises ConnectionLost."""
        try:
            _, client = await context.loop.create_connection(lambda: cls(context.loop, name), *address)
        except OSError as error:
            raise ConnectionLost(str(error)) from None
        assert isinstance(client, Client)
        if context.plan.uses_sasl:
            for request in (SaslHandshakeRequest(mechanism=MECHANISM), SaslAuthenticateRequest(auth_bytes=TOKEN)):
                await client.ask(request, request.MAX_VERSION)
        return client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        assert isinstance(transport, End)
        self._transport = transport

    def connection_lost(self, _error: Exception | None) -> None:
        """See asyncio.Protocol."""
        self.is_lost = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionLost("the connection has ended"))

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._rest += data
        while len(self._rest) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._rest)
            if len(self._rest) < _SIZE.size + size:
                return
            frame, self._rest = self._rest[_SIZE.size : _SIZE.size + size], self._rest[_SIZE.size + size :]
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(frame)

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.give_up()

    async def ask(self, request: Request, version: int, patience_s: float = 30.0) -> Any:
        """Send a request and return the response. Raises ConnectionLost."""
        if self.is_lost or self._transport is None:
            raise ConnectionLost("there is no connection")
        self._number += 1
        self._answer = self._loop.create_future()
        head = encode_request_header(RequestHeader(request.API_KEY, version, self._number, self._name))
        body = request.encode(version)
        self._transport.write(_SIZE.pack(len(head) + len(body)) + head + body)
        try:
            frame = await asyncio.wait_for(self._answer, patience_s)
        except TimeoutError:
            self.close()
            raise ConnectionLost("nobody has answered in time") from None
        number, at = decode_response_header(request.API_KEY, version, frame)
        assert number == self._number
        return RESPONSES[request.API_KEY].decode(frame, version, at)
