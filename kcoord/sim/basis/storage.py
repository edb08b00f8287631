"""The simulated disk below the log: batches of records. A power failure may leave part of a batch.

Every log promises atomicity (`kcoord/log/interface.py`): of a batch all records are there, or none. The embedded log
keeps the promise by SQLite's transactions, the Kafka log by the broker's. Here each record is written by itself, and a
batch counts when its last record is there:

- A torn batch stays where it is, without its end. Loading leaves its records out, and later batches follow it.
- What is loaded is every complete batch, in the order of the appends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.records import Record


@frozen(slots=True)
class Batch:
    """What is on the disk of one append."""

    records: Sequence[Record]
    complete: bool
    """Whether its last record is among them."""


class Storage:
    """One partition on its disk."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        """What has reached the disk, in the order of the appends."""
        self.committed = 0
        """How many batches are complete."""

    def commit(self, records: Sequence[Record]) -> None:
        """The whole batch is on the disk."""
        self.batches.append(Batch(records, complete=True))
        self.committed += 1

    def tear(self, records: Sequence[Record], kept: int) -> None:
        """The power fails while a batch is written: its first `kept` records reach the disk, its end does not."""
        self.batches.append(Batch(records[:kept], complete=False))

    def load(self) -> Iterator[Record]:
        """The records that survive, in order."""
        for batch in self.batches:
            if batch.complete:
                yield from batch.records
