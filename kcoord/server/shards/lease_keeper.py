"""The lease keeper: ticks that prove that a shard with nothing to write is still the coordinator.

1. If a shard has members and commits nothing, the keeper commits a tick when 60 % of the lease is over (CG-27).
2. The keeper lets the lease of a shard without members run out. The next request makes the shard commit a tick.
3. If the lease of a shard with members runs out, the shard's time stands still. When a commit succeeds again, the shard
   is told how long the standstill lasted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kcoord.server.clock import monotonic_ms
from kcoord.server.connections.outbox import Outbox

LOOKS = 4
"""How often the keeper checks a commit that is under way, within the last 40 % of the lease."""


class LeaseKeeper:
    """Keeps one partition's lease running while `is_needed` says so."""

    def __init__(self, outbox: Outbox, lease_ms: int, is_needed: Callable[[], bool]) -> None:
        self._outbox = outbox
        self._lease_ms = lease_ms
        self._is_needed = is_needed
        self._timer: asyncio.TimerHandle | None = None
        self._since_ms = 0
        self._lapsed_at_ms: int | None = None

    def watch(self) -> None:
        """Keep the lease running from now on, until it is not needed any more."""
        if self._lease_ms and self._timer is None:
            self._since_ms = monotonic_ms()
            self._look_in(self._outbox.lease.until_ms - self._outbox.slack_ms - monotonic_ms())

    def stop(self) -> None:
        """Stop keeping the lease."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._lapsed_at_ms = None

    def note_lapse(self) -> None:
        """Remember since when the lease is over, if it is. The time before the lease was needed does not count."""
        if self._lapsed_at_ms is None and not self._outbox.lease_runs():
            self._lapsed_at_ms = max(self._outbox.lease.until_ms, self._since_ms)

    def take_standstill(self) -> int:
        """How long, in ms, the lease was over before it began to run again; 0 if it was not over, or still is."""
        lapsed_at_ms = self._lapsed_at_ms
        if lapsed_at_ms is None or not self._outbox.lease_runs():
            return 0
        self._lapsed_at_ms = None
        return max(1, monotonic_ms() - lapsed_at_ms)

    def _look_in(self, pause_ms: int) -> None:
        self._timer = asyncio.get_running_loop().call_later(max(1, pause_ms) / 1000, self._look)

    def _look(self) -> None:
        self._timer = None
        outbox = self._outbox
        left_ms = outbox.lease.until_ms - outbox.slack_ms - monotonic_ms()
        if left_ms > 0:
            self._look_in(left_ms)
            return
        if outbox.is_idle:
            if not self._is_needed():
                return
            self.note_lapse()
            outbox.prove()
        else:
            self.note_lapse()
            outbox.refuse_stalled()
        self._look_in(outbox.slack_ms // LOOKS)
