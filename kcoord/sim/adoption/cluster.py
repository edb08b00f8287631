"""The cluster of a run: one broker, played by kcoord's engine of classic groups, which responds as Kafka's does. It
also keeps the offsets. It is restarted now and then, and then has everything that is in its log.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import count
from random import Random
from typing import Any

from kcoord.group.shard import Shard
from kcoord.group.state.connect_settings import ConnectSettings, MigrationPolicy
from kcoord.group.state.settings import GroupSettings
from kcoord.server.server import Limits, Server
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.shards.shard_host import ShardHost
from kcoord.server.shards.shard_phase import ShardPhase
from kcoord.server.standalone import Standalone
from kcoord.server.standalone_nodes import OneNode
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.disk import Disk, DiskLog
from kcoord.sim.adoption.process import Process
from kcoord.sim.adoption.sasl import SaslStandalone
from kcoord.sim.adoption.wires import Address

NEVER_MS = -(1 << 40)
BROKER: Address = ("broker", 9092)
LIMITS = Limits(10_000_000, 10_000_000, 10_000, 10_000, 3_600_000)
"""Limits on connections. No run reaches them."""


class Node(ABC):
    """A process with a coordinator that is started, killed and started again, on one disk."""

    name = ""

    def __init__(self, context: AdoptionContext) -> None:
        self._context = context
        self._append_ms = context.plan.append_ms
        self._random = Random(context.random.getrandbits(64))
        self._ids = count(1)
        self._serials = count(1)
        self.disk = Disk()
        self.process = Process(self.name)
        self.process.is_dead = True
        self.log: DiskLog
        self.coordinator: Coordinator
        self.died_ms = NEVER_MS
        """When it was killed last."""
        self._life = 0

    @property
    def is_up(self) -> bool:
        """Whether it runs."""
        return not self.process.is_dead

    @property
    def shard(self) -> Shard | None:
        """The shard that it has. None while it cannot be asked."""
        if not self.is_up or self._host.state is not ShardPhase.ACTIVE:
            return None
        return self._host.shard

    @property
    def _host(self) -> ShardHost:
        return self.coordinator._hosts[0]

    def start(self) -> None:
        """Start its next life."""
        if self.is_up:
            return
        context = self._context
        context.note(self.name, "starts")
        self.process = Process(self.name)
        self.log = DiskLog(self.disk, context.loop, self._random, self._append_ms)
        context.loop.run_for(self.process, self._start())

    async def _start(self) -> None:
        self.coordinator = Coordinator(self.log, self._settings(), 1, self._make_id)
        self.coordinator.turns._clock = self._context.loop.time
        server = self._serve()
        server.turns._clock = self._context.loop.time
        await self.coordinator.load()
        self._context.note(self.name, "has loaded its log")

    def _make_id(self) -> str:
        return f"{self.name[0]}{next(self._ids)}"

    @abstractmethod
    def _settings(self) -> GroupSettings:
        """The settings of its coordinator."""

    @abstractmethod
    def _serve(self) -> Server:
        """Make the server, and listen from now on."""

    def _listen(self, server: Server, address: Address, broker_id: int | None = None) -> None:
        loop = self._context.loop

        def accept(peer: Address) -> Any:
            return server.enter(peer, broker_id, 0, int(loop.time() * 1000))

        self._context.network.listen(self.process, address, accept)

    def kill(self, down_ms: int) -> None:
        """The process dies, and is back after a while."""
        if not self.is_up:
            return
        self._context.note(self.name, f"dies, for {down_ms} ms")
        self.died_ms = self._context.loop.now_ms
        self.process.kill()
        self.log.die()
        if hasattr(self, "coordinator"):
            self._host.stop()
        self._life += 1
        self._context.loop.later(down_ms / 1000, self._back, self._life)

    def _back(self, life: int) -> None:
        if life == self._life:
            self.start()


class Cluster(Node):
    """The broker."""

    name = "broker"

    def _settings(self) -> GroupSettings:
        return GroupSettings(
            initial_rebalance_delay_ms=self._context.plan.initial_delay_ms,
            max_session_timeout_ms=self._context.plan.longest_session_ms,
            connect=ConnectSettings(migration_policy=MigrationPolicy.DISABLED),
        )

    def _serve(self) -> Server:
        handler = SaslStandalone if self._context.plan.uses_sasl else Standalone
        alone = handler(self.coordinator, OneNode("cluster", BROKER))
        server = Server(LIMITS, alone, None, self._serials, self.coordinator.closed)
        self._listen(server, BROKER)
        return server
