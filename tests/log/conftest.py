"""What do the log's tests share? Opening a log for the length of a block, and a child process to do harm to."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import attrs
import pytest

from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import RawRecord

CHILD = Path(__file__).with_name("child.py")


@contextlib.asynccontextmanager
async def opened(directory: Path, **options: object) -> AsyncIterator[EmbeddedLog]:
    """An embedded log of 4 partitions in `directory` that never compacts by itself."""
    log = EmbeddedLog(directory, **{"partitions": 4, "check_interval_ms": 0, **options})  # type: ignore[arg-type]
    await log.open()
    try:
        yield log
    finally:
        await log.close()


async def loaded(log: EmbeddedLog, partition: int = 0) -> list[RawRecord]:
    """All that loading `partition` gives."""
    return [(key, value) async for chunk in log.load(partition) for _, key, value in chunk]


@attrs.define
class Clock:
    """A clock moved by hand, unix ms."""

    now: int = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


Child = asyncio.subprocess.Process


@pytest.fixture
async def start_child() -> AsyncIterator[Callable[..., object]]:
    """Starts `child.py` with a command; what still runs at the end is killed."""
    children: list[Child] = []

    async def start(*arguments: object) -> Child:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            str(CHILD),
            *map(str, arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(CHILD.parents[2])},
        )
        children.append(child)
        return child

    yield start
    for child in children:
        if child.returncode is None:
            child.kill()
        await child.communicate()
