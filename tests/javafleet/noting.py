"""What do our own workers run where a fleet of Java workers runs NotingSource? A connector that notes the same."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from kcoord.worker.runner import Connector, Context, Task
from kcoord.worker.runner.connector import Config
from tests.javafleet.notes import Notes, What

WORKER = "NOTING_WORKER"
"""The variable of the environment that has the worker's name."""


async def note(config: Config, context: Context) -> None:
    """Note that this begins, and when it ends, that."""
    kind = "connector" if context.resource.is_connector else "task"
    told = f"{kind} {context.name} on {os.environ[WORKER]} with {config.get('version', '1')}"
    notes = Notes(Path(config["notes"]))
    notes.write(What.STARTED, told)
    try:
        await asyncio.Event().wait()
    finally:
        notes.write(What.STOPPED, told)


class NotingTask(Task):
    """One task."""

    async def run(self, context: Context) -> None:
        await note(self.config, context)


class Noting(Connector):
    """The connector; its tasks are what the Java leader has split it into."""

    task = NotingTask

    async def run(self, context: Context) -> None:
        await note(self.config, context)
