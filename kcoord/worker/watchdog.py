"""Who acts when the event loop is stuck? A thread, which looks at the clock and at nothing else.

A resource that blocks the loop (a long computation, a call that waits) blocks the heartbeats too. First the thread says
where in the program the loop is stuck. If that lasts, the session ends, and other workers start what runs here. Nothing
in the loop can stop it then; the thread calls the last resort.
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
"""A loop that is late by so much is reported."""
_FRAMES = 10
"""So many calls are shown of where it is stuck, the innermost ones."""


class Watchdog:
    """Calls `act` from a thread of its own as soon as `overdue()` is true, once for each time it becomes true, and logs
    where the event loop is when `late_ms()`, by how much it is late, becomes large.
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
        """Begin to look. Called in the thread of the event loop."""
        self._loop_thread = threading.get_ident()
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
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
        """Report a loop that is late at two looks in a row. At the first one the machine may just have woken up."""
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
            _log.info("the event loop goes on")
        self._was_late = is_late

    def _where(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame, limit=_FRAMES)).rstrip() if frame is not None else "(unknown)"
