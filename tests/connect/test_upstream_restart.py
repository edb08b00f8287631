"""Does a fleet behind kcoord live through restarts of the cluster without a task that stops?"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cells import cells
from tests.connect.fleet import ConnectFleet
from tests.connect.lines import Pipe
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front, front_of
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java

HEARTBEAT_MS = 8_000
PATIENT = {"connect.protocol": "sessioned", "heartbeat.interval.ms": HEARTBEAT_MS, "session.timeout.ms": 30_000}
"""A worker that finds no coordinator for one heartbeat interval gives its work up, on Kafka itself too."""
TOGETHER_MS = 3_000
"""The first rebalance waits for both workers: else the first would hear of the second one heartbeat later."""


@pytest.fixture(params=cells([1, 3], lambda brokers: brokers == 3), ids=["one broker", "three brokers"])
def kafka(request: pytest.FixtureRequest, start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    return start_kafka(request.param, overrides={"group.initial.rebalance.delay.ms": TOGETHER_MS})


@pytest.fixture
def front(kafka: KafkaCluster, tmp_path: Path) -> Iterator[Front]:
    front = front_of(kafka, tmp_path / "kcoord", group_initial_rebalance_delay_ms=TOGETHER_MS)
    yield front
    front.remove()


@pytest.fixture
def fleet(java: Java, front: Front, tmp_path: Path) -> Iterator[ConnectFleet]:
    fleet = ConnectFleet(java, tmp_path, front.bootstrap, "fleet", PATIENT)
    yield fleet
    fleet.remove()


def test_brokers_are_restarted_one_by_one(kafka: KafkaCluster, fleet: ConnectFleet, tmp_path: Path) -> None:
    workers = fleet.start_workers(2)
    pipes = [Pipe(f"pipe-{number}", tmp_path) for number in range(2)]
    for pipe in pipes:
        kafka.create_topic(pipe.topic)
        pipe.create(fleet, {})
    resources = set().union(*(pipe.resources for pipe in pipes))
    for pipe in pipes:
        pipe.write(20)
        pipe.wait_until_all_arrived()
    owners = fleet.wait_until_quiet(resources, 1.5 * HEARTBEAT_MS / 1000)
    check_kcoord_owns(kafka, fleet.group, *(f"connect-{pipe.sink}" for pipe in pipes))
    history = [(worker.joins(), worker.stops()) for worker in workers]

    for broker in kafka.ports:
        for pipe in pipes:
            pipe.write(20)
        kafka.restart_broker(broker)
        for pipe in pipes:
            pipe.write(20)
            pipe.wait_until_all_arrived()

    assert fleet.wait_until_settled(resources) == owners
    assert [(worker.joins(), worker.stops()) for worker in workers] == history
    check_kcoord_owns(kafka, fleet.group, *(f"connect-{pipe.sink}" for pipe in pipes))
