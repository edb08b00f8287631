"""A gateway in the test's own process, before a real Kafka with SASL and ACLs, whose clock the test moves."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from kcoord.gateway.gateway import Gateway
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest
from kcoord.server.clock import monotonic_ms
from kcoord.server.server import Server
from kcoord.server.shards.coordinator import Coordinator
from tests.gateway.sasl import log_in
from tests.gateway.scripted import ask, connect, describe, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.security import ADMIN
from tests.server.harness import LIMITS, Client

GROUPS = GroupSettings(
    initial_rebalance_delay_ms=0,
    min_session_timeout_ms=500,
    connect=ConnectSettings(
        rebalance_delay_ms=0, heartbeat_interval_ms=120_000, session_timeout_ms=600_000, max_session_timeout_ms=600_000
    ),
)


class Front:
    """The gateway, its coordinator, and the port at which clients reach them."""

    def __init__(self, gateway: Gateway, coordinator: Coordinator, server: Server, port: int) -> None:
        self.gateway = gateway
        self.coordinator = coordinator
        self.port = port
        self._passed_ms = 0
        gateway.now_ms = server.now_ms = lambda: monotonic_ms() + self._passed_ms

    def pass_time(self, ms: int) -> None:
        """Move the clock of rights and of the hot path; the sessions of members keep their own."""
        self._passed_ms += ms

    async def tend(self) -> None:
        """What the gateway does once a second by itself, and all that comes of it."""
        before = set(self.gateway._tasks)
        self.gateway.tend()
        while tasks := self.gateway._tasks - before:
            await asyncio.gather(*tasks)

    async def client(self, user: str) -> Client:
        """Logged in."""
        client = await connect(self.port)
        await log_in(client, user)
        return client


@asynccontextmanager
async def front_of(kafka: KafkaCluster, folder: Path, **settings: Any) -> AsyncIterator[Front]:
    """A gateway that takes all groups, and does by itself only what a request makes it do."""
    log = EmbeddedLog(folder, partitions=4)
    await log.open()
    run, numbers = uuid.uuid4().hex[:6], itertools.count()
    coordinator = Coordinator(log, GROUPS, log.partitions, lambda: f"id-{run}-{next(numbers)}")
    await coordinator.load()
    host, _, port = kafka.bootstrap.split(",")[0].rpartition(":")
    told = {"security_protocol": "SASL_PLAINTEXT", "sentinel_grace_ms": 0, **settings}
    gateway = Gateway(
        GatewaySettings(bootstrap=((host, int(port)),), groups=(".*",), listen_port=9092, data_dir=folder, **told),
        coordinator,
    )
    server = Server(LIMITS, gateway, on_gone=coordinator.closed)
    try:
        yield Front(gateway, coordinator, server, await server.listen("127.0.0.1", 0))
    finally:
        await server.close_listeners()
        await gateway.stop()
        await coordinator.stop()
        await server.close_connections()
        await log.close()


def allow(kafka: KafkaCluster, user: str, *operations: str, group: str = "*", topics: bool = False) -> None:
    """Give `user` these rights to a group, or to all; to all topics too if `topics`."""
    wanted = [_binding(user, each, group) for each in operations]
    if topics:
        wanted.append(_binding(user, "ALL", "*", ResourceType.TOPIC))
    admin = kafka.admin()  # its futures end with it
    for done in admin.create_acls(wanted).values():
        done.result(120)


def withdraw(kafka: KafkaCluster, user: str, group: str) -> None:
    """Take away what `allow` gave `user` by this group's name."""
    every = AclBindingFilter(
        ResourceType.GROUP, group, ResourcePatternType.LITERAL, f"User:{user}", "*", AclOperation.ANY,
        AclPermissionType.ANY,
    )  # fmt: skip
    admin = kafka.admin()
    for done in admin.delete_acls([every]).values():
        done.result(120)


async def may_not_read(kafka: KafkaCluster, user: str, group: str) -> None:
    """Returns when the cluster itself refuses `user` the group: a broker may need a moment to hear of it."""
    client = await connect(kafka.bootstrap)
    await log_in(client, user)

    async def refused() -> bool:
        return bool((await describe(client, group)).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED)

    await until(refused, "the right is withdrawn")
    await client.close()


async def coordinates(kafka: KafkaCluster) -> None:
    """Returns when the cluster has a place where groups are kept."""
    client = await connect(kafka.bootstrap)
    await log_in(client, ADMIN)

    async def known() -> bool:
        found = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]))
        return not found.coordinators[0].error_code

    await until(known, "a coordinator")
    await client.close()


def _binding(user: str, operation: str, name: str, kind: ResourceType = ResourceType.GROUP) -> AclBinding:
    return AclBinding(
        kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", AclOperation[operation], AclPermissionType.ALLOW
    )
