"""The large answer: encoded some elements at a time in the turn queue, and sent when all of it is encoded."""

from __future__ import annotations

from typing import Protocol

from kcoord.protocol.frame import RequestHeader
from kcoord.protocol.messages import Response
from kcoord.protocol.primitives import EncodeError
from kcoord.protocol.sliced_encoding import Arrays, encode_in_slices
from kcoord.protocol.undecoded_call import Call

__all__ = ["LargeAnswer"]


class Receiver(Protocol):
    """The connection of the client that is answered."""

    def is_in_work(self, call: Call) -> bool: ...
    def send_pieces(self, call: Call, pieces: list[bytes]) -> None: ...
    def cannot_write(self, header: RequestHeader, error: EncodeError) -> None: ...


class LargeAnswer:
    """One large answer, while it is encoded. `arrays` says where its many elements are."""

    def __init__(self, receiver: Receiver, call: Call, response: Response, arrays: Arrays) -> None:
        self._receiver = receiver
        self._call = call
        self._left = encode_in_slices(response, call.header.api_version, arrays)
        self._written: list[bytes] = []

    def take_slice(self) -> bool:
        """Encode one slice. Returns whether there is more to do."""
        if not self._receiver.is_in_work(self._call):
            return False  # the client has gone
        try:
            piece = next(self._left, None)
        except EncodeError as error:
            self._receiver.cannot_write(self._call.header, error)
            return False
        if piece is not None:
            self._written.append(piece)
            return True
        self._receiver.send_pieces(self._call, self._written)
        return False
