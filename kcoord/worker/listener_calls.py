"""Calls of a listener: one after the other, and an interruption when everything must stop at once.

One task makes the calls. `interrupt` cancels the call that is running, forgets those that wait, and makes the last one;
nothing else is started until it is done.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]

AWAITED_CANCELLED = "It awaited a task that was cancelled: await asyncio.gather(task, return_exceptions=True) instead"
"""What to tell a program whose function has failed with CancelledError."""


async def failure_of(work: Work) -> BaseException | None:
    """What a program's function raised; None: nothing. CancelledError is one: the function awaited a task that was
    cancelled. Raises CancelledError if it is the caller that is cancelled.
    """
    try:
        await work()
    except Exception as error:
        return error
    except asyncio.CancelledError as error:
        running = asyncio.current_task()
        if running is not None and running.cancelling():
            raise
        return error
    return None


class Calls:
    """The calls of one listener, one after the other."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[str, Work]] = deque()
        self._running: asyncio.Task[None] | None = None
        self._doomed: set[asyncio.Task[None]] = set()
        """Calls that were cancelled and have not ended: their resources may still run."""

    def add(self, name: str, work: Work) -> None:
        """Make this call after the earlier ones."""
        self._waiting.append((name, work))
        self._run_next()

    def interrupt(self, name: str, work: Work) -> None:
        """Cancel the call that is running, forget those that wait, and make this call at once.

        Before `work` reports that everything has stopped, it must await `doomed_ended`: a cancelled call may go on.
        """
        self._waiting.clear()
        if self._running is not None and not self._running.done():
            self._running.cancel()
            self._doomed.add(self._running)
        self._running = None
        self.add(name, work)

    async def doomed_ended(self) -> None:
        """Wait until the calls that were cancelled have ended."""
        if self._doomed:
            await asyncio.wait(set(self._doomed))
            self._doomed.clear()

    async def close(self) -> None:
        """Cancel all calls."""
        self._waiting.clear()
        running = [task for task in (self._running, *self._doomed) if task is not None and not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=1)

    def _run_next(self) -> None:
        if (self._running is None or self._running.done()) and self._waiting:
            name, work = self._waiting.popleft()
            self._running = asyncio.create_task(self._make(name, work))
            self._running.add_done_callback(lambda _: self._run_next())

    async def _make(self, name: str, work: Work) -> None:
        try:
            await work()
        except Exception:
            _log.exception("%s failed", name)
