"""A process under test: which callbacks of the event loop are its own, and whether they may run.

All processes of a test share one operating system process and one event loop. What belongs to which is known by a
context variable: a task, a timer, a callback and a socket of asyncio carry the context in which they were made, and so
belong to the process that made them. A process that is frozen or dead has none of its callbacks called.
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
    """What a process does."""

    RUNNING = "running"
    FROZEN = "frozen"
    """Nothing of it runs, its connections stay open."""
    BLOCKED = "blocked"
    """Its event loop is stuck; only its watchdog, a thread in a real process, looks at the clock."""
    KILLED = "killed"
    STOPPED = "stopped"


@attrs.define(eq=False)
class Process:
    """One process under test."""

    name: str
    condition: Condition = Condition.RUNNING
    is_cut: bool = False
    """Whether no packet gets through between it and the coordinator."""
    mended: asyncio.Event = attrs.Factory(asyncio.Event)
    """Set unless it is cut."""
    workers: list[Worker] = attrs.Factory(list)
    """The workers that it has started."""
    tasks: weakref.WeakSet[asyncio.Task[Any]] = attrs.Factory(weakref.WeakSet)
    transports: weakref.WeakSet[asyncio.BaseTransport] = attrs.Factory(weakref.WeakSet)
    exit_code: int | None = None
    """With what it has ended itself, at once."""
    life: int = 0
    """Grows when it is over with the process: callbacks made before are not called any more."""
    held: deque[Call] = attrs.Factory(deque)
    """Callbacks that came due while it could not run, in their order."""

    def __attrs_post_init__(self) -> None:
        self.mended.set()

    @property
    def is_held(self) -> bool:
        """Whether none of its callbacks is called. What one that has stopped has left is: its connections close."""
        return self.condition not in (Condition.RUNNING, Condition.STOPPED)

    @property
    def is_there(self) -> bool:
        """Whether it has not ended, however it is."""
        return self.condition not in (Condition.KILLED, Condition.STOPPED)

    async def end_remains(self) -> None:
        """Cancel its tasks, but for the caller, and close its connections. A task that refuses to end is forgotten."""
        tasks = [task for task in self.tasks if not task.done() and task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            _, refusing = await asyncio.wait(tasks, timeout=CLEAR_S)
            for task in refusing:
                asyncio._unregister_task(task)  # nobody waits for it when the loop is closed
                task._log_destroy_pending = False  # type: ignore[attr-defined]  # as asyncio.gather does it
        for transport in self.transports:
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()
        await asyncio.sleep(0)

    @property
    def has_threads(self) -> bool:
        """Whether threads of it run, if not its event loop."""
        return self.condition in (Condition.RUNNING, Condition.BLOCKED)

    def context(self) -> contextvars.Context:
        """A context in which what is made belongs to this process."""
        context = contextvars.copy_context()
        context.run(_current.set, self)
        return context


_current: contextvars.ContextVar[Process | None] = contextvars.ContextVar("kcoord.testing.process", default=None)


def current_process(context: contextvars.Context | None = None) -> Process | None:
    """The process that `context` belongs to, or the caller's; None: the test itself."""
    return _current.get() if context is None else context.get(_current)


class Call:
    """A callback of a process, called only while the process runs, kept while it is frozen or blocked."""

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
        """As its owner knows it: cancelled, it is not called any more."""

    def __call__(self) -> None:
        """Call it, keep it, or forget it, as its process is."""
        if not self.is_wanted:
            self.handle = None
        elif not self.process.is_held:
            self.handle = None  # which leads here: nothing shall wait for the garbage collector
            self.callback(*self.arguments)
        elif self.process.condition is not Condition.KILLED:
            self.process.held.append(self)

    @property
    def is_wanted(self) -> bool:
        """Whether its owner has not cancelled it, and its process goes on."""
        return self.life == self.process.life and not (self.handle is not None and self.handle.cancelled())
