"""Does kcoord get to its log through TLS, SASL and ACLs, and does it say what is wrong where it does not?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kcoord.log.interface import LogUnusable
from kcoord.log.kafka.history import TopicHistory
from kcoord.log.kafka.security import KafkaSecurity
from tests.kafka.cluster import KafkaCluster
from tests.kafka.security import Certificates, Mechanism, Security, password_of
from tests.log.places import Topic, loaded, opened

USER, STRANGER, READER = "kcoord", "stranger", "reader"
OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
QUICK = {"request_timeout_ms": 3_000, "load_timeout_ms": 5_000}


@pytest.fixture(scope="module")
def by_sasl(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A cluster in which `kcoord` has the rights that docs/log.md lists, and `stranger` none."""
    mechanisms = [*(each.value for each in Mechanism), "OAUTHBEARER"]
    overrides = {
        "sasl.enabled.mechanisms": ",".join(mechanisms),
        "listener.name.client.oauthbearer.sasl.jaas.config": f"{OAUTH_MODULE} required;",
    }
    cluster = start_kafka(
        security=Security.SASL_PLAINTEXT, users=[USER, STRANGER, READER], acl=True, overrides=overrides
    )
    topic = ("offsets-", ResourceType.TOPIC)
    rights = [
        *((*topic, operation) for operation in (AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE)),
        (*topic, AclOperation.DESCRIBE_CONFIGS),
        ("offsets-", ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE),
    ]
    bindings = [
        AclBinding(
            kind, name, ResourcePatternType.PREFIXED, f"User:{user}", "*", operation, AclPermissionType.ALLOW
        )
        for user, name, kind, operation in [
            *((USER, *right) for right in rights),
            (READER, *topic, AclOperation.READ),
        ]
    ]  # fmt: skip
    admin = cluster.admin()  # its futures end with it
    for done in admin.create_acls(bindings).values():
        done.result(120)
    return cluster


@pytest.fixture(scope="module")
def by_tls(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    return start_kafka(security=Security.SSL)


def sasl(mechanism: str, user: str = USER, password: str | None = None, **others: object) -> KafkaSecurity:
    secret = password_of(user) if password is None else password
    return KafkaSecurity(protocol="SASL_PLAINTEXT", mechanism=mechanism, username=user, password=secret, **others)  # type: ignore[arg-type]


def tokens(provider: str) -> KafkaSecurity:
    return KafkaSecurity(protocol="SASL_PLAINTEXT", mechanism="OAUTHBEARER", oauth_token_provider=provider)


async def works(cluster: KafkaCluster, security: KafkaSecurity) -> None:
    async with opened(Topic(cluster).make(security=security), 0) as log:
        await log.append(0, [(b"a", b"1")])
        assert await loaded(log) == [(b"a", b"1")]


async def refused(cluster: KafkaCluster, security: KafkaSecurity, says: str) -> None:
    with pytest.raises(LogUnusable, match=says):
        async with opened(Topic(cluster).make(security=security, **QUICK), 0):
            pass


@pytest.mark.parametrize("mechanism", [each.value for each in Mechanism])
async def test_a_name_and_a_password(by_sasl: KafkaCluster, mechanism: str) -> None:
    await works(by_sasl, sasl(mechanism))
    await refused(by_sasl, sasl(mechanism, password="wrong"), "127.0.0.1:.*[Aa]uthentication failed")


async def test_tokens(by_sasl: KafkaCluster) -> None:
    await works(by_sasl, tokens("tests.log.kafka.tokens:Unsigned"))


@pytest.mark.parametrize(
    ("security", "says"),
    [
        (tokens("tests.log.kafka.tokens:Signed"), "log.sasl.oauth.token.provider=.*:Signed is not there .*Signed"),
        (tokens("not.there:Unsigned"), "is not there .No module named 'not'.; give module:attribute"),
        (tokens("tests.log.kafka.tokens:NOT_A_PROVIDER"), "is a int, and must be an aiokafka.abc.AbstractTokenProv"),
        (KafkaSecurity(protocol="SASL_SSL", mechanism="GSSAPI"), "needs the Python package gssapi, which is not inst"),
        (KafkaSecurity(), "127.0.0.1:.*it closed the connection .as a broker does when security.protocol is not what"),
        (KafkaSecurity(protocol="SSL", ca_file=Path("/not/there")), "no usable PEM files .log.ssl.ca.location=/not/th"),
        (KafkaSecurity(protocol="SSL"), "127.0.0.1:.*(SSL|EOF|no answer|closed)"),
    ],
)
async def test_what_does_not_fit_is_said(by_sasl: KafkaCluster, security: KafkaSecurity, says: str) -> None:
    await refused(by_sasl, security, says)


async def test_rights_that_lack_are_named(by_sasl: KafkaCluster) -> None:
    await refused(
        by_sasl, sasl("PLAIN", STRANGER), "TOPIC_AUTHORIZATION_FAILED: kcoord may not read or write the topic"
    )
    topic = Topic(by_sasl)
    async with opened(topic.make(security=sasl("PLAIN"))):
        pass
    reading = AclBinding(
        ResourceType.TOPIC, topic.name, ResourcePatternType.LITERAL, f"User:{STRANGER}", "*",
        AclOperation.ALL, AclPermissionType.ALLOW,
    )  # fmt: skip
    admin = by_sasl.admin()  # its futures end with it
    [done] = admin.create_acls([reading]).values()
    await asyncio.to_thread(done.result, 120)
    async with asyncio.timeout(180):
        while True:
            with pytest.raises(LogUnusable) as why:
                async with opened(topic.make(security=sasl("PLAIN", STRANGER), **QUICK), 0):
                    pass
            if "TOPIC_AUTHORIZATION_FAILED" not in str(why.value):  # the broker has heard of the right
                break
    assert "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" in str(why.value)


async def test_who_only_looks_needs_to_read_only(by_sasl: KafkaCluster) -> None:
    topic = Topic(by_sasl)
    async with opened(topic.make(security=sasl("PLAIN")), 0) as log:
        await log.append(0, [(b"a", b"1")])
    async with TopicHistory(topic.settings(security=sasl("PLAIN", READER))) as history:
        found = [(each.key, each.value) async for entries in history.read(0) for each in entries]
    assert found == [(b"a", b"1")]
    with pytest.raises(LogUnusable, match="AUTHORIZATION_FAILED"):
        async with opened(topic.make(security=sasl("PLAIN", READER), **QUICK), 0):
            pass


async def test_tls(by_tls: KafkaCluster, tmp_path: Path) -> None:
    assert by_tls.certificates is not None
    await works(by_tls, KafkaSecurity(protocol="SSL", ca_file=by_tls.certificates.authority))
    other = Certificates.make(tmp_path).authority
    await refused(by_tls, KafkaSecurity(protocol="SSL", ca_file=other), "127.0.0.1:.*certificate verify failed")
    await refused(by_tls, KafkaSecurity(protocol="SSL"), "127.0.0.1:.*certificate verify failed")
    await refused(by_tls, KafkaSecurity(), "127.0.0.1:.*(closed the connection|no answer)")


def test_settings_that_lack_something() -> None:
    with pytest.raises(ValueError, match=r"log.sasl.mechanism=PLAIN needs a name and a password"):
        KafkaSecurity(protocol="SASL_SSL", username="kcoord")
    with pytest.raises(ValueError, match="OAUTHBEARER needs somebody who gives tokens"):
        KafkaSecurity(protocol="SASL_SSL", mechanism="OAUTHBEARER")
