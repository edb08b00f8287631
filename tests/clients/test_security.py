"""Do clients work through kcoord with the identity that they have at the cluster, over SASL and TLS?"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from tests.clients.members import LIBRARIES, Librdkafka, Member
from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import DIRECT, Front, front_of
from tests.kafka.groups import check_kcoord_owns
from tests.kafka.java import Java
from tests.kafka.security import PLAINTEXT, ClientSecurity, Mechanism, Security
from tests.kafka.topics import write_topic
from tests.kafka.wait import eventually

VALUES = {f"v{n}" for n in range(20)}
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
OAUTHBEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
every_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.library)


@attrs.frozen
class Secured:
    """A cluster, and kcoord before it."""

    kafka: KafkaCluster
    front: Front


@pytest.fixture(scope="module")
def sasl(start_kafka: Callable[..., KafkaCluster], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """SASL and ACLs: ada may use topics and groups, eve only topics."""
    listener = "listener.name.client.oauthbearer.sasl"
    overrides = {
        "sasl.enabled.mechanisms": ",".join([*(mechanism.value for mechanism in Mechanism), "OAUTHBEARER"]),
        f"{listener}.jaas.config": f'{OAUTHBEARER} required unsecuredLoginStringClaim_sub="admin";',
    }
    kafka = start_kafka(security=Security.SASL_PLAINTEXT, users=["ada", "eve"], acl=True, overrides=overrides)
    allowed = [("ada", ResourceType.TOPIC), ("ada", ResourceType.GROUP), ("eve", ResourceType.TOPIC)]
    admin = kafka.admin()  # its futures end with it
    for done in admin.create_acls(
        [
            AclBinding(
                kind,
                "*",
                ResourcePatternType.LITERAL,
                f"User:{user}",
                "*",
                AclOperation.ALL,
                AclPermissionType.ALLOW,
            )
            for user, kind in allowed
        ]
    ).values():
        done.result(120)
    front = front_of(kafka, tmp_path_factory.mktemp("kcoord"), log_level="DEBUG")
    yield Secured(kafka, front)
    front.remove()


@pytest.fixture(scope="module")
def tls(start_kafka: Callable[..., KafkaCluster], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """TLS between clients and kcoord, and between kcoord and the cluster."""
    kafka = start_kafka(security=Security.SSL)
    assert kafka.certificates is not None
    front = front_of(kafka, tmp_path_factory.mktemp("kcoord"), ssl_certificate_location=kafka.certificates.server)
    yield Secured(kafka, front)
    front.remove()


def share_and_commit(
    member: type[Member],
    secured: Secured,
    security: ClientSecurity,
    group: str,
    options: Mapping[str, str] | None = None,
) -> None:
    """Two members share a topic and commit; kcoord owns the group, and Kafka has the offsets."""
    topic = secured.kafka.create_topic(f"topic-{group}", partitions=2)
    at = secured.front.bootstrap
    with (
        member(at, group, [topic], security=security, options=options) as one,
        member(at, group, [topic], security=security, options=options) as two,
    ):
        one.wait_for_partitions(1)
        two.wait_for_partitions(1)
        write_topic(secured.kafka, topic, VALUES)
        eventually(lambda: {*one.values, *two.values} == VALUES, "all is read")
        one.commit()
        two.commit()
        check_kcoord_owns(secured.kafka, group)
        assert sum(secured.kafka.committed(group).values()) == len(VALUES)


@every_library
@pytest.mark.parametrize("mechanism", Mechanism, ids=lambda mechanism: mechanism.value)
def test_sasl(library: type[Member], mechanism: Mechanism, sasl: Secured, name: str) -> None:
    share_and_commit(library, sasl, sasl.kafka.client("ada", mechanism), name)


def test_oauthbearer(sasl: Secured, name: str) -> None:
    token = {
        "sasl.mechanism": "OAUTHBEARER",
        "enable.sasl.oauthbearer.unsecure.jwt": "true",
        "sasl.oauthbearer.config": "principal=ada",
    }
    share_and_commit(Librdkafka, sasl, sasl.kafka.client(), name, token)


@every_library
def test_who_has_no_right_to_the_group_is_refused(library: type[Member], sasl: Secured, name: str) -> None:
    topic = sasl.kafka.create_topic(f"topic-{name}")
    with (
        library(sasl.front.bootstrap, name, [topic], security=sasl.kafka.client("ada")) as ada,
        library(sasl.front.bootstrap, name, [topic], security=sasl.kafka.client("eve")) as eve,
    ):
        ada.wait_for_partitions(1)
        assert re.search("(?i)group.?authorization", repr(eve.wait_for_error()))
        assert ada.assignments == 1


@pytest.mark.parametrize(("user", "sees"), [("ada", True), ("eve", False)])
def test_java_tools_see_what_their_user_may(user: str, sees: bool, java: Java, sasl: Secured, name: str) -> None:
    topic = sasl.kafka.create_topic(f"topic-{name}")
    at = ["--bootstrap-server", sasl.front.bootstrap]
    config = sasl.kafka.client(user, Mechanism.SCRAM_SHA_512).java()
    with Librdkafka(sasl.front.bootstrap, name, [topic], security=sasl.kafka.client("ada")) as member:
        member.wait_for_partitions(1)
        assert (name in java.tool(CONSUMER_GROUPS, *at, "--list", config=config)) is sees
        described = java.run(CONSUMER_GROUPS, *at, "--describe", "--group", name, config=config)
        assert (member.member_id() in described.stdout) is sees
        assert ("GroupAuthorizationException" in described.stderr) is not sees


@every_library
def test_tls(library: type[Member], tls: Secured, name: str) -> None:
    share_and_commit(library, tls, tls.kafka.client(), name)


def test_java_tool_over_tls(java: Java, tls: Secured, name: str) -> None:
    topic = tls.kafka.create_topic(f"topic-{name}")
    with Librdkafka(tls.front.bootstrap, name, [topic], security=tls.kafka.client()) as member:
        member.wait_for_partitions(1)
        arguments = ["--bootstrap-server", tls.front.bootstrap, "--describe", "--group", name, "--members"]
        assert member.member_id() in java.tool(CONSUMER_GROUPS, *arguments, config=tls.kafka.client().java())


@every_library
def test_plain_clients_before_a_tls_cluster(library: type[Member], tls: Secured, tmp_path: Path, name: str) -> None:
    if DIRECT:
        pytest.skip("there is no kcoord, which alone would speak TLS with the cluster")
    front = front_of(tls.kafka, tmp_path)
    try:
        share_and_commit(library, Secured(tls.kafka, front), PLAINTEXT, name)
    finally:
        front.remove()
