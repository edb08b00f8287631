"""Read-only access to a log's history, beside a running server and without disturbing it.

It shows all records in order, also replaced records and tombstones as far as compaction has kept them. They come in
lists of whole steps: after each list, the log is in a state in which a coordinator left it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Protocol, Self

import attrs

from kcoord.log.sqlite_file import LogFile, read_all
from kcoord.protocol.frozen_class import frozen


@frozen(slots=True)
class Entry:
    """A record and its place in the log."""

    partition: int
    position: int
    """In Kafka the record's offset, in the file its place in the partition."""
    at_ms: int
    """When the record was written, in unix ms."""
    key: bytes
    value: bytes | None


class History(Protocol):
    """A log that is only read. An async context manager."""

    partitions: int

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *error: object) -> None: ...

    def read(self, partition: int, start: int = 0) -> AsyncIterator[list[Entry]]:
        """The records of `partition` from the position `start` up to its present end. Raises LogError."""
        ...


@attrs.define(eq=False)
class FileHistory:
    """The embedded log's file in `directory`. Raises LogError if there is no log or the file is damaged."""

    directory: Path
    partitions: int = attrs.field(default=0, init=False)
    _connection: sqlite3.Connection | None = attrs.field(default=None, init=False)

    async def __aenter__(self) -> Self:
        self._connection, self.partitions = await asyncio.to_thread(LogFile(self.directory, 0).look)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._connection is not None:
            await asyncio.to_thread(self._connection.close)

    async def read(self, partition: int, start: int = 0) -> AsyncIterator[list[Entry]]:
        """See History.read."""
        steps = self._steps(partition, start)
        while (entries := await asyncio.to_thread(next, steps, None)) is not None:
            yield entries

    def _steps(self, partition: int, start: int) -> Iterator[list[Entry]]:
        """The lists. Rows of one transaction have the same time; transactions with the same time share a list."""
        assert self._connection is not None, "not open"
        file = LogFile(self.directory, self.partitions)
        entries: list[Entry] = []
        try:
            for place, at_ms, key, value in read_all(file, self._connection, partition, start):
                if entries and entries[-1].at_ms != at_ms:
                    yield entries
                    entries = []
                entries.append(Entry(partition, place, at_ms, key, value))
        except sqlite3.Error as error:
            raise file.explain(error, f"reading partition {partition}") from error
        if entries:
            yield entries
