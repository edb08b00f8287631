"""A fleet of real Connect workers, two instances of kcoord before its cluster, and the owner of its group is killed.

Connect stops all of its tasks when it finds no coordinator for one heartbeat interval. Nobody may stop a task, join
again, or run anything twice, however often the instance is killed that has the group.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest
from tests.faults.length import has_long_form, rounds
from tests.gateway.fleet import Fleet, fleet
from tests.gateway.scripted import ask, connect, until
from tests.javafleet.figures import Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import overlaps
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.wait import let_pass

WORKERS = ("w1", "w2", "w3")
CONNECTORS, TASKS = 2, 4
HEARD_S = 15.0
"""Longer than clients take to hear of an instance that is back: their connections are closed 10 s after it has come."""


async def front_of(kcoords: Fleet, by: int, group: str) -> int:
    """The number of the instance before the broker that coordinates the group, as instance `by` says."""
    client = await connect(kcoords.instances[by].bootstrap)

    async def found() -> list[int]:
        """Asked again by the same connection: after a change each gets COORDINATOR_NOT_AVAILABLE once."""
        told = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        [named] = told.coordinators
        return [] if named.error_code != ErrorCode.NONE else [kcoords.at(named.port)[0]]

    [number] = await until(found, f"instance {by} names the coordinator of {group}")
    await client.close()
    return int(number)


@pytest.mark.parametrize("mode", ["individual", "barrier"])
@has_long_form
def test_the_owner_is_killed_and_no_task_stops(mode: str, kafka3: KafkaCluster, java: Java, tmp_path: Path) -> None:
    group = f"failover-{mode}"
    with fleet(kafka3, tmp_path, group_connect_legacy_mode=mode) as kcoords:
        asyncio.run(kcoords.settled(0, 1))
        workers = JavaFleet(java, tmp_path / "fleet", kcoords.bootstrap, group)
        try:
            workers.start(*WORKERS)
            for number in range(CONNECTORS):
                workers.create(f"c{number}", TASKS)
            workers.wait_until_quiet()
            for _ in range(rounds(2, 20)):
                let_pass(HEARD_S)
                killed = asyncio.run(front_of(kcoords, 0, group))
                watch = Watch(workers)
                kcoords.instances[killed].kill()
                asyncio.run(until_other(kcoords, killed, group))
                workers.wait_until_quiet()
                figures = watch.figures()
                assert not figures.stopped, f"tasks stopped: {figures.stopped}"
                assert not any(figures.joins.values()), f"workers joined: {figures.joins}"
                assert not figures.twice
                kcoords.instances[killed].start()
                asyncio.run(kcoords.settled(0, 1))
            assert overlaps(workers.notes.runs()) == []
        finally:
            workers.remove()


async def until_other(kcoords: Fleet, killed: int, group: str) -> None:
    """Until the other instance names itself for the group."""

    async def named() -> bool:
        return await front_of(kcoords, 1 - killed, group) == 1 - killed

    await until(named, "the other has the group")


@pytest.fixture(scope="module")
def kafka3(start_kafka: object) -> KafkaCluster:
    """Three brokers: clients that know one instance's address for each of them know another, too."""
    assert callable(start_kafka)
    made = start_kafka(3)
    assert isinstance(made, KafkaCluster)
    return made
