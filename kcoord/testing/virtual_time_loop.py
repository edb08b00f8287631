"""An event loop with virtual time: the clock stands still while anything can be done, then jumps to the next timer.

`loop.time()`, and with it `asyncio.sleep` and all timeouts, follow the virtual clock. Rules:

1. Time passes only when no callback is ready, nothing is on its way on a connection to the coordinator, and no function
   runs in an executor (`asyncio.to_thread`).
2. What is sent in one turn of the loop arrives before the next turn begins. It is read in the order in which the
   connections were made. So a test runs the same way each time.
3. Callbacks that belong to a process under test are called only while that process runs (`process`).
4. If too much time passes that nobody asked for, `TimeRanAway` ends the test. So a test that waits for something that
   never happens ends too.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import math
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

from kcoord.testing.errors import TestingError, TimeRanAway
from kcoord.testing.loopback_network import LOOPBACK, Network
from kcoord.testing.process import Call, Process, current_process
from kcoord.testing.wait_location import wait_location

if TYPE_CHECKING:
    from _typeshed import HasFileno

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_Events = list[tuple[selectors.SelectorKey, int]]

BEGIN_S = 1_000_000.0
"""What `loop.time()` says at the beginning, in s."""
LOST_AFTER_S = 30.0
"""Real time in s after which bytes on their way are taken to be lost."""
LOOK_S = 0.0001
"""Real time in s between two checks whether they have arrived."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when there is nothing to do. Times are in s."""

    def __init__(self) -> None:
        self.network = Network()
        self.jumps = 0
        """How many times the clock has jumped."""
        self.may_reach_s = math.inf
        """How far time may pass. If it would pass beyond, the test waits for something that never happens."""
        self.waits_for: asyncio.Future[Any] | None = None
        """The latest argument of `run_until_complete`: in a test, the test itself."""
        self._now_us = round(BEGIN_S * 1e6)
        self._working = 0
        self._idle: list[tuple[int, asyncio.Future[None]]] = []
        self._selecting = _Selector(self)
        super().__init__(self._selecting)

    # Time

    def time(self) -> float:
        """Virtual time in s."""
        return self._now_us / 1e6

    def time_ns(self) -> int:
        """Virtual time in ns."""
        return self._now_us * 1000

    async def idle(self) -> None:
        """Return when everything is done that can be done at this moment."""
        await self._when_idle(self.jumps)

    async def next_moment(self) -> None:
        """Return when time has jumped to the next timer, however far, and everything due is done."""
        await self._when_idle(self.jumps + 1)

    async def _when_idle(self, jumps: int) -> None:
        idle: asyncio.Future[None] = self.create_future()
        self._idle.append((jumps, idle))
        await idle

    def nothing_to_do(self, timeout_s: float) -> None:
        """Wake those who wait for the loop to be idle. If nobody does, let time pass. The selector calls this."""
        waiting, self._idle = self._idle, []
        told = False
        for jumps, idle in waiting:
            if self.jumps < jumps:
                self._idle.append((jumps, idle))
            elif not idle.done():
                idle.set_result(None)
                told = True
        if not told:
            self._jump(timeout_s)

    def _jump(self, timeout_s: float) -> None:
        reached_s = self.time() + timeout_s
        if reached_s > self.may_reach_s:
            limit_s, self.may_reach_s = self.may_reach_s, math.inf
            raise TimeRanAway(limit_s - BEGIN_S, wait_location(self.waits_for))
        self.jumps += 1
        self._now_us = max(self._now_us, math.ceil(round(reached_s * 1e6, 2)))

    @property
    def is_working(self) -> bool:
        """Whether a function runs in an executor."""
        return self._working > 0

    # Which callbacks run, see asyncio.AbstractEventLoop

    def run_until_complete(self, future: Any) -> Any:
        self.waits_for = asyncio.ensure_future(future, loop=self)
        return super().run_until_complete(self.waits_for)

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        call = _call(callback, args, context)
        if call is None:
            return super().call_soon(callback, *args, context=context)
        call.handle = super().call_soon(call, context=call.context)
        return call.handle

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        call = _call(callback, args, context)
        if call is None:
            return super().call_soon_threadsafe(callback, *args, context=context)
        call.handle = super().call_soon_threadsafe(call, context=call.context)
        return call.handle

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        call = _call(callback, args, context)
        if call is None:
            return super().call_at(when, callback, *args, context=context)
        handle = super().call_at(when, call, context=call.context)
        call.handle = handle
        return handle

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, **options)
        process = current_process(options.get("context"))
        if process is not None:
            process.tasks.add(task)
        return task

    def go_on(self, process: Process) -> None:
        """Schedule the callbacks that became due while `process` could not run, in that order."""
        held = list(process.held)
        process.held.clear()
        for call in held:
            super().call_soon(call, context=call.context)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._working += 1
        future.add_done_callback(self._has_worked, context=contextvars.Context())
        return future

    def _has_worked(self, _done: object) -> None:
        self._working -= 1

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        self._working += 1  # its threads end in real time, but the timeout would be virtual
        try:
            await super().shutdown_default_executor()
        finally:
            self._working -= 1

    # Connections

    def add_reader(self, fd: int | HasFileno, callback: Callable[[Unpack[Ts]], Any], *args: *Ts) -> None:
        number = fd if isinstance(fd, int) else fd.fileno()
        if not self.network.listens(number):
            super().add_reader(fd, callback, *args)
            return

        def accept() -> None:
            callback(*args)
            self.network.has_accepted(number)

        super().add_reader(fd, accept)

    def remove_reader(self, fd: int | HasFileno) -> bool:
        self.network.ignores(fd if isinstance(fd, int) else fd.fileno())
        return super().remove_reader(fd)

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        process = current_process()
        if process is not None and process.is_cut:
            await process.mended.wait()
        if host in (LOOPBACK, "localhost") and port in self.network.ports and options.get("sock") is None:
            options["sock"] = self.network.connect(port, process)
            if options.get("ssl") and not options.get("server_hostname"):
                options["server_hostname"] = host
            host = port = None
        transport, protocol = await super().create_connection(protocol_factory, host, port, **options)
        if process is not None:
            process.transports.add(transport)
        return transport, protocol

    async def connect_accepted_socket(self, protocol_factory: Any, sock: Any, **options: Any) -> Any:
        accepted = self.network.accepted(sock)
        try:
            return await super().connect_accepted_socket(protocol_factory, accepted, **options)
        except BaseException:
            accepted.close()
            raise


class _Selector(selectors.DefaultSelector):
    """A selector that never waits while time could pass: bytes on their way arrive, then the clock jumps."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop
        self._numbers = itertools.count()
        self._known: dict[int, tuple[int, Process | None]] = {}
        """File descriptor → a running number, and the process that it belongs to."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        key = super().register(fileobj, events, data)
        self._known[key.fd] = next(self._numbers), current_process()
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        key = super().unregister(fileobj)
        self._known.pop(key.fd, None)
        return key

    def select(self, timeout: float | None = None) -> _Events:
        is_idle = timeout is None or timeout > 0
        events = self._arrived(is_idle)
        if events or not is_idle:
            return events
        if timeout is None or self._loop.is_working:
            return self._wait()
        self._loop.nothing_to_do(timeout)
        return []

    def _arrived(self, is_idle: bool) -> _Events:
        """What can be read and written now, including everything that is on its way."""
        lost_at_s: float | None = None
        while True:
            events = self._look(0)
            there = {key.fd for key, _ in events}
            awaited = self._loop.network.awaited(is_idle=is_idle and not events)
            missing = [fd for fd in awaited if fd not in there and self._reads(fd)]
            if not missing:
                return events
            now_s = time.monotonic()
            lost_at_s = lost_at_s or now_s + LOST_AFTER_S
            if now_s > lost_at_s:
                raise TestingError(f"bytes sent to {len(missing)} connections of this machine do not arrive")
            time.sleep(LOOK_S)

    def _reads(self, fd: int) -> bool:
        key = self.get_map().get(fd)
        return key is not None and bool(key.events & selectors.EVENT_READ) and not self._is_held(fd)

    def _wait(self) -> _Events:
        """Wait in real time for another thread."""
        while True:
            events = self._look(0.05)
            if events:
                return events
            time.sleep(LOOK_S)  # while something is held, super().select() returns at once, again and again

    def _look(self, timeout: float) -> _Events:
        events = [(key, mask) for key, mask in super().select(timeout) if not self._is_held(key.fd)]
        events.sort(key=lambda event: self._known[event[0].fd][0])
        return events

    def _is_held(self, fd: int) -> bool:
        """Whether the descriptor belongs to a process that does not run, or to a connection that is cut."""
        process = self._known[fd][1]
        return (process is not None and process.is_held) or self._loop.network.is_cut(fd)


def _call(
    callback: Callable[..., object], arguments: tuple[Any, ...], context: contextvars.Context | None
) -> Call | None:
    """The callback as a `Call` of the process that `context`, or the caller, belongs to. None if that is the test."""
    process = current_process(context)
    return None if process is None else Call(process, callback, arguments, context or contextvars.copy_context())
