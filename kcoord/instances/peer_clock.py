"""The peer clock: what another instance's monotonic clock shows, as far as that can be known from here.

Hosts' clocks have different beginnings and run at slightly different speeds; times of day are of no use, as anybody may
set them. An answer that carries the other's clock was written after the question was sent and before the answer was
read, however long either of the two lay somewhere. So the difference of the clocks is in an interval as wide as the
round trip. Of several the narrowest counts, each made wider with the time since, because the clocks drift.
"""

from __future__ import annotations

DRIFT = 1_000
"""Clocks drift apart by less than one ms in so many ms."""


class PeerClock:
    """The clock of one other instance; all times in ms."""

    def __init__(self) -> None:
        self._low_ms = self._high_ms = 0
        """The other's clock less this one, at the least and at the most."""
        self.measured_ms: int | None = None
        """When, on this clock; None: never."""

    def note(self, asked_ms: int, theirs_ms: int, answered_ms: int) -> None:
        """The other's clock showed `theirs_ms` between these two times of this one."""
        drift_ms = _drift_ms(asked_ms, answered_ms)
        low_ms, high_ms = theirs_ms - answered_ms - drift_ms, theirs_ms + 1 - asked_ms + drift_ms
        if self.measured_ms is not None:
            wider_ms = _drift_ms(self.measured_ms, answered_ms)
            if self._high_ms - self._low_ms + 2 * wider_ms < high_ms - low_ms:
                return
        self._low_ms, self._high_ms, self.measured_ms = low_ms, high_ms, answered_ms

    def theirs(self, since_ms: int, by_ms: int) -> tuple[int, int] | None:
        """What lay between these times of this clock, on the other's; None where that clock is not known."""
        if self.measured_ms is None:
            return None
        since_ms = since_ms + self._low_ms - _drift_ms(self.measured_ms, since_ms)
        return since_ms, by_ms + self._high_ms + _drift_ms(self.measured_ms, by_ms)


def _drift_ms(measured_ms: int, at_ms: int) -> int:
    return abs(at_ms - measured_ms) // DRIFT + 1
