"""Does a fleet of workers outlive what happens behind kcoord? A full disk, a cluster that is away."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.settings import GroupLimits, GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, IncrementalAlterConfigsRequest
from tests.connectgroups.configs import change
from tests.connectgroups.through import member
from tests.connectgroups.worker import Worker, describe, resources
from tests.gateway.conftest import start_kcoord  # noqa: F401 (a fixture)
from tests.gateway.scripted import ask, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import standalone

A = resources("a", "a-0")
SHORT_MS = 3_000
SHORT = ConnectSettings(
    session_timeout_ms=SHORT_MS,
    min_session_timeout_ms=1_000,
    heartbeat_interval_ms=500,
    min_heartbeat_interval_ms=100,
    rebalance_delay_ms=0,
)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB, made for the test."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root may mount; tests/log holds the log's part of it without")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


async def test_a_full_disk_costs_no_worker_its_place(small_disk: Path, name: str) -> None:
    limits = GroupLimits(id_length=32_000)
    settings = GroupSettings(initial_rebalance_delay_ms=0, limits=limits, connect=SHORT)
    async with standalone(small_disk / "data", settings=settings) as server:
        worker = Worker(await connect(server.port), name)
        held = Worker(worker.client, f"{name}-held")
        assert await worker.join(A) == await held.join(A) == ErrorCode.NONE
        await worker.settle(A)
        await held.settle(A)
        other = await connect(server.port)
        number = 0
        while True:  # until nothing more can be written
            number += 1
            error = await Worker(other, f"{name}-{number}").join(A, url="x" * 30_000)
            if error != ErrorCode.NONE:
                break
        assert error in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)

        altered = await ask(other, IncrementalAlterConfigsRequest([change(name, {"connect.max.size": "9"})]))
        refused = [
            await Worker(other, f"{name}-late").join(A),
            await worker.leave(),
            ErrorCode(altered.responses[0].error_code),
        ]
        assert all(error.retriable for error in refused), refused

        async def lives(each: Worker, **fields: Any) -> None:
            error = await each.heartbeat(**fields)
            if error == ErrorCode.NOT_COORDINATOR:  # CG-4: its shard was loaded again
                each.client = await connect(server.port)
            assert error in (ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)

        for _ in range(2 * SHORT_MS // 250):  # longer than a session, of which some is no hot path: it may be held
            await lives(worker)
            await lives(worker)
            await lives(held, max_wait_ms=1)
            await asyncio.sleep(0.25)

        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        late = Worker(other, f"{name}-late")

        async def can_write() -> bool:
            late.client = await connect(server.port)
            error = await late.join(A)
            assert error == ErrorCode.NONE or error.retriable
            return not error

        await until(can_write, "the disk is large enough")
        for each in (worker, held):
            await lives(each)
            assert await each.heartbeat() == ErrorCode.NONE
            assert (await describe(other, each.group_id)).group_epoch == 1, "nobody has gone"


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One that may be stopped."""
    return start_kafka()


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:  # noqa: F811
    """kcoord with sessions that are shorter than the cluster will be away."""
    return start_kcoord(
        kafka,
        group_connect_session_timeout_ms=SHORT_MS,
        group_connect_min_session_timeout_ms=1_000,
        group_connect_heartbeat_interval_ms=500,
        group_connect_min_heartbeat_interval_ms=100,
        group_connect_rebalance_delay_ms=0,
        gateway_rights_ttl_ms=1_000,
        gateway_question_interval_ms=1_000,
    )


async def test_gateway_rule_10_workers_outlive_a_restart_of_the_cluster_and_of_kcoord(
    kafka: KafkaCluster, kcoord: Kcoord, name: str
) -> None:
    worker = await member(kcoord, name, configured=A)
    await worker.settle(A)
    [broker] = kafka.ports
    kafka.kill_broker(broker)
    for _ in range(2 * SHORT_MS // 500):  # longer than a session
        assert await worker.heartbeat() == ErrorCode.NONE
        assert await worker.heartbeat(max_wait_ms=100) == ErrorCode.NONE
        await asyncio.sleep(0.3)
    joining = ConnectGroupHeartbeatRequest("another", "x", 0, rebalance_timeout_ms=1, connectors_and_tasks=[])
    refused = ErrorCode((await ask(worker.client, joining)).error_code)
    assert refused.retriable, "nobody joins past the cluster"

    kcoord.kill()
    kcoord.start(wait=False)  # it knows nothing of the cluster's versions, and answers when that is back
    await asyncio.sleep(2 * SHORT_MS / 1000)  # nobody can come back, and nobody is counted as gone
    kafka.start_brokers(broker)

    async def back() -> bool:
        try:
            worker.client = await connect(kcoord.port + 2)
            return await worker.heartbeat() == ErrorCode.NONE
        except (AssertionError, OSError):
            return False  # the connection was ended: the cluster is not there yet

    await until(back, "the worker is a member still")
    described = await describe(worker.client, name)
    assert (described.error_code, described.group_epoch, described.group_state) == (ErrorCode.NONE, 1, "Stable")
