"""Substitutes for what kcoord takes from the machine while a test runs: clocks, watchdog threads, random numbers.

A module that reads a clock does so through the module `time`. In the modules named here, that name means the virtual
clock instead. Nothing else in the process sees it: pytest and the code under test keep the real `time`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib
import random
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from kcoord.testing.process import Process, current_process
from kcoord.testing.virtual_time_loop import BEGIN_S, VirtualTimeLoop

CLOCKED = ("kcoord.log.clock", "kcoord.server.clock", "kcoord.worker.clock", "kcoord.worker.runner.running")
"""The modules that get the virtual clock."""
EPOCH_NS = 1_767_225_600 * 10**9
"""The time of day when a test begins, in Unix ns: 1 January 2026, 00:00 UTC."""
LOOK_S = 0.25
"""How often a watchdog checks the clock, in s."""


class VirtualTime:
    """The clocks of the module `time`, on the virtual clock of `loop`. In a module under test that reads a clock, put
    this in place of `time`.
    """

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic_ns(self) -> int:
        """See time.monotonic_ns."""
        return self._loop.time_ns()

    def monotonic(self) -> float:
        """See time.monotonic."""
        return self._loop.time()

    def perf_counter(self) -> float:
        """See time.perf_counter."""
        return self._loop.time()

    def clock_gettime_ns(self, clock: int) -> int:
        """See time.clock_gettime_ns."""
        is_time_of_day = clock == getattr(time, "CLOCK_REALTIME", None)
        return self.time_ns() if is_time_of_day else self.monotonic_ns()

    def time_ns(self) -> int:
        """See time.time_ns."""
        return EPOCH_NS + self._loop.time_ns() - round(BEGIN_S * 1e9)

    def time(self) -> float:
        """See time.time."""
        return self.time_ns() / 1e9


class SeededSecrets:
    """What a worker uses of the module `secrets`, the same in each run of a test."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def SystemRandom(self) -> random.Random:  # noqa: N802  the module's own name
        """See secrets.SystemRandom."""
        return self._random

    def token_hex(self, size: int) -> str:
        """See secrets.token_hex."""
        return self._random.randbytes(size).hex()


def seeded_ids(seed: int) -> Iterator[str]:
    """The unique parts of the member ids that the coordinator gives out, the same in each run of a test."""
    numbers = random.Random(seed)
    while True:
        yield str(uuid.UUID(int=numbers.getrandbits(128), version=4))


class LoopWatchdog:
    """A worker's watchdog on the virtual clock, see `kcoord.worker.watchdog`. Like a thread, it still checks while the
    event loop of its process is blocked, and not while the process is frozen.
    """

    def __init__(
        self,
        on_start: Callable[[LoopWatchdog], None],
        overdue: Callable[[], bool],
        act: Callable[[], None],
        late_ms: Callable[[], int],
    ) -> None:
        """`late_ms` is ignored: the one event loop of a test is never stuck in the code of one process."""
        self.overdue = overdue
        self.process: Process | None = current_process()
        """The process that its worker belongs to."""
        self.is_stopped = False
        self._on_start = on_start
        self._act = act
        self._has_acted = False
        self._context = contextvars.copy_context()

    def start(self) -> None:
        """Begin to check."""
        self._on_start(self)
        self._look()

    def stop(self) -> None:
        """Check no more."""
        self.is_stopped = True

    def _look(self) -> None:
        if self.is_stopped or (self.process is not None and not self.process.is_there):
            return
        if self.process is None or self.process.has_threads:
            overdue = self.overdue()
            if overdue and not self._has_acted:
                self._context.run(self._act)
            self._has_acted = overdue
        asyncio.get_running_loop().call_later(LOOK_S, self._look, context=contextvars.Context())


class LoopTimer:
    """A `threading.Timer` on the virtual clock. Like a thread, it runs while the loop of its process is blocked."""

    def __init__(self, interval: float, function: Callable[..., object], arguments: Sequence[Any]) -> None:
        self.daemon = True
        self._interval = interval
        self._function = function
        self._arguments = arguments
        self._process = current_process()
        self._context = contextvars.copy_context()

    def start(self) -> None:
        """See threading.Timer."""
        asyncio.get_running_loop().call_later(self._interval, self._call, context=contextvars.Context())

    def _call(self) -> None:
        if self._process is None or self._process.has_threads:
            self._context.run(self._function, *self._arguments)


class Threads:
    """What a runner uses of the module `threading`."""

    Timer = LoopTimer


class System:
    """What a runner uses of the module `os`: `_exit` ends the process under test."""

    def __init__(self, on_exit: Callable[[Process | None, int], None]) -> None:
        self._on_exit = on_exit

    def _exit(self, code: int) -> None:
        self._on_exit(current_process(), code)


class NoSignals:
    """What a worker uses of signals, without effect: signals to the test's process are not for a process under test."""

    def watch(self, on_signal: Callable[..., None]) -> None:
        """See StopSignals.watch."""


@contextlib.contextmanager
def replaced(
    loop: VirtualTimeLoop,
    seed: int,
    on_watchdog: Callable[[LoopWatchdog], None],
    on_exit: Callable[[Process | None, int], None],
) -> Iterator[None]:
    """Replace all of this in kcoord's modules. `on_watchdog` is called with each worker's watchdog when it starts,
    `on_exit` with each process that ends itself at once, and its exit code.
    """
    clock = VirtualTime(loop)
    instead: list[tuple[str, str, object]] = [(name, "time", clock) for name in CLOCKED]
    instead.append(("kcoord.worker.worker", "Watchdog", partial(LoopWatchdog, on_watchdog)))
    instead.append(("kcoord.worker.worker", "STOP_SIGNALS", NoSignals()))
    instead.append(("kcoord.worker.worker", "secrets", SeededSecrets(seed)))
    instead.append(("kcoord.worker.runner.runner", "threading", Threads()))
    instead.append(("kcoord.worker.runner.runner", "os", System(on_exit)))
    with contextlib.ExitStack() as stack:
        for name, attribute, value in instead:
            module = importlib.import_module(name)
            stack.callback(setattr, module, attribute, getattr(module, attribute))
            setattr(module, attribute, value)
        yield
