"""The requests of a consumer that wait for their answers: one of each purpose at a time."""

from __future__ import annotations

from enum import Enum

OFFSETS_MS = 8_000
"""How long a consumer waits for the answer to a request about offsets."""
NEVER_MS = 1 << 62


class Purpose(Enum):
    """What a request is for."""

    HEARTBEAT = "heartbeat"
    FAREWELL = "farewell"
    COMMIT = "commit"
    FETCH = "fetch"
    COMPUTE = "compute"


class Requests:
    """The requests under way on the connection of one consumer."""

    def __init__(self, patience_ms: int) -> None:
        self._patience_ms = patience_ms
        """How long it waits for the answer to a heartbeat; 0: exactly one interval."""
        self.next_number = 1
        self._waiting: dict[Purpose, tuple[int, int]] = {}
        """By purpose, the number of the request and when it was sent."""

    @property
    def is_patient(self) -> bool:
        """Whether it waits for the answer to a heartbeat for longer than an interval."""
        return self._patience_ms > 0

    def add(self, purpose: Purpose, now_ms: int) -> int:
        """Note that a request is sent. Returns its number."""
        number = self.next_number
        self.next_number += 1
        self._waiting[purpose] = (number, now_ms)
        return number

    def waits(self, purpose: Purpose) -> bool:
        """Whether a request of that purpose has no answer yet."""
        return purpose in self._waiting

    def answered(self, number: int) -> tuple[Purpose | None, int]:
        """Note an answer. Returns the purpose of its request, and when that was sent; None: nobody waits for it."""
        for purpose, (each, sent_ms) in self._waiting.items():
            if each == number:
                del self._waiting[purpose]
                return purpose, sent_ms
        return None, 0

    def forget(self, purpose: Purpose) -> None:
        """Nobody waits any more for the answer to that request."""
        self._waiting.pop(purpose, None)

    def forget_all(self) -> None:
        """No answer will come any more."""
        self._waiting.clear()

    def next_timeout_ms(self, interval_ms: int) -> int:
        """When the consumer gives up waiting."""
        at_ms = NEVER_MS
        for purpose, (_, sent_ms) in self._waiting.items():
            if purpose is Purpose.HEARTBEAT:
                at_ms = min(at_ms, sent_ms + (self._patience_ms or interval_ms))
            else:
                at_ms = min(at_ms, sent_ms + OFFSETS_MS)
        return at_ms

    def is_heartbeat(self, number: int) -> bool:
        """Whether that is the heartbeat whose answer is awaited."""
        return self._waiting.get(Purpose.HEARTBEAT, (0, 0))[0] == number
