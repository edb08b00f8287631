"""Do live fleets roll to the new protocol and back through kcoord, in front of clusters that lack it? KG-17 to KG-24.

The members are bounced one by one, each time with the other protocol, while their topic is written to. Each record is
processed exactly once, also if kcoord is killed when both kinds share the group. Which clients in which cell:

| cell | clients | what they commit |
| --- | --- | --- |
| mixed | Java and librdkafka roll; kafka-python and aiokafka, which cannot, stay classic | each poll |
| java range, java cooperative, java static | two of Java's consumers | each poll |
| librdkafka range, librdkafka cooperative, librdkafka static | two of librdkafka's | each poll |
| franz-go range, franz-go cooperative, franz-go static | two of franz-go's | each poll |
| java copier, librdkafka copier | two that consume, transform and produce | in transactions |
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.cells import cells
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.live_clients import FranzGoClient, LibraryClient, LiveClient, LivingLibrdkafka, ProgramClient
from tests.clients.test_adoption import CELLS as ADOPTED
from tests.clients.test_adoption import COOPERATIVE, ORDINARY, RANGE, STRATEGY, Clients, java_pair, mixed, pair
from tests.clients.test_consumers_alone import NEW_PROTOCOL
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import Front
from tests.kafka.java import Java
from tests.kafka.wait import NotYet, eventually


def franz_go_pair(strategy: str, *, is_static: bool = False) -> Clients:
    """Two of franz-go's consumers."""

    def clients(group: str, topic: str, _target: str, folder: Path, _java: Java) -> list[LiveClient]:
        names = [f"{group}-{at}" for at in range(2)]
        return [
            FranzGoClient(
                folder / f"franz-go-{at}.log",
                group,
                topic,
                name,
                {STRATEGY: strategy, **({"group.instance.id": name} if is_static else {})},
            )
            for at, name in enumerate(names)
        ]

    return clients


CELLS: dict[str, Clients] = {
    "mixed": mixed,
    "java range": java_pair({STRATEGY: RANGE}),
    "java cooperative": java_pair({STRATEGY: COOPERATIVE}),
    "java static": java_pair({STRATEGY: RANGE}, is_static=True),
    "librdkafka range": pair(LivingLibrdkafka, {}),
    "librdkafka cooperative": pair(LivingLibrdkafka, {STRATEGY: "cooperative-sticky"}),
    "librdkafka static": pair(LivingLibrdkafka, {}, is_static=True),
    "franz-go range": franz_go_pair("range"),
    "franz-go cooperative": franz_go_pair("cooperative-sticky"),
    "franz-go static": franz_go_pair("range", is_static=True),
    "java copier": ADOPTED["java copier"],
    "librdkafka copier": ADOPTED["librdkafka copier"],
}
VERSIONS = ("2.8", "3.9", "4.3")
MATRIX = [(cell, version, killed) for cell in CELLS for version in VERSIONS for killed in (False, True)]
AT_EACH_COMMIT = (("mixed", "2.8", False), ("java copier", "2.8", True))
"""One without a kill, where clients may complain of nothing, and one with it."""


def hears_all(cell: str, *, is_killed: bool) -> bool:
    """Whether these clients keep their partitions through a kill, and hear of every commit. franz-go gives its
    partitions up when one connection is refused, also at a cluster without kcoord.
    """
    return not (is_killed and cell.startswith("franz-go"))


@attrs.define
class Rolling:
    """A client that can speak either protocol, and what it is set to in the classic one."""

    client: ProgramClient | LibraryClient
    classic: dict[str, Any]

    def speak_new(self) -> None:
        """From its next start on. What only the classic protocol has must not be set then."""
        self._set({**{name: value for name, value in self.classic.items() if name != STRATEGY}, **NEW_PROTOCOL})

    def speak_classic(self) -> None:
        """From its next start on."""
        self._set(self.classic)

    def _set(self, settings: dict[str, Any]) -> None:
        if isinstance(self.client, ProgramClient):
            self.client.settings = settings
        else:
            self.client.options = settings


def rolling(client: LiveClient) -> list[Rolling]:
    """The client, if it knows the new protocol."""
    if isinstance(client, ProgramClient):
        return [Rolling(client, dict(client.settings))]
    assert isinstance(client, LibraryClient)
    return [Rolling(client, dict(client.options))] if issubclass(client.kind, LivingLibrdkafka) else []


@pytest.mark.parametrize(("cell", "version", "is_killed"), cells(MATRIX, lambda cell: cell not in AT_EACH_COMMIT))
def test_a_live_fleet_rolls_to_the_new_protocol_and_back(
    cluster_of: Callable[[str], KafkaCluster],
    entry_of: Callable[[KafkaCluster], Front],
    java: Java,
    tmp_path: Path,
    name: str,
    cell: str,
    version: str,
    *,
    is_killed: bool,
) -> None:
    kafka = cluster_of(version)
    entry = entry_of(kafka)
    topic, target = (kafka.create_topic(f"{kind}-{name}", partitions=6) for kind in ("topic", "target"))
    clients = CELLS[cell](name, topic, target, tmp_path, java)
    with Complaints() as complaints, Crowd(kafka, name, topic, clients, Load(kafka, topic), complaints) as crowd:
        crowd.start(entry.bootstrap)
        able = [each for client in clients for each in rolling(client)]
        for at, each in enumerate(able):
            each.speak_new()
            crowd.bounce(entry.bootstrap, each.client)
            check_kind(entry, name, "CONSUMER", len(clients))
            if at == 0 and is_killed:
                entry.kill_and_restart()
                crowd.go_on()
        for at, each in enumerate(able):
            each.speak_classic()
            crowd.bounce(entry.bootstrap, each.client)
            check_kind(entry, name, "CONSUMER" if at + 1 < len(able) else "CLASSIC", len(clients))
        crowd.end()
    if "copier" in cell:
        crowd.load.check_copied_once(target)
    heard = hears_all(cell, is_killed=is_killed)
    crowd.check_each_once(processed=heard, kept=heard)
    if not is_killed:
        crowd.check_no_complaint(ORDINARY)


def check_kind(entry: Front, group: str, kind: str, members: int) -> None:
    """The group is of that kind, and stable, with so many members, and each of them has a share."""

    def is_so() -> bool:
        admin = AdminClient({"bootstrap.servers": entry.bootstrap})
        try:
            described = admin.describe_consumer_groups([group], request_timeout=10)[group].result(20)
        except (KafkaException, TimeoutError) as error:
            raise NotYet(error) from None
        shares = [len(member.assignment.topic_partitions) for member in described.members]
        if (described.type.name, described.state.name, len(shares), 0 in shares) != (kind, "STABLE", members, False):
            raise NotYet(f"{described.type.name}, {described.state.name}: {shares}")
        return True

    eventually(is_so, f"{group} is of the kind {kind}, and all {members} members have a share")
