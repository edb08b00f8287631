"""Outages: the times in which no kcoord had the embedded log open, for readers of history.

While the log is open, kcoord writes a sign of life (unix ms) into the file `kcoord.alive` beside the log, every second.
The file stays when kcoord ends, in order or not. The kcoord that opens the log next records the outage in the log's
table `setting`: the name is `outage.FROM`, the value is the end. So an outage after a kill may look up to a second
longer than it was. Outages shorter than a second are not recorded.

The coordinator does not need outages: if they cannot be read or written, they are left out, and the log works on.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from pathlib import Path
from typing import BinaryIO

import attrs

_log = logging.getLogger(__name__)

ALIVE_NAME = "kcoord.alive"
NOTED_EVERY_S = 1.0
LEAST_MS = 1_000
KEPT = 1_000
"""The number of outages that are kept, the newest ones."""
_NAME = "outage."
_WIDTH = 16


@attrs.define(eq=False)
class SignOfLife:
    """The file with the sign of life. Used by one thread at a time."""

    path: Path
    _file: BinaryIO | None = None
    _noted_s: float = float("-inf")

    def last_ms(self) -> int | None:
        """The time of the last sign of life, in unix ms; None if there is none that can be read."""
        try:
            return int(self.path.read_text("ascii"))
        except (OSError, ValueError):
            return None

    def note(self, now_ms: int) -> None:
        """Write a sign of life with the time `now_ms`."""
        self._noted_s = time.monotonic()
        try:
            if self._file is None:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
                self._file = os.fdopen(descriptor, "r+b", buffering=0)
            self._file.seek(0)
            self._file.write(f"{now_ms:0{_WIDTH}}\n".encode())
        except OSError as error:
            _log.debug("%s cannot be written: %s", self.path, error)

    def due_s(self) -> float:
        """The seconds until the next sign of life is due; 0: now."""
        return max(0.0, self._noted_s + NOTED_EVERY_S - time.monotonic())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def add_outage(connection: sqlite3.Connection, from_ms: int, until_ms: int) -> None:
    """Record an outage in the log's file, if it lasted at least `LEAST_MS`."""
    if until_ms - from_ms < LEAST_MS:
        return
    try:
        connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (f"{_NAME}{from_ms:0{_WIDTH}}", until_ms))
        connection.execute(
            "DELETE FROM setting WHERE name IN "
            "(SELECT name FROM setting WHERE name GLOB ? ORDER BY name DESC LIMIT -1 OFFSET ?)",
            (f"{_NAME}*", KEPT),
        )
    except sqlite3.Error as error:
        _log.debug("an outage of %d ms cannot be written down: %s", until_ms - from_ms, error)


def read_outages(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """All recorded outages, as begin and end in unix ms, in order."""
    rows = connection.execute("SELECT name, value FROM setting WHERE name GLOB ? ORDER BY name", (f"{_NAME}*",))
    return [(int(name.removeprefix(_NAME)), int(until_ms)) for name, until_ms in rows]
