"""Is Connect's configuration topic read as it stands in a real Kafka: to its end, then on? Which topics are refused?

What Connect's own workers write there is read in `test_beside_java.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from kcoord.client.security import Security
from kcoord.worker import Worker
from kcoord.worker.config_topic import ConfigTopic, ConfigTopicError
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Security as ClusterSecurity
from tests.kafka.security import password_of
from tests.worker.driver import resources
from tests.worker.house import House

COMPACTED = {"cleanup.policy": "compact"}
PROPERTIES = {"properties": {"connector.class": "X"}}


class Writer:
    """Writes as Connect's leader does."""

    def __init__(self, cluster: KafkaCluster, topic: str, **settings: Any) -> None:
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, **cluster.client().librdkafka(), **settings})
        self._topic = topic

    def put(self, key: str, value: object = None) -> Writer:
        self.put_bytes(key, None if value is None else json.dumps(value).encode())
        return self

    def put_bytes(self, key: str, value: bytes | None) -> None:
        self._producer.produce(self._topic, value, key=key.encode())
        assert self._producer.flush(30) == 0

    def connector(self, name: str, tasks: int) -> Writer:
        self.put(f"connector-{name}", PROPERTIES)
        for task in range(tasks):
            self.put(f"task-{name}-{task}", PROPERTIES)
        return self.put(f"commit-{name}", {"tasks": tasks})

    def transaction(self, write: Callable[[], object], *, commit: bool = True) -> None:
        self._producer.begin_transaction()
        write()
        (self._producer.commit_transaction if commit else self._producer.abort_transaction)()


async def until(probe: Callable[[], bool]) -> None:
    async with asyncio.timeout(180):
        while not probe():
            await asyncio.sleep(0.02)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return f"configs-{request.node.name.removeprefix('test_')[:60]}"


@pytest.fixture
def writer(kafka: KafkaCluster, name: str) -> Writer:
    return Writer(kafka, kafka.create_topic(name, config=COMPACTED))


@pytest.fixture
async def topic(kafka: KafkaCluster, name: str, writer: Writer) -> AsyncIterator[ConfigTopic]:
    """Of something written, not yet open."""
    topic = ConfigTopic(kafka.bootstrap, name)
    yield topic
    await topic.close()


async def test_it_is_read_to_its_end_before_anything_else_and_then_followed(writer: Writer, topic: ConfigTopic) -> None:
    writer.connector("a", 2)
    heard: list[int] = []
    topic.on_change = lambda: heard.append(topic.config.offset)
    await topic.open()
    assert (topic.config.resources, topic.config.offset) == (resources("a a-0 a-1"), 4)
    writer.connector("b", 1)
    await until(lambda: topic.config.resources == resources("a a-0 a-1 b b-0"))
    writer.put("session-key", {"key": "a2V5", "algorithm": "HmacSHA256", "creation-timestamp": 1})
    await until(lambda: topic.config.offset == 8)
    assert heard[-1] == 8


async def test_an_empty_one_is_one(topic: ConfigTopic) -> None:
    await topic.open()
    assert (topic.config.resources, topic.config.offset) == (frozenset(), -1)
    assert topic.configured() is None
    assert await topic.catch_up()


async def test_to_catch_up_is_to_know_what_stands_there_now(writer: Writer, topic: ConfigTopic) -> None:
    await topic.open()
    for number in range(3):
        writer.connector(f"c{number}", 1)
        assert await topic.catch_up()
        assert (f"c{number}", 0) in topic.config.resources


async def test_only_what_is_committed_counts(kafka: KafkaCluster, name: str, topic: ConfigTopic) -> None:
    """exactly.once.source.support: the leader writes in transactions. Their markers have offsets, and say nothing."""
    transactional = Writer(kafka, name, **{"transactional.id": name})
    transactional._producer.init_transactions(120)
    transactional.transaction(lambda: transactional.connector("a", 1))
    await topic.open()
    assert (topic.config.resources, topic.config.offset) == (resources("a a-0"), 3)
    transactional.transaction(lambda: transactional.connector("b", 1), commit=False)
    transactional.transaction(lambda: transactional.connector("c", 0))
    assert await topic.catch_up()
    assert topic.config.resources == resources("a a-0 c")


async def test_what_cannot_be_read_is_named_and_left_out(
    writer: Writer, topic: ConfigTopic, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    writer.connector("a", 1)
    writer.put_bytes("connector-b", b"{")
    writer.put("nonsense", {}).connector("c", 0)
    with caplog.at_level(logging.WARNING):
        await topic.open()
    assert topic.config.resources == resources("a a-0 c")
    where = f"configuration topic {name}, partition 0, offset"
    assert [each.getMessage().partition(": ignored: ")[0] for each in caplog.records] == [
        f"{where} 3, key 'connector-b'",
        f"{where} 4, key 'nonsense'",
    ]


async def test_a_worker_tells_what_stands_there(writer: Writer, topic: ConfigTopic, kcoord: Kcoord, group: str) -> None:
    """CG-21, CG-31: a provider of the configured set, and its offset"""
    writer.connector("a", 2)
    await topic.open()
    house = House()
    async with Worker(
        kcoord.bootstrap, group, listener=house.listener("w"), configured=topic.configured, server_assignor="uniform"
    ) as worker:
        topic.on_change = worker.configured_changed
        await house.shared_by("w", all_of="a a-0 a-1")
        writer.put("connector-a").connector("b", 1)
        await house.shared_by("w", all_of="b b-0")


async def test_restarts_of_before_are_none(writer: Writer, topic: ConfigTopic) -> None:
    request = {"include-tasks": True, "only-failed": False}
    writer.connector("a", 1).put("restart-connector-a", request)
    await topic.open()
    assert topic.take_restarts() == []
    writer.put("restart-connector-a", request)
    assert await topic.catch_up()
    assert [each.name for each in topic.take_restarts()] == ["a"]
    assert topic.take_restarts() == []


async def test_a_topic_that_is_not_there_is_not_made(kafka: KafkaCluster, name: str) -> None:
    with pytest.raises(
        ConfigTopicError, match="there is none, or this user may not see it: it is the Connect workers'"
    ):
        await ConfigTopic(kafka.bootstrap, name).open()
    assert name not in kafka.admin().list_topics(timeout=120).topics


async def test_a_topic_of_another_kind_is_refused(kafka: KafkaCluster, name: str) -> None:
    kafka.create_topic(f"{name}-deleted", config={"cleanup.policy": "delete"})
    kafka.create_topic(f"{name}-two", partitions=2, config=COMPACTED)
    with pytest.raises(ConfigTopicError, match=r"has cleanup\.policy=delete, so old connectors are deleted"):
        await ConfigTopic(kafka.bootstrap, f"{name}-deleted").open()
    with pytest.raises(ConfigTopicError, match="has 2 partitions; Connect's has one"):
        await ConfigTopic(kafka.bootstrap, f"{name}-two").open()


async def test_a_cluster_that_is_not_there_is_said(name: str) -> None:
    with pytest.raises(ConfigTopicError, match=r"^configuration topic configs-\S+ at 127\.0\.0\.1:1: cannot be read: "):
        await ConfigTopic("127.0.0.1:1", name).open()


async def test_rights_are_asked_for_by_name(start_kafka: Callable[..., KafkaCluster], name: str) -> None:
    kafka = start_kafka(security=ClusterSecurity.SASL_PLAINTEXT, users=["worker"], acl=True)
    kafka.create_topic(name, config=COMPACTED)
    Writer(kafka, name).connector("a", 1)
    security = Security.from_properties(
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": "worker",
            "sasl.password": password_of("worker"),
        }
    )

    admin = kafka.admin()  # its futures end with it

    def allow(operation: AclOperation) -> None:
        binding = AclBinding(
            ResourceType.TOPIC,
            name,
            ResourcePatternType.LITERAL,
            "User:worker",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        admin.create_acls([binding])[binding].result(120)

    async def says(why: str) -> None:
        """A right takes a moment to get around."""
        async with asyncio.timeout(180):
            while True:
                with pytest.raises(ConfigTopicError) as error:
                    await ConfigTopic(kafka.bootstrap, name, security=security).open()
                if why in str(error.value):
                    return

    await says("there is none, or this user may not see it")
    allow(AclOperation.DESCRIBE)
    await says("may not be read: allow this user Read on the topic")
    allow(AclOperation.READ)
    async with asyncio.timeout(180):
        while True:
            with contextlib.suppress(ConfigTopicError):
                async with ConfigTopic(kafka.bootstrap, name, security=security) as topic:
                    assert topic.config.resources == resources("a a-0")
                    return


async def test_when_the_broker_is_away_what_was_read_counts(
    start_kafka: Callable[..., KafkaCluster], name: str
) -> None:
    kafka = start_kafka()
    writer = Writer(kafka, kafka.create_topic(name, config=COMPACTED)).connector("a", 1)
    async with ConfigTopic(kafka.bootstrap, name) as topic:
        await asyncio.to_thread(kafka.kill_broker, 1)
        assert not await topic.catch_up(1.0)
        assert topic.config.resources == resources("a a-0")
        await asyncio.to_thread(kafka.start_brokers, 1)
        await asyncio.to_thread(writer.connector, "b", 0)
        await until(lambda: topic.config.resources == resources("a a-0 b"))
