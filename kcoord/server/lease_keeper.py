"""How does a shard that has nothing to write go on proving that it is the coordinator?

1. A shard with members commits a tick when the better part of its lease is over and nothing else was committed since
   (CG-27).
2. One without members lets its lease run out; who asks it something makes it commit a tick then.
3. A lease that runs out although there are members is a standstill of the shard's time. When a commit succeeds again,
   the shard is told how long it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kcoord.server.clock import monotonic_ms
from kcoord.server.outbox import Outbox

LOOKS = 4
"""How often, in the time that is left of a lease when its prolongation begins, a commit on its way is looked at."""


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
        """Look after the lease from now on, until nobody needs it any more."""
        if self._lease_ms and self._timer is None:
            self._since_ms = monotonic_ms()
            self._look_in(self._outbox.lease.until_ms - self._outbox.slack_ms - monotonic_ms())

    def stop(self) -> None:
        """Look after it no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._lapsed_at_ms = None

    def note_lapse(self) -> None:
        """Remember that the lease is over, if it is. What was before anybody needed it is no standstill."""
        if self._lapsed_at_ms is None and not self._outbox.lease_runs():
            self._lapsed_at_ms = max(self._outbox.lease.until_ms, self._since_ms)

    def take_standstill(self) -> int:
        """How long, in ms, the lease had been over when it began to run again; 0 if it had not."""
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
