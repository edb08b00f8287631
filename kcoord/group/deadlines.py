"""When must which group be looked at next?

A heap of groups by time, corrected lazily: a group keeps the time of its next look (`wake_ms`), a *lower bound* of
whatever falls due in it. Heartbeats only move things later, so they cost nothing here; a look that comes too early
finds nothing due and asks for a later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

NEVER_MS = 1 << 62


class Wakeable(Protocol):
    """Something that wants to be looked at, at `wake_ms` (NEVER_MS when not)."""

    wake_ms: int


W = TypeVar("W", bound=Wakeable)


class Deadlines(Generic[W]):
    """Who wants to be looked at when; all in ms of the caller's clock."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, W]] = []
        self._serial = 0

    def want(self, sleeper: W, at_ms: int) -> None:
        """Look at `sleeper` at `at_ms` at the latest."""
        if at_ms < sleeper.wake_ms:
            sleeper.wake_ms = at_ms
            self._serial += 1
            heappush(self._heap, (at_ms, self._serial, sleeper))

    def next_ms(self) -> int | None:
        """The earliest time that anyone wants; None when nobody wants any."""
        heap = self._heap
        while heap and heap[0][2].wake_ms != heap[0][0]:
            heappop(heap)  # left behind by an earlier or a cancelled wish
        return heap[0][0] if heap else None

    def due(self, now_ms: int) -> Iterator[W]:
        """Everyone whose time has come, once each; they wish anew while they are looked at."""
        while (at_ms := self.next_ms()) is not None and at_ms <= now_ms:
            sleeper = heappop(self._heap)[2]
            sleeper.wake_ms = NEVER_MS
            yield sleeper

    def clear(self) -> None:
        """Forget everyone."""
        self._heap.clear()
