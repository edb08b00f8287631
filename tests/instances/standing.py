"""Memberships of several instances in one process, and what each serves: a ledger that sees two owners at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from itertools import count
from types import TracebackType
from typing import Any, Self

import attrs

from kcoord.instances.instance_map import Instance
from kcoord.instances.instances_group_member import GroupMemberSettings
from kcoord.instances.membership import Membership
from kcoord.instances.offsets_topic_leaders import NOTHING_KNOWN, Surroundings
from tests.kafka.cluster import KafkaCluster

DEADLINE_S = 180.0
SESSION_MS = 6_000  # the least that a broker takes

_started = count(1)


class Ledger:
    """Who serves which partition, over all instances; a second owner is an error at once."""

    def __init__(self) -> None:
        self.owners: dict[int, str] = {}
        self.trusts_leases = False
        """While an instance is cut off another may have what it still holds: its lease is over, it answers nothing."""
        self.history: list[tuple[str, str, int]] = []

    def shards(self, name: str) -> Shards:
        return Shards(self, name)


class Shards:
    """What one instance serves."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        self.name = name
        self._ledger = ledger
        self.gains: int = 0
        self.loses: int = 0
        self.holds: set[int] = set()
        """What it believes that it serves."""
        self.of_newer_kcoord: set[int] = set()
        """What it finds unreadable whenever it is given it."""
        self._found: set[int] = set()

    def expect(self, partition: int) -> None:
        assert partition not in self.holds

    async def gain(self, partition: int) -> None:
        await asyncio.sleep(0.01)
        owner = self._ledger.owners.get(partition)
        assert owner is None or self._ledger.trusts_leases, f"{self.name} gains {partition}, which {owner} serves"
        self._ledger.owners[partition] = self.name
        self._ledger.history.append((self.name, "gain", partition))
        self.holds.add(partition)
        self._found |= self.of_newer_kcoord & {partition}
        self.gains += 1

    async def lose(self, partition: int) -> None:
        self.holds.discard(partition)
        if self._ledger.owners.get(partition) == self.name:
            del self._ledger.owners[partition]
            self._ledger.history.append((self.name, "lose", partition))
            self.loses += 1
        await asyncio.sleep(0.01)

    def unreadable(self) -> frozenset[int]:
        return frozenset(self._found)

    def serves(self) -> set[int]:
        return {partition for partition, owner in self._ledger.owners.items() if owner == self.name}


class Authorization:
    """Several memberships over one topic of a real Kafka."""

    def __init__(self, cluster: KafkaCluster, name: str, partitions: int = 12) -> None:
        self.topic = cluster.create_topic(f"worker-offsets-{name}", partitions)
        self.group = f"instances-{name}"
        self.partitions = partitions
        self.ledger = Ledger()
        self._cluster = cluster
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def come(
        self,
        number: int,
        *,
        name: str | None = None,
        bootstrap: str | None = None,
        surroundings: Callable[[], Surroundings] = lambda: NOTHING_KNOWN,
        started_ms: int | None = None,
        session_ms: int = SESSION_MS,
    ) -> tuple[Membership, Shards]:
        """Start another instance; it leaves at the end, if not before."""
        shards = self.ledger.shards(name or f"instance {number}")
        membership = Membership(
            Instance(
                instance_id=number,
                started_ms=next(_started) if started_ms is None else started_ms,
                host="127.0.0.1",
                port=9092 + number,
            ),
            self.partitions,
            GroupMemberSettings(
                group=self.group,
                topic=self.topic,
                kafka={"bootstrap_servers": bootstrap or self._cluster.bootstrap},
                client_id=shards.name.replace(" ", "-"),
                session_timeout_ms=session_ms,
                heartbeat_interval_ms=100,
            ),
            shards,
            surroundings,
        )
        membership.start()
        self._stack.push_async_callback(membership.stop)
        return membership, shards

    def bears(self, settings: GroupMemberSettings, session_timeout_ms: int) -> GroupMemberSettings:
        """Settings of one that takes itself for cut off so early."""
        return attrs.evolve(settings, session_timeout_ms=session_timeout_ms)

    def is_served(self, *shards: Shards) -> bool:
        """Whether these together serve everything, each its share."""
        shares = [len(each.serves()) for each in shards]
        return sum(shares) == self.partitions and max(shares) - min(shares) <= 1


async def until(so: Callable[[], Any], what: str) -> None:
    """Wait for what must come."""
    end = time.monotonic() + DEADLINE_S
    while not so():
        assert time.monotonic() < end, f"{what}: not after {DEADLINE_S:.0f} s"
        await asyncio.sleep(0.02)
