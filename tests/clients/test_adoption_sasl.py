"""Do real clients that log in go behind kcoord and back to the brokers while they work? AD-14, AD-15, GW-5, GW-16.

The story and the cells are those of test_adoption.py. Upstream has SASL and ACLs: each client logs in as a user of its
own, the first by SCRAM, the next by PLAIN, and so on. A user has what docs/gateway.md names: Read on the group and on
the topic; who copies in transactions may also write to its target and with its transactional id. The group is moved by
somebody who has no other rights than docs/in-and-out.md names: Describe on the group and AlterConfigs on it (before
Kafka 4: on the cluster). kcoord itself has no login.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from tests.cells import cells
from tests.clients.clients_under_load import Complaints, Crowd, Load
from tests.clients.conftest import VERSIONS
from tests.clients.live_clients import LiveClient
from tests.clients.test_adoption import CELLS, MOVE_ONLY, ORDINARY, in_and_out
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import kcoord_of
from tests.kafka.groups import describe
from tests.kafka.java import Java, write_properties
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import Mechanism, Security
from tests.kafka.wait import eventually

USERS = ("ada", "bob", "cem", "dee")
"""One for each client of a cell."""
MECHANISMS = (Mechanism.SCRAM_SHA_512, Mechanism.PLAIN)
OPERATOR = "operator"
MATRIX = [
    *[("4.3", cell) for cell in CELLS if cell not in MOVE_ONLY],
    *[(version, cell) for version in ("3.9", "2.8") for cell in ("mixed", "java cooperative", "librdkafka copier")],
]
AT_EACH_COMMIT = ("4.3", "mixed")
WITHOUT_TLS = (r"Sending username and password in the clear", r"Exchanging credentials in the clear")
"""What Python's libraries log of each login over a listener like this one."""
REAUTHENTICATE_MS = 4_000
"""How long a session lasts at the brokers where clients have to log in once more while they work."""


@pytest.fixture(scope="module")
def secured(
    start_kafka: Callable[..., KafkaCluster], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., tuple[KafkaCluster, Kcoord]]]:
    """A cluster of a version that asks for logins and rights, and the kcoord before it."""
    started: dict[object, tuple[KafkaCluster, Kcoord]] = {}

    def of(version: str, **overrides: object) -> tuple[KafkaCluster, Kcoord]:
        key = version, *overrides.items()
        if key not in started:
            kafka = start_kafka(
                security=Security.SASL_PLAINTEXT,
                users=[*USERS, OPERATOR],
                acl=True,
                version=VERSIONS.get(version),
                overrides=overrides,
            )
            eventually(lambda: describe(kafka.bootstrap, "whoever", kafka.client()), "coordinators", retry=Exception)
            started[key] = kafka, kcoord_of(kafka, tmp_path_factory.mktemp("kcoord"))
        return started[key]

    yield of
    for _, front in started.values():
        front.remove()


@pytest.mark.parametrize(("version", "cell"), cells(MATRIX, lambda cell: cell != AT_EACH_COMMIT))
def test_in_and_out_with_logins(
    secured: Callable[..., tuple[KafkaCluster, Kcoord]],
    java: Java,
    tmp_path: Path,
    name: str,
    version: str,
    cell: str,
) -> None:
    kafka, front = secured(version)
    there_and_back(kafka, front, java, tmp_path, name, version, cell)


@pytest.mark.proof
@pytest.mark.parametrize("cell", ["java cooperative", "librdkafka cooperative"])
def test_in_and_out_while_clients_log_in_again_and_again(
    secured: Callable[..., tuple[KafkaCluster, Kcoord]], java: Java, tmp_path: Path, name: str, cell: str
) -> None:
    """GW-5: sessions at the brokers last some seconds, so members log in anew before, during and after a move."""
    kafka, front = secured("4.3", **{"listener.name.client.connections.max.reauth.ms": REAUTHENTICATE_MS})
    there_and_back(kafka, front, java, tmp_path, name, "4.3", cell)


def there_and_back(
    kafka: KafkaCluster, front: Kcoord, java: Java, folder: Path, group: str, version: str, cell: str
) -> None:
    """The story of one cell; each record is processed exactly once."""
    topic, target = (kafka.create_topic(f"{kind}-{group}", partitions=4) for kind in ("topic", "target"))
    clients = CELLS[cell](group, topic, target, folder, java)
    log_in(kafka, clients)
    allow(kafka, [*rights(group, topic, target), *rights_to_move(group, version)])
    login = folder / "operator.properties"
    write_properties(login, kafka.client(OPERATOR, Mechanism.SCRAM_SHA_256).java())
    with Complaints() as complaints, Crowd(kafka, group, topic, clients, Load(kafka, topic), complaints) as crowd:
        in_and_out(crowd, front, login)
    if "copier" in cell:
        crowd.load.check_copied_once(target)
    crowd.check_each_once()
    crowd.check_no_complaint((*ORDINARY, *WITHOUT_TLS))


def log_in(kafka: KafkaCluster, clients: Iterable[LiveClient]) -> None:
    """Each client is a user of its own from now on."""
    for number, (each, user) in enumerate(zip(clients, USERS, strict=False)):
        each.security = kafka.client(user, MECHANISMS[number % len(MECHANISMS)])


def rights(group: str, topic: str, target: str) -> Iterator[AclBinding]:
    """What clients need, through kcoord and without it."""
    for user in USERS:
        yield right(user, ResourceType.GROUP, group, AclOperation.READ)
        yield right(user, ResourceType.TOPIC, topic, AclOperation.READ)
        yield right(user, ResourceType.TOPIC, target, AclOperation.WRITE)
        yield right(user, ResourceType.TRANSACTIONAL_ID, group, AclOperation.WRITE, ResourcePatternType.PREFIXED)


def rights_to_move(group: str, version: str) -> Iterator[AclBinding]:
    """Clusters before Kafka 4 have no settings of groups, and so no right to these."""
    yield right(OPERATOR, ResourceType.GROUP, group, AclOperation.DESCRIBE)
    has_settings = int(version.split(".")[0]) >= 4
    where = (ResourceType.GROUP, group) if has_settings else (ResourceType.BROKER, "kafka-cluster")
    yield right(OPERATOR, *where, AclOperation.ALTER_CONFIGS)


def right(
    user: str,
    kind: ResourceType,
    name: str,
    operation: AclOperation,
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> AclBinding:
    return AclBinding(kind, name, pattern, f"User:{user}", "*", operation, AclPermissionType.ALLOW)


def allow(kafka: KafkaCluster, wanted: list[AclBinding]) -> None:
    """Give these rights."""
    admin = kafka.admin()  # its futures end with it
    for done in admin.create_acls(wanted).values():
        done.result(120)
