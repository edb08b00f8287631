"""Do Python consumers log in, encrypt, and say which right is missing?"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kcoord.consumer import Consumer, ConsumerError
from tests.consumer.reader import Reader, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.security import Mechanism, Security
from tests.kafka.topics import write_topic

USER = "reader"


def allow(cluster: KafkaCluster, kind: ResourceType, name: str) -> None:
    """Allow the user to read this, which includes to see it."""
    binding = AclBinding(
        kind, name, ResourcePatternType.LITERAL, f"User:{USER}", "*", AclOperation.READ, AclPermissionType.ALLOW
    )
    admin = cluster.admin()  # its futures end with it
    admin.create_acls([binding])[binding].result(120)


async def test_rights_and_passwords(start_kafka: Callable[..., KafkaCluster]) -> None:
    """Each missing right is named, with what to do; then the topic is read."""
    cluster = start_kafka(security=Security.SASL_PLAINTEXT, users=[USER], acl=True)
    cluster.create_topic("secret")
    write_topic(cluster, "secret", ["one", "two"])
    login = cluster.client(USER, Mechanism.SCRAM_SHA_256).librdkafka()
    with pytest.raises(ConsumerError, match=r"no broker at .* can be reached: .*Check bootstrap_servers and security"):
        async with Consumer(cluster.bootstrap, "g", topics=["secret"], security={**login, "sasl.password": "wrong"}):
            pass
    said = await error_of(Consumer(cluster.bootstrap, "g", topics=["secret"], security=login))
    assert re.match("group g: GROUP_AUTHORIZATION_FAILED: .*[Tt]his user may not use the group: allow it Read", said)
    allow(cluster, ResourceType.GROUP, "g")
    said = ""
    while "TOPIC_AUTHORIZATION_FAILED" not in said:  # a right counts only some time after it was given
        said = await error_of(Consumer(cluster.bootstrap, "g", topics=["secret"], security=login))
    assert re.search("[Tt]his user may not see a topic of secret: allow it Describe and Read", said)
    allow(cluster, ResourceType.TOPIC, "secret")
    values: list[bytes | None] = []
    while len(values) < 2:
        async with Consumer(
            cluster.bootstrap, "g", topics=["secret"], security=login, auto_offset_reset="earliest"
        ) as consumer:
            with contextlib.suppress(ConsumerError):
                values.append((await anext(consumer)).value)
    assert values == [b"one", b"two"]
    assert cluster.committed("g") == {("secret", 0): 2}


async def error_of(consumer: Consumer) -> str:
    """With what this consumer ends when it reads."""
    async with consumer:
        with pytest.raises(ConsumerError) as raised:
            await anext(consumer)
    return str(raised.value)


async def test_a_cluster_with_tls(start_kafka: Callable[..., KafkaCluster]) -> None:
    cluster = start_kafka(security=Security.SSL)
    cluster.create_topic("hidden")
    write_topic(cluster, "hidden", ["one", "two"])
    security = cluster.client().librdkafka()
    async with Reader(cluster.bootstrap, "g", topics=["hidden"], security=security) as reader:
        await until(lambda: reader.values == ["one", "two"], "all is read", lambda: (reader.values, reader.error))
    assert cluster.committed("g") == {("hidden", 0): 2}
