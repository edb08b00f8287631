"""What happens when the disk is full, and when there is room again?"""

import asyncio
import logging
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcoord.log.interface import AppendFailed
from tests.log.conftest import Child, loaded, opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root may mount; test_a_file_that_may_not_grow covers the rules without")
    yield place
    subprocess.run(["umount", str(place)], check=True)


async def test_a_full_disk_refuses_changes_and_takes_them_again(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with opened(small_disk / "data", probe_interval=0.02) as log:
        room = asyncio.Event()
        log.on_writable = room.set
        acked: list[tuple[bytes, bytes | None]] = []
        with pytest.raises(AppendFailed, match=r"kcoord.db cannot be written: .*(full|I/O)"):
            while True:
                record = (b"key-%d" % len(acked), bytes(20_000))
                await log.append(0, [record])
                acked.append(record)
        was_writable = log.writable
        with pytest.raises(AppendFailed):  # other partitions too, without trying
            await log.append(1, [(b"small", b"")])
        assert await loaded(log) == acked  # reading works meanwhile
        assert not room.is_set()

        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        await room.wait()
        assert (was_writable, log.writable) == (False, True)
        with pytest.raises(AppendFailed, match="partition 1 failed; it must be loaded again"):
            await log.append(1, [(b"small", b"")])
        for partition in (0, 1):
            assert await loaded(log, partition) == (acked if partition == 0 else [])
            await log.append(partition, [(b"after", bytes(20_000))])
            acked.append((b"after", bytes(20_000)))
            assert (await loaded(log, partition))[-1] == (b"after", bytes(20_000))
    lines = [record.message for record in caplog.records if record.name.startswith("kcoord")]
    assert len(lines) == 2
    assert "Changes are refused with a retriable error until it can: make room" in lines[0]
    assert lines[1].endswith("kcoord.db can be written again")


async def test_a_file_that_may_not_grow(tmp_path: Path, start_child: object) -> None:
    """The same by a limit on a file's size, as any user can set it, in a process of its own."""
    child: Child = await start_child("limited", tmp_path, 300_000)  # type: ignore[operator]
    out, _ = await child.communicate()
    lines = out.decode().splitlines()
    said = [line for line in lines if not line.startswith("log ")]
    assert child.returncode == 0, out.decode()
    acked = int(said[1].split()[1])
    assert acked > 10
    assert said[0] == "open"
    assert said[1].startswith(f"refused {acked} unwritable the log {tmp_path}/kcoord.db cannot be written: ")
    assert said[2:] == [f"readable {acked}", f"resumed {acked} False"]
    assert [line.split()[1] for line in lines if line.startswith("log ")] == ["ERROR", "WARNING"]
    async with opened(tmp_path) as log:
        assert len(await loaded(log)) == acked + 1
