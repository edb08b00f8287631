"""The accept clock: the earliest time at which a connection that is accepted now can have been made.

A frozen process goes on getting connections: the kernel makes them and queues them, with the bytes that clients sent,
until the process goes on. So the time of the accept says nothing. A connection was made after the loop last looked at
the queue and found it empty (CG-4).

The clock notes a tick every `TICK_MS`. Between two ticks the loop looks at all queues at least once, and at most one
tick lies between looking and accepting. So every connection that was made before the third-last tick has been accepted,
unless an acceptor left some waiting because there were too many (`Acceptor.is_behind`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

TICK_MS = 50
TICKS = 3


class AcceptClock:
    """Ticks on the event loop from `start` to `stop`, with times from the clock `now_ms`."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._ticks: deque[int] = deque(maxlen=TICKS)
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to tick, before the first port is open."""
        if self._timer is None:
            self._tick()

    def stop(self) -> None:
        """Stop ticking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def since_ms(self) -> int:
        """A connection that is accepted now was made at this time or later."""
        return self._ticks[0]

    def _tick(self) -> None:
        self._ticks.append(self._now_ms())
        self._timer = asyncio.get_running_loop().call_later(TICK_MS / 1000, self._tick)
