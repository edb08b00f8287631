"""How does kcoord keep its records by itself, with no service beside it?

In one SQLite file in the data directory: write-ahead log, full sync, one writer, group commit (`writer`), a checksum
for each record (`sqlite_file`). A lock keeps a second process out (`directory_lock`), and nothing is written to or read
from files that have been removed or replaced meanwhile (`open_files`). Compaction runs beside the writer: it looks for
what can go with a connection of its own, and takes it away in small steps between commits.
"""

import asyncio
import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import attrs

from kcoord.log.directory_lock import DirectoryLock, sync_directory
from kcoord.log.interface import NEVER_MS, Lease, LogError, LogUnusable, RawRecord, StoredRecord
from kcoord.log.open_files import OpenFiles
from kcoord.log.sqlite_file import MAX_PARTITIONS, PID_NAME, LogFile, read_live, superseded
from kcoord.log.writer import Writer

_log = logging.getLogger(__name__)

_COMPACTION_STEP_ROWS = 200
MAX_RECORD_BYTES = 64 << 20
"""The largest record, key and value."""


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


@attrs.define(eq=False)
class EmbeddedLog:
    """A log (see `interface.Log`) of `partitions` partitions in `directory`.

    Replaced records and tombstones are kept for `history_retention_ms` after they were written; whether there are any
    to take away is looked at every `check_interval_ms` (never by itself when that is 0). `clock` gives unix ms.
    """

    directory: Path
    partitions: int = attrs.field(default=50, validator=[attrs.validators.ge(1), attrs.validators.le(MAX_PARTITIONS)])
    history_retention_ms: int = 86_400_000
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
        """How many transactions were committed since `open`; fewer than `batches` when changes shared a sync."""
        return self._open_writer().commits

    @property
    def batches(self) -> int:
        """How many appended batches were committed since `open`."""
        return self._open_writer().batches

    async def open(self) -> None:
        """Lock the directory, make or check the file, start the writer. See Log.open."""
        loop = asyncio.get_running_loop()
        readers = ThreadPoolExecutor(1, thread_name_prefix="kcoord-log-read")  # two would contend for Python's lock
        try:
            self._lock = await loop.run_in_executor(readers, DirectoryLock.take, self.directory)
            connection = await loop.run_in_executor(readers, self._prepare, self._lock)
        except BaseException:
            readers.shutdown(wait=False)
            self._unlock()
            raise
        self._readers = readers
        self._writer = Writer(self.file, loop, self.clock, self.probe_interval, self._tell_writable, self._files)
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
        return self._open_writer().append(partition, batch)

    def lease(self, partition: int) -> Lease:
        """See Log.lease. It never ends: the directory's lock keeps everybody else out."""
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
        """See Log.release. Nobody else waits for it."""
        self._check_partition(partition)
        await self._open_writer().call(lambda connection: None)  # behind all that was appended

    async def load(self, partition: int) -> AsyncIterator[list[StoredRecord]]:
        """See Log.load. Gives the last record of each key that has a value."""
        self._check_partition(partition)
        await self._open_writer().revive(partition)
        loop, readers = asyncio.get_running_loop(), self._open_readers()
        chunks = self._read(partition)
        try:
            while (chunk := await loop.run_in_executor(readers, next, chunks, None)) is not None:
                yield chunk
        finally:
            try:
                readers.submit(chunks.close)  # on the thread that reads: a load that is cancelled may still run there
            except RuntimeError:  # the log was closed meanwhile, and that thread has ended
                chunks.close()

    async def compact(self) -> int:
        """Take away what history and tombstones are older than configured; gives the number of records taken."""
        before_ms = self.clock() - self.history_retention_ms
        taken = 0
        for partition in range(self.partitions):
            gone = await asyncio.to_thread(self._superseded, partition, before_ms)
            for start in range(0, len(gone), _COMPACTION_STEP_ROWS):
                step = gone[start : start + _COMPACTION_STEP_ROWS]
                await self._open_writer().call(partial(_delete, positions=step))
            taken += len(gone)
        return taken

    # Inside

    def _prepare(self, lock: DirectoryLock) -> sqlite3.Connection:
        """Open the file, and mark it as open: SQLite's write-ahead log is there until it is closed in order."""
        left_open = self._pid_file.exists()
        if left_open:
            self.file.check_wal_is_there()
        try:
            connection = self.file.prepare()
        except BaseException:
            if left_open and not self.file.wal_path.exists():  # SQLite has taken it into the file
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
        return connection

    @property
    def _pid_file(self) -> Path:
        return self.directory / PID_NAME

    def _mark_closed(self) -> None:
        """Before the file is closed: with its mark and without a write-ahead log it would look as if one were lost."""
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
        self._files.check()
        with contextlib.closing(self.file.connect()) as connection:
            return superseded(connection, partition, before_ms)

    async def _compact_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self.check_interval_ms / 1000)
            if not self.writable:
                continue
            try:
                taken = await self.compact()
            except (sqlite3.Error, LogError) as error:  # appending goes on; what could not go now goes next time
                _log.warning("compaction of %s stopped: %s", self.file.path, error)
            else:
                _log.debug("compaction took %d records out of %s", taken, self.file.path)

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


def _delete(connection: sqlite3.Connection, positions: list[int]) -> None:
    marks = ",".join("?" * len(positions))
    connection.execute(f"DELETE FROM record WHERE position IN ({marks})", positions)
