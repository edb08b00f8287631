"""The writer of the embedded log: group commit, in which all waiting batches share one transaction and one sync.

One thread owns the writing connection. It takes all batches that wait, writes them in one transaction, and notifies the
event loop once. Rules:

- If a transaction fails, all of its batches fail. A partition whose batch failed takes no more until `revive`.
- If the disk refuses a write, all appends fail at once, without an attempt, until a probe has written as many bytes as
  were refused. The writer probes every `probe_interval` seconds.
- If the file was removed or replaced, all appends fail until kcoord is started again.
- If a batch itself is the cause (for example, it is too large for SQLite), it fails alone.

The writer inserts rows by few, long INSERT statements. Each call into SQLite gives Python's global lock to the event
loop's thread, and getting it back can take a switch interval. Row by row, each row would cost that.
"""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

import attrs

from kcoord.log.interface import AppendFailed, RawRecord
from kcoord.log.open_files import LogReplaced, OpenFiles
from kcoord.log.outages import SignOfLife
from kcoord.log.sqlite_file import LogFile, checksums, is_corruption, next_position
from kcoord.protocol.frozen_class import frozen

_log = logging.getLogger(__name__)

MAX_BATCH_BYTES = 512 << 20
_TRANSACTION_BYTES = 8 << 20
_TRANSACTION_BATCHES = 4096
_STATEMENT_ROWS = 256
_COLUMNS = 5
_ROW_OVERHEAD_BYTES = 64
_PROBE_BYTES_LEAST, _PROBE_BYTES_MOST = 64 << 10, 64 << 20
_DISK_FAULTS = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    }
)


@frozen(eq=False)
class _Append:
    partition: int
    life: int
    batch: Sequence[RawRecord]
    size: int
    done: asyncio.Future[None]


@attrs.frozen(eq=False)
class _Call:
    work: Callable[[sqlite3.Connection], Any]
    done: asyncio.Future[Any]


@attrs.frozen(eq=False)
class _Stop:
    pass


@attrs.define(eq=False)
class Writer:
    """The thread that writes to `file`. `clock` gives unix ms; `on_writable` is called on `loop`."""

    file: LogFile
    loop: asyncio.AbstractEventLoop
    clock: Callable[[], int]
    probe_interval: float
    on_writable: Callable[[], None]
    files: OpenFiles = attrs.field(factory=lambda: OpenFiles(()))
    """The files that must still be in place at each write."""
    alive: SignOfLife | None = None
    """The sign of life, which is written from time to time while the thread runs, and when it ends."""

    writable: bool = attrs.field(default=True, init=False)
    commits: int = attrs.field(default=0, init=False)
    """The number of committed transactions with appended batches."""
    batches: int = attrs.field(default=0, init=False)
    """The number of committed batches."""
    appended_bytes: int = attrs.field(default=0, init=False)
    """Bytes appended since the log's compaction set this to 0, with the overhead of each row."""

    _queue: SimpleQueue[_Append | _Call | _Stop] = attrs.field(factory=SimpleQueue, init=False)
    _waiting: list[_Append] = attrs.field(factory=list, init=False)
    """The batches that were appended in this turn of the event loop."""
    _lives: dict[int, int] = attrs.field(factory=dict, init=False)
    """Partition → how often it was revived (its life). A batch belongs to the life in which it was appended."""
    _ended: dict[int, int] = attrs.field(factory=dict, init=False)
    """Partition → the last of its lives that a failed append has ended."""
    _next: dict[int, int] = attrs.field(factory=dict, init=False)
    """Partition → the position of its next record. Only the thread uses this."""
    _refusal: str = attrs.field(default="", init=False)
    _refused_bytes: int = attrs.field(default=0, init=False)
    _refuses_for_good: bool = attrs.field(default=False, init=False)
    _thread: threading.Thread | None = attrs.field(default=None, init=False)

    # Called on the event loop

    def start(self, connection: sqlite3.Connection) -> None:
        """Start the thread. From now on only the thread uses `connection`."""
        self._thread = threading.Thread(target=self._run, args=(connection,), name="kcoord-log", daemon=True)
        self._thread.start()

    def append(self, partition: int, batch: Sequence[RawRecord]) -> asyncio.Future[None]:
        """Queue `batch`; see Log.append."""
        done: asyncio.Future[None] = self.loop.create_future()
        life = self._lives.get(partition, 0)
        size = 0
        for key, value in batch:
            size += len(key) + _ROW_OVERHEAD_BYTES + (0 if value is None else len(value))
        self.appended_bytes += size
        item = _Append(partition, life, batch, size, done)
        if not self.writable:
            self._end_life(item)
            done.set_exception(AppendFailed(self._refusal))
        elif self._is_over(item):
            done.set_exception(_must_load(item))
        elif size > MAX_BATCH_BYTES:
            self._end_life(item)
            done.set_exception(AppendFailed(f"a batch of {size} bytes is more than the log takes ({MAX_BATCH_BYTES})"))
        else:
            if not self._waiting:
                self.loop.call_soon(self._hand_over)
            self._waiting.append(item)
        return done

    def _hand_over(self) -> None:
        """Give the thread all batches of one turn of the event loop at once. Each time the thread wakes up, both
        threads compete for Python's lock.
        """
        for item in self._waiting:
            self._queue.put(item)
        self._waiting.clear()

    def call(self, work: Callable[[sqlite3.Connection], Any]) -> asyncio.Future[Any]:
        """Run `work` with the writing connection, after everything queued before. The future has its result or
        exception.
        """
        self._hand_over()
        done: asyncio.Future[Any] = self.loop.create_future()
        self._queue.put(_Call(work, done))
        return done

    async def revive(self, partition: int) -> None:
        """Wait until earlier batches of `partition` are settled, then let it take new ones."""
        await self.call(lambda connection: None)
        self._lives[partition] = self._lives.get(partition, 0) + 1

    async def stop(self) -> None:
        """Write what is queued, end the thread, close its connection."""
        if self._thread is not None:
            self._hand_over()
            self._queue.put(_Stop())
            await self.loop.run_in_executor(None, self._thread.join)
            self._thread = None

    # Lives of partitions, used by both threads

    def _is_over(self, item: _Append) -> bool:
        return self._ended.get(item.partition, -1) >= item.life

    def _end_life(self, item: _Append) -> None:
        self._ended[item.partition] = max(item.life, self._ended.get(item.partition, -1))

    # Called on the thread

    def _run(self, connection: sqlite3.Connection) -> None:
        try:
            while True:
                item: _Append | _Call | _Stop | None = self._wait(connection)
                if isinstance(item, _Append):
                    appends, item = self._gather(item)
                    self._write(connection, appends)
                if isinstance(item, _Call):
                    self._do(connection, item)
                elif isinstance(item, _Stop):
                    return
        finally:
            connection.close()
            if self.alive is not None:
                self.alive.note(self.clock())
                self.alive.close()

    def _wait(self, connection: sqlite3.Connection) -> _Append | _Call | _Stop:
        while not self.writable and not self._refuses_for_good:
            self._note()
            try:
                return self._queue.get(timeout=self.probe_interval)
            except Empty:
                self._probe(connection)
        while True:
            next_s = self._note()
            try:
                return self._queue.get(timeout=next_s)
            except Empty:
                continue

    def _note(self) -> float | None:
        """Write the sign of life if it is due. Returns in how many seconds it is due again; None if there is none."""
        if self.alive is None:
            return None
        if not self.alive.due_s():
            self.alive.note(self.clock())
        return self.alive.due_s()

    def _gather(self, first: _Append) -> tuple[list[_Append], _Call | _Stop | None]:
        """The batches that wait, at most as many as one transaction takes; and the item that ended the gathering, if
        any.
        """
        appends = [first]
        size = first.size
        while size < _TRANSACTION_BYTES and len(appends) < _TRANSACTION_BATCHES:
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
            if not isinstance(item, _Append):
                return appends, item
            appends.append(item)
            size += item.size
        return appends, None

    def _write(self, connection: sqlite3.Connection, appends: list[_Append]) -> None:
        if not self.writable:
            self._fail(appends, self._refusal)
            return
        over = [item for item in appends if self._is_over(item)]
        if over:
            self._settle(over, _must_load(over[0]))
            appends = [item for item in appends if not self._is_over(item)]
        if appends:
            self._commit(connection, appends)

    def _commit(self, connection: sqlite3.Connection, appends: list[_Append]) -> None:
        """Write `appends` in one transaction and settle them."""
        try:
            self.files.check()
            rows, ends = self._rows(connection, appends)
            _insert(connection, rows)
        except Exception as error:  # in any case these batches are not in the log, and the thread goes on
            _roll_back(connection)
            if _is_disk_fault(error):
                self._refuse(error, sum(item.size for item in appends))
                self._fail(appends, self._refusal)
            elif len(appends) == 1:
                _log.exception("a batch for partition %d cannot be written to %s", appends[0].partition, self.file.path)
                self._fail(appends, f"the log does not take this batch: {error}")
            else:
                for item in appends:
                    self._write(connection, [item])
            return
        self._next.update(ends)
        self.commits += 1
        self.batches += len(appends)
        self._settle(appends, None)

    def _rows(self, connection: sqlite3.Connection, appends: list[_Append]) -> tuple[list[object], dict[int, int]]:
        """The columns of all rows in one flat list, and the position after them for each partition."""
        flat: list[object] = []
        ends: dict[int, int] = {}
        at_ms = self.clock()
        for item in appends:
            position = ends.get(item.partition, self._next.get(item.partition))
            if position is None:
                position = next_position(connection, item.partition)
            for key, value in item.batch:
                flat += (position, at_ms, checksums(position, key, value), key, value)
                position += 1
            ends[item.partition] = position
        return flat, ends

    def _do(self, connection: sqlite3.Connection, call: _Call) -> None:
        try:
            result = call.work(connection)
        except Exception as error:
            _roll_back(connection)
            self._tell(_settle_call, call.done, None, error)
        else:
            self._tell(_settle_call, call.done, result, None)

    # When the disk refuses

    def _refuse(self, error: Exception, size: int) -> None:
        self._refused_bytes = min(_PROBE_BYTES_MOST, max(_PROBE_BYTES_LEAST, size))
        if is_corruption(error):
            self._refuses_for_good = True
            self._refusal = str(self.file.corrupt(f"writing failed: {error}"))
            _log.error("%s. Changes are refused until kcoord is started again on an undamaged log", self._refusal)
        elif isinstance(error, LogReplaced):
            self._refuses_for_good = True
            self._refusal = str(error)
            _log.error("%s", self._refusal)
        else:
            self._refusal = f"the log {self.file.path} cannot be written: {error}"
            _log.error(
                "%s. Changes are refused with a retriable error until it can: make room, or repair the disk "
                "(tried every %g s)",
                self._refusal,
                self.probe_interval,
            )
        self.writable = False

    def _probe(self, connection: sqlite3.Connection) -> None:
        """Write as many bytes as were refused, and delete them again. If that works, take appends again."""
        try:
            connection.execute("INSERT INTO pad VALUES (randomblob(?))", (self._refused_bytes,))
            connection.execute("DELETE FROM pad")
        except sqlite3.Error as error:
            _roll_back(connection)
            _log.debug("the log %s still cannot be written: %s", self.file.path, error)
            return
        self.writable = True
        _log.warning("the log %s can be written again", self.file.path)
        self._tell(self.on_writable)

    # Back to the event loop

    def _fail(self, appends: list[_Append], reason: str) -> None:
        for item in appends:
            self._end_life(item)
        self._settle(appends, AppendFailed(reason))

    def _settle(self, appends: list[_Append], error: AppendFailed | None) -> None:
        self._tell(_settle_appends, [item.done for item in appends], error)

    def _tell(self, callback: Callable[..., None], *arguments: object) -> None:
        try:
            self.loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop was closed: nobody waits any more
            _log.debug("the event loop is gone; an outcome of the log is not reported")


def _must_load(item: _Append) -> AppendFailed:
    return AppendFailed(f"an earlier append to partition {item.partition} failed; it must be loaded again first")


def _is_disk_fault(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return isinstance(error, OSError | MemoryError | LogReplaced)
    return code & 0xFF in _DISK_FAULTS or is_corruption(error)


def _settle_appends(futures: list[asyncio.Future[None]], error: AppendFailed | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(AppendFailed(*error.args))


def _settle_call(future: asyncio.Future[Any], result: object, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


# SQL


def _insert(connection: sqlite3.Connection, flat: list[object]) -> None:
    """Insert the rows whose columns are in `flat`, in one transaction."""
    limit = _COLUMNS * _STATEMENT_ROWS
    if len(flat) <= limit:
        _insert_some(connection, flat)  # a statement is a transaction by itself
        return
    connection.execute("BEGIN IMMEDIATE")
    for start in range(0, len(flat), limit):
        _insert_some(connection, flat[start : start + limit])
    connection.execute("COMMIT")


def _insert_some(connection: sqlite3.Connection, flat: list[object]) -> None:
    rows = len(flat) // _COLUMNS
    if rows:
        # Padded with rows of NULL to a power of two, so that a few prepared statements serve all sizes.
        slots = 1 << (rows - 1).bit_length()
        connection.execute(_INSERTS[slots], flat + [None] * (_COLUMNS * (slots - rows)))


def _insert_statement(slots: int) -> str:
    values = ",".join(["(?,?,?,?,?)"] * slots)
    return f"INSERT INTO record SELECT * FROM (VALUES {values}) WHERE column1 IS NOT NULL"


_INSERTS = {1 << n: _insert_statement(1 << n) for n in range(_STATEMENT_ROWS.bit_length())}


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error as error:  # SQLite has rolled back by itself
            _log.debug("rolling back: %s", error)
