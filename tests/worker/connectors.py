"""Connectors for tests of the runner: one that notes its life in a file, one that fails."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from kcoord.worker.clock import now_ms
from kcoord.worker.runner import Connector, Context, Task
from kcoord.worker.runner.connector import Config


class NotingTask(Task):
    """Writes a line when it starts, and one when it ends."""

    async def run(self, context: Context) -> None:
        _note(self.config, "start", context)
        try:
            await asyncio.Event().wait()
        finally:
            _note(self.config, "stop", context)


class Noting(Connector):
    """Has as many tasks as it is told to."""

    task = NotingTask

    async def run(self, context: Context) -> None:
        await NotingTask(self.config).run(context)


class FailingTask(Task):
    """Fails as often as it is told to, then is done."""

    failures = 0

    async def run(self, context: Context) -> None:
        if FailingTask.failures < self.config["times"]:
            FailingTask.failures += 1
            raise RuntimeError("out of luck\nand of words")


class Failing(Connector):
    """One task that fails."""

    task = FailingTask

    def task_configs(self) -> Sequence[Config]:
        return [{**self.config, "times": self.config["times"]}]


def _note(config: Config, what: str, context: Context) -> None:
    file = os.open(Path(config["notes"]), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{now_ms()} {os.getpid()} {what} {context.name} {config.get('say', '')}\n".encode())
    os.close(file)


class StubbornTask(NotingTask):
    """Does not stop when it is cancelled."""

    async def run(self, context: Context) -> None:
        _note(self.config, "start", context)
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                _note(self.config, "refuses", context)


class Stubborn(Connector):
    """One task that nobody can stop."""

    task = StubbornTask


class SynchronousTask(Task):
    """Its `run` is no coroutine function."""

    def run(self, context: Context) -> None:  # type: ignore[override]
        raise AssertionError("is never called")


class Synchronous(Connector):
    """One task that would block the event loop."""

    task = SynchronousTask


class WithoutTask(Connector):
    """Says that it has a task, but not which."""


class Dividing(Noting):
    """Its author has made a mistake."""

    def task_configs(self) -> Sequence[Config]:
        return [self.config] * (1 // len(()))
