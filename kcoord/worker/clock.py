"""What time is it for a session? A clock that never goes back, and that goes on while the machine sleeps.

The coordinator's clock goes on while this machine is suspended, so a worker's must too (CLOCK_BOOTTIME, where there is
one; asyncio's own does not count suspension).
"""

from __future__ import annotations

import time

_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_ms() -> int:
    """Milliseconds since some moment before this program began."""
    return time.clock_gettime_ns(_CLOCK) // 1_000_000
