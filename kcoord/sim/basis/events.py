"""The queue of events on virtual time.

Events of the same ms happen in the order in which they were scheduled, so that a run depends on nothing but its seed.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Events:
    """Virtual time in ms, and what will happen."""

    __slots__ = ("_heap", "_serial", "now_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self._heap: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._serial = 0

    def at(self, at_ms: int, call: Callable[..., None], *what: Any) -> None:
        """Call at that time; now, if it has passed."""
        self._serial = serial = self._serial + 1
        heappush(self._heap, (at_ms if at_ms > self.now_ms else self.now_ms, serial, call, what))

    def after(self, ms: int, call: Callable[..., None], *what: Any) -> None:
        """Call in `ms`."""
        self._serial = serial = self._serial + 1
        heappush(self._heap, (self.now_ms + ms, serial, call, what))

    def run(self, until_ms: int) -> None:
        """Let everything happen up to that time."""
        heap = self._heap
        while heap and heap[0][0] <= until_ms:
            self.now_ms, _, call, what = heappop(heap)
            call(*what)
        self.now_ms = until_ms
