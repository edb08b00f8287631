"""The clocks of the server: a monotonic one for timers, sessions and leases, the time of day for records,
and the time that work takes.
"""

import time

from kcoord.log.clock import lease_now_ms

monotonic_ms = lease_now_ms
"""The clock of timers, sessions and leases, in ms. It also counts the time in which the machine slept."""


def cpu_ms() -> int:
    """The time, in ms, for which this thread has had a processor."""
    return time.thread_time_ns() // 1_000_000


def wall_ms() -> int:
    """The time of day for records, in ms since 1970."""
    return time.time_ns() // 1_000_000
