"""What does the coordinator ask of the place where its records live?

Rules of every log:

- A partition is a sequence of records; the order of `append` calls is the order of the log.
- A batch is atomic: all of its records are in the log, or none.
- An append is acknowledged when its records would survive the process and the machine being switched off.
- After a failed append a partition takes no more until it has been loaded again: what its owner holds in memory may
  rest on records that are not in the log.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

RawRecord = tuple[bytes, bytes | None]
"""A record as bytes: key and value; a value of None (a tombstone) takes the key away."""


class LogError(Exception):
    """Something is wrong with the log; the text says what, where, and what to do."""


class AppendFailed(LogError):
    """A batch is not in the log and none of it ever will be. Worth trying again after the partition was loaded anew."""


class LogUnusable(LogError):
    """The log cannot be opened: no such place, no rights, no room."""


class LogInUse(LogError):
    """Another process works on this log."""


class LogIncompatible(LogError):
    """The log was written by a newer kcoord, with other fixed settings, or by something else altogether."""


class LogCorrupt(LogError):
    """What was read is not what was written."""


class Log(Protocol):
    """Durable records in numbered partitions. All methods are called on one event loop."""

    on_writable: Callable[[], None] | None
    """Called on the event loop each time `writable` turns from False to True."""

    @property
    def writable(self) -> bool:
        """False while appends are known to fail (a full disk, say); loading works meanwhile."""
        ...

    async def open(self) -> None:
        """Make the log ready. Raises LogUnusable, LogInUse, LogIncompatible or LogCorrupt."""
        ...

    async def close(self) -> None:
        """Finish what was appended, then let go of the log. Does nothing on a log that is not open."""
        ...

    def load(self, partition: int) -> AsyncIterator[list[RawRecord]]:
        """Give the committed records of `partition` in order, in chunks.

        A record that a later one of the same key has replaced may be left out, and so may a tombstone: a reader that
        applies them all ends up the same. Raises LogCorrupt.
        """
        ...

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """Add `batch` to `partition`; the future resolves when it is durable, or raises AppendFailed."""
        ...
