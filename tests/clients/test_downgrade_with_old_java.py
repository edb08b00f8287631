"""When the last consumer of the new protocol leaves, do classic consumers of old Java keep their partitions? KG-24

Java's CooperativeStickyAssignor of 2.8.1 to 3.4.0 takes what members of an older generation have for nobody's. In a
consumer group each classic member has a generation of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cells import cells
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.live_clients import JavaClient, LibraryClient, LivingLibrdkafka, with_program
from tests.clients.test_adoption import COOPERATIVE, STRATEGY
from tests.clients.test_consumers_alone import NEW_PROTOCOL
from tests.clients.test_rolling_consumers import check_kind
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front
from tests.kafka.java import Java
from tests.kafka.libs import BROKER_POM, fetch_libs
from tests.kafka.wait import eventually

CLASSIC, NEW = 3, 2
ROUNDS = 4
MORE = 10
"""How many records each classic consumer must process after a change."""
AT_EACH_COMMIT = (5, 1)
MATRIX = [AT_EACH_COMMIT, *((partitions, ROUNDS) for partitions in (5, 7, 8, 10, 11))]
"""How many partitions the topic has, and how often the consumers of the new protocol leave and come back."""


@pytest.mark.parametrize(("partitions", "rounds"), cells(MATRIX, lambda cell: cell != AT_EACH_COMMIT))
def test_rule_24_consumers_of_old_java_read_each_record_once(
    cluster_of: Callable[[str], KafkaCluster],
    entry_of: Callable[[KafkaCluster], Front],
    java: Java,
    tmp_path: Path,
    name: str,
    partitions: int,
    rounds: int,
) -> None:
    kafka = cluster_of("2.8")
    entry = entry_of(kafka)
    topic = kafka.create_topic(f"topic-{name}", partitions=partitions)
    old = Java(java.command, fetch_libs("2.8.2", BROKER_POM), with_program(java).more_jars, is_verified=False)
    classic = [
        JavaClient(tmp_path / f"java-{at}.log", name, topic, str(at), {STRATEGY: COOPERATIVE}, java=old)
        for at in range(CLASSIC)
    ]
    new = [LibraryClient(LivingLibrdkafka, name, topic, dict(NEW_PROTOCOL)) for _ in range(NEW)]
    with (
        Complaints() as complaints,
        Crowd(kafka, name, topic, [*classic, *new], Load(kafka, topic), complaints) as crowd,
    ):
        crowd.start(entry.bootstrap)
        for _ in range(rounds):
            for left, each in reversed(list(enumerate(new))):
                logged = [len(noted(client)) for client in classic]
                each.stop()
                check_kind(entry, name, "CONSUMER" if left else "CLASSIC", CLASSIC + left)
                check_go_on(classic)
            lines = [line for client, had in zip(classic, logged, strict=True) for line in noted(client)[had:]]
            assert not [line for line in lines if line.startswith("revoked")], "all keep what they have"
            for each in new:
                each.start(entry.bootstrap)
            crowd.go_on()
            check_kind(entry, name, "CONSUMER", CLASSIC + NEW)
        crowd.end()
    crowd.check_each_once()


def noted(client: JavaClient) -> list[str]:
    """The lines of its log."""
    return client.log.read_text().splitlines()


def check_go_on(clients: list[JavaClient]) -> None:
    """Each of them processes some more records."""
    before = [len(each.notes.processed) for each in clients]

    def done() -> bool:
        return all(len(each.notes.processed) >= had + MORE for each, had in zip(clients, before, strict=True))

    eventually(done, "all classic consumers go on")
