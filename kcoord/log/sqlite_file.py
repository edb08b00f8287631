"""The embedded log's SQLite file: its layout, reading, and checks that it is undamaged.

The records are in one table, `record`. A row's position holds its partition and its place in that partition in one
number. So a partition is one run of the table's tree, in order, without a second index. `sums` holds two checksums: one
of the key and the position, one of the value. Both are checked whenever a row is read. The file has an application id,
a version of this layout, and the number of partitions that it was made for.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import attrs

from kcoord.log.interface import LogCorrupt, LogIncompatible, LogUnusable, StoredRecord
from kcoord.log.wal import has_lost_commits, header_is_sound, holds_frames

FILE_NAME = "kcoord.db"
PID_NAME = "kcoord.pid"
"""A file that exists while the log is open. A process that did not stop in order leaves it behind."""
LAYOUT_VERSION = 1
_APPLICATION_ID = 0x6B636F6F  # "kcoo"
_PLACE_BITS = 40
_PLACE = (1 << _PLACE_BITS) - 1
MAX_PARTITIONS = 1 << (63 - _PLACE_BITS)

_HEADER_BYTES, _USER_VERSION = 100, slice(60, 64)
"""Bytes of the file's header, and the place of the layout version in it."""
_CHECK_ALWAYS_BYTES = 64 << 20
_CHECK_AFTER_CRASH_BYTES = 256 << 20
_INLINE_BYTES = 1024
_CHUNK_ROWS = 1000
_CHUNK_BYTES = 4 << 20

_SCHEMA = """
CREATE TABLE record (
    position INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    sums INTEGER NOT NULL,
    key BLOB NOT NULL,
    value BLOB
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE pad (filler BLOB);
"""


@attrs.frozen
class LogFile:
    """The embedded log's file in `directory`, made for `partitions` partitions."""

    directory: Path
    partitions: int

    @property
    def path(self) -> Path:
        return self.directory / FILE_NAME

    @property
    def wal_path(self) -> Path:
        return self.directory / (FILE_NAME + "-wal")

    @property
    def damaged_wal_path(self) -> Path:
        return self.directory / (FILE_NAME + "-wal.damaged")

    def connect(self) -> sqlite3.Connection:
        """A connection in autocommit mode. Its commits are on disk when they return."""
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            for pragma in (
                "synchronous=FULL",
                "fullfsync=1",  # macOS: fsync alone leaves data in the drive's cache
                "checkpoint_fullfsync=1",
                "cell_size_check=1",
                "temp_store=MEMORY",
                "wal_autocheckpoint=2000",
                "journal_size_limit=67108864",
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self) -> sqlite3.Connection:
        """Open the file, make it if it does not exist, and check it. Returns the connection to write with.

        Raises LogCorrupt, LogIncompatible, LogUnusable.
        """
        connection: sqlite3.Connection | None = None
        try:
            crashed = holds_frames(self.wal_path)  # SQLite removes that file at an orderly close
            if self.damaged_wal_path.exists():
                raise self._lost_changes()
            self._check_pair()
            connection = self.connect()
            self._check_identity(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            if crashed:
                self._check_recovery(connection)
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._create(connection)
            self._check_schema(connection)
            self._check_partitions(connection)
            self._check_structure(connection, crashed=crashed)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error | OSError | UnicodeDecodeError):
                raise self.explain(error, "opening it") from error
            raise
        return connection

    def check_wal_is_there(self) -> None:
        """Raise LogCorrupt if the write-ahead log is missing. For a file that was not closed in order: it had
        one then.
        """
        if self.wal_path.exists() or not self._is_made():
            return
        written = datetime.fromtimestamp(self.path.stat().st_mtime, UTC).isoformat(" ", "seconds")
        raise self.corrupt(
            f"{self.wal_path.name} is missing, and kcoord did not stop in order when it wrote to it last "
            f"({PID_NAME} is still there): acknowledged changes since {written} may be lost. If the file was moved, "
            f"put it back; remove {PID_NAME} to go on without those changes"
        )

    def _is_made(self) -> bool:
        """Whether the file already holds its layout version. Before that, no append was acknowledged."""
        try:
            with self.path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except FileNotFoundError:
            return False
        return int.from_bytes(header[_USER_VERSION], "big") > 0

    def look(self) -> tuple[sqlite3.Connection, int]:
        """Open the file read-only, while another process may write it. Returns the connection and the number of
        partitions.

        Raises LogCorrupt, LogIncompatible, LogUnusable.
        """
        if not self.path.is_file():
            raise LogUnusable(f"there is no log in {self.directory}: no {FILE_NAME} there")
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            self._check_identity(connection)
            row = connection.execute("SELECT value FROM setting WHERE name = 'partitions'").fetchone()
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error | OSError | UnicodeDecodeError):
                raise self.explain(error, "opening it to read") from error
            raise
        if row is None:
            connection.close()
            raise self.corrupt("its number of partitions is missing")
        return connection, int(row[0])

    def explain(self, error: Exception, doing: str) -> LogCorrupt | LogUnusable:
        """The error to show for an error of SQLite or the operating system while `doing` something."""
        if is_corruption(error):
            return self.corrupt(f"{doing} failed: {error}")
        return LogUnusable(
            f"the log {self.path} cannot be used: {doing} failed: {error}; see that the directory "
            "can be read and written by this user and that there is room"
        )

    def corrupt(self, what: str) -> LogCorrupt:
        """The error to show when `what` proves the file damaged."""
        return LogCorrupt(
            f"the log {self.path} is damaged: {what}. Put back a copy of {self.directory} from a backup, or save what "
            f"can still be read with: sqlite3 {self.path} .recover. To start again empty, move {self.directory} away: "
            "groups then form again as their members rejoin, and offsets kept in this log are lost"
        )

    def _lost_changes(self) -> LogCorrupt:
        return self.corrupt(
            "a frame of its write-ahead log was bad, and acknowledged changes behind it are lost (the bad file is kept "
            f"as {self.damaged_wal_path.name}; remove it to go on without them)"
        )

    # Checks, in the order in which they run

    def _check_pair(self) -> None:
        if not holds_frames(self.wal_path):
            return
        if not self.path.exists() or self.path.stat().st_size == 0:
            raise self.corrupt(f"{self.wal_path.name} is there, but {FILE_NAME} is missing or empty")
        if not header_is_sound(self.wal_path):
            raise self.corrupt(f"the header of {self.wal_path.name} does not match its checksum")

    def _check_identity(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if application != _APPLICATION_ID and not empty:
            raise LogIncompatible(
                f"{self.path} is an SQLite database, but none of kcoord's; name another data directory"
            )
        if version == 0 and not empty:
            raise self.corrupt("the version of its layout is missing")
        if version > LAYOUT_VERSION:
            raise LogIncompatible(
                f"the log {self.path} has layout version {version}, and this kcoord knows versions up to "
                f"{LAYOUT_VERSION}; run the newer kcoord that wrote it"
            )

    def _check_recovery(self, connection: sqlite3.Connection) -> None:
        kept = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
        if has_lost_commits(self.wal_path, kept):
            # SQLite removes the file at close. So kcoord keeps a copy, and refuses to start until a person decides.
            _keep(self.wal_path, self.damaged_wal_path)
            raise self._lost_changes()

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} INSERT INTO setting VALUES ('partitions', {self.partitions});"
            f"PRAGMA application_id={_APPLICATION_ID}; PRAGMA user_version={LAYOUT_VERSION}; COMMIT;"
            "PRAGMA wal_checkpoint(PASSIVE);"  # from now on a missing write-ahead log is noticed
        )

    def _check_schema(self, connection: sqlite3.Connection) -> None:
        """Check the tables. SQLite trusts the schema that it reads: with a renamed column it would find no rows and no
        fault.
        """
        with contextlib.closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(_SCHEMA)
            if _schema(connection) != _schema(fresh):
                raise self.corrupt("its tables are not those that kcoord made")

    def _check_partitions(self, connection: sqlite3.Connection) -> None:
        row = connection.execute("SELECT value FROM setting WHERE name = 'partitions'").fetchone()
        if row is None:
            raise self.corrupt("its number of partitions is missing")
        if row[0] != self.partitions:
            raise LogIncompatible(
                f"the log {self.path} was made with offsets.topic.num.partitions={row[0]}, and {self.partitions} is "
                "set; kcoord would look for groups in the wrong partition: set it back, or name another data directory"
            )

    def _check_structure(self, connection: sqlite3.Connection, *, crashed: bool) -> None:
        limit = _CHECK_AFTER_CRASH_BYTES if crashed else _CHECK_ALWAYS_BYTES
        if self.path.stat().st_size <= limit:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise self.corrupt(f"SQLite's quick_check says: {found}")


def _schema(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rootpage"
    ).fetchall()


def _keep(path: Path, name: Path) -> None:
    try:
        os.link(path, name)
    except OSError:  # a file system without links
        shutil.copyfile(path, name)


def is_corruption(error: BaseException) -> bool:
    """Whether `error` says that the file itself is damaged."""
    # The only text in this file is names.
    if isinstance(error, UnicodeDecodeError) or "decode to UTF-8" in str(error):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


# Positions and checksums

_MASK, _HALF = 0xFFFFFFFF, 1 << 63


def first_position(partition: int) -> int:
    """The lowest position of `partition`. The positions of partition p end before first_position(p + 1)."""
    return partition << _PLACE_BITS


def checksums(position: int, key: bytes, value: bytes | None) -> int:
    """Both checksums of a row, as one number that fits SQLite's signed 64 bits."""
    value_sum = 1 if value is None else crc32(value)  # crc32(b"") is 0, so a tombstone differs from an empty value
    return (crc32(key, position & _MASK) << 32 | value_sum) - _HALF


# Reading


def read_live(file: LogFile, connection: sqlite3.Connection, partition: int) -> Iterator[list[StoredRecord]]:
    """Chunks of the last record of each key of `partition`, in order, without tombstones. Raises LogCorrupt.

    Large values that were replaced are not read. A first pass over the partition reads small values and notes where
    large ones are; a second pass reads the large values that are still needed, chunk by chunk.
    """
    connection.execute("BEGIN")  # one snapshot for both passes
    live = _last_of_each_key(file, connection, partition)
    chunk: list[StoredRecord] = []
    chunk_bytes = 0
    for record in live.values():
        _, key, value = record
        if value is None:
            value = _large_value(file, connection, first_position(partition) + record[0])
            record = (record[0], key, value)
        chunk.append(record)
        chunk_bytes += len(key) + len(value)
        if len(chunk) == _CHUNK_ROWS or chunk_bytes >= _CHUNK_BYTES:
            yield chunk
            chunk, chunk_bytes = [], 0
    if chunk:
        yield chunk


def _last_of_each_key(file: LogFile, connection: sqlite3.Connection, partition: int) -> dict[bytes, StoredRecord]:
    """The last record of each key, without tombstones, ordered by position. A large value is None."""
    live: dict[bytes, StoredRecord] = {}
    position, end = first_position(partition), first_position(partition + 1)
    rows = connection.execute(
        f"""SELECT position, sums, key,
                CASE WHEN length(value) <= {_INLINE_BYTES} THEN value WHEN value IS NOT NULL THEN position END
            FROM record WHERE position >= ? AND position < ? ORDER BY position""",
        (position, end),
    )
    try:
        for position, sums, key, found in rows:
            if found.__class__ is bytes:  # most rows; `checksums` inlined, because a restart waits for this loop
                sound = (crc32(key, position & _MASK) << 32 | crc32(found)) - _HALF == sums
            elif found is None:
                sound = checksums(position, key, None) == sums
            else:  # a large value, or a blob that damage has turned into a number or a text
                sound = found == position and crc32(key, position & _MASK) == sums + _HALF >> 32
            if not sound:
                raise _bad_row(file, position)
            live.pop(key, None)  # moves the key to the end
            if found is not None:
                live[key] = (position & _PLACE, key, found if found.__class__ is bytes else None)
    except TypeError:  # a blob that damage has turned into a number or a text
        raise _bad_row(file, position) from None
    return live


def read_all(
    file: LogFile, connection: sqlite3.Connection, partition: int, start: int
) -> Iterator[tuple[int, int, bytes, bytes | None]]:
    """Place, time (unix ms), key and value of every row of `partition` from the place `start` on. Raises LogCorrupt."""
    lowest, end = first_position(partition), first_position(partition + 1)
    rows = connection.execute(
        "SELECT position, at_ms, sums, key, value FROM record WHERE position >= ? AND position < ? ORDER BY position",
        (lowest + start, end),
    )
    for position, at_ms, sums, key, value in rows:
        blobs = isinstance(key, bytes) and (value is None or isinstance(value, bytes))
        if not blobs or checksums(position, key, value) != sums:
            raise _bad_row(file, position)
        yield position & _PLACE, at_ms, key, value


def _large_value(file: LogFile, connection: sqlite3.Connection, position: int) -> bytes:
    row = connection.execute("SELECT sums, value FROM record WHERE position = ?", (position,)).fetchone()
    match row:
        case (int(sums), bytes(value)) if sums + _HALF & _MASK == crc32(value):
            return value
    raise _bad_row(file, position)


def _bad_row(file: LogFile, position: int) -> LogCorrupt:
    partition, place = position >> _PLACE_BITS, position & _PLACE
    return file.corrupt(f"record {place} of partition {partition} does not match its checksum")


def superseded(connection: sqlite3.Connection, partition: int, before_ms: int) -> list[int]:
    """The positions of the records of `partition` that compaction deletes.

    It looks at the records before the first one that was written at or after `before_ms` (unix ms). Of these it deletes
    tombstones, and records that a later record with the same key has replaced. All earlier records of a tombstone's key
    are before the tombstone and are deleted too, so none comes back.
    """
    lowest, end = first_position(partition), first_position(partition + 1)
    young = connection.execute(
        "SELECT position FROM record WHERE position >= ? AND position < ? AND at_ms >= ? ORDER BY position LIMIT 1",
        (lowest, end, before_ms),
    ).fetchone()
    old_end = end if young is None else young[0]
    if old_end == lowest:
        return []
    rows = connection.execute(
        """SELECT position FROM (
               SELECT position, value IS NULL AS gone, max(position) OVER (PARTITION BY key) AS last
               FROM record WHERE position >= ? AND position < ?)
           WHERE position < ? AND (gone OR position < last) ORDER BY position""",
        (lowest, end, old_end),
    )
    return [position for (position,) in rows]


def next_position(connection: sqlite3.Connection, partition: int) -> int:
    """The position that the next record of `partition` gets."""
    lowest, end = first_position(partition), first_position(partition + 1)
    (last,) = connection.execute(
        "SELECT max(position) FROM record WHERE position >= ? AND position < ?", (lowest, end)
    ).fetchone()
    return lowest if last is None else last + 1
