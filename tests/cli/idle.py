"""A connector that does nothing, and stops when it is allowed to."""

import asyncio
from pathlib import Path

from kcoord.worker.runner import Connector, Context, Task
from kcoord.worker.runner.connector import Config


async def wait(config: Config) -> None:
    """Until cancelled, and until `held_by` is gone."""
    try:
        await asyncio.Event().wait()
    finally:
        held = config.get("held_by")
        while held is not None and await asyncio.to_thread(Path(held).exists):
            await asyncio.sleep(0.02)


class Wait(Task):
    async def run(self, context: Context) -> None:
        await wait(self.config)


class Idle(Connector):
    """`tasks`; with `held_by`, they do not stop while that file exists."""

    task = Wait

    async def run(self, context: Context) -> None:
        await wait(self.config)
