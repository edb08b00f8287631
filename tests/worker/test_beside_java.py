"""Do Connect's own workers and ours live in one group? On Kafka's own coordinator: first they lead, then we do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcoord.assign import CONNECTOR, Resource
from kcoord.worker import Configured, Worker
from tests.cells import cells
from tests.connect.fleet import ConnectFleet
from tests.connect.lines import Pipe
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.worker.house import House


@pytest.fixture(params=cells(["sessioned", "eager"], lambda protocol: protocol == "eager"))
def fleet(request: pytest.FixtureRequest, kafka: KafkaCluster, java: Java, tmp_path: Path) -> Iterator[ConnectFleet]:
    """A cluster without workers yet, of that protocol."""
    settings = {"connect.protocol": request.param, "scheduled.rebalance.max.delay.ms": 1_000}
    fleet = ConnectFleet(java, tmp_path, kafka.bootstrap, f"beside-{request.param}", settings)
    yield fleet
    fleet.remove()


def theirs(fleet: ConnectFleet) -> set[Resource]:
    """What the only Java worker has threads for."""
    (worker,) = fleet.workers
    found = set[Resource]()
    for running in worker.running():
        kind, _, name = running.partition(" ")
        connector, _, number = name.rpartition("-") if kind == "task" else (name, "", str(CONNECTOR))
        found.add(Resource(connector, int(number)))
    return found


async def test_connects_workers_and_ours_share_what_there_is(
    fleet: ConnectFleet, kafka: KafkaCluster, tmp_path: Path
) -> None:
    pipes = [Pipe(f"{fleet.group}-{number}", tmp_path) for number in range(2)]
    for pipe in pipes:
        kafka.create_topic(pipe.topic)
    names = [name for pipe in pipes for name in (pipe.source, pipe.sink)]
    everything = frozenset((name, number) for name in names for number in (CONNECTOR, 0))
    house = House()

    def ours() -> Worker:
        return Worker(
            kafka.bootstrap,
            fleet.group,
            listener=house.listener("ours"),
            url="http://127.0.0.1:1/",
            group_protocol="classic",
            connect_protocol="default" if fleet.group.endswith("eager") else "sessioned",
            configured=Configured(0, everything),
            heartbeat_interval=0.5,
            scheduled_rebalance_max_delay=1,
        )

    async def until_shared(*, java: bool, us: bool) -> None:
        """Each resource at one of those who are there, and something at each."""
        async with asyncio.timeout(240):
            while True:
                our, their = set(house.running), await asyncio.to_thread(theirs, fleet) if java else set()
                if our | their == everything and not our & their and bool(our) == us and bool(their) == java:
                    return
                await asyncio.sleep(0.3)

    await asyncio.to_thread(fleet.start_workers, 1)
    for pipe in pipes:
        await asyncio.to_thread(pipe.create, fleet, {})
    await until_shared(java=True, us=False)

    async with ours():
        await until_shared(java=True, us=True)  # their leader has read what we run
        await asyncio.to_thread(fleet.stop, fleet.workers[0])
        await until_shared(java=False, us=True)
        await asyncio.to_thread(fleet.start_workers, 1)
        await until_shared(java=True, us=True)  # ours leads: their worker has read what it is to run
        assert fleet.workers[0].joins() < 8, "joins again and again"
    await until_shared(java=True, us=False)
    assert not house.twice
