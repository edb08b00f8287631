"""What does the embedded log promise beyond what every log does (`test_both`)?"""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from kcoord.log.interface import AppendFailed, LogIncompatible, LogInUse, LogUnusable
from kcoord.log.sqlite_file import FILE_NAME
from kcoord.log.writer import MAX_BATCH_BYTES
from tests.log.conftest import Child, Clock, loaded, opened


async def test_values_of_any_size_come_back_and_chunks_stay_small(tmp_path: Path) -> None:
    sizes = [0, 1, 1023, 1024, 1025, 5000, 3 << 20, 3 << 20, 3 << 20]
    async with opened(tmp_path) as log:
        records = [(b"key-%d" % n, bytes([n]) * size) for n, size in enumerate(sizes)]
        await log.append(0, records)
        await log.append(1, [(b"key-%d" % n, b"") for n in range(2500)])
        assert await loaded(log) == records
        assert [len(chunk) async for chunk in log.load(0)] == [8, 1]  # a chunk ends at 4 MiB
        assert [len(chunk) async for chunk in log.load(1)] == [1000, 1000, 500]


async def test_changes_that_wait_share_one_sync(tmp_path: Path) -> None:
    """Group commit: while the writer is busy 1,000 batches gather, and one transaction takes them."""
    async with opened(tmp_path) as log:
        other = sqlite3.connect(log.file.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # the writer waits for its turn
        waiting = [log.append(n % 4, [(b"%d" % n, b"v")]) for n in range(1000)]
        other.execute("ROLLBACK")
        other.close()
        await asyncio.gather(*waiting)
        assert log.batches == 1000
        assert log.commits <= 2  # those that the writer had taken before the rest came, and the rest
        assert sum([len(await loaded(log, partition)) for partition in range(4)]) == 1000


async def test_a_batch_that_cannot_be_written_fails_alone_until_the_partition_is_loaded(tmp_path: Path) -> None:
    """What was appended behind a failed batch rests on it, so it must not get in either."""

    class Huge(bytes):
        def __len__(self) -> int:
            return MAX_BATCH_BYTES

    async with opened(tmp_path) as log:
        await log.append(0, [(b"before", b"")])
        too_large = log.append(0, [(b"too large", Huge())])
        behind = log.append(0, [(b"behind", b"")])
        elsewhere = log.append(1, [(b"elsewhere", b"")])
        with pytest.raises(AppendFailed, match=r"more than the log takes \(536870912\)"):
            await too_large
        with pytest.raises(AppendFailed, match="must be loaded again"):
            await behind
        await elsewhere
        assert await loaded(log) == [(b"before", b"")]
        await log.append(0, [(b"after", b"")])
        assert await loaded(log) == [(b"before", b""), (b"after", b"")]
        assert log.writable


async def test_a_batch_that_sqlite_refuses_does_not_take_its_neighbours_along(tmp_path: Path) -> None:
    async with opened(tmp_path) as log:
        other = sqlite3.connect(log.file.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # so that all three are one transaction
        first = log.append(0, [(b"first", b"")])
        bad = log.append(1, [(b"fine", b""), (b"bad", "text")])  # type: ignore[list-item]
        last = log.append(2, [(b"last", b"")])
        other.execute("ROLLBACK")
        other.close()
        with pytest.raises(AppendFailed, match="does not take this batch"):
            await bad
        await asyncio.gather(first, last)
        assert [await loaded(log, partition) for partition in range(3)] == [[(b"first", b"")], [], [(b"last", b"")]]


async def test_a_second_process_is_refused_and_told_who_has_the_directory(tmp_path: Path, start_child: object) -> None:
    child: Child = await start_child("hold", tmp_path)  # type: ignore[operator]
    assert child.stdout is not None
    assert await child.stdout.readline() == b"open\n"
    with pytest.raises(LogInUse, match=rf"{tmp_path} is in use by process {child.pid}; stop that kcoord first"):
        async with opened(tmp_path):
            pass
    child.kill()
    await child.wait()
    async with opened(tmp_path) as log:  # a lock dies with its process
        await log.append(0, [(b"mine", b"now")])


async def test_a_second_log_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    async with opened(tmp_path):
        with pytest.raises(LogInUse):
            async with opened(tmp_path):
                pass


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("PRAGMA user_version=99", r"layout version 99, and this kcoord knows versions up to 1; run the newer kcoord"),
        ("UPDATE setting SET value = 50", r"made with offsets.topic.num.partitions=50, and 4 is set"),
        ("PRAGMA application_id=7", r"kcoord.db is an SQLite database, but none of kcoord's"),
    ],
)
async def test_a_log_of_another_kind_is_refused(tmp_path: Path, change: str, says: str) -> None:
    async with opened(tmp_path):
        pass
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(LogIncompatible, match=says):
        async with opened(tmp_path):
            pass


async def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogUnusable, match=rf"the data directory {tmp_path}/file/data cannot be used: .*File exists"):
        async with opened(tmp_path / "file" / "data"):
            pass


async def test_compaction_runs_by_itself(tmp_path: Path, clock: Clock) -> None:
    async with opened(tmp_path, clock=clock, history_retention_ms=1000, check_interval_ms=1) as log:
        for n in range(3):
            await log.append(0, [(b"a", b"%d" % n)])
        clock.now += 2000
        with sqlite3.connect(log.file.path) as connection:
            while connection.execute("SELECT count(*) FROM record").fetchone() != (1,):
                await asyncio.sleep(0.001)
        connection.close()
        assert await loaded(log) == [(b"a", b"2")]
