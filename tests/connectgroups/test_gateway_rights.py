"""Is it the cluster that says what a client may do with a connect group? CG-30, with Kafka's ACLs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kcoord.group.acl_operation import AclOperation as Right
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
)
from kcoord.worker import Configured, WorkerError
from kcoord.worker import Worker as LibraryWorker
from tests.connectgroups.configs import asked, change
from tests.connectgroups.worker import Worker, resources
from tests.gateway.conftest import start_kcoord  # noqa: F401 (a fixture)
from tests.gateway.sasl import log_in
from tests.gateway.scripted import ask, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import ADMIN, Security, password_of
from tests.server.harness import Client
from tests.worker.house import House

A = resources("a", "a-0")
DELAY = "connect.rebalance.delay.ms"
RIGHTS = {
    "reader": ["READ"],
    "viewer": ["DESCRIBE"],
    "deleter": ["READ", "DELETE"],
    "looker": ["DESCRIBE_CONFIGS"],
    "changer": ["ALTER_CONFIGS"],
    "stranger": [],
}
"""What each user may do with any group."""
IMPLIED = {
    "READ": {"READ", "DESCRIBE"},
    "DELETE": {"DELETE", "DESCRIBE"},
    "DESCRIBE": {"DESCRIBE"},
    "DESCRIBE_CONFIGS": {"DESCRIBE_CONFIGS"},
    "ALTER_CONFIGS": {"ALTER_CONFIGS", "DESCRIBE_CONFIGS"},
}
"""What Kafka's authorizer takes each right for."""
MAY = {user: {each for right in rights for each in IMPLIED[right]} for user, rights in RIGHTS.items()}
DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs."""
    cluster = start_kafka(security=Security.SASL_PLAINTEXT, users=[*RIGHTS], acl=True)
    bindings = [
        AclBinding(
            ResourceType.GROUP,
            "*",
            ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            AclOperation[operation],
            AclPermissionType.ALLOW,
        )
        for user, operations in RIGHTS.items()
        for operation in operations
    ]
    admin = cluster.admin()
    for done in admin.create_acls(bindings).values():
        done.result(120)
    return cluster


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:  # noqa: F811
    return start_kcoord(
        kafka,
        upstream_security_protocol="SASL_PLAINTEXT",
        gateway_sentinel_grace_ms=0,
        gateway_rights_ttl_ms=2_000,
        gateway_question_interval_ms=1_000,
        group_connect_rebalance_delay_ms=0,
    )


async def as_user(kcoord: Kcoord, user: str) -> Client:
    """Logged in at the only broker's port of kcoord."""
    bootstrap = await connect(kcoord.port)
    await log_in(bootstrap, ADMIN)

    async def known() -> bool:
        found = await ask(bootstrap, FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]))
        return not found.coordinators[0].error_code and found.coordinators[0].port == kcoord.port + 2

    await until(known, "a coordinator")
    await bootstrap.close()
    client = await connect(kcoord.port + 2)
    await log_in(client, user)
    return client


@pytest.fixture
async def worker(kcoord: Kcoord, name: str) -> Worker:
    """A worker that may read."""
    worker = Worker(await as_user(kcoord, "reader"), name)

    async def joined() -> bool:
        error = await worker.join(A)
        assert error == ErrorCode.NONE or error.retriable, worker.last
        return not error

    await until(joined, "joined")
    await worker.settle(A)
    return worker


@pytest.mark.parametrize("user", [*RIGHTS, ADMIN])
async def test_rule_30_each_client_may_do_what_the_cluster_lets_it(
    kcoord: Kcoord, worker: Worker, name: str, user: str
) -> None:
    client = await as_user(kcoord, user)
    may = MAY.get(user, {"READ", "DESCRIBE", "DELETE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"})

    def expected(right: str) -> ErrorCode:
        return ErrorCode.NONE if right in may else DENIED

    other = Worker(client, name, "other")
    assert await other.join() == expected("READ")
    assert await other.heartbeat() == expected("READ")
    not_chosen = ErrorCode.UNKNOWN_MEMBER_ID if "READ" in may else DENIED
    assert (await other.prepare()).error_code == not_chosen
    assert (await other.install(1, {})).error_code == not_chosen
    [described] = (await ask(client, ConnectGroupDescribeRequest([name], True))).groups
    assert ErrorCode(described.error_code) == expected("DESCRIBE")
    if "DESCRIBE" in may:
        assert described.authorized_operations == sum(1 << Right[right] for right in may)
    listed = {each.group_id for each in (await ask(client, ListGroupsRequest())).groups}
    assert (name in listed) == ("DESCRIBE" in may)
    shown = (await ask(client, DescribeConfigsRequest([asked(name, DELAY)]))).results[0]
    assert ErrorCode(shown.error_code) == expected("DESCRIBE_CONFIGS")
    assert [each.value for each in shown.configs] == (["0"] if "DESCRIBE_CONFIGS" in may else [])
    for validate_only in (True, False):
        request = IncrementalAlterConfigsRequest([change(name, {DELAY: "0"})], validate_only=validate_only)
        assert ErrorCode((await ask(client, request)).responses[0].error_code) == expected("ALTER_CONFIGS")
    deleted = (await ask(client, DeleteGroupsRequest([name]))).results[0]
    assert deleted.error_code == (ErrorCode.NON_EMPTY_GROUP if "DELETE" in may else DENIED)
    assert await other.leave() == expected("READ")
    assert await worker.heartbeat() == ErrorCode.NONE


async def test_who_may_not_change_settings_changes_none(kcoord: Kcoord, worker: Worker, name: str) -> None:
    for user in ("reader", "looker", "stranger"):
        request = IncrementalAlterConfigsRequest([change(name, {DELAY: "1"})])
        assert (await ask(await as_user(kcoord, user), request)).responses[0].error_code == DENIED
    changer = await as_user(kcoord, "changer")
    shown = await ask(changer, DescribeConfigsRequest([asked(name, DELAY)]))
    assert shown.results[0].configs[0].value == "0"
    assert (await ask(changer, IncrementalAlterConfigsRequest([change(name, {DELAY: "1"})]))).responses[
        0
    ].error_code == 0
    shown = await ask(changer, DescribeConfigsRequest([asked(name, DELAY)]))
    assert shown.results[0].configs[0].value == "1"


async def test_rule_25_a_right_that_is_taken_away_ends_heartbeats_from_memory(
    kcoord: Kcoord, kafka: KafkaCluster, name: str
) -> None:
    worker = Worker(await as_user(kcoord, "deleter"), name)
    binding = AclBinding(
        ResourceType.GROUP, name, ResourcePatternType.LITERAL, "User:deleter", "*", AclOperation.READ,
        AclPermissionType.DENY,
    )  # fmt: skip
    assert await worker.join(A) == ErrorCode.NONE
    await worker.settle(A)
    for _ in range(3):
        assert await worker.heartbeat() == ErrorCode.NONE
    admin = kafka.admin()
    for done in admin.create_acls([binding]).values():
        done.result(120)

    async def refused() -> bool:
        try:
            return await worker.heartbeat() == DENIED
        except (AssertionError, ConnectionError, asyncio.IncompleteReadError):
            return True  # kcoord has asked on its own, and ended the connection

    await until(refused, "the right is gone")
    again = Worker(await as_user(kcoord, "deleter"), name, worker.member_id, worker.epoch, worker.owned)
    assert await again.heartbeat() == DENIED


async def test_nobody_is_answered_before_logging_in(kcoord: Kcoord, worker: Worker, name: str) -> None:
    stranger: Any = Worker(await connect(kcoord.port + 2), name, "x")
    request = stranger.join_request(A)
    stranger.client.writer.write(stranger.client.frame(request, 0)[1])
    assert await stranger.client.read_frame() == b"", "the cluster ends it"
    assert await worker.heartbeat() == ErrorCode.NONE


async def test_workers_of_the_library_log_in_and_are_told_what_they_may_not(kcoord: Kcoord, name: str) -> None:
    house = House()

    def worker(user: str) -> LibraryWorker:
        return LibraryWorker(
            kcoord.bootstrap,
            name,
            listener=house.listener(user),
            configured=Configured(1, resources("a", "a-0", "a-1", "a-2")),
            security={
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": user,
                "sasl.password": password_of(user),
            },
        )

    async with worker("reader"), worker("deleter"):
        await house.shared_by("reader", "deleter", all_of="a a-0 a-1 a-2")
        with pytest.raises(WorkerError, match="GROUP_AUTHORIZATION_FAILED"):
            async with worker("stranger") as stranger:
                await stranger.joined()
    assert not house.twice
