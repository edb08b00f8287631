"""The frames of a run, as lines of its trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kcoord.protocol.frame import decode_request_header, decode_response_header
from kcoord.protocol.messages import (
    REQUESTS,
    RESPONSES,
    ApiVersionsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
    Request,
    Response,
)
from kcoord.sim.adoption.wires import End

SIZE_BYTES, HEAD_BYTES = 4, 12
NOT_SHOWN = (ApiVersionsRequest, MetadataRequest, FindCoordinatorRequest)
_EMPTY = re.compile(r"(, )?\b\w+=(0|-1|''|b''|\[\]|None|False)(?=[,)])")
_SHOWN = 300


def frames_in(data: bytes) -> Iterator[bytes]:
    """The frames in what was written at one time, without their sizes."""
    at = 0
    while len(data) - at >= HEAD_BYTES:
        size = int.from_bytes(data[at : at + SIZE_BYTES], "big")
        yield data[at + SIZE_BYTES : at + SIZE_BYTES + size]
        at += SIZE_BYTES + size


class Frames:
    """Reads what is sent on all connections."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        self._note = note
        self._owed: dict[tuple[End, int], type[Request]] = {}
        self._versions: dict[tuple[End, int], int] = {}

    def sent(self, end: End, data: bytes, is_request: bool) -> None:
        """`end` has sent this."""
        for frame in frames_in(data):
            (self._request if is_request else self._response)(end, frame)

    def _request(self, end: End, frame: bytes) -> None:
        header, body = decode_request_header(frame)
        kind = REQUESTS[header.api_key]
        self._owed[end, header.correlation_id] = kind
        self._versions[end, header.correlation_id] = header.api_version
        if kind not in NOT_SHOWN:
            who = f"#{end.here[1]}"
            self._note(
                who, f"{header.client_id} > {end.there[0]}: {_told(kind.decode(frame, header.api_version, body))}"
            )

    def _response(self, end: End, frame: bytes) -> None:
        number = int.from_bytes(frame[:SIZE_BYTES], "big", signed=True)
        kind = self._owed.pop((end.peer, number), None)
        if kind is None:
            return
        version = self._versions.pop((end.peer, number))
        _, body = decode_response_header(kind.API_KEY, version, frame)
        if kind not in NOT_SHOWN:
            self._note(f"#{end.there[1]}", f"   < {_told(RESPONSES[kind.API_KEY].decode(frame, version, body))}")


def _told(message: Request | Response) -> str:
    """A message, without what is empty."""
    return _EMPTY.sub("", str(message)).replace("(, ", "(")[:_SHOWN]
