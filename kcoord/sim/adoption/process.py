"""A simulated process: the tasks and connections that belong to it, so that it can be killed at any time."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any, Protocol


class OwnEnd(Protocol):
    """A process's end of a connection."""

    def die(self) -> None: ...
    def sever(self) -> None: ...


class Process:
    """One life of a process. Once dead, it reads and writes nothing any more. What it does until it has ended reaches
    nobody.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.ends: dict[OwnEnd, None] = {}
        """Its ends of open connections."""
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self.context = contextvars.Context()
        self.context.run(_current.set, self)

    def adopt_task(self, task: asyncio.Task[Any]) -> None:
        """The task belongs to this process."""
        self._tasks[task] = None
        task.add_done_callback(self._forget, context=contextvars.Context())

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            task.exception()

    def kill(self) -> None:
        """The process is dead from now on. Its connections end."""
        if self.is_dead:
            return
        self.is_dead = True
        for end in list(self.ends):
            end.die()
        for task in list(self._tasks):
            task.cancel()


_current: contextvars.ContextVar[Process | None] = contextvars.ContextVar("kcoord.sim.adoption.process", default=None)


def current_process(context: contextvars.Context | None = None) -> Process | None:
    """The process that `context`, by default the caller's context, belongs to. None: the run itself."""
    return _current.get() if context is None else context.get(_current)
