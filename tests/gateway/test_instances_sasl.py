"""Do several instances keep each client's own identity, before a cluster with SASL and ACLs? GW-16, GW-20."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kcoord.group.partition_of_group import partition_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest
from tests.gateway.fleet import PARTITIONS, Fleet, both_join, fleet
from tests.gateway.sasl import log_in
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, until
from tests.gateway.test_sasl import with_rights
from tests.hostile.front import allow, may_not_read, withdraw
from tests.hostile.test_rights import direct_join
from tests.kafka.cluster import KafkaCluster
from tests.kafka.security import ADMIN, Security, password_of
from tests.server.harness import Client

BROKER = 1
QUESTION_MS = 1_000


@pytest.fixture(scope="module")
def secured(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker; the log lies there too, and kcoord has rights of its own for it."""
    return with_rights(start_kafka, {})


@pytest.fixture(scope="module")
def pair(secured: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    credentials: dict[str, object] = {
        "log_level": "DEBUG",
        "gateway_question_interval_ms": QUESTION_MS,
        "upstream_security_protocol": Security.SASL_PLAINTEXT.value,
        "log_security_protocol": Security.SASL_PLAINTEXT.value,
        "log_sasl_mechanism": "PLAIN",
        "log_sasl_username": ADMIN,
        "log_sasl_password": password_of(ADMIN),
    }
    with fleet(secured, tmp_path_factory.mktemp("fleet"), 2, **credentials) as running:
        yield running


async def at(pair: Fleet, number: int, user: str) -> Client:
    """Logged in at instance `number`, at its port of the only broker: open although nobody has passed there."""

    async def open_port() -> Client | None:
        try:
            return await connect(pair.instances[number].port + 1 + BROKER)
        except OSError:
            return None

    client: Client = await until(open_port, "the port of the broker is open")
    await log_in(client, user)
    return client


async def test_rule_20_rights_are_each_clients_own_whoever_owns_the_group(
    pair: Fleet, secured: KafkaCluster, name: str
) -> None:
    topic = secured.create_topic(f"topic-{name}")
    for number in range(4):
        group = f"{name}-{number}"
        first, second = [ScriptedMember(await at(pair, each, "reader"), group) for each in (0, 1)]

        async def known(client: Client = first.client, group: str = group) -> bool:
            found = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
            return not found.coordinators[0].error_code

        await until(known, "a coordinator")
        await both_join(first, second)
        for offset, member in enumerate((first, second)):
            assert await member.commit(topic, offset) == ErrorCode.NONE
            assert (await describe(member.client, group)).group_state == "Stable"
            stranger = ScriptedMember(
                await at(pair, offset, "stranger"), group, member_id=member.member_id, generation=member.generation
            )
            assert await stranger.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED
            assert await stranger.commit(topic, 9) == ErrorCode.GROUP_AUTHORIZATION_FAILED
            assert ErrorCode((await describe(stranger.client, group)).error_code) == (
                ErrorCode.GROUP_AUTHORIZATION_FAILED
            )
        assert secured.committed(group) == {(topic, 0): 1}


async def test_rule_16_a_right_that_is_withdrawn_is_noticed_whichever_instance_has_the_group(
    pair: Fleet, secured: KafkaCluster, name: str
) -> None:
    """A group for each partition of the log, so that some are the client's own instance's and some the other one's."""
    groups = {partition_of(group, PARTITIONS): group for group in (f"{name}-{number}" for number in range(100))}
    assert len(groups) == PARTITIONS
    for group in groups.values():
        allow(secured, "stranger", "READ", group=group)
    members: dict[str, tuple[ScriptedMember, ScriptedMember]] = {}
    for group in groups.values():
        withdrawn, kept = (
            ScriptedMember(await at(pair, 0, "stranger"), group),
            ScriptedMember(await at(pair, 1, "reader"), group),
        )
        await both_join(withdrawn, kept)
        for _ in range(3):
            assert await withdrawn.heartbeat() == ErrorCode.NONE
        members[group] = withdrawn, kept
    for group in groups.values():
        withdraw(secured, "stranger", group)
    for group, (withdrawn, kept) in members.items():
        await may_not_read(secured, "stranger", group)

        async def refused(withdrawn: ScriptedMember = withdrawn) -> bool:
            """By an error, or by the question that ends its connection when every right is gone."""
            if withdrawn.client.is_closed:
                return True
            try:
                return await withdrawn.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED
            except AssertionError:
                return withdrawn.client.is_closed

        await until(refused, "the right that is withdrawn is noticed")
        withdrawn.client = await at(pair, 0, "stranger")
        assert await withdrawn.heartbeat() == ErrorCode.GROUP_AUTHORIZATION_FAILED
        assert await withdrawn.commit("some-topic", 1) == ErrorCode.GROUP_AUTHORIZATION_FAILED
        assert await kept.heartbeat() in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
        assert await direct_join(secured, group) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "the sentinel lives"
