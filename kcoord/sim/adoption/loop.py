"""An event loop on virtual time, without sockets: time jumps to the next timer when nothing else can be done."""

from __future__ import annotations

import asyncio
import contextvars
import math
from collections.abc import Callable
from typing import Any

from kcoord.sim.adoption.process import Process, current_process
from kcoord.sim.basis.violation import Violation

BEGIN_S = 1_000.0
"""What `loop.time()` says at the beginning, in s."""
LONGEST_S = 3_600
"""How long a run may take, in s of virtual time."""


class SimLoop(asyncio.BaseEventLoop):
    """The loop of one run. `connect` makes its connections."""

    connect: Callable[..., Any]

    def __init__(self) -> None:
        self._now_us = round(BEGIN_S * 1e6)
        self._selector = _Selector(self)
        super().__init__()
        self._clock_resolution = 1e-7

    @property
    def now_ms(self) -> int:
        """Virtual time since the run began."""
        return (self._now_us - round(BEGIN_S * 1e6)) // 1000

    def time(self) -> float:
        """Virtual time in s."""
        return self._now_us / 1e6

    def time_ns(self) -> int:
        """Virtual time in ns."""
        return self._now_us * 1000

    def pass_time(self, timeout_s: float | None) -> None:
        """There is nothing to do for this long: let the time pass."""
        if timeout_s is None or self.now_ms > LONGEST_S * 1000:
            raise Violation("stuck", "nothing is under way, or the run comes to no end")
        self._now_us = max(self._now_us, math.ceil(round((self.time() + timeout_s) * 1e6, 2)))

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """See AbstractEventLoop. The task belongs to the process that makes it."""
        task = super().create_task(coro, **options)
        process = current_process(options.get("context"))
        if process is not None:
            process.adopt_task(task)
        return task

    def run_for(self, process: Process, work: Any) -> asyncio.Task[Any]:
        """A task of that process."""
        return self.create_task(work, context=process.context)

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        """See AbstractEventLoop."""
        return await self.connect(protocol_factory, (host, port))

    def later(self, delay_s: float, call: Callable[..., object], *what: Any) -> None:
        """Call something that belongs to no process."""
        self.call_later(delay_s, call, *what, context=contextvars.Context())

    def _process_events(self, event_list: Any) -> None: ...
    def _write_to_self(self) -> None: ...


class _Selector:
    """A selector that waits for nothing but time."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        """See selectors.BaseSelector."""
        if timeout is None or timeout > 0:
            self._loop.pass_time(timeout)
        return []
