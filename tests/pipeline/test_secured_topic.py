"""Does Spark get to a topic by TLS, SASL and ACLs with kcoord's own settings, and is what is wrong said in a line?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kcoord.log.kafka.security import KafkaSecurity
from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.schemas import EPOCHS
from kcoord.pipeline.spark.history import Outcome, run_batch
from kcoord.pipeline.spark.sources import TopicSource
from kcoord.pipeline.spark.store import Store
from tests.cells import cells
from tests.kafka.cluster import KafkaCluster
from tests.kafka.security import ADMIN, Mechanism, Security, password_of
from tests.log.places import Topic
from tests.pipeline.on_topic import put
from tests.pipeline.spark import read
from tests.pipeline.story import fleet_of_two

READER, STRANGER = "reader", "stranger"
MECHANISMS = (Mechanism.PLAIN.value, Mechanism.SCRAM_SHA_512.value)


def sasl(user: str, mechanism: str = "PLAIN", password: str | None = None) -> KafkaSecurity:
    secret = password_of(user) if password is None else password
    return KafkaSecurity(protocol="SASL_PLAINTEXT", mechanism=mechanism, username=user, password=secret)


@pytest.fixture(scope="module")
def by_sasl(start_kafka: Callable[..., KafkaCluster]) -> Topic:
    """A log that `reader` may read, and `stranger` may not."""
    cluster = start_kafka(security=Security.SASL_PLAINTEXT, users=[READER, STRANGER], acl=True)
    topic = Topic(cluster)
    right = AclBinding(
        ResourceType.TOPIC, topic.name, ResourcePatternType.LITERAL, f"User:{READER}", "*",
        AclOperation.READ, AclPermissionType.ALLOW,
    )  # fmt: skip
    admin = cluster.admin()  # its futures end with it
    for done in admin.create_acls([right]).values():
        done.result(30)
    asyncio.run(put(topic, fleet_of_two().written, security=sasl(ADMIN)))
    return topic


def tables_of(topic: Topic, security: KafkaSecurity, spark: Any, place: Path) -> Outcome:
    outcome = run_batch(Store(spark, str(place)), TopicSource.look(topic.settings(security=security)))
    assert sorted(row["epoch"] for row in read(place, EPOCHS)) == [1, 2, 3]
    return outcome


EXPECTED = Outcome(sum(len(records) for _, records in fleet_of_two().written), 0, 0)


@pytest.mark.parametrize("mechanism", cells(MECHANISMS, lambda mechanism: mechanism == Mechanism.PLAIN.value))
def test_who_may_only_read_the_topic_by_a_password(by_sasl: Topic, mechanism: str, spark: Any, tmp_path: Path) -> None:
    """`Read` on the topic alone, as docs/log.md says of those who look."""
    assert tables_of(by_sasl, sasl(READER, mechanism), spark, tmp_path / "tables") == EXPECTED


@pytest.mark.proof
def test_tls(start_kafka: Callable[..., KafkaCluster], spark: Any, tmp_path: Path) -> None:
    cluster = start_kafka(security=Security.SSL)
    assert cluster.certificates is not None
    security = KafkaSecurity(protocol="SSL", ca_file=cluster.certificates.authority)
    topic = Topic(cluster)
    asyncio.run(put(topic, fleet_of_two().written, security=security))
    assert tables_of(topic, security, spark, tmp_path / "tables") == EXPECTED


@pytest.mark.parametrize(
    ("security", "says"),
    [
        pytest.param(sasl(READER, password="wrong"), "127.0.0.1:.*[Aa]uthentication failed", id="wrong password"),
        pytest.param(sasl(STRANGER), "there is no topic .*, or kcoord may not see it", id="no right"),
        pytest.param(KafkaSecurity(), "127.0.0.1:.*closed the connection", id="no security"),
    ],
)
def test_who_may_not_is_told_so(by_sasl: Topic, security: KafkaSecurity, says: str) -> None:
    settings = by_sasl.settings(security=security, request_timeout_ms=3_000, load_timeout_ms=5_000)
    with pytest.raises(PipelineError, match=says):
        TopicSource.look(settings)
