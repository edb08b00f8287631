"""What does a kcoord do whose log's cluster is not there, goes away, or is not what it should be?"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupResponse
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import NotYet, eventually
from tests.server.harness import Client
from tests.server.members import Member

BROKER = 1
Make = Callable[..., Kcoord]


@pytest.fixture(scope="module")
def broker(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A cluster of one broker that comes and goes."""
    return start_kafka()


@pytest.fixture
def make(broker: KafkaCluster, tmp_path: Path) -> Iterator[Make]:
    """Makes a kcoord over that cluster, which is there again at the end."""
    made: list[Kcoord] = []

    def one(**settings: object) -> Kcoord:
        name = uuid.uuid4().hex[:8]
        common = {
            "log": "kafka",
            "log.bootstrap": broker.bootstrap,
            "log.topic": f"offsets-{name}",
            "instances.group": f"instances-{name}",
            "instances.session.timeout.ms": 6_000,
            "offsets.topic.num.partitions": 2,
            "group.initial.rebalance.delay.ms": 0,
        }
        made.append(Kcoord(tmp_path, settings={**common, **settings}))
        return made[-1]

    yield one
    for each in made:
        each.remove()


def said(kcoord: Kcoord, text: str) -> None:
    """Wait for a log line."""

    def look() -> bool:
        if text not in kcoord.log.read_text():
            raise NotYet(kcoord.log.read_text()[-500:])
        return True

    eventually(look, f"kcoord says {text!r}")


async def joined(kcoord: Kcoord) -> tuple[Client, Member]:
    """A member of a group, as soon as the group is served."""
    client = await Client.connect(kcoord.port)
    member = Member(client, "g")
    while True:
        answer = await client.ask(member.join_request(), 9)
        assert isinstance(answer, JoinGroupResponse)
        error = ErrorCode(answer.error_code)
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            member.member_id = answer.member_id
            await member.rejoin()
            return client, member
        assert error.retriable, error
        await asyncio.sleep(0.05)


async def test_a_start_waits_for_the_cluster_and_says_so(broker: KafkaCluster, make: Make) -> None:
    await asyncio.to_thread(broker.stop_broker, BROKER)
    try:
        stopped = make().start(wait=False)
        said(stopped, "waiting for the log, trying again")
        assert broker.bootstrap in stopped.log.read_text()
        assert await asyncio.to_thread(stopped.stop) == 0, "a stop is heeded meanwhile"

        waiting = make().start(wait=False)
        said(waiting, "waiting for the log, trying again")
    finally:
        await asyncio.to_thread(broker.start_brokers, BROKER)
    await asyncio.to_thread(waiting.wait_until_it_answers)
    client, member = await joined(waiting)
    assert (await member.heartbeat()).error_code == ErrorCode.NONE
    await client.close()
    assert await asyncio.to_thread(waiting.stop) == 0


async def test_a_cluster_that_goes_away_costs_no_member_its_place(broker: KafkaCluster, make: Make) -> None:
    kcoord = make().start()
    client, member = await joined(kcoord)
    assert (await member.heartbeat()).error_code == ErrorCode.NONE
    await asyncio.to_thread(broker.kill_broker, BROKER)
    try:
        while (error := (await member.heartbeat()).error_code) == ErrorCode.NONE:
            await asyncio.sleep(0.05)
        assert error == ErrorCode.NOT_COORDINATOR
    finally:
        await asyncio.to_thread(broker.start_brokers, BROKER)
    while (error := (await member.heartbeat()).error_code) != ErrorCode.NONE:
        assert ErrorCode(error).retriable, ErrorCode(error)
        await asyncio.sleep(0.05)
    await client.close()


def test_a_stop_ends_although_the_cluster_is_away(broker: KafkaCluster, make: Make) -> None:
    kcoord = make().start()
    broker.kill_broker(BROKER)
    try:
        assert kcoord.stop() == 0
    finally:
        broker.start_brokers(BROKER)


def test_a_topic_that_is_not_compacted_is_refused(broker: KafkaCluster, make: Make) -> None:
    name = broker.create_topic(f"deleting-{uuid.uuid4().hex[:8]}", 2)
    kcoord = make(**{"log.topic": name}).start(wait=False)
    assert kcoord.process.popen.wait(60) == 1
    assert f"topic {name} has cleanup.policy=delete" in kcoord.log.read_text()
