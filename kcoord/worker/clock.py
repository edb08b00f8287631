"""The clock for sessions: it never goes back, and goes on while the machine sleeps.

The coordinator's clock goes on while this machine is suspended, so a worker's must too (CLOCK_BOOTTIME, if there is
one; asyncio's own clock does not count suspension).
"""

from __future__ import annotations

import time

_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_ms() -> int:
    """Milliseconds since some moment before this program started."""
    return time.clock_gettime_ns(_CLOCK) // 1_000_000
