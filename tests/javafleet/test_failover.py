"""A fleet of real Connect workers, two instances of kcoord before its cluster, and the owner of its group is killed.

Connect stops all of its tasks when it finds no coordinator for one heartbeat interval. Nobody may stop a task, join
again, or run anything twice, however often the instance is killed that has the group.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest
from tests.clients.members import Librdkafka, Member
from tests.faults.length import has_long_form, rounds
from tests.gateway.fleet import Fleet, fleet
from tests.gateway.scripted import ask, connect, until
from tests.javafleet.figures import Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import overlaps
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.wait import NotYet, eventually, let_pass

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


@pytest.mark.parametrize("kind", ["individual", "barrier", "beside ours"])
@has_long_form
def test_the_owner_is_killed_and_no_task_stops(
    kind: str, three_brokers: KafkaCluster, java: Java, tmp_path: Path
) -> None:
    """A consumer beside them goes on too: it is assigned once, and commits after each kill."""
    group, consumed = f"failover-{kind.replace(' ', '-')}", f"consumed-{tmp_path.name}"
    mode = "barrier" if kind == "barrier" else "individual"
    three_brokers.create_topic(consumed)
    with ExitStack() as stack:
        kcoords = stack.enter_context(fleet(three_brokers, tmp_path, group_connect_legacy_mode=mode))
        asyncio.run(kcoords.settled(0, 1))
        workers = JavaFleet(java, tmp_path / "fleet", kcoords.bootstrap, group)
        stack.callback(workers.remove)
        workers.start(*WORKERS)
        for number in range(CONNECTORS):
            workers.create(f"c{number}", TASKS)
        if kind == "beside ours":
            workers.start_python("ours")
        consumer = stack.enter_context(Librdkafka(kcoords.bootstrap, f"{group}-consumer", [consumed]))
        consumer.wait_for_partitions(1)
        workers.wait_until_quiet()
        for number in range(rounds(2, 20)):
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
            consume(three_brokers, consumer, f"{number}")
            kcoords.instances[killed].start()
            asyncio.run(kcoords.settled(0, 1))
        assert overlaps(workers.notes.runs()) == []
        assert consumer.assignments == 1, "the consumer has been through a rebalance"


def consume(kafka: KafkaCluster, consumer: Member, value: str) -> None:
    """The consumer reads what is written now, and commits it."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce(consumer.topics[0], value)
    producer.flush(60)
    consumer.wait_for_values({*consumer.values, value})

    def committed() -> bool:
        try:
            consumer.commit()
        except KafkaException as error:
            raise NotYet(str(error)) from error
        return True

    eventually(committed, "it commits")


async def until_other(kcoords: Fleet, killed: int, group: str) -> None:
    """Until the other instance names itself for the group."""

    async def named() -> bool:
        return await front_of(kcoords, 1 - killed, group) == 1 - killed

    await until(named, "the other has the group")


@pytest.fixture(scope="module")
def three_brokers(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """Clients of several brokers know the addresses of several instances."""
    return start_kafka(3)
