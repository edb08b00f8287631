"""A process under test: which callbacks of the event loop belong to it, and whether they may run.

All processes of a test share one operating system process and one event loop. A context variable says what belongs to
which process: a task, a timer, a callback and a socket of asyncio carry the context in which they were made, so they
belong to the process that made them. If a process is frozen or dead, none of its callbacks is called.
"""

from __future__ import annotations

import asyncio
import contextvars
import weakref
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from kcoord.worker import Worker


CLEAR_S = 60.0
"""How long tasks may take to end when they are cancelled, in s."""


class Condition(Enum):
    """The condition of a process."""

    RUNNING = "running"
    FROZEN = "frozen"
    """None of its code runs. Its connections stay open."""
    BLOCKED = "blocked"
    """Its event loop is stuck. Only its watchdog, in reality a thread, still checks the clock."""
    KILLED = "killed"
    STOPPED = "stopped"


@attrs.define(eq=False)
class Process:
    """One process under test."""

    name: str
    condition: Condition = Condition.RUNNING
    is_cut: bool = False
    """Whether no packet gets through between this process and the coordinator."""
    mended: asyncio.Event = attrs.Factory(asyncio.Event)
    """Set unless the process is cut off."""
    workers: list[Worker] = attrs.Factory(list)
    """The workers that this process has started."""
    tasks: weakref.WeakSet[asyncio.Task[Any]] = attrs.Factory(weakref.WeakSet)
    transports: weakref.WeakSet[asyncio.BaseTransport] = attrs.Factory(weakref.WeakSet)
    exit_code: int | None = None
    """The exit code, if the process ended itself at once (`os._exit`)."""
    life: int = 0
    """Grows when the process is cleared away. Callbacks from before are not called any more."""
    held: deque[Call] = attrs.Factory(deque)
    """Callbacks that became due while the process could not run, in that order."""

    def __attrs_post_init__(self) -> None:
        self.mended.set()

    @property
    def is_held(self) -> bool:
        """Whether none of its callbacks is called. A stopped process's are still called, so its connections close."""
        return self.condition not in (Condition.RUNNING, Condition.STOPPED)

    @property
    def is_there(self) -> bool:
        """Whether it has neither stopped nor been killed. It may be frozen or blocked."""
        return self.condition not in (Condition.KILLED, Condition.STOPPED)

    async def end_remains(self) -> None:
        """Cancel its tasks except the caller's, and close its connections. A task that refuses to end is forgotten."""
        tasks = [task for task in self.tasks if not task.done() and task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            _, refusing = await asyncio.wait(tasks, timeout=CLEAR_S)
            for task in refusing:
                asyncio._unregister_task(task)  # so nothing waits for it when the loop is closed
                task._log_destroy_pending = False  # type: ignore[attr-defined]  # as asyncio.gather does it
        for transport in self.transports:
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()
        await asyncio.sleep(0)

    @property
    def has_threads(self) -> bool:
        """Whether its threads run, even if its event loop does not."""
        return self.condition in (Condition.RUNNING, Condition.BLOCKED)

    def context(self) -> contextvars.Context:
        """A context: whatever is made in it belongs to this process."""
        context = contextvars.copy_context()
        context.run(_current.set, self)
        return context


_current: contextvars.ContextVar[Process | None] = contextvars.ContextVar("kcoord.testing.process", default=None)


def current_process(context: contextvars.Context | None = None) -> Process | None:
    """The process that `context`, by default the caller's context, belongs to. None: the test itself."""
    return _current.get() if context is None else context.get(_current)


class Call:
    """A callback of a process. It is called only while the process runs, and kept while it is frozen or blocked."""

    __slots__ = ("arguments", "callback", "context", "handle", "life", "process")

    def __init__(
        self,
        process: Process,
        callback: Callable[..., object],
        arguments: tuple[Any, ...],
        context: contextvars.Context | None,
    ) -> None:
        self.process = process
        self.life = process.life
        self.callback = callback
        self.arguments = arguments
        self.context = context
        self.handle: asyncio.Handle | None = None
        """The handle that the callback's owner has. If the owner cancels it, the callback is not called any more."""

    def __call__(self) -> None:
        """Call the callback, keep it or drop it, depending on the condition of its process."""
        if not self.is_wanted:
            self.handle = None
        elif not self.process.is_held:
            self.handle = None  # breaks a cycle of references, so that nothing has to wait for the garbage collector
            self.callback(*self.arguments)
        elif self.process.condition is not Condition.KILLED:
            self.process.held.append(self)

    @property
    def is_wanted(self) -> bool:
        """Whether its owner has not cancelled it, and its process was not cleared away."""
        return self.life == self.process.life and not (self.handle is not None and self.handle.cancelled())
