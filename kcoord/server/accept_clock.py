"""The accept clock: since when a connection that is accepted now may have been waiting for it.

A process that stands still goes on getting connections: the kernel makes them, and they wait in a queue, with what was
sent on them, until the process goes on. So a connection was made after the loop last looked at that queue and found
nothing, not when it is accepted (CG-4).

A tick is noted every `TICK_MS`. Between two ticks the loop has looked at all queues at least once, and between looking
and accepting lies one tick at most: what was there before the tick before the last but one was accepted long ago,
unless an acceptor has left some waiting because there were too many (`Acceptor.is_behind`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

TICK_MS = 50
TICKS = 3


class AcceptClock:
    """Ticks on the event loop, by the clock `now_ms`, from `start` to `stop`."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._ticks: deque[int] = deque(maxlen=TICKS)
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to tick, before the first port is open."""
        if self._timer is None:
            self._tick()

    def stop(self) -> None:
        """Tick no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def since_ms(self) -> int:
        """A connection that is accepted now was made at this time or later."""
        return self._ticks[0]

    def _tick(self) -> None:
        self._ticks.append(self._now_ms())
        self._timer = asyncio.get_running_loop().call_later(TICK_MS / 1000, self._tick)
