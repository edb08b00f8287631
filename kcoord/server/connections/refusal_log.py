"""A log of refused requests, limited to one line every ten seconds.

A client that is refused may try again at once and forever. It must not fill the disk with log lines.
"""

from __future__ import annotations

import logging

PAUSE_MS = 10_000


class RefusalLog:
    """Writes warnings to `log`. Within `PAUSE_MS` of the last line it only counts them; the next line gives the
    count.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._next_ms: int | None = None
        self._left_out = 0

    def note(self, text: str, now_ms: int) -> None:
        """Log that a request was refused. `now_ms` is monotonic."""
        if self._next_ms is not None and now_ms < self._next_ms:
            self._left_out += 1
            return
        more = f" ({self._left_out} more were refused since the last such line)" if self._left_out else ""
        self._log.warning("%s%s", text, more)
        self._next_ms, self._left_out = now_ms + PAUSE_MS, 0
