"""Does what was acknowledged outlive `kill -9` of a lone kcoord on its embedded log?"""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.faults.stage import GROUPS, stage
from tests.kafka.kcoord_process import Kcoord

KILLS = 4


async def test_kill_9_at_random(tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path / "kcoord", settings=GROUPS)
    kcoord.folder.mkdir()
    await asyncio.to_thread(kcoord.start)
    try:
        async with stage([("127.0.0.1", kcoord.port)], tmp_path) as on:
            for number in range(KILLS):
                await on.go_on()
                on.history.note(f"kill {number}")
                kcoord.kill()
                await asyncio.to_thread(kcoord.start)
            await on.go_on()
    finally:
        kcoord.remove()
