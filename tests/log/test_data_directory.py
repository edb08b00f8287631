"""Does a data directory have one writer, whatever is removed or replaced in it, and is a lost file noticed?"""

import errno
import fcntl
import shutil
from pathlib import Path

import pytest

from kcoord.log.directory_lock import LOCK_NAME
from kcoord.log.history import FileHistory
from kcoord.log.interface import AppendFailed, LogCorrupt, LogIncompatible, LogInUse
from kcoord.log.open_files import LogReplaced
from kcoord.log.sqlite_file import FILE_NAME, PID_NAME
from tests.log.conftest import Child, loaded, opened

WAL_NAME = FILE_NAME + "-wal"
RECORDS = [(b"key-%d" % n, b"value") for n in range(20)]


async def holder(start_child: object, directory: Path) -> Child:
    """Another process that has the log in `directory` open."""
    child: Child = await start_child("hold", directory)  # type: ignore[operator]
    assert child.stdout is not None
    assert await child.stdout.readline() == b"open\n"
    return child


async def refused(directory: Path) -> None:
    with pytest.raises(LogInUse):
        async with opened(directory):
            pass


async def test_without_its_lock_file_the_directory_is_locked_all_the_same(tmp_path: Path, start_child: object) -> None:
    child = await holder(start_child, tmp_path)
    (tmp_path / LOCK_NAME).unlink()
    await refused(tmp_path)
    await refused(tmp_path)  # the attempt before has made a lock file
    child.kill()
    await child.wait()
    async with opened(tmp_path) as log:
        await log.append(0, RECORDS)


async def test_by_another_path_it_is_the_same_directory(tmp_path: Path, start_child: object) -> None:
    (tmp_path / "data").mkdir()
    await holder(start_child, tmp_path / "data")
    (tmp_path / "data" / LOCK_NAME).unlink()
    (tmp_path / "link").symlink_to("data")
    await refused(tmp_path / "link")
    (tmp_path / "data").rename(tmp_path / "moved")
    await refused(tmp_path / "moved")


async def test_where_a_directory_cannot_be_locked_the_first_one_notices_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on some network file systems."""
    flock = fcntl.flock

    def no_directories(descriptor: int, operation: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").is_dir():
            raise OSError(errno.ENOTSUP, "Operation not supported")
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", no_directories)
    async with opened(tmp_path) as first:
        await first.append(0, RECORDS)
        await refused(tmp_path)
        (tmp_path / LOCK_NAME).unlink()
        async with opened(tmp_path) as second:
            with pytest.raises(AppendFailed, match=f"{LOCK_NAME} was replaced by another file while this kcoord has"):
                await first.append(0, [(b"first", b"")])
            await second.append(0, [(b"second", b"")])
    async with opened(tmp_path) as log:
        assert await loaded(log) == [*RECORDS, (b"second", b"")]


async def test_a_directory_that_was_replaced_is_left_alone(tmp_path: Path) -> None:
    """The first goes on holding files that have another name now: it writes nothing there, and reads nothing here."""
    here, moved = tmp_path / "data", tmp_path / "moved"
    async with opened(here) as first:
        await first.append(0, RECORDS)
        here.rename(moved)
        async with opened(here) as second:
            await second.append(0, [(b"second", b"")])
            with pytest.raises(AppendFailed, match=rf"{FILE_NAME} was replaced by another file .* Stop this kcoord in"):
                await first.append(0, [(b"first", b"")])
            with pytest.raises(LogReplaced):
                await loaded(first)
            with pytest.raises(LogReplaced):
                await first.compact()
            assert await loaded(second) == [(b"second", b"")]
    async with opened(moved) as log:
        assert await loaded(log) == RECORDS


@pytest.mark.parametrize("name", [FILE_NAME, WAL_NAME])
async def test_a_file_that_is_removed_under_a_running_log_stops_its_changes(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path, probe_interval=0.01) as log:
        await log.append(0, RECORDS)
        (tmp_path / name).unlink()
        with pytest.raises(AppendFailed, match=f"{name} was removed while this kcoord has it open"):
            await log.append(0, [(b"lost", b"")])
        assert not log.writable
    if name == WAL_NAME:  # SQLite still had it, and wrote it into the file at the end
        async with opened(tmp_path) as log:
            assert await loaded(log) == RECORDS


async def crashed(directory: Path, image: Path) -> Path:
    """What a crash of a log with RECORDS leaves behind, in `image`."""
    async with opened(directory) as log:
        await log.append(0, RECORDS)
        shutil.copytree(directory, image)
    return image


async def test_a_lost_write_ahead_log_is_an_error_until_somebody_decides(tmp_path: Path) -> None:
    image = await crashed(tmp_path / "data", tmp_path / "image")
    wal = image / WAL_NAME
    wal.rename(tmp_path / "aside")
    for _ in range(2):
        with pytest.raises(
            LogCorrupt, match=rf"{WAL_NAME} is missing, and kcoord did not stop in order .* since 20.* may be lost"
        ):
            async with opened(image):
                pass
    (tmp_path / "aside").rename(wal)
    async with opened(image) as log:
        assert await loaded(log) == RECORDS
    image = await crashed(tmp_path / "data2", tmp_path / "image2")
    (image / WAL_NAME).unlink()
    (image / PID_NAME).unlink()
    async with opened(image) as log:
        assert await loaded(log) == []


async def test_nothing_is_missed_where_nothing_was_lost(tmp_path: Path) -> None:
    """After a stop in order, a start that was refused, a reader beside, and a crash before anything was made."""
    image = await crashed(tmp_path / "data", tmp_path / "image")
    async with FileHistory(image) as history:
        assert history.partitions == 4
    with pytest.raises(LogIncompatible):
        async with opened(image, partitions=5):
            pass
    for _ in range(2):
        async with opened(image) as log:
            assert await loaded(log) == RECORDS
        assert not (image / PID_NAME).exists()
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / FILE_NAME).touch()
    (fresh / PID_NAME).write_text("1\n")
    async with opened(fresh) as log:
        assert await loaded(log) == []
