"""The turn queue: long work is cut into slices, which wait here for the next turn of the event loop.

A task with more than one slice of work (a connection with many frames, a request that names many groups) does one slice
and queues up for the rest. Rules:

1. In one turn of the loop the queue works for `TURN_S` in all, however many tasks wait. Then sockets, timers and
   everything else have their turn.
2. Waiting tasks are served in order, one slice each; a task with more work goes to the end. So a client with a million
   frames delays another one in the queue by one slice only.
3. A slice is a bounded piece of work, well below a millisecond. No slice is interrupted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable

__all__ = ["TURN_S", "TurnQueue"]

log = logging.getLogger("kcoord.loop")

TURN_S = 0.001
"""How long the queue works in one turn of the loop, in seconds."""

Slice = Callable[[], bool]
"""Does one slice of work. Returns whether there is more to do now."""


class TurnQueue:
    """The queue of one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.turns = 0
        """The number of turns of the loop in which the queue had work."""
        self.slices = 0
        """The number of slices done."""
        self._clock = clock
        self._waiting: deque[Slice] = deque()
        self._is_due = False
        self._work_ends: float | None = None

    def __len__(self) -> int:
        """The number of tasks that wait."""
        return len(self._waiting)

    def add(self, take_slice: Slice) -> None:
        """Call `take_slice` in the next turn of the loop, and again until it has no more to do."""
        self._waiting.append(take_slice)
        self._come_back()

    async def turn(self) -> None:
        """Wait for this caller's turn. Await it between the slices of one long piece of work."""
        come: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def begin() -> bool:
            if not come.done():
                come.set_result(None)
            return False

        self.add(begin)
        await come

    async def give_way(self) -> None:
        """Return at once while this turn of the loop has time left, else wait for this caller's turn. Await it between
        many pieces of work of which most are small. All callers together have `TURN_S` in a turn of the loop.
        """
        if self._work_ends is None:
            self._work_ends = self._clock() + TURN_S
            asyncio.get_running_loop().call_soon(self._forget_turn)
        elif self._clock() >= self._work_ends:
            await self.turn()

    def _forget_turn(self) -> None:
        self._work_ends = None

    def _come_back(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._is_due = False
        self.turns += 1
        waiting = self._waiting
        ends = self._clock() + TURN_S
        while waiting:
            take_slice = waiting.popleft()
            self.slices += 1
            try:
                has_more = take_slice()
            except Exception:
                log.exception("a fault of kcoord's own in a slice of work")
                has_more = False
            if has_more:
                waiting.append(take_slice)
            if self._clock() >= ends:
                break
        if waiting:
            self._come_back()
