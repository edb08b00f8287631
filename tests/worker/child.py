"""A worker in a process of its own, which a test can freeze and kill.

Each of its resources ticks, and writes each tick with the time into a file that all children share: the test reads
there who ran what when. Arguments: bootstrap address, group, name, the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

from kcoord.assign import Resource, tell
from kcoord.worker import Configured, Worker, WorkerRebalanceListener
from kcoord.worker.clock import now_ms

TICK_S = 0.02
RESOURCES = frozenset({("a", -1), ("a", 0), ("a", 1), ("b", -1), ("b", 0), ("b", 1)})


class Ticking(WorkerRebalanceListener):
    """Runs a task for each resource."""

    def __init__(self, name: str, file: Path) -> None:
        self.name = name
        self.worker: Worker | None = None
        self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._tasks: dict[Resource, asyncio.Task[None]] = {}

    def note(self, what: str, resource: str, at_ms: int | None = None) -> None:
        """One line, written at once and as a whole: time, worker, what, resource."""
        os.write(self._file, f"{now_ms() if at_ms is None else at_ms} {self.name} {what} {resource}\n".encode())

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        for resource in resources:
            self.note("start", tell(resource))
            self._tasks[resource] = asyncio.create_task(self._tick(resource))

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        for resource in resources:
            task = self._tasks.pop(resource, None)
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                self.note("stop", tell(resource))

    async def _tick(self, resource: Resource) -> None:
        assert self.worker is not None
        while True:
            looked_ms = now_ms()  # a process may be frozen between a look and a deed: no library can help that
            if self.worker.may_run(resource):
                self.note("tick", tell(resource), looked_ms)
            await asyncio.sleep(TICK_S)


async def main(bootstrap: str, group: str, name: str, file: str, instance: str | None = None) -> None:
    """Run until the standard input ends."""
    listener = Ticking(name, Path(file))
    worker = Worker(
        bootstrap,
        group,
        listener=listener,
        url=f"http://{name}",
        instance_id=instance,
        configured=Configured(1, RESOURCES),
    )
    listener.worker = worker
    async with worker:
        await asyncio.to_thread(sys.stdin.read)
    listener.note("left", "-")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
