"""The watchdog: a thread that reports a blocked event loop, and calls the last resort when the session has ended.

A resource that blocks the loop (a long computation, a call that waits) blocks the heartbeats too. First the thread logs
where in the program the loop is stuck. If that lasts, the session ends, and other workers start what runs here. Then
nothing in the loop can stop it; the thread calls the last resort.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable

_log = logging.getLogger(__name__)

_LOOK_S = 0.25
BLOCKED_MS = 3_000
"""A loop that is late by this much is reported."""
_FRAMES = 10
"""How many calls of the stack are shown, the innermost ones."""


class Watchdog:
    """Calls `act` from a thread of its own as soon as `overdue()` is true, once each time it becomes true. Logs where
    the event loop is stuck when `late_ms()`, the time by which it is late, becomes large.
    """

    def __init__(self, overdue: Callable[[], bool], act: Callable[[], None], late_ms: Callable[[], int]) -> None:
        self._overdue = overdue
        self._act = act
        self._late_ms = late_ms
        self._was_late = self._has_reported = False
        self._loop_thread = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="kcoord-worker-watchdog", daemon=True)

    def start(self) -> None:
        """Start the thread. Call this in the thread of the event loop."""
        self._loop_thread = threading.get_ident()
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._end.set()

    def _watch(self) -> None:
        acted = False
        while not self._end.wait(_LOOK_S):
            self.look_at_loop()
            overdue = self._overdue()
            if overdue and not acted:
                self._act()
            acted = overdue

    def look_at_loop(self) -> None:
        """Report a loop that is late in two looks in a row. In the first one the machine may just have woken up."""
        late_ms = self._late_ms()
        is_late = late_ms >= BLOCKED_MS
        if is_late and self._was_late and not self._has_reported:
            self._has_reported = True
            _log.warning(
                "the event loop has been blocked for %.1f s, so that no heartbeat can be sent. When the session ends, "
                "others start what runs here. Run what takes long in asyncio.to_thread. It is blocked at:\n%s",
                late_ms / 1000,
                self._where(),
            )
        elif not is_late and self._has_reported:
            self._has_reported = False
            _log.info("the event loop runs again")
        self._was_late = is_late

    def _where(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame, limit=_FRAMES)).rstrip() if frame is not None else "(unknown)"
