"""Which clocks does the server read?"""

import time

from kcoord.log.clock import lease_now_ms

monotonic_ms = lease_now_ms
"""The clock that timers, sessions and leases run on, in ms: it counts the time in which the machine slept."""


def wall_ms() -> int:
    """The time of day for records, in ms since 1970."""
    return time.time_ns() // 1_000_000
