"""The partitions that this instance holds, and how each follows what the map wants: gaining and releasing.

The map says which partitions are wanted, and each partition follows by itself. It is released when it is no longer
wanted, or when it was gained from another place (member id) in the group than the one that it is wanted from. It is
gained when it is wanted and not held. Rules:

1. A partition counts as held from before it is gained until it has been released. The group is told the held
   partitions.
2. Before each gain, the instance asks the group whether it is still a member. An instance that had fallen out without
   knowing would fence its successor.
3. If something goes wrong during a gain, it is logged, and tried again as long as the partition is wanted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

import attrs

__all__ = ["PartitionOwnership", "Shards"]

log = logging.getLogger("kcoord.instances")

GAINS_AT_ONCE = 8
AGAIN_S = 1.0


class Shards(Protocol):
    """The coordinator that serves the partitions."""

    def expect(self, partition: int) -> None:
        """Note that a partition will be gained: clients are told to retry, not to look elsewhere."""
        ...

    async def gain(self, partition: int) -> None:
        """Load a partition and serve it."""
        ...

    async def lose(self, partition: int) -> None:
        """Stop serving a partition at once. Returns when another instance may take it."""
        ...

    def unreadable(self) -> frozenset[int]:
        """The partitions whose last load failed because a newer kcoord wrote to them."""
        ...


@attrs.define(slots=True, eq=False)
class _Holding:
    """One partition that is held or about to be gained."""

    place: str
    """The place in the group from which it is held."""
    serving: bool = False


class PartitionOwnership:
    """The partitions of one instance. `confirm` says whether a partition still belongs to this instance; `on_lost` is
    called when a partition has been released.
    """

    def __init__(self, shards: Shards, confirm: Callable[[int], Awaitable[bool]], on_lost: Callable[[], None]) -> None:
        self._shards = shards
        self._confirm = confirm
        self._on_lost = on_lost
        self._wanted: dict[int, str] = {}
        self._holdings: dict[int, _Holding] = {}
        self._following: dict[int, asyncio.Task[None]] = {}
        self._gaining: dict[int, asyncio.Task[bool]] = {}
        self._slots = asyncio.Semaphore(GAINS_AT_ONCE)

    def want(self, partitions: Collection[int], place: str) -> None:
        """From now on hold exactly these partitions, gained from `place`."""
        before, self._wanted = self._wanted, dict.fromkeys(partitions, place)
        for partition in before.keys() | self._wanted.keys() | self._holdings.keys():
            self._follow(partition)

    def unwant(self, partition: int) -> None:
        """Stop wanting one partition, so that it is released."""
        if self._wanted.pop(partition, None) is not None:
            self._follow(partition)

    def wants(self, partition: int) -> bool:
        return partition in self._wanted

    def held_from(self, place: str) -> frozenset[int]:
        """The partitions that are held from a place, including those being gained or released."""
        return frozenset(at for at, holding in self._holdings.items() if holding.place == place)

    def is_held(self, partition: int) -> bool:
        return partition in self._holdings

    async def flush_held_reply(self, limit_s: float) -> None:
        """Wait until all partitions that are not wanted are released, but no longer than `limit_s`."""
        going = {task for at, task in self._following.items() if at not in self._wanted}
        if going:
            await asyncio.wait(going, timeout=limit_s)

    def _follow(self, partition: int) -> None:
        holding, wanted = self._holdings.get(partition), self._wanted.get(partition)
        gaining = self._gaining.get(partition)
        if gaining is not None and holding is not None and holding.place != wanted:
            gaining.cancel()
        if partition in self._following or (holding is None and wanted is None):
            return
        if holding is not None and holding.serving and holding.place == wanted:
            return
        self._following[partition] = asyncio.get_running_loop().create_task(self._move(partition))

    async def _move(self, partition: int) -> None:
        try:
            await self._until_settled(partition)
        finally:  # not in a callback: a later `_follow` must start a new task
            del self._following[partition]

    async def _until_settled(self, partition: int) -> None:
        """Gain and release one partition until it is as wanted."""
        while True:
            holding, wanted = self._holdings.get(partition), self._wanted.get(partition)
            if holding is None:
                if wanted is None:
                    return
                holding = self._holdings[partition] = _Holding(wanted)
                self._shards.expect(partition)
            elif holding.place != wanted:
                await self._lose(partition)
                continue
            elif holding.serving:
                return
            gaining = self._gaining[partition] = asyncio.get_running_loop().create_task(self._gain(partition))
            await asyncio.wait({gaining})
            del self._gaining[partition]
            if not gaining.cancelled() and gaining.result():
                holding.serving = True

    async def _gain(self, partition: int) -> bool:
        async with self._slots:
            try:
                if not await self._confirm(partition):
                    self._wanted.pop(partition, None)
                    return False
                await self._shards.gain(partition)
            except Exception:
                log.exception("partition %d could not be gained, trying again", partition)
            else:
                return True
        await asyncio.sleep(AGAIN_S)
        return False

    async def _lose(self, partition: int) -> None:
        try:
            await self._shards.lose(partition)
        except Exception:
            log.exception("partition %d was released, but not in good order", partition)
        del self._holdings[partition]
        self._on_lost()
