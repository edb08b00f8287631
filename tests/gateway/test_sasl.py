"""Do identities and rights pass through kcoord as they are? GW-5, GW-6, GW-13, GW-16 with SASL and ACLs upstream."""

import asyncio
import base64
import json
import time
from collections.abc import Callable

import pytest
from aiokafka.conn import ScramAuthenticator
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
    SaslAuthenticateRequest,
)
from tests.gateway.sasl import begin, finish, log_in, plain, send_raw
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import ADMIN, ClientSecurity, Mechanism, Security, password_of
from tests.kafka.topics import write_topic
from tests.server.harness import Client

BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
RIGHTS = {
    "reader": ["READ"],
    "viewer": ["DESCRIBE"],
    "deleter": ["READ", "DELETE"],
    "stranger": [],
}
"""What each user may do with any group."""
LIFETIME_MS, IDLE_MS, QUESTION_MS = 12_000, 8_000, 1_000


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs; clients may authenticate anew, and need not soon."""
    listener = "listener.name.client.oauthbearer.sasl"
    overrides: dict[str, object] = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        f"{listener}.jaas.config": f'{BEARER} required unsecuredLoginStringClaim_sub="admin";',
        "listener.name.client.connections.max.reauth.ms": 3_600_000,
    }
    return with_rights(start_kafka, overrides)


def with_rights(start_kafka: Callable[..., KafkaCluster], overrides: dict[str, object]) -> KafkaCluster:
    kafka = start_kafka(security=Security.SASL_PLAINTEXT, users=[*RIGHTS], acl=True, overrides=overrides)
    allow(kafka.admin())
    return kafka


def allow(admin: AdminClient) -> None:
    wanted = [(user, ResourceType.GROUP, operation) for user, operations in RIGHTS.items() for operation in operations]
    wanted += [(user, ResourceType.TOPIC, "ALL") for user in RIGHTS]
    bindings = [
        AclBinding(
            kind, "*", ResourcePatternType.LITERAL, f"User:{user}", "*", AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        for user, kind, operation in wanted
    ]  # fmt: skip
    for done in admin.create_acls(bindings).values():
        done.result(120)


SETTINGS: dict[str, object] = {
    "log_level": "DEBUG",
    "upstream_security_protocol": "SASL_PLAINTEXT",
    "gateway_question_interval_ms": QUESTION_MS,
    "gateway_sentinel_grace_ms": 0,
}


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    return start_kcoord(kafka, **SETTINGS)


async def as_user(kcoord: Kcoord, user: str) -> Client:
    """Logged in at the only broker's port of kcoord."""
    client = await connect(kcoord.port + 2)
    await log_in(client, user)
    return client


async def coordinator_is_known(kcoord: Kcoord, group: str) -> None:
    """Upstream has made the place where groups are kept, and kcoord knows the broker."""
    client = await connect(kcoord.port)
    await log_in(client, ADMIN)

    async def known() -> bool:
        found = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        return not found.coordinators[0].error_code and found.coordinators[0].port == kcoord.port + 2

    await until(known, "a coordinator")
    await client.close()


async def member_of(kcoord: Kcoord, user: str, group: str, **options: int) -> ScriptedMember:
    await coordinator_is_known(kcoord, group)
    member = ScriptedMember(await as_user(kcoord, user), group, **options)  # type: ignore[arg-type]
    await member.join_and_sync()
    return member


async def test_rule_16_rights_of_each_client_are_its_own(kcoord: Kcoord, name: str) -> None:
    member = await member_of(kcoord, "reader", name)
    identity = {"member_id": member.member_id, "generation": member.generation}
    for user in RIGHTS:
        client = await as_user(kcoord, user)
        same = ScriptedMember(client, name, **identity)  # type: ignore[arg-type]
        may_read = "READ" in RIGHTS[user]
        expected = ErrorCode.NONE if may_read else ErrorCode.GROUP_AUTHORIZATION_FAILED
        assert await same.heartbeat() == expected, user
        assert ErrorCode((await same.sync()).error_code) == expected, user
        found = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))
        may_describe = may_read or user == "viewer"
        seen = [ErrorCode(found.coordinators[0].error_code), ErrorCode((await describe(client, name)).error_code)]
        assert seen == [ErrorCode.NONE if may_describe else ErrorCode.GROUP_AUTHORIZATION_FAILED] * 2, user
        deleted = await ask(client, DeleteGroupsRequest(groups_names=[name]))
        may_delete = "DELETE" in RIGHTS[user]
        assert ErrorCode(deleted.results[0].error_code) == (
            ErrorCode.NON_EMPTY_GROUP if may_delete else ErrorCode.GROUP_AUTHORIZATION_FAILED
        ), user
    outsider = ScriptedMember(await as_user(kcoord, "viewer"), name)
    assert ErrorCode((await outsider.try_join()).error_code) == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert await member.heartbeat() == ErrorCode.NONE


async def test_rule_16_a_right_that_is_taken_away_ends_the_membership(
    kafka: KafkaCluster, kcoord: Kcoord, name: str
) -> None:
    """The right is asked for again while the member's heartbeats are answered here."""
    member = await member_of(kcoord, "reader", name)
    denial = AclBinding(
        ResourceType.GROUP, name, ResourcePatternType.LITERAL, "User:reader", "*", AclOperation.READ,
        AclPermissionType.DENY,
    )  # fmt: skip
    admin = kafka.admin()
    [done] = admin.create_acls([denial]).values()
    await asyncio.to_thread(done.result, 30)
    client = member.client

    async def refused() -> bool:
        client.writer.write(client.frame(member.heartbeat_request(), 4)[1])
        answer = await client.read_frame()  # none where kcoord has asked on its own, and ended the connection
        return not answer or int.from_bytes(answer[9:11], "big") == ErrorCode.GROUP_AUTHORIZATION_FAILED

    await until(refused, "the member without rights is refused")
    back = ScriptedMember(await as_user(kcoord, "reader"), name, member_id=member.member_id, generation=1)
    assert await back.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED


async def test_rule_5_nothing_is_answered_before_upstream_knows_the_client(kcoord: Kcoord, name: str) -> None:
    member = await member_of(kcoord, "reader", name)
    for request, version in ((member.heartbeat_request(), 4), (MetadataRequest(topics=[]), 12)):
        client = await connect(kcoord.port + 2)
        client.writer.write(client.frame(request, version)[1])
        assert await client.read_frame() == b""
    half_way = await connect(kcoord.port + 2)
    await begin(half_way)
    half_way.writer.write(half_way.frame(member.heartbeat_request(), 4)[1])
    refusal = await half_way.read_frame()  # upstream's own
    assert int.from_bytes(refusal[-3:-1], "big") == ErrorCode.ILLEGAL_SASL_STATE
    assert await half_way.read_frame() == b""
    failed = await connect(kcoord.port + 2)
    await begin(failed)
    answer = await ask(failed, SaslAuthenticateRequest(auth_bytes=b"\0reader\0wrong"), 2)
    assert ErrorCode(answer.error_code) == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert await failed.read_frame() == b""


async def test_rule_5_kcoords_own_questions_wait_for_an_open_exchange(kcoord: Kcoord, name: str) -> None:
    """The client authenticates anew and takes its time; a question of rights becomes due meanwhile."""
    member = await member_of(kcoord, "reader", name)
    await begin(member.client)
    await asyncio.sleep(3 * QUESTION_MS / 1000)
    assert await finish(member.client, plain("reader")) > 0
    assert await member.heartbeat() == ErrorCode.NONE


async def test_rule_5_and_6_a_session_lasts_as_long_as_it_is_renewed(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """Heartbeats alone, answered here: the connection outlives upstream's idle limit, not its SASL session.

    On a cluster of its own: elsewhere nobody shall be in a hurry.
    """
    limits: dict[str, object] = {
        "listener.name.client.connections.max.reauth.ms": LIFETIME_MS,
        "connections.max.idle.ms": IDLE_MS,
    }
    kcoord = start_kcoord(with_rights(start_kafka, limits), **SETTINGS)
    renewed, forgotten = await member_of(kcoord, "reader", name), await member_of(kcoord, "reader", f"{name}-2")
    end = time.monotonic() + 2.2 * LIFETIME_MS / 1000
    heard_last = renewed_last = time.monotonic()
    while time.monotonic() < end:
        if time.monotonic() - renewed_last > LIFETIME_MS / 4000:
            assert await log_in(renewed.client, "reader") > 0
            renewed_last = time.monotonic()
        assert await renewed.heartbeat() == ErrorCode.NONE
        client = forgotten.client
        client.writer.write(client.frame(forgotten.heartbeat_request(), 4)[1])
        if await client.read_frame():
            heard_last = time.monotonic()
        await asyncio.sleep(0.25)
    assert end - heard_last > 0.5 * LIFETIME_MS / 1000


async def test_rule_5_who_has_not_said_who_it_is_may_not_send_much(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]
) -> None:
    kcoord = start_kcoord(kafka, **SETTINGS, sasl_server_max_receive_size=2000)
    large = MetadataRequest(topics=[MetadataRequestTopic(name=f"{number:0200}") for number in range(20)])
    client = await connect(kcoord.port)
    await log_in(client, "reader")
    assert len((await ask(client, large)).topics) == 20
    stranger = await connect(kcoord.port)
    stranger.writer.write(stranger.frame(large, 12)[1])
    assert await stranger.read_frame() == b""
    await asyncio.to_thread(kcoord.wait_for_line, "above the limit of 2000")


@pytest.mark.parametrize("version", [0, 1])
async def test_rule_5_raw_tokens_of_the_old_handshake(kcoord: Kcoord, name: str, version: int) -> None:
    """After SaslHandshake v0 tokens come without a header, one for PLAIN, two for SCRAM; then requests as ever."""
    await coordinator_is_known(kcoord, name)
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        client = await connect(kcoord.port + 2)
        await begin(client, mechanism, version)
        scram = ScramAuthenticator(
            loop=asyncio.get_running_loop(), sasl_plain_password=password_of("reader"), sasl_plain_username="reader",
            sasl_mechanism=mechanism,
        ) if mechanism != "PLAIN" else None  # fmt: skip
        tokens = scram.authenticator_scram() if scram else None
        token = next(tokens) if tokens else (plain("reader"), True)
        while token is not None:
            payload, expects_answer = token
            if version:
                answer = (await ask(client, SaslAuthenticateRequest(auth_bytes=payload), 2)).auth_bytes
            else:
                answer = await send_raw(client, payload)
            assert expects_answer
            try:
                token = tokens.send(answer) if tokens else None
            except StopIteration:
                token = None
        metadata = await ask(client, MetadataRequest(topics=[]))
        assert [each.port for each in metadata.brokers] == [kcoord.port + 2]


async def test_rule_5_oauthbearer_bytes_pass(kcoord: Kcoord, name: str) -> None:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    now = int(time.time())
    token = f"{part({'alg': 'none'})}.{part({'sub': ADMIN, 'iat': now, 'exp': now + 3600})}."
    message = f"n,,\x01auth=Bearer {token}\x01\x01".encode()
    await coordinator_is_known(kcoord, name)
    for version in (0, 1):
        client = await connect(kcoord.port + 2)
        await begin(client, "OAUTHBEARER", version)
        if version:
            await finish(client, message)
        else:
            assert await send_raw(client, message) == b""
        member = ScriptedMember(client, f"{name}-{version}")
        await member.join_and_sync()
        assert await member.heartbeat() == ErrorCode.NONE


@pytest.mark.parametrize("mechanism", Mechanism)
async def test_a_consumer_of_each_mechanism_works_in_a_group_of_kcoords(
    kafka: KafkaCluster, kcoord: Kcoord, name: str, topic: str, mechanism: Mechanism
) -> None:
    write_topic(kafka, topic, ["a", "b", "c"])

    def consume() -> list[bytes | None]:
        security = ClientSecurity(Security.SASL_PLAINTEXT, "reader", mechanism)
        consumer = Consumer(
            {
                "bootstrap.servers": kcoord.bootstrap,
                "group.id": name,
                "auto.offset.reset": "earliest",
                **security.librdkafka(),
            }
        )
        try:
            consumer.subscribe([topic])
            messages = [message for _ in range(3) if (message := consumer.poll(30)) is not None]
            consumer.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
            return [message.value() for message in messages]
        finally:
            consumer.close()

    assert await asyncio.to_thread(consume) == [b"a", b"b", b"c"]
    assert kafka.committed(name) == {(topic, 0): 3}


async def state_upstream(kafka: KafkaCluster, group: str) -> str:
    """The group's state as Kafka itself has it."""
    client = await connect(kafka.bootstrap)
    await log_in(client, ADMIN)
    try:
        return str((await describe(client, group)).group_state)
    finally:
        await client.close()


async def test_rule_13_the_last_members_connection_says_farewell(
    kafka: KafkaCluster, kcoord: Kcoord, name: str
) -> None:
    """Nobody else has credentials: the member leaves and hangs up, or just vanishes, and the sentinel still goes."""
    for group, leaves in ((name, True), (f"{name}-2", False)):
        member = await member_of(kcoord, "reader", group, session_ms=6000)
        assert await state_upstream(kafka, group) == "Stable"
        if leaves:
            await member.leave()
        await member.client.close()

        async def is_empty(group: str = group) -> bool:
            return await state_upstream(kafka, group) == "Empty"

        await until(is_empty, "the group is given back")
