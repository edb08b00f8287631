"""Is damage to the file always reported, and never taken for an answer?"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcoord.log.interface import LogCorrupt, LogError, RawRecord
from kcoord.log.sqlite_file import FILE_NAME
from tests.light import fewer
from tests.log.conftest import loaded, opened

WAL_NAME = FILE_NAME + "-wal"
TRANSACTIONS: list[list[RawRecord]] = [
    [(b"group-%d" % (n % 7), b"first half %d," % n + b"second half" * 8), (b"large-%d" % n, bytes([n]) * 3000)]
    for n in range(12)
]
WHOLE = [(b"large-4", bytes([4]) * 3000)]


def state_after(transactions: int) -> list[RawRecord]:
    """What loading gives after the first so many of TRANSACTIONS."""
    live: dict[bytes, bytes | None] = {}
    for batch in TRANSACTIONS[:transactions]:
        for key, value in batch:
            live.pop(key, None)
            live[key] = value
    return list(live.items())


async def _write(directory: Path, crash_image: Path | None = None) -> None:
    """Write TRANSACTIONS; `crash_image` gets the files as a crash behind the last would leave them."""
    async with opened(directory) as log:
        for batch in TRANSACTIONS:
            await log.append(0, batch)
        if crash_image is not None:
            crash_image.mkdir()
            for name in (FILE_NAME, WAL_NAME):
                shutil.copy(directory / name, crash_image / name)


async def _load(directory: Path) -> list[RawRecord]:
    async with opened(directory) as log:
        return await loaded(log)


@pytest.fixture(scope="module")
def closed_log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    directory = tmp_path_factory.mktemp("closed")
    asyncio.run(_write(directory))
    return (directory / FILE_NAME).read_bytes()


@pytest.fixture(scope="module")
def crashed_log(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """The file and its write-ahead log."""
    directory = tmp_path_factory.mktemp("crashed")
    asyncio.run(_write(directory / "log", directory / "image"))
    return (directory / "image" / FILE_NAME).read_bytes(), (directory / "image" / WAL_NAME).read_bytes()


def flip(data: bytes, place: int, bit: int = 0) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def at(needle: bytes) -> Callable[[bytes], bytes]:
    """Damage: a bit flipped where the last `needle` stands."""
    return lambda data: flip(data, data.rindex(needle))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(at(b"first half 11,"), "record 22 of partition 0 does not match its checksum", id="small value"),
        pytest.param(at(bytes([11]) * 3000), "record 23 of partition 0 does not match its checksum", id="large value"),
        pytest.param(at(b"group-4first half 11,"), "record 22 of partition 0 does not match its checksum", id="a key"),
        pytest.param(at(b"large-11"), "record 23 of partition 0 does not match its checksum", id="large one's key"),
        pytest.param(lambda data: data[: len(data) // 2], "malformed|quick_check", id="cut in half"),
        pytest.param(lambda data: data[:4096] + bytes(len(data) - 4096), "malformed|quick_check", id="zeros"),
        pytest.param(lambda data: b"not a database at all" + data[21:], "file is not a database", id="another file"),
    ],
)
async def test_damage_is_reported_with_what_to_do(
    tmp_path: Path, closed_log: bytes, damage: Callable[[bytes], bytes], says: str
) -> None:
    (tmp_path / FILE_NAME).write_bytes(damage(closed_log))
    for _ in range(2):  # and again at the next try: what is damaged stays so
        with pytest.raises(LogCorrupt, match=says) as caught:
            await _load(tmp_path)
        assert str(tmp_path / FILE_NAME) in str(caught.value)
        assert "from a backup" in str(caught.value)


async def test_bytes_that_nobody_wrote_are_still_the_test(tmp_path: Path, closed_log: bytes) -> None:
    """The undamaged file loads: what the tests here find is the damage."""
    (tmp_path / FILE_NAME).write_bytes(closed_log)
    assert await _load(tmp_path) == state_after(12)


@given(data=st.data())
@settings(max_examples=fewer(150, 25), deadline=None)
def test_a_flipped_bit_anywhere_is_found_or_harmless(closed_log: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(closed_log) - 1))
    damaged = flip(closed_log, place, data.draw(st.integers(0, 7)))
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / FILE_NAME).write_bytes(damaged)
        try:
            found = asyncio.run(_load(Path(directory)))
        except LogError:
            return
    assert found == state_after(12)


async def test_a_crash_image_loads(tmp_path: Path, crashed_log: tuple[bytes, bytes]) -> None:
    _lay(tmp_path, *crashed_log)
    assert await _load(tmp_path) == state_after(12)


@given(data=st.data())
@settings(max_examples=fewer(100, 20), deadline=None)
def test_a_flipped_bit_in_the_write_ahead_log_loses_the_last_change_at_most(
    crashed_log: tuple[bytes, bytes], data: st.DataObject
) -> None:
    """The last transaction may have been cut off by the crash; all others had been acknowledged."""
    file, wal = crashed_log
    place = data.draw(st.integers(0, len(wal) - 1))
    with tempfile.TemporaryDirectory() as directory:
        _lay(Path(directory), file, flip(wal, place, data.draw(st.integers(0, 7))))
        try:
            found = asyncio.run(_load(Path(directory)))
        except LogCorrupt:
            return
    assert found in (state_after(12), state_after(11))


async def test_acknowledged_changes_behind_a_bad_frame_are_missed(
    tmp_path: Path, crashed_log: tuple[bytes, bytes]
) -> None:
    """SQLite by itself would leave them out and say nothing; kcoord refuses until somebody has decided."""
    file, wal = crashed_log
    _lay(tmp_path, file, at(b"first half 5,")(wal))
    for _ in range(2):
        with pytest.raises(LogCorrupt, match=r"acknowledged changes behind it are lost .* remove it to go on without"):
            await _load(tmp_path)
    kept = tmp_path / (WAL_NAME + ".damaged")
    assert len(kept.read_bytes()) == len(wal)
    kept.unlink()
    assert await _load(tmp_path) == state_after(5)


@pytest.mark.parametrize("cut", [1, 100, 4120, 4121])
async def test_a_transaction_that_the_crash_cut_off_is_left_out(
    tmp_path: Path, crashed_log: tuple[bytes, bytes], cut: int
) -> None:
    file, wal = crashed_log
    _lay(tmp_path, file, wal[:-cut])
    assert await _load(tmp_path) == state_after(11)


async def test_a_write_ahead_log_without_its_file_is_not_thrown_away(
    tmp_path: Path, crashed_log: tuple[bytes, bytes]
) -> None:
    _lay(tmp_path, b"", crashed_log[1])
    with pytest.raises(LogCorrupt, match=r"kcoord.db-wal is there, but kcoord.db is missing or empty"):
        await _load(tmp_path)
    assert (tmp_path / WAL_NAME).read_bytes() == crashed_log[1]


def _lay(directory: Path, file: bytes, wal: bytes) -> None:
    (directory / FILE_NAME).write_bytes(file)
    (directory / WAL_NAME).write_bytes(wal)
