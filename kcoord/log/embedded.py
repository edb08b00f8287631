"""The embedded log: records in one SQLite file in the data directory, with no other service.

The file uses a write-ahead log with full sync, one writer with group commit (`writer`), and a checksum for each record
(`sqlite_file`). A lock keeps a second process out (`directory_lock`). The log does not write to or read from files that
were removed or replaced while they were open (`open_files`). Compaction runs beside the writer: it finds what can be
deleted with a connection of its own, and deletes it in small steps between commits.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs

from kcoord.log.directory_lock import DirectoryLock, sync_directory
from kcoord.log.history_quota import find_surplus, rows_to_take
from kcoord.log.interface import NEVER_MS, Lease, LogError, LogUnusable, RawRecord, StoredRecord
from kcoord.log.open_files import OpenFiles
from kcoord.log.outages import ALIVE_NAME, SignOfLife, add_outage
from kcoord.log.sqlite_file import MAX_PARTITIONS, PID_NAME, LogFile, read_live, superseded
from kcoord.log.writer import Writer

T = TypeVar("T")

_log = logging.getLogger(__name__)

_COMPACTION_STEP_ROWS = 200
_LOOKS_A_QUOTA = 8
"""How often the size of history is checked while as many bytes are appended as history may take."""
_LOOK_AFTER_BYTES = 1 << 20
"""The fewest appended bytes between two such checks."""
MAX_RECORD_BYTES = 64 << 20
"""The largest record, key and value together."""


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


@attrs.define(eq=False, on_setattr=attrs.setters.NO_OP)  # a validator would look at each change
class EmbeddedLog:
    """A log (see `interface.Log`) of `partitions` partitions in `directory`.

    Replaced records and tombstones are kept for `history_retention_ms` after they were written, as long as they take no
    more than `history_retention_bytes` in all (-1: no limit), and no more than half of the sum of the file's used bytes
    and the disk's free bytes. The log checks for records to delete every `check_interval_ms`, and when an eighth of
    the allowed bytes (1 MiB at least) has been appended. With `check_interval_ms` 0 it never checks by itself. `clock`
    gives unix ms.
    """

    directory: Path
    partitions: int = attrs.field(default=50, validator=[attrs.validators.ge(1), attrs.validators.le(MAX_PARTITIONS)])
    history_retention_ms: int = 86_400_000
    history_retention_bytes: int = 1 << 30
    check_interval_ms: int = 300_000
    probe_interval: float = 1.0
    clock: Callable[[], int] = _unix_ms
    on_writable: Callable[[], None] | None = attrs.field(default=None, init=False)
    lease_ms: int = attrs.field(default=0, init=False)

    _writer: Writer | None = attrs.field(default=None, init=False)
    _readers: ThreadPoolExecutor | None = attrs.field(default=None, init=False)
    _lock: DirectoryLock | None = attrs.field(default=None, init=False)
    _files: OpenFiles = attrs.field(factory=lambda: OpenFiles(()), init=False)
    _compaction: asyncio.Task[None] | None = attrs.field(default=None, init=False)
    _many_appended: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _many_bytes: int = attrs.field(default=_LOOK_AFTER_BYTES, init=False)
    _lease: Lease = attrs.field(factory=lambda: Lease(NEVER_MS), init=False)

    @property
    def file(self) -> LogFile:
        return LogFile(self.directory, self.partitions)

    @property
    def writable(self) -> bool:
        """See Log.writable."""
        return self._writer is not None and self._writer.writable

    @property
    def commits(self) -> int:
        """The number of transactions committed since `open`; fewer than `batches` if batches shared a sync."""
        return self._open_writer().commits

    @property
    def batches(self) -> int:
        """The number of appended batches committed since `open`."""
        return self._open_writer().batches

    async def open(self) -> None:
        """Lock the directory, make or check the file, start the writer. See Log.open."""
        loop = asyncio.get_running_loop()
        readers = ThreadPoolExecutor(1, thread_name_prefix="kcoord-log-read")  # two would compete for Python's lock
        alive = SignOfLife(self.directory / ALIVE_NAME)
        try:
            self._lock = await loop.run_in_executor(readers, DirectoryLock.take, self.directory)
            connection = await loop.run_in_executor(readers, self._prepare, self._lock, alive)
        except BaseException:
            readers.shutdown(wait=False)
            self._unlock()
            raise
        self._readers = readers
        self._writer = Writer(self.file, loop, self.clock, self.probe_interval, self._tell_writable, self._files, alive)
        self._writer.start(connection)
        if self.check_interval_ms:
            self._compaction = loop.create_task(self._compact_now_and_then(), name="log compaction")

    async def close(self) -> None:
        """See Log.close."""
        if self._writer is None or self._readers is None:
            return
        if self._compaction is not None:
            self._compaction.cancel()
            await asyncio.wait([self._compaction])
        self._mark_closed()
        await self._writer.stop()
        self._readers.shutdown(wait=True)
        self._writer = self._readers = self._compaction = None
        self._unlock()

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """See Log.append."""
        self._check_partition(partition)
        writer = self._open_writer()
        done = writer.append(partition, batch)
        if writer.appended_bytes >= self._many_bytes:
            self._many_appended.set()
        return done

    def lease(self, partition: int) -> Lease:
        """See Log.lease. It never ends: the directory's lock keeps every other process out."""
        self._check_partition(partition)
        return self._lease

    def fits(self, key: bytes, value: bytes | None) -> bool:
        """See Log.fits."""
        return len(key) + len(value or b"") <= MAX_RECORD_BYTES

    def tick(self, partition: int) -> asyncio.Future[None]:
        """See Log.tick. There is nothing to prove."""
        self._check_partition(partition)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    async def release(self, partition: int) -> None:
        """See Log.release. No other instance waits for the partition."""
        self._check_partition(partition)
        await self._open_writer().call(lambda connection: None)  # after all that was appended

    async def load(self, partition: int) -> AsyncIterator[list[StoredRecord]]:
        """See Log.load. Yields the last record of each key, without tombstones."""
        self._check_partition(partition)
        await self._open_writer().revive(partition)
        loop, readers = asyncio.get_running_loop(), self._open_readers()
        chunks = self._read(partition)
        try:
            while (chunk := await loop.run_in_executor(readers, next, chunks, None)) is not None:
                yield chunk
        finally:
            try:
                readers.submit(chunks.close)  # on the reading thread: a cancelled load may still run there
            except RuntimeError:  # the log was closed, and that thread has ended
                chunks.close()

    async def compact(self) -> int:
        """Delete replaced records and tombstones that are older than configured, then those beyond the quota of bytes.
        Returns the number of deleted records.
        """
        before_ms = self.clock() - self.history_retention_ms
        taken = 0
        for partition in range(self.partitions):
            taken += await self._take_away(await asyncio.to_thread(self._superseded, partition, before_ms))
        return taken + await self._keep_quota()

    async def _keep_quota(self) -> int:
        """Delete the part of history that is beyond its quota of bytes. Returns the number of deleted records."""
        quota_bytes, used_bytes = await asyncio.to_thread(self._room)
        self._many_bytes = max(_LOOK_AFTER_BYTES, quota_bytes // _LOOKS_A_QUOTA)
        if used_bytes <= quota_bytes:
            return 0
        surplus = await asyncio.to_thread(self._with_connection, find_surplus, self.partitions, quota_bytes)
        taken = 0
        for partition, groups in surplus.by_partition.items():
            positions = await asyncio.to_thread(self._with_connection, rows_to_take, partition, groups)
            taken += await self._take_away(positions)
        if taken:
            _log.warning(
                "history took %d MiB, and may take %d MiB (history.retention.bytes, or half of what the disk has room "
                "for): %d replaced records of the groups with most history were deleted early",
                surplus.total >> 20,
                quota_bytes >> 20,
                taken,
            )
        return taken

    async def _take_away(self, positions: Sequence[int]) -> int:
        for start in range(0, len(positions), _COMPACTION_STEP_ROWS):
            step = list(positions[start : start + _COMPACTION_STEP_ROWS])
            await self._open_writer().call(partial(_delete, positions=step))
        return len(positions)

    # Inside

    def _prepare(self, lock: DirectoryLock, alive: SignOfLife) -> sqlite3.Connection:
        """Open the file and mark it as open. Until it is closed in order, SQLite's write-ahead log must exist."""
        left_open = self._pid_file.exists()
        if left_open:
            self.file.check_wal_is_there()
        try:
            connection = self.file.prepare()
        except BaseException:
            if left_open and not self.file.wal_path.exists():  # SQLite has merged it into the file
                self._mark_closed()
            raise
        try:
            watched = (self.file.path, self.file.wal_path, *(() if lock.covers_directory else (lock.lock_file,)))
            self._files = OpenFiles.of(watched)
            self._pid_file.write_text(f"{os.getpid()}\n")
            sync_directory(self.directory)
        except OSError as error:
            self._mark_closed()
            connection.close()
            raise self.file.explain(error, "marking it as open") from error
        now_ms, last_ms = self.clock(), alive.last_ms()
        if last_ms is not None:
            add_outage(connection, last_ms, now_ms)
        alive.note(now_ms)
        return connection

    @property
    def _pid_file(self) -> Path:
        return self.directory / PID_NAME

    def _mark_closed(self) -> None:
        """Remove the mark of an open file, before the file is closed. With the mark but without a write-ahead log, it
        would look as if the write-ahead log were lost.
        """
        with contextlib.suppress(OSError):
            self._pid_file.unlink(missing_ok=True)

    def _read(self, partition: int) -> Generator[list[StoredRecord], None, None]:
        self._files.check()
        try:
            with contextlib.closing(self.file.connect()) as connection:
                yield from read_live(self.file, connection, partition)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.file.explain(error, f"loading partition {partition}") from error

    def _superseded(self, partition: int, before_ms: int) -> list[int]:
        return self._with_connection(superseded, partition, before_ms)

    def _with_connection(self, look: Callable[..., T], *arguments: object) -> T:
        self._files.check()
        with contextlib.closing(self.file.connect()) as connection:
            return look(connection, *arguments)

    def _room(self) -> tuple[int, int]:
        """How many bytes history may take, and how many bytes of the file are in use."""
        used_bytes = self._with_connection(_used_bytes)
        half_of_disk = (shutil.disk_usage(self.directory).free + used_bytes) // 2
        if self.history_retention_bytes < 0:
            return half_of_disk, used_bytes
        return min(self.history_retention_bytes, half_of_disk), used_bytes

    async def _compact_now_and_then(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + self.check_interval_ms / 1000
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._many_appended.wait(), max(0, due - loop.time()))
            is_due = loop.time() >= due
            if is_due:
                due = loop.time() + self.check_interval_ms / 1000
            self._open_writer().appended_bytes = 0
            self._many_appended.clear()
            if not self.writable:
                continue
            try:
                taken = await self.compact() if is_due else await self._keep_quota()
            except (sqlite3.Error, OSError, LogError) as error:  # appending goes on; compaction tries again next time
                _log.warning("compaction of %s stopped: %s", self.file.path, error)
            else:
                _log.debug("compaction deleted %d records from %s", taken, self.file.path)

    def _tell_writable(self) -> None:
        if self.on_writable is not None:
            self.on_writable()

    def _check_partition(self, partition: int) -> None:
        if not 0 <= partition < self.partitions:
            raise ValueError(f"partition {partition} is not one of the log's {self.partitions}")

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise LogUnusable(f"the log {self.file.path} is not open")
        return self._writer

    def _open_readers(self) -> ThreadPoolExecutor:
        if self._readers is None:
            raise LogUnusable(f"the log {self.file.path} is not open")
        return self._readers

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _delete(connection: sqlite3.Connection, positions: list[int]) -> None:
    marks = ",".join("?" * len(positions))
    connection.execute(f"DELETE FROM record WHERE position IN ({marks})", positions)
