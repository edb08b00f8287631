"""A fleet of real Connect workers, two instances of kcoord before its cluster, and the owner of its group goes.

Connect stops all of its tasks when it finds no coordinator for one heartbeat interval. Nobody may stop a task, join
again, or run anything twice, however often the instance is killed or stopped that has the group. Consumers beside them
go on too: of one library each, in a group of the same owner, each assigned once.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
import pytest

from kcoord.group.partition_of_group import partition_of
from tests.cells import cells
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.live_clients import (
    JavaClient,
    LibraryClient,
    LiveClient,
    LivingAiokafka,
    LivingLibrdkafka,
    with_program,
)
from tests.faults.length import has_long_form, rounds
from tests.gateway.fleet import PARTITIONS, Fleet, fleet
from tests.javafleet.figures import Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.instance_pair import HEARD_S, KINDS, Costs, check_nothing_happened, front_of, until_other
from tests.javafleet.notes import overlaps
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import let_pass

BOTH = (0, 1)
RANGE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}
AT_EACH_COMMIT = "individual"
"""Here the survivor of the first kill is the one that is killed next: its addresses are all that some know by then."""


@attrs.frozen
class Scene:
    """The instances, the fleet, and the consumers beside it."""

    kcoords: Fleet
    workers: JavaFleet
    crowd: Crowd

    def lose_the_owner(self, end: Callable[[Kcoord], object], costs: Costs) -> None:
        """The instance that has the groups ends so; the other one goes on with them; it comes back."""
        let_pass(HEARD_S)
        owner = asyncio.run(front_of(self.kcoords, 0, self.workers.group))
        before, watch = self.crowd.assignments, Watch(self.workers)
        end(self.kcoords.instances[owner])
        asyncio.run(until_other(self.kcoords, owner, self.workers.group, self.crowd.group))
        self.workers.wait_until_quiet()
        figures = watch.figures()
        costs.add(figures)
        check_nothing_happened(figures)
        self.crowd.go_on()
        assert self.crowd.assignments == before, "the consumers have been through a rebalance"
        self.kcoords.instances[owner].start()
        asyncio.run(self.kcoords.settled(*BOTH))


@contextmanager
def scene(kind: str, kafka: KafkaCluster, java: Java, folder: Path) -> Iterator[Scene]:
    """All of them at rest; in the end nothing has run twice, and the consumers have left nothing out."""
    group = f"failover-{kind.replace(' ', '-')}-{folder.name}"
    beside = consumers_beside(group)
    topic = kafka.create_topic(f"consumed-{folder.name}", 3)
    with ExitStack() as stack:
        kcoords = stack.enter_context(fleet(kafka, folder, group_connect_classic_mode=KINDS[kind].mode))
        asyncio.run(kcoords.settled(*BOTH))
        workers = KINDS[kind].begin(java, folder / "fleet", kcoords.bootstrap, group)
        stack.callback(workers.remove)
        complaints = stack.enter_context(Complaints())
        java_client = JavaClient(folder / "java.log", beside, topic, "java", RANGE, java=with_program(java))
        clients: list[LiveClient] = [
            java_client,
            *(LibraryClient(library, beside, topic) for library in (LivingLibrdkafka, LivingAiokafka)),
        ]
        crowd = stack.enter_context(Crowd(kafka, beside, topic, clients, Load(kafka, topic), complaints))
        crowd.start(kcoords.bootstrap)
        yield Scene(kcoords, workers, crowd)
        crowd.end()
        crowd.check_each_once()
        assert overlaps(workers.notes.runs()) == []


def consumers_beside(group: str) -> str:
    """A group of the same partition, and so of the same owner."""
    names = (f"{group}-consumers-{number}" for number in itertools.count())
    return next(name for name in names if partition_of(name, PARTITIONS) == partition_of(group, PARTITIONS))


@pytest.mark.parametrize("kind", cells(KINDS, lambda kind: kind != AT_EACH_COMMIT))
@has_long_form
def test_the_owner_is_killed_and_no_task_stops(
    kind: str, three_brokers: KafkaCluster, java: Java, tmp_path: Path
) -> None:
    costs = Costs(f"kill -9, {kind}")
    with scene(kind, three_brokers, java, tmp_path) as here:
        for _ in range(rounds(2, 20)):
            here.lose_the_owner(Kcoord.kill, costs)
    costs.tell()


@pytest.mark.proof
@pytest.mark.parametrize("kind", KINDS)
def test_the_owner_is_stopped_and_no_task_stops(
    kind: str, three_brokers: KafkaCluster, java: Java, tmp_path: Path
) -> None:
    """By SIGTERM, as an orchestrator does."""
    costs = Costs(f"planned stop, {kind}")

    def stop(owner: Kcoord) -> None:
        assert owner.stop() == 0

    with scene(kind, three_brokers, java, tmp_path) as here:
        for _ in range(rounds(1, 6)):
            here.lose_the_owner(stop, costs)
    costs.tell()


@pytest.fixture(scope="module")
def three_brokers(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """Clients of several brokers know the addresses of several instances."""
    return start_kafka(3)
