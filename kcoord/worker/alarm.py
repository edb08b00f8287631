"""A call at a time of the sessions' clock (`clock.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kcoord.worker.clock import now_ms


class Alarm:
    """Makes one call, at the time that it was set to last. It may be late by the time that the machine slept."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._timer: asyncio.TimerHandle | None = None

    def set(self, at_ms: int | None) -> None:
        """Make the call then, and not when it was to be made before; None: not at all."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if at_ms is not None:
            delay_s = max(at_ms - now_ms(), 0) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._call()
