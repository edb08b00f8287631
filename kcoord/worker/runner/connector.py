"""`Connector` and `Task`: the two classes to write for work that runs on exactly one worker."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import attrs

from kcoord.assign import Resource, tell
from kcoord.resource import resource_of

T = TypeVar("T")

Config = Mapping[str, Any]
"""A connector's table in the file, without `class`."""


@attrs.frozen
class Context:
    """What a running connector or task gets."""

    resource: Resource = attrs.field(converter=resource_of)
    config: Config
    may_run: Callable[[], bool]
    """Whether this worker may run it at this very moment. Ask before each step that must not be done twice. The answer
    comes from the clock, so it is right even just after the process was frozen.
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
    """Run `work` to its end and return its result. A cancellation waits until it is done: for a step that must not be
    left half done.
    """
    step = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait([step])
        raise


class Task(ABC):
    """A part of a connector's work. The runner makes a new object each time it starts the task."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @abstractmethod
    async def run(self, context: Context) -> None:
        """Work until cancelled. The task has stopped when this method ends; `to_its_end` protects a step that must not
        be interrupted.

        An exception is logged with its traceback, and the task is started again after a second, then two, up to a
        minute. If the method returns, the task is done, and is not started again.
        """


class Connector:
    """A piece of work, split into tasks. Each worker makes one from the same table, and must get the same tasks from
    it.
    """

    task: ClassVar[type[Task]]
    """The class of its tasks."""

    def __init__(self, config: Config) -> None:
        """Raise ValueError or KeyError if the table is wrong."""
        self.config = config

    def task_configs(self) -> Sequence[Config]:
        """A config for each task. It must depend on the table alone, not on the machine or the time. By default there
        are `tasks` of them, or 1 if the table has no `tasks`.
        """
        count = self.config.get("tasks", 1)
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"tasks = {count!r} is not a number of tasks")
        return [self.config] * count

    async def run(self, context: Context) -> None:
        """Work that is done once for the whole connector, on one worker, beside its tasks. Does nothing unless
        overridden.
        """
        await asyncio.Event().wait()
