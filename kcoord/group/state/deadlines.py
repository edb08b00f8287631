"""Deadlines: a heap that says which group, or held answer, must be looked at next, and when.

The heap is corrected lazily. A group has the time of its next look (`wake_ms`), a *lower bound* of all that falls due
in it. Heartbeats only move deadlines later, so they cost nothing here. A look that comes too early finds nothing due
and asks for a later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

NEVER_MS = 1 << 62


class Wakeable(Protocol):
    """Something that must be looked at, at `wake_ms` (NEVER_MS: at no time)."""

    wake_ms: int


W = TypeVar("W", bound=Wakeable)


class Deadlines(Generic[W]):
    """The next looks, in ms of the caller's clock."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, W]] = []
        self._serial = 0

    def want(self, sleeper: W, at_ms: int) -> None:
        """Ask for a look at `sleeper` at `at_ms` at the latest."""
        if at_ms < sleeper.wake_ms:
            sleeper.wake_ms = at_ms
            self._serial += 1
            heappush(self._heap, (at_ms, self._serial, sleeper))

    def next_ms(self) -> int | None:
        """The time of the earliest look; None: no look is asked for."""
        heap = self._heap
        while heap and heap[0][2].wake_ms != heap[0][0]:
            heappop(heap)  # an entry that was replaced or cancelled
        return heap[0][0] if heap else None

    def due(self, now_ms: int) -> Iterator[W]:
        """All that are due, once each. While one is looked at, it may ask for its next look."""
        while (at_ms := self.next_ms()) is not None and at_ms <= now_ms:
            sleeper = heappop(self._heap)[2]
            sleeper.wake_ms = NEVER_MS
            yield sleeper

    def clear(self) -> None:
        """Drop all looks."""
        self._heap.clear()
