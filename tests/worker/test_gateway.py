"""Workers whose coordinator stands before a real Kafka with ACLs: the same shares, and the cluster's own rights."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kcoord.worker import Configured, Worker, WorkerError
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import ALL_GROUPS, kcoord_of
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Security, password_of
from tests.worker.conftest import QUICK
from tests.worker.driver import resources
from tests.worker.house import House

ALL = "a a-0 a-1 b b-0 b-1"


@pytest.fixture(scope="module")
def kcoord(start_kafka: Callable[..., KafkaCluster], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """kcoord before one broker with SASL and ACLs; `reader` may read all groups, `stranger` none."""
    cluster = start_kafka(security=Security.SASL_PLAINTEXT, users=["reader", "stranger"], acl=True)
    may_read = AclBinding(
        ResourceType.GROUP,
        "*",
        ResourcePatternType.LITERAL,
        "User:reader",
        "*",
        AclOperation.READ,
        AclPermissionType.ALLOW,
    )
    admin = cluster.admin()  # kept: what it does ends with it
    for done in admin.create_acls([may_read]).values():
        done.result(120)
    settings = {name.replace(".", "_"): value for name, value in QUICK.items()}
    settings["group_connect_session_timeout_ms"] = 45_000
    process = kcoord_of(cluster, tmp_path_factory.mktemp("kcoord"), ALL_GROUPS, **settings)
    yield process
    process.remove()


def worker(kcoord: Kcoord, group: str, house: House, name: str, user: str, **options: Any) -> Worker:
    """A worker that logs in as that user."""
    security = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": options.pop("password", password_of(user)),
    }
    options |= {"security": security, "url": f"http://{name}", "configured": Configured(1, resources(ALL))}
    return Worker(kcoord.bootstrap, group, listener=house.listener(name, 0.1), **options)


@pytest.mark.parametrize("protocol", ["connect", "classic"])
async def test_workers_share_behind_a_gateway_that_is_killed_and_back(
    kcoord: Kcoord, group: str, protocol: str
) -> None:
    house = House()
    options = {"group_protocol": protocol, "session_timeout": 45.0, "heartbeat_interval": 0.5}
    async with worker(kcoord, group, house, "w1", "reader", **options):
        await house.shared_by("w1", all_of=ALL)
        async with worker(kcoord, group, house, "w2", "reader", **options):
            await house.shared_by("w1", "w2", all_of=ALL)
            before = house.by_worker()
            await asyncio.to_thread(kcoord.kill_and_restart)
            async with worker(kcoord, group, house, "w3", "reader", **options):
                await house.shared_by("w1", "w2", "w3", all_of=ALL)
                kept = house.by_worker()
                assert all(set(kept[name].split()) <= set(before[name].split()) for name in ("w1", "w2"))
    assert not house.twice


@pytest.mark.parametrize("protocol", ["connect", "classic"])
async def test_who_may_not_read_the_group_is_told_so(kcoord: Kcoord, group: str, protocol: str) -> None:
    """CG-30"""
    with pytest.raises(WorkerError, match="GROUP_AUTHORIZATION_FAILED"):
        async with worker(kcoord, group, House(), "w1", "stranger", group_protocol=protocol) as refused:
            async with asyncio.timeout(180):
                await refused.joined()


async def test_a_wrong_password_is_told_at_once(kcoord: Kcoord, group: str) -> None:
    with pytest.raises(WorkerError, match="SASL_AUTHENTICATION_FAILED"):
        async with worker(kcoord, group, House(), "w1", "reader", password="wrong") as refused:
            async with asyncio.timeout(180):
                await refused.joined()
