"""Does the log say when nobody had it, after a stop and after a kill?"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

from kcoord.log.outages import ALIVE_NAME, KEPT, LEAST_MS, SignOfLife, add_outage, read_outages
from kcoord.log.sqlite_file import LogFile
from tests.log.conftest import Clock, opened


def outages(directory: Path) -> list[tuple[int, int]]:
    connection, _ = LogFile(directory, 0).look()
    with contextlib.closing(connection):
        return read_outages(connection)


async def test_a_stop_and_a_start(tmp_path: Path, clock: Clock) -> None:
    began = clock.now
    async with opened(tmp_path, clock=clock):
        clock.now += 60_000
    clock.now += 5_000
    async with opened(tmp_path, clock=clock):
        assert outages(tmp_path) == [(began + 60_000, began + 65_000)]
        clock.now += 1_000
    clock.now += LEAST_MS - 1
    async with opened(tmp_path, clock=clock):
        assert len(outages(tmp_path)) == 1, "too short to be one"
    clock.now -= 3_600_000
    async with opened(tmp_path, clock=clock):
        assert len(outages(tmp_path)) == 1, "the clock was set back"
    clock.now += 7_200_000
    async with opened(tmp_path, clock=clock):
        assert sorted(until - since for since, until in outages(tmp_path)) == [5_000, 7_200_000]


async def test_a_kill_and_a_start(tmp_path: Path, clock: Clock) -> None:
    """The last sign of life is as old as the last time that it was noted."""
    async with opened(tmp_path / "data", clock=clock):
        noted = SignOfLife(tmp_path / "data" / ALIVE_NAME).last_ms()
        shutil.copytree(tmp_path / "data", tmp_path / "image")
    assert noted == clock.now
    clock.now += 30_000
    async with opened(tmp_path / "image", clock=clock):
        assert outages(tmp_path / "image") == [(noted, clock.now)]


async def test_a_sign_of_life_that_cannot_be_read_or_written_stops_nothing(tmp_path: Path, clock: Clock) -> None:
    async with opened(tmp_path, clock=clock):
        pass
    for spoil in (b"", b"\xff" * 17, b"soon\n"):
        (tmp_path / ALIVE_NAME).write_bytes(spoil)
        clock.now += 10_000
        async with opened(tmp_path, clock=clock):
            assert outages(tmp_path) == []
    (tmp_path / ALIVE_NAME).unlink()
    (tmp_path / ALIVE_NAME).mkdir()
    async with opened(tmp_path, clock=clock) as log:
        await log.append(0, [(b"key", b"value")])
    assert outages(tmp_path) == []


async def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    with contextlib.closing(LogFile(tmp_path, 4).connect()) as connection:
        for number in range(KEPT + 3):
            add_outage(connection, number * 10_000, number * 10_000 + 5_000)
        found = read_outages(connection)
        assert (len(found), found[0]) == (KEPT, (30_000, 35_000))
        assert connection.execute("SELECT value FROM setting WHERE name = 'partitions'").fetchone() == (4,)
        connection.execute("PRAGMA query_only=1")
        add_outage(connection, 0, 1 << 40)
        assert isinstance(connection, sqlite3.Connection)
        assert read_outages(connection) == found, "what cannot be written is left out"
