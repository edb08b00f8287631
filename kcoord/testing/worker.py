"""A worker under test: a process that runs a `Worker`, or a program that makes its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from kcoord.assign import Resource
from kcoord.testing.failures import Failures
from kcoord.testing.process import Condition, Process
from kcoord.testing.wait_location import wait_location
from kcoord.worker import Worker, WorkerError, WorkerRebalanceListener


class TestedWorker:
    """One worker of a test. `name` is its name, `listener` is the listener that it was started with."""

    __test__ = False

    def __init__(self, name: str, process: Process, failures: Failures) -> None:
        self.name = name
        self.process = process
        self.listener: Any = None
        self.joined = asyncio.Event()
        """Set when the worker has become a member for the first time."""
        self._failures = failures
        self._stop = asyncio.Event()
        self._serves = False
        self._main: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<worker {self.name}, {self.process.condition.value}>"

    @property
    def runs(self) -> frozenset[Resource]:
        """What may be running here, as the worker itself knows it. Empty if it was killed or has stopped."""
        if not self.process.is_there:
            return frozenset()
        return frozenset().union(*(_owned(worker) for worker in self.process.workers))

    @property
    def worker(self) -> Worker:
        """The `Worker` that runs here; the last one if the program has made several."""
        return self.process.workers[-1]

    @property
    def main(self) -> asyncio.Task[None]:
        """The task that runs the worker's program."""
        assert self._main is not None
        return self._main

    # What `Kcoord` does with a worker

    def begin(self, program: Callable[[], Awaitable[object]], listener: WorkerRebalanceListener | None) -> None:
        """Run `program()` as this process."""
        self.listener = listener
        self._serves = listener is not None
        loop = asyncio.get_running_loop()
        self._main = loop.create_task(self._run(program), name=f"worker {self.name}", context=self.process.context())

    async def serve(self, worker: Worker) -> None:
        """Be a member until `ask_to_stop`, or until `worker` ends."""
        async with worker:
            await worker.joined()
            self.joined.set()
            stop = asyncio.ensure_future(self._stop.wait())
            gone = asyncio.ensure_future(worker.wait())
            try:
                await asyncio.wait([stop, gone], return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    await gone
            finally:
                stop.cancel()
                gone.cancel()

    async def _run(self, program: Callable[[], Awaitable[object]]) -> None:
        try:
            await program()
        except WorkerError as error:
            self._failures.add(f"worker {self.name} may not be a member", error)
        except Exception as error:
            self._failures.add(f"the program of worker {self.name} has ended", error)
        finally:
            if self.process.condition is Condition.RUNNING:
                await self.process.end_remains()
                self.process.condition = Condition.STOPPED

    def tell_configured(self) -> None:
        """Let its workers report the configured resources to the coordinator at once."""
        if self.process.is_held or not self._serves:
            return
        context = self.process.context()
        for worker in self.process.workers:
            if self.joined.is_set() and not self._stop.is_set():
                context.run(worker.configured_changed)

    def ask_to_stop(self) -> None:
        """Ask it to stop, as SIGTERM would: a `Worker` stops and leaves, a program is cancelled."""
        if self._serves:
            self._stop.set()
        else:
            self.main.cancel()

    def where(self) -> str:
        """Where the code of this process waits."""
        places = {wait_location(task) for task in self.process.tasks} - {""}
        return ", ".join(sorted(places)) or "an unknown place"

    def report_failed_tasks(self) -> None:
        """Report the tasks that failed and that nothing awaits."""
        for task in self.process.tasks:
            if task.done() and task._log_traceback:  # asyncio's own mark for that
                error = task.exception()
                assert error is not None
                self._failures.add(f"worker {self.name}: a task that nobody awaits failed, {task.get_name()}", error)

    async def clear_away(self) -> None:
        """Cancel whatever a killed process, or one that could not stop, left in memory. None of it reaches anybody."""
        process = self.process
        if process.condition is Condition.STOPPED:
            return
        process.is_cut = True
        process.mended.clear()
        process.held.clear()
        process.life += 1
        for worker in process.workers:
            worker._shell = None  # the worker takes itself for closed, and so does not call its listener any more
        process.condition = Condition.STOPPED
        await process.end_remains()
        await asyncio.sleep(0)
        process.condition = Condition.KILLED


def _owned(worker: Worker) -> frozenset[Resource]:
    try:
        return worker.owned
    except WorkerError:  # it has ended
        return frozenset()
