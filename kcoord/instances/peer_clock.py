"""The peer clock: another instance's monotonic clock, as far as this instance can know it.

The clocks of hosts start at different times and run at slightly different speeds. The time of day is of no use, because
anybody may set it. An answer with the other's clock was written after the question was sent and before the answer was
read, even if one of them waited somewhere for long. So the difference of the clocks lies in an interval as wide as the
round trip. Of several such intervals the narrowest counts. Each grows wider with time, because the clocks drift.
"""

from __future__ import annotations

DRIFT = 1_000
"""Two clocks drift apart by less than one ms in this many ms."""


class PeerClock:
    """The clock of one other instance; all times in ms."""

    def __init__(self) -> None:
        self._low_ms = self._high_ms = 0
        """The other's clock minus this one: the lowest and the highest possible value."""
        self.measured_ms: int | None = None
        """When that was measured, on this clock; None: never."""

    def note(self, asked_ms: int, theirs_ms: int, answered_ms: int) -> None:
        """Note that the other's clock showed `theirs_ms` at some time between `asked_ms` and `answered_ms` on
        this one.
        """
        drift_ms = _drift_ms(asked_ms, answered_ms)
        low_ms, high_ms = theirs_ms - answered_ms - drift_ms, theirs_ms + 1 - asked_ms + drift_ms
        if self.measured_ms is not None:
            wider_ms = _drift_ms(self.measured_ms, answered_ms)
            if self._high_ms - self._low_ms + 2 * wider_ms < high_ms - low_ms:
                return
        self._low_ms, self._high_ms, self.measured_ms = low_ms, high_ms, answered_ms

    def theirs(self, since_ms: int, by_ms: int) -> tuple[int, int] | None:
        """An interval of this clock as an interval of the other's clock; None if that clock is not known."""
        if self.measured_ms is None:
            return None
        since_ms = since_ms + self._low_ms - _drift_ms(self.measured_ms, since_ms)
        return since_ms, by_ms + self._high_ms + _drift_ms(self.measured_ms, by_ms)


def _drift_ms(measured_ms: int, at_ms: int) -> int:
    return abs(at_ms - measured_ms) // DRIFT + 1
