"""Who dies at a step of an adoption or a release of a sink's group: does each record come, and is it committed?

AD-7, AD-8, AD-15, AD-17. The tasks of a sink connector are consumers of a group of their own. It goes in and out once
for each step, while its workers' group stays with kcoord and its topic is written to. At that step kcoord is killed and
started again, or the broker. Workers may then stop their tasks, which commit before they end: so each record comes at
least once, and what is committed never falls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.clients.step_trap import StepTrap
from tests.clients.test_adoption_steps import BROKER, KCOORD, coordinator_of, give
from tests.javafleet.conftest import BARRIER, DELAY
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import overlaps, running
from tests.javafleet.numbers import Numbered
from tests.javafleet.test_adoption_steps import STEPS, comes_to_rest
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually

WORKERS, SINK, SINK_GROUP = "sinks-on-the-way", "sink", "connect-sink"
TOPIC, PARTITIONS, TASKS = "numbers-for-sinks-on-the-way", 4, 2
TAKEN_AWAY = "Lost previously assigned partitions"
"""What Java's consumer logs when it hears that its partitions are others' already."""


@pytest.fixture
def cluster(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    return start_kafka()


@pytest.fixture
def trap(cluster: KafkaCluster) -> Iterator[StepTrap]:
    with StepTrap(cluster.ports) as trap:
        yield trap


@pytest.fixture
def front(cluster: KafkaCluster, trap: StepTrap, tmp_path: Path) -> Iterator[Kcoord]:
    """kcoord, which knows the broker by the trap only."""
    groups = [WORKERS, SINK_GROUP]
    front = kcoord_of(cluster, tmp_path / "kcoord", groups, group_connect_classic_mode=BARRIER)
    front.stop()
    front.upstream = trap.bootstrap
    yield front.start()
    front.remove()


@pytest.fixture
def fleet(front: Kcoord, java: Java, tmp_path: Path) -> Iterator[JavaFleet]:
    fleet = JavaFleet(java, tmp_path / "fleet", front.bootstrap, WORKERS, {DELAY: 3_000})
    yield fleet
    fleet.remove()


@pytest.mark.proof
@pytest.mark.parametrize("victim", [KCOORD, BROKER])
def test_a_sinks_records_come_whoever_dies_at_a_step(
    cluster: KafkaCluster, trap: StepTrap, front: Kcoord, fleet: JavaFleet, victim: str
) -> None:
    cluster.create_topic(TOPIC, PARTITIONS)
    load = Numbered(cluster, TOPIC, PARTITIONS)
    load.start()
    received = fleet.folder / "received"
    fleet.start("w1", "w2")
    fleet.create(SINK, TASKS, topics=TOPIC, received=received)
    fleet.wait_until_settled()
    all_come(received, load)
    node = coordinator_of(cluster, SINK_GROUP)
    kill = front.kill if victim == KCOORD else partial(cluster.kill_broker, node)
    for owner, before, step in STEPS:
        give(front, SINK_GROUP, before)
        comes_to_rest(cluster, before, SINK_GROUP)
        fleet.wait_until_settled()
        committed = cluster.committed(SINK_GROUP)
        trap.lay(step, is_late=True, kill=kill, is_lost=False, group=SINK_GROUP)
        give(front, SINK_GROUP, owner)
        trap.wait()
        if victim == KCOORD:
            front.start()
        else:
            cluster.start_brokers(node)
        comes_to_rest(cluster, owner, SINK_GROUP)
        fleet.wait_until_settled()
        all_come(received, load)
        since = cluster.committed(SINK_GROUP)
        assert all(since.get(at, -1) >= offset for at, offset in committed.items()), (step, committed, since)
        assert overlaps(fleet.notes.runs()) == [], step
    load.end()
    all_come(received, load)
    eventually(lambda: sum(cluster.committed(SINK_GROUP).values()) == load.count, "all is committed")
    fleet.delete(SINK)
    eventually(lambda: not running(fleet.notes.runs()), "all have stopped")
    assert [worker.name for worker in fleet.alive if TAKEN_AWAY in worker.log.read_text()] == []


def all_come(received: Path, load: Numbered) -> None:
    """All that is written up to now is there before long."""
    wanted = load.count

    def are_there() -> bool:
        numbers = set(map(int, received.read_text().split())) if received.exists() else set()
        if missing := set(range(wanted)) - numbers:
            raise NotYet(f"{len(missing)} of {wanted} are missing")
        return True

    eventually(are_there, f"{wanted} records come")
