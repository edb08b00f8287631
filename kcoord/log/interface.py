"""The interface of a log: what the coordinator expects of the place where its records live.

Rules of every log:

- A partition is a sequence of records. The order of `append` calls is the order of the log.
- A batch is atomic: all of its records are in the log, or none.
- An append is acknowledged when its records would survive the end of the process and a power loss.
- After a failed append a partition takes no more appends until it has been loaded again. The owner's state in memory
  may depend on records that are not in the log.
- A partition has one owner. An instance that loads the partition takes it over; what the previous owner appends
  afterwards fails (`PartitionLost`).
- An instance that only reads, or answers from memory, does not notice that. So it answers for a partition only while
  the partition's `Lease` runs. The lease runs from the beginning of the last commit that succeeded (CG-27).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

import attrs

RawRecord = tuple[bytes, bytes | None]
"""A record as bytes: key and value. A value of None (a tombstone) removes the key."""

StoredRecord = tuple[int, bytes, bytes | None]
"""A record that was read: its place in its partition (in Kafka its offset), key and value."""

NEVER_MS: Final = 1 << 62
"""The end of a lease that does not end."""


class LogError(Exception):
    """Something is wrong with the log. The text says what, where, and what to do."""


class AppendFailed(LogError):
    """A batch is not in the log, or it is not known whether it is. A new load of the partition settles this for
    good.
    """


class PartitionLost(AppendFailed):
    """Another instance has taken the partition over, and has it until this one gains it again."""


class LogUnusable(LogError):
    """The log cannot be opened: no such place, no rights, no room."""


class LogInUse(LogError):
    """Another process uses this log."""


class LogIncompatible(LogError):
    """The log was written by a newer kcoord, with other fixed settings, or by another program."""


class LogCorrupt(LogError):
    """The bytes that were read are not the bytes that were written."""


class LogOfNewerKcoord(LogCorrupt):
    """A record was read that only a newer kcoord understands."""


@attrs.define(slots=True, eq=False)
class Lease:
    """The time until which answers may be given for a partition. Each partition has one object, the same as long as the
    log is open, so that code that gives answers can keep it.
    """

    until_ms: int
    """On the clock `lease_now_ms`. If it is past, the log cannot say that the partition still belongs to this
    instance.
    """


class Log(Protocol):
    """Durable records in numbered partitions. All methods are called on one event loop."""

    partitions: int
    """The number of partitions; they are numbered from 0."""

    lease_ms: int
    """How long a lease runs. 0: answers need no lease, because no other process can have the log while it is open."""

    on_writable: Callable[[], None] | None
    """Called on the event loop each time `writable` turns from False to True."""

    @property
    def writable(self) -> bool:
        """False while appends are known to fail, for example on a full disk. Loading still works then."""
        ...

    async def open(self) -> None:
        """Prepare the log for use. Raises LogUnusable, LogInUse, LogIncompatible or LogCorrupt."""
        ...

    async def close(self) -> None:
        """Finish what was appended, then release the log. Does nothing on a log that is not open."""
        ...

    def lease(self, partition: int) -> Lease:
        """The lease of `partition`. It is over until the partition is loaded; then each append and tick prolongs it."""
        ...

    def load(self, partition: int) -> AsyncIterator[list[StoredRecord]]:
        """Take `partition` over, then yield its committed records in order, in chunks. At the end its lease begins.

        The log may leave out tombstones, and records that a later one with the same key has replaced. The result of
        applying all records is the same. Raises LogCorrupt, and LogUnusable if the log cannot be reached or refuses
        (then it is worth trying again).
        """
        ...

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """Add `batch` to `partition`. The future resolves when the batch is durable, or raises AppendFailed or
        PartitionLost.

        All appends to a partition that is not loaded, or that has failed since, raise AppendFailed.
        """
        ...

    def fits(self, key: bytes, value: bytes | None) -> bool:
        """Whether the log takes a record with this key and value. The number of records in a batch is not limited."""
        ...

    def tick(self, partition: int) -> asyncio.Future[None]:
        """Prove that `partition` still belongs to this instance, by a commit that leaves nothing to read, and prolong
        its lease.

        Raises what `append` raises. If appends wait, the tick shares their commit.
        """
        ...

    async def release(self, partition: int) -> None:
        """Finish what was appended to `partition` and release it, so that another instance can take it without waiting.

        Its lease is over at once. Does nothing if the partition is not loaded.
        """
        ...
