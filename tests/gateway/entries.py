"""Several entries before one cluster, in the test's own event loop: gateways of which each could be an instance.

All of them serve the groups of one coordinator, as instances do whose calls reach the owner. So what happens between
entries can be told apart from how calls get to an owner, and looked into.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from kcoord.gateway.gateway import Gateway
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.settings import Address, GatewaySettings
from kcoord.group.state.settings import GroupSettings
from kcoord.log.embedded import EmbeddedLog
from kcoord.server.server import Server
from kcoord.server.shards.coordinator import Coordinator
from tests.gateway.scripted import ScriptedMember, connect
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import HIGHEST_NODE_ID
from tests.kafka.ports import port_block
from tests.server.harness import LIMITS

SETTINGS = GroupSettings(initial_rebalance_delay_ms=0, min_session_timeout_ms=1000)
PARTITIONS = 4


@attrs.define(eq=False)
class Entry:
    """One gateway with its ports."""

    port: int
    gateway: Gateway
    cluster: str
    """Where the cluster behind it is reached."""

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def member(self, group: str, broker: int = 1, **options: object) -> ScriptedMember:
        """A member that comes by this entry, whatever the map says."""
        return ScriptedMember(await connect(self.port + 1 + broker), group, **options)  # type: ignore[arg-type]

    def sentinel(self, group: str) -> Sentinel:
        return self.gateway.sentinels.of(group)


@attrs.define
class Map:
    """Where every broker is said to be, and who is there."""

    ports: Sequence[int]
    at: dict[int, int]
    """Which entry stands before which broker."""
    me: int
    gone: set[int] = attrs.Factory(set)
    releases: set[str] = attrs.Factory(set)
    """Other releases that share the groups."""

    def address_of(self, broker_id: int, _reached: str, /) -> Address | None:
        return "127.0.0.1", self.ports[self.at.get(broker_id, 0)] + 1 + broker_id

    def is_here(self, broker_id: int) -> bool:
        return self.at.get(broker_id, 0) == self.me

    def leave(self) -> None: ...

    def others(self) -> frozenset[tuple[int, int]]:
        return frozenset((each, 1) for each in range(len(self.ports)) if each != self.me and each not in self.gone)

    def has_0_1_0(self) -> bool:
        return "0.1.0" in self.releases

    def began_new(self) -> bool:
        return True

    def brokers(self) -> Mapping[int, Address | None]:
        return dict.fromkeys(self.at)

    async def known(self) -> None: ...


@asynccontextmanager
async def entries(
    kafka: KafkaCluster,
    folder: Path,
    at: dict[int, int],
    count: int = 2,
    shared: bool = True,
    groups: GroupSettings = SETTINGS,
    **options: Any,
) -> AsyncIterator[list[Entry]]:
    """Entries before `kafka`; `at` says who stands before which broker. Not `shared`: a kcoord alone has no map.
    `options`: more settings of the gateways.
    """
    ids = itertools.count()
    serials = itertools.count(1)
    gone: set[int] = set()
    releases: set[str] = set()
    async with AsyncExitStack() as stack:
        log = EmbeddedLog(folder / "log", partitions=PARTITIONS)
        await log.open()
        stack.push_async_callback(log.close)
        serves = bool(options.get("consumer_groups"))
        coordinator = Coordinator(log, groups, PARTITIONS, lambda: f"id{next(ids)}", consumer_groups=serves)
        await coordinator.load()
        stack.push_async_callback(coordinator.stop)
        ports = [port_block(2 + HIGHEST_NODE_ID) for _ in range(count)]
        started = []
        for me, port in enumerate(ports):
            data = folder / f"entry-{me}"
            data.mkdir()
            settings = GatewaySettings(
                bootstrap=tuple(_addresses(kafka.bootstrap)),
                groups=(".*",),
                listen_port=port,
                data_dir=data,
                sentinel_grace_ms=200,
                **options,
            )
            gateway = Gateway(settings, coordinator, Map(ports, at, me, gone, releases) if shared else None)
            server = Server(LIMITS, gateway, on_gone=coordinator.closed)
            server._serials = serials  # connections of all entries are told apart
            stack.push_async_callback(server.close_connections)
            await server.listen("127.0.0.1", port)
            stack.push_async_callback(server.close_listeners)
            await gateway.start(partial(_listen, server))
            stack.push_async_callback(gateway.stop)
            started.append(Entry(port, gateway, kafka.bootstrap))
        yield started


async def _listen(server: Server, broker_id: int, port: int) -> None:
    await server.listen("127.0.0.1", port, broker_id)


def _addresses(bootstrap: str) -> list[Address]:
    parts = [each.rpartition(":") for each in bootstrap.split(",")]
    return [(host, int(port)) for host, _, port in parts]
