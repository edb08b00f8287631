"""Running one connector or task: as an asyncio task that is restarted after a failure.

The pause after a failure is one second at first, and doubles up to a minute. After a minute without a failure it is one
second again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from enum import Enum

import attrs

from kcoord.assign import Resource
from kcoord.worker.runner.connector import Context

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0


class Condition(Enum):
    """The condition of a resource."""

    RUNNING = "running"
    FAILED = "failed"
    """It will be started again."""
    PAUSED = "paused"
    """This worker has it, and is not to run it."""
    DONE = "done"
    """Its `run` has returned."""
    STOPPING = "stopping"


@attrs.frozen
class Status:
    """The status of a resource, for people to read."""

    resource: Resource
    condition: Condition
    since: float
    """Unix time."""
    restarts: int
    error: str | None
    """The last failure, in one line."""


Run = Callable[[Context], Awaitable[None]]


class Running:
    """One resource that this worker runs."""

    def __init__(
        self, context: Context, make: Callable[[], Run], first_pause_s: float = _FIRST_PAUSE_S, *, paused: bool = False
    ) -> None:
        self._context = context
        self._paused = paused
        self._make = make
        self._first_pause_s = first_pause_s
        self._condition = Condition.RUNNING
        self._since = time.time()
        self._restarts = 0
        self._error: str | None = None
        self._leaving = False
        self._task = asyncio.create_task(self._go_on(), name=f"kcoord-run-{context.name}")

    @property
    def context(self) -> Context:
        """The context that it runs with."""
        return self._context

    @property
    def paused(self) -> bool:
        """Whether it only waits until it may run."""
        return self._paused

    @property
    def status(self) -> Status:
        """Its present status."""
        return Status(self._context.resource, self._condition, self._since, self._restarts, self._error)

    @property
    def is_failing(self) -> bool:
        """Whether it has failed and, since then, has not yet run for so long that its next failure would count as the
        first.
        """
        is_new = self._condition is Condition.RUNNING and time.time() - self._since < _LONGEST_PAUSE_S
        return self._condition is Condition.FAILED or (self._restarts > 0 and is_new)

    def cancel(self) -> None:
        """Make it stop, without waiting; `stop` waits. It is cancelled only once: a second cancellation would interrupt
        what it does in a `finally`.
        """
        if not self._leaving and not self._task.done():
            self._leaving = True
            self._turn(Condition.STOPPING)
            self._task.cancel()

    def call_when_ended(self, callback: Callable[[Running], None]) -> None:
        """Call `callback` as soon as it has ended, whether or not anybody still waits for that."""
        self._task.add_done_callback(lambda _: callback(self))

    async def stop(self) -> None:
        """Make it stop, and wait until it has."""
        self.cancel()
        await asyncio.wait([self._task])

    async def _go_on(self) -> None:
        if self._paused:
            self._turn(Condition.PAUSED)
            await asyncio.Event().wait()
        pause_s = self._first_pause_s
        while True:
            started = time.monotonic()
            try:
                await self._make()(self._context)
            except (Exception, asyncio.CancelledError) as error:
                task = asyncio.current_task()
                if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                    raise
                if self._leaving:
                    self._context.log.exception("failed while it stopped")
                    return
                if time.monotonic() - started > _LONGEST_PAUSE_S:
                    pause_s = self._first_pause_s
                self._context.log.exception("failed; it is started again in %g s", pause_s)
                self._error = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
            else:
                self._context.log.info("is done: its run has returned")
                self._turn(Condition.DONE)
                return
            self._turn(Condition.FAILED)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            self._restarts += 1
            self._turn(Condition.RUNNING)

    def _turn(self, condition: Condition) -> None:
        self._condition = condition
        self._since = time.time()
