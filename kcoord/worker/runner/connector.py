"""`Connector` and `Task`, the two classes that one writes to have something run on exactly one worker."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import attrs

from kcoord.assign import Resource, tell

T = TypeVar("T")

Config = Mapping[str, Any]
"""A connector's table in the file, without `class`."""


@attrs.frozen
class Context:
    """What a running connector or task is given."""

    resource: Resource
    config: Config
    may_run: Callable[[], bool]
    """Whether this worker may run it at this very moment. Ask before what must not be done twice: it looks at the
    clock, so it is right also just after the process was frozen.
    """

    @property
    def name(self) -> str:
        """`connector`, or `connector-0` for its first task."""
        return tell(self.resource)

    @property
    def log(self) -> logging.Logger:
        """A logger of this name."""
        return logging.getLogger(f"kcoord.run.{self.name}")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives. A cancellation waits until it is done: for a step that must not be left half done."""
    step = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait([step])
        raise


class Task(ABC):
    """A part of a connector's work; the runner makes one object for each time that it starts."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @abstractmethod
    async def run(self, context: Context) -> None:
        """Work until cancelled. The task has stopped when this ends; `to_its_end` keeps a step from being cut in two.

        An exception is logged with its traceback, and the task is started again after a second, then two, up to a
        minute. If it returns, the task is done, and is not started again.
        """


class Connector:
    """A piece of work, split into tasks. All workers make one of the same table, and must get the same tasks of it."""

    task: ClassVar[type[Task]]
    """What runs its tasks."""

    def __init__(self, config: Config) -> None:
        """Raise ValueError or KeyError for a table that is wrong."""
        self.config = config

    def task_configs(self) -> Sequence[Config]:
        """A config for each task. Of the table alone, not of what is around: `tasks` of them, 1 if it does not say."""
        count = self.config.get("tasks", 1)
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"tasks = {count!r} is no count")
        return [self.config] * count

    async def run(self, context: Context) -> None:
        """What is done once for the whole connector, on one worker, beside its tasks. Nothing, if not overridden."""
        await asyncio.Event().wait()
