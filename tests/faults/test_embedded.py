"""Does what was acknowledged outlive `kill -9` of a lone kcoord on its embedded log? And would it be seen if not?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.faults.length import SEED, has_long_form, rounds
from tests.faults.stage import GROUPS, Stage, stage
from tests.kafka.kcoord_process import Kcoord
from tests.light import fewer


class Lying(Kcoord):
    """kcoord under `lying.py`."""

    def command(self) -> list[str]:
        """See Kcoord.command."""
        (python, _, _, *arguments) = super().command()
        return [python, "-m", "tests.faults.lying", *arguments]


@asynccontextmanager
async def killed(kind: Callable[..., Kcoord], folder: Path, times: int) -> AsyncIterator[Stage]:
    """A kcoord under load that is killed so often."""
    kcoord = kind(folder / "kcoord", settings=GROUPS)
    kcoord.folder.mkdir()
    await asyncio.to_thread(kcoord.start)
    try:
        async with stage([("127.0.0.1", kcoord.port)], folder, SEED) as on:
            for number in range(times):
                await on.go_on()
                on.history.note(f"kill {number}")
                kcoord.kill()
                await asyncio.to_thread(kcoord.start)
            await on.go_on()
            yield on
    finally:
        kcoord.remove()


@has_long_form
async def test_kill_9_at_random(tmp_path: Path) -> None:
    async with killed(Kcoord, tmp_path, rounds(fewer(2, 1), 50)):
        pass


@pytest.mark.long("shows that the check finds something; kills a coordinator under load again")
async def test_a_log_that_lies_would_be_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"lost: |runs it from|was answered UNKNOWN_MEMBER_ID|and was \d+ before"):
        async with killed(Lying, tmp_path, 1):
            pass
