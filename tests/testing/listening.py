"""What do the workers of these tests do? They keep a book of what they hear, and when, and work a little."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable

import attrs

from kcoord.assign import Resource
from kcoord.testing import Kcoord, run
from kcoord.worker import WorkerRebalanceListener


@attrs.define(eq=False)
class Listening(WorkerRebalanceListener):
    """Notes each call with the second in which it came, and runs a task for each resource that counts seconds."""

    kcoord: Kcoord
    heard: list[tuple[float, str, tuple[Resource, ...]]] = attrs.Factory(list)
    seconds: int = 0
    ended: int = 0
    """How many of its tasks have come to their `finally`."""
    tasks: dict[Resource, asyncio.Task[None]] = attrs.Factory(dict)

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        self._note("assigned", resources)
        for resource in resources:
            self.tasks[resource] = asyncio.create_task(self._count())

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        self._note("revoked", resources)
        await self._stop(resources)

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        self._note("lost", resources)
        await self._stop(resources)

    def calls(self) -> list[str]:
        """What it heard, without times and resources."""
        return [what for _, what, _ in self.heard]

    def _note(self, what: str, resources: frozenset[Resource]) -> None:
        self.heard.append((round(self.kcoord.now_s, 3), what, tuple(sorted(resources))))

    async def _stop(self, resources: frozenset[Resource]) -> None:
        stopping = [self.tasks.pop(resource) for resource in resources if resource in self.tasks]
        for task in stopping:
            task.cancel()
        await asyncio.gather(*stopping, return_exceptions=True)

    async def _count(self) -> None:
        try:
            while True:
                await asyncio.sleep(1)
                self.seconds += 1
        finally:
            self.ended += 1


def in_virtual_time(test: Callable[[Kcoord], Awaitable[None]]) -> Callable[[], None]:
    """Give `test` a kcoord, and run it on an event loop with virtual time."""

    async def main() -> None:
        async with Kcoord() as kcoord:
            await test(kcoord)

    def outside() -> None:
        run(main())

    functools.update_wrapper(outside, test)
    del outside.__wrapped__  # type: ignore[attr-defined]  # pytest would look for a fixture
    return outside
