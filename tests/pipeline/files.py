"""How does a copy of some records come to be the embedded log's file, each at its place and with its time?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from kcoord.log.history import Entry
from kcoord.log.sqlite_file import LogFile, checksums, first_position


def copy_to_file(entries: Iterable[Entry], directory: Path, partitions: int) -> None:
    """Make the file and put them in."""
    directory.mkdir(parents=True)
    file = LogFile(directory, partitions)
    with closing(file.prepare()) as connection:
        connection.execute("BEGIN")
        for each in entries:
            position = first_position(each.partition) + each.position
            sums = checksums(position, each.key, each.value)
            row = (position, each.at_ms, sums, each.key, each.value)
            connection.execute("INSERT INTO record (position, at_ms, sums, key, value) VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("COMMIT")
        assert isinstance(connection, sqlite3.Connection)
