"""Whose turn it is: the application's, which works on records, or that of its callbacks.

Callbacks are called while the application waits in a poll, and a poll does not end before they have returned. So
nothing is in work when partitions are revoked, as in Java's consumer, which makes its callbacks inside of `poll`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Turns:
    """The turns of one consumer."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        """Is set when a poll that waits for records has to look around."""
        self._polled = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._callbacks = 0
        self._is_over = False

    @property
    def has_callbacks(self) -> bool:
        """Whether a callback wants its turn, or has it."""
        return self._callbacks > 0

    def begin_poll(self) -> None:
        """The application polls."""
        self._polled.set()

    def end_poll(self) -> None:
        """The application goes on with what the poll has brought."""
        if not self._is_over:
            self._polled.clear()

    def end(self) -> None:
        """The application polls no more. All callbacks may be called."""
        self._is_over = True
        self._polled.set()

    async def quiet(self) -> None:
        """Wait until no callback wants its turn."""
        await self._quiet.wait()

    @contextlib.asynccontextmanager
    async def callback(self, *, at_once: bool = False) -> AsyncIterator[None]:
        """Wait until the application polls, and keep it there. `at_once`: do not wait for it."""
        self._callbacks += 1
        self._quiet.clear()
        self.news.set()
        try:
            if not at_once:
                await self._polled.wait()
            yield
        finally:
            self._callbacks -= 1
            if not self._callbacks:
                self._quiet.set()
