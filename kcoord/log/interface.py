"""What does the coordinator ask of the place where its records live?

Rules of every log:

- A partition is a sequence of records; the order of `append` calls is the order of the log.
- A batch is atomic: all of its records are in the log, or none.
- An append is acknowledged when its records would survive the process and the machine being switched off.
- After a failed append a partition takes no more until it has been loaded again: what its owner holds in memory may
  rest on records that are not in the log.
- A partition has one owner: who loads it takes it over, and what an elder appends afterwards fails (`PartitionLost`).
- Who only reads, or answers from memory, does not notice that: an answer for a partition is given while its `Lease`
  runs, and the lease runs from the beginning of the last commit that succeeded (CG-27).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

import attrs

RawRecord = tuple[bytes, bytes | None]
"""A record as bytes: key and value; a value of None (a tombstone) takes the key away."""

StoredRecord = tuple[int, bytes, bytes | None]
"""A record that was read: where it stands in its partition (in Kafka its offset), key and value."""

NEVER_MS: Final = 1 << 62
"""The end of a lease that does not end."""


class LogError(Exception):
    """Something is wrong with the log; the text says what, where, and what to do."""


class AppendFailed(LogError):
    """A batch is not in the log, or nobody knows whether it is; once the partition was loaded anew, that has shown and
    changes no more.
    """


class PartitionLost(AppendFailed):
    """Somebody else has taken the partition over: it is theirs until it is gained anew."""


class LogUnusable(LogError):
    """The log cannot be opened: no such place, no rights, no room."""


class LogInUse(LogError):
    """Another process works on this log."""


class LogIncompatible(LogError):
    """The log was written by a newer kcoord, with other fixed settings, or by something else altogether."""


class LogCorrupt(LogError):
    """What was read is not what was written."""


class LogOfNewerKcoord(LogCorrupt):
    """What was read is a record that only a newer kcoord understands."""


@attrs.define(slots=True, eq=False)
class Lease:
    """Until when may answers be given for a partition? One object a partition, the same for as long as the log is open,
    so that it can be kept where answers are given.
    """

    until_ms: int
    """On the clock `lease_now_ms`. In the past: the log cannot say that the partition is still ours."""


class Log(Protocol):
    """Durable records in numbered partitions. All methods are called on one event loop."""

    partitions: int
    """How many there are, numbered from 0."""

    lease_ms: int
    """How long a lease runs; 0: answers need none, because nobody else can have the log while this one is open."""

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

    def lease(self, partition: int) -> Lease:
        """The lease of `partition`: over until it is loaded, and then prolonged by each append and tick."""
        ...

    def load(self, partition: int) -> AsyncIterator[list[StoredRecord]]:
        """Take `partition` over, then give its committed records in order, in chunks; then its lease begins.

        A record that a later one of the same key has replaced may be left out, and so may a tombstone: a reader that
        applies them all ends up the same. Raises LogCorrupt, and LogUnusable where the log cannot be reached or refuses
        (worth trying again).
        """
        ...

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """Add `batch` to `partition`; the future resolves when it is durable, or raises AppendFailed or PartitionLost.

        All appends to a partition that is not loaded, or has failed since, raise AppendFailed.
        """
        ...

    def fits(self, key: bytes, value: bytes | None) -> bool:
        """Whether the log takes a record of this key and value; a batch may hold as many as it likes."""
        ...

    def tick(self, partition: int) -> asyncio.Future[None]:
        """Prove that `partition` is still ours by a commit that leaves nothing to read, and prolong its lease.

        Raises as `append` does. Shares the commit of appends that wait.
        """
        ...

    async def release(self, partition: int) -> None:
        """Finish what was appended to `partition` and let it go, for somebody else to take without waiting.

        Its lease is over at once. Does nothing where it is not loaded.
        """
        ...
