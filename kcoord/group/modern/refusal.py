"""The refusal of a request: it changes nothing, and is answered with an error."""

from __future__ import annotations

from kcoord.group.state.bounded_text import bounded_text
from kcoord.protocol.errors import ErrorCode


class Refused(Exception):
    """The request is refused and changes nothing. Has the error for the answer, and a text for people."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = bounded_text(message)
