"""Who acts when the event loop is stuck? A thread, which looks at the clock and at nothing else.

A resource that blocks the loop (a long computation, a call that waits) blocks the heartbeats too. The session ends, and
other workers start what runs here. Nothing in the loop can stop it then; the thread calls the last resort.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

_LOOK_S = 0.25


class Watchdog:
    """Calls `act` from a thread of its own as soon as `overdue()` is true, once for each time it becomes true."""

    def __init__(self, overdue: Callable[[], bool], act: Callable[[], None]) -> None:
        self._overdue = overdue
        self._act = act
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="kcoord-worker-watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._end.set()

    def _watch(self) -> None:
        acted = False
        while not self._end.wait(_LOOK_S):
            overdue = self._overdue()
            if overdue and not acted:
                self._act()
            acted = overdue
