"""The simulated disk below the log: batches of records, of which a power cut may leave a part.

Atomicity is what every log promises (`kcoord/log/interface.py`): of a batch all records are there, or none. The
embedded log keeps it by SQLite's transactions, the Kafka log by the broker's. Here each record is written by itself,
and a batch counts when its last record is there:

- A batch that was torn stays where it is, without its end; loading leaves its records out, and later batches follow it.
- What is loaded is what is complete, in the order of the appends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kcoord.protocol.frozen import frozen
from kcoord.protocol.records import Record


@frozen(slots=True)
class Batch:
    """What of one append is on the disk."""

    records: Sequence[Record]
    complete: bool
    """Whether its last record is among them."""


class Storage:
    """One partition on its disk."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        """What has reached the disk, in the order of the appends."""
        self.committed = 0
        """Batches that are complete."""

    def commit(self, records: Sequence[Record]) -> None:
        """The whole batch is on the disk."""
        self.batches.append(Batch(records, complete=True))
        self.committed += 1

    def tear(self, records: Sequence[Record], kept: int) -> None:
        """The power goes while a batch is written: its first `kept` records reach the disk, its end does not."""
        self.batches.append(Batch(records[:kept], complete=False))

    def load(self) -> Iterator[Record]:
        """What survives, in order."""
        for batch in self.batches:
            if batch.complete:
                yield from batch.records
