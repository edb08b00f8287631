"""The clock of leases: it counts the time in which the machine sleeps, and never goes back.

An instance that slept past its lease must see that when it wakes up. Linux has such a clock (CLOCK_BOOTTIME), macOS has
one under another name; other systems use the monotonic clock.
"""

import sys
import time

if sys.platform == "linux":

    def lease_now_ms() -> int:
        """Now, in ms, on the clock that leases, sessions and timers run on."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000

else:
    _SINCE_BOOT = getattr(time, "CLOCK_MONOTONIC", None)  # on macOS it counts sleep; time.monotonic() does not

    def lease_now_ms() -> int:
        """Now, in ms, on the clock that leases, sessions and timers run on."""
        if _SINCE_BOOT is not None:
            return time.clock_gettime_ns(_SINCE_BOOT) // 1_000_000
        return time.monotonic_ns() // 1_000_000
