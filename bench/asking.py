"""How does a benchmark ask a server one question, without an event loop?"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self, TypeVar

import attrs

from bench.lines import request_frame
from kcoord.protocol.frame import decode_response_header
from kcoord.protocol.messages import RESPONSES, Request, Response

R = TypeVar("R", bound=Response)
TIMEOUT_S = 10.0


@attrs.define
class Client:
    """One connection; it ends with the `with` block. Raises OSError when there is nobody."""

    address: tuple[str, int]
    _socket: socket.socket = attrs.field(init=False)

    def __enter__(self) -> Self:
        self._socket = socket.create_connection(self.address, timeout=TIMEOUT_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def ask(self, request: Request, version: int, kind: type[R]) -> R:
        """Send `request` and return its decoded answer, which is a `kind`."""
        self._socket.sendall(request_frame(request, version))
        frame = self._receive(int.from_bytes(self._receive(4), "big"))
        _, pos = decode_response_header(request.API_KEY, version, frame)
        answer = RESPONSES[request.API_KEY].decode(frame, version, pos)
        assert isinstance(answer, kind)
        return answer

    def _receive(self, count: int) -> bytes:
        """Exactly so many bytes. A socket with a timeout gives what is there, whatever MSG_WAITALL asks for."""
        data = bytearray()
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the server closed the connection")
            data += more
        return bytes(data)
