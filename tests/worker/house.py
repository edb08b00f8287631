"""What do several workers of one test run? One book for all of them, which refuses that anything runs twice."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable

import attrs

from kcoord.assign import Resource
from kcoord.worker import WorkerRebalanceListener
from tests.worker.driver import resources, told


@attrs.define
class House:
    """All that runs, by whom."""

    running: dict[Resource, str] = attrs.Factory(dict)
    twice: list[str] = attrs.Factory(list)
    """What was started while it ran: must stay empty."""
    starts: Counter[str] = attrs.Factory(Counter)
    """Worker → how many resources it has started."""
    _changed: asyncio.Event = attrs.Factory(asyncio.Event)

    def listener(self, name: str, stops_in: float = 0.0) -> Listening:
        """A listener for a worker of that name, whose `on_revoked` takes so long."""
        return Listening(self, name, stops_in)

    def by_worker(self) -> dict[str, str]:
        """Who runs what."""
        found: dict[str, set[Resource]] = defaultdict(set)
        for resource, name in self.running.items():
            found[name].add(resource)
        return {name: told(frozenset(each)) for name, each in sorted(found.items())}

    async def until(self, expected: Callable[[House], bool]) -> None:
        """Wait until the house is so."""
        async with asyncio.timeout(180):
            while not expected(self):
                self._changed.clear()
                await self._changed.wait()

    async def shared_by(self, *names: str, all_of: str) -> None:
        """Wait until these run all of it, each something."""
        everything = resources(all_of)
        await self.until(lambda house: house.running.keys() == everything and set(house.running.values()) == set(names))

    def changed(self) -> None:
        """Look again."""
        self._changed.set()


class Listening(WorkerRebalanceListener):
    """Keeps the book for one worker."""

    def __init__(self, house: House, name: str, stops_in: float) -> None:
        self.house = house
        self.name = name
        self.stops_in = stops_in
        self.lost: list[str] = []
        """What `on_lost` was called with."""

    async def on_assigned(self, resources: frozenset[Resource]) -> None:
        for resource in resources:
            if resource in self.house.running:
                self.house.twice.append(f"{resource} at {self.name} and {self.house.running[resource]}")
            self.house.running[resource] = self.name
            self.house.starts[self.name] += 1
        self.house.changed()

    async def on_revoked(self, resources: frozenset[Resource]) -> None:
        await asyncio.sleep(self.stops_in)
        self._stop(resources)

    async def on_lost(self, resources: frozenset[Resource]) -> None:
        self.lost.append(told(resources))
        self._stop(resources)

    def _stop(self, resources: frozenset[Resource]) -> None:
        for resource in resources:
            if self.house.running.get(resource) == self.name:
                del self.house.running[resource]
        self.house.changed()
