"""SIGTERM and SIGINT: the workers of this process leave their groups before the signal ends it.

- A handler is installed while a worker runs in the main thread, and only in place of one that Python or asyncio.run has
  installed. A handler of the program itself is left alone.
- The first signal makes all workers leave. The earlier handlers are put back when the last worker is closed.
- A second signal ends the process at once, also while the event loop is blocked.
- If the program does not wait in `Worker.wait()`, it cannot learn of the signal. Then the signal is raised again when
  the workers have left, and has the effect that it would have had without them.
- Nothing is installed while pytest runs a test: Ctrl-C is pytest's own there.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Watch:
    """One worker that is to be told of signals."""

    def __init__(
        self, signals: StopSignals, loop: asyncio.AbstractEventLoop, on_signal: Callable[[signal.Signals], None]
    ) -> None:
        self._signals = signals
        self.loop = loop
        self.on_signal = on_signal

    def left(self, *, was_awaited: bool) -> None:
        """The worker has left because of a signal. `was_awaited`: the program is in `wait()`, so it learns of the
        signal.
        """
        self._signals.left(self, was_awaited=was_awaited)

    def close(self, *, was_awaited: bool) -> None:
        """The worker is closed; `was_awaited` as in `left`, which may not have been called yet."""
        self._signals.forget(self, was_awaited=was_awaited)


class StopSignals:
    """The signal handlers of this process, and the workers that they tell."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []
        self._previous: dict[signal.Signals, Any] = {}
        """The earlier handler of each signal, while a handler of this object is installed."""
        self._process_id = 0
        self._came: signal.Signals | None = None
        """The first signal, from its arrival until all workers are closed."""
        self._leaving: set[Watch] = set()
        self._was_awaited = False

    def watch(self, on_signal: Callable[[signal.Signals], None]) -> Watch:
        """Call `on_signal` in the running event loop when a signal comes, if a handler may be installed here."""
        watch = Watch(self, asyncio.get_running_loop(), on_signal)
        if threading.current_thread() is threading.main_thread() and not _runs_in_pytest():
            self._watches.append(watch)
            if self._came is None:
                self._install()
        return watch

    def left(self, watch: Watch, *, was_awaited: bool) -> None:
        """See Watch.left."""
        self._was_awaited |= was_awaited
        self._leaving.discard(watch)
        self._raise_again()

    def forget(self, watch: Watch, *, was_awaited: bool) -> None:
        """See Watch.close."""
        if watch not in self._watches:
            return
        self._was_awaited |= was_awaited
        self._watches.remove(watch)
        self._leaving.discard(watch)
        self._raise_again()
        if not self._watches:
            self._restore()
            self._came = None
            self._was_awaited = False

    def _raise_again(self) -> None:
        """Once all workers have left, raise the signal again if the program does not learn of it: it is to have its
        usual effect.
        """
        if self._came is not None and not self._leaving and not self._was_awaited:
            self._was_awaited = True
            self._restore()
            signal.raise_signal(self._came)

    def _install(self) -> None:
        self._process_id = os.getpid()
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if number not in self._previous and _is_default(number, handler):
                with contextlib.suppress(ValueError):  # not the main interpreter
                    signal.signal(number, self._handle)
                    self._previous[number] = handler

    def _restore(self) -> None:
        """Put back the earlier handlers, unless the program has installed one meanwhile."""
        for number, handler in self._previous.items():
            if signal.getsignal(number) in (self._handle, _SECOND):
                signal.signal(number, handler)
        self._previous.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """The signal handler. It runs between any two lines of the program, so it must not log, nor wait for
        anything.
        """
        if os.getpid() != self._process_id:  # a fork of the process that has the workers
            self._restore()
            signal.raise_signal(number)
            return
        self._came = signal.Signals(number)
        self._leaving = set(self._watches)
        for each in self._previous:
            if signal.getsignal(each) == self._handle:
                signal.signal(each, _SECOND)
        for watch in tuple(self._watches):
            with contextlib.suppress(RuntimeError):  # its loop is closed
                watch.loop.call_soon_threadsafe(watch.on_signal, self._came)


def _is_default(number: signal.Signals, handler: Any) -> bool:
    """Whether Python itself or asyncio.run has installed `handler`."""
    if number != signal.SIGINT:
        return bool(handler == signal.SIG_DFL)
    if isinstance(handler, functools.partial):
        return isinstance(getattr(handler.func, "__self__", None), asyncio.Runner)
    return handler is signal.default_int_handler


def _runs_in_pytest() -> bool:
    """Whether a test runs in this process. A child process of a test has the variable too, but not the module."""
    return "PYTEST_CURRENT_TEST" in os.environ and "pytest" in sys.modules


def _end_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


_SECOND: Any = _end_at_once if os.getpid() == 1 else signal.SIG_DFL
"""The handler for a second signal. Linux does not let SIG_DFL end a container's first process."""

STOP_SIGNALS = StopSignals()
"""The signal handlers of this process."""
