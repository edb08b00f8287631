"""Are groups adopted and released where kcoord has no credentials of its own? AD-14, AD-15."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kcoord.group.group_configs import GROUP, Operation
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from tests.gateway.live_member import LiveMember
from tests.gateway.moving_groups import PATIENT_MS, goes, owned_by, stable, sync
from tests.gateway.sasl import log_in
from tests.gateway.scripted import ScriptedMember, ask, connect, describe, until
from tests.gateway.test_sasl import SETTINGS, as_user, coordinator_is_known, with_rights
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import ADMIN, Security


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs."""
    return with_rights(start_kafka, {})


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    return start_kcoord(kafka, **SETTINGS)


async def members_upstream(kafka: KafkaCluster, group: str) -> list[str]:
    """The instance ids of the group's members, as Kafka itself has them."""
    client = await connect(kafka.bootstrap)
    await log_in(client, ADMIN)
    found = await describe(client, group)
    await client.close()
    return [each.group_instance_id or "" for each in found.members]


@pytest.mark.parametrize("count", [1, 2])
async def test_in_and_out_over_the_members_connections(
    kafka: KafkaCluster, kcoord: Kcoord, name: str, count: int
) -> None:
    await asyncio.to_thread(kafka.create_topic, name)
    await coordinator_is_known(kcoord, name)
    admin = await as_user(kcoord, ADMIN)
    await owned_by(admin, name, "cluster")
    members = [LiveMember(name, str, name, dial=lambda: as_user(kcoord, "reader")) for _ in range(count)]
    for each in members:
        each.start()
    await are_stable(members)
    assert await members_upstream(kafka, name) == [""] * count, "it is the cluster's"

    joins = [each.joins for each in members]
    await owned_by(admin, name, "kcoord")
    await until(lambda: has(kafka, name, ["kcoord"]), "the group is adopted")
    await are_stable(members)
    assert [each.joins for each in members] == joins

    await owned_by(admin, name, "cluster")
    await until(lambda: has(kafka, name, [""] * count), "the group is released")
    await are_stable(members)
    assert [each.answers["UNKNOWN_MEMBER_ID"] for each in members] == [0] * count
    await asyncio.to_thread(kcoord.wait_for_line, f"group {name} is the cluster's again")
    await asyncio.gather(*(each.stop() for each in members))


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "is killed"])
async def test_15_who_goes_during_a_release_is_not_waited_for(
    kafka: KafkaCluster, kcoord: Kcoord, name: str, leaves: bool
) -> None:
    """The connections of all others wait upstream, so its own one removes kcoord's member."""
    await coordinator_is_known(kcoord, name)
    session_ms = 45_000 if leaves else 6_000
    *others, goner = [
        ScriptedMember(await as_user(kcoord, "reader"), name, session_ms=session_ms, rebalance_ms=PATIENT_MS)
        for _ in range(3)
    ]
    await stable(*others, goner)
    await owned_by(await as_user(kcoord, ADMIN), name, "cluster")
    joining = [asyncio.create_task(goes(each)) for each in others]

    async def two_have_come() -> bool:
        return len(await members_upstream(kafka, name)) == len(others) + 1

    await until(two_have_come, "two have joined the cluster, beside kcoord's member")
    if leaves:
        await goner.leave()
    await asyncio.gather(*joining)
    await sync(*others)
    assert [await each.heartbeat() for each in others] == [ErrorCode.NONE] * 2
    assert await members_upstream(kafka, name) == [""] * 2


@pytest.mark.proof
async def test_before_kafka_4_who_may_alter_the_cluster_says_whose_a_group_is(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """Such a cluster knows no settings of groups, and cannot say who may change those."""
    old = start_kafka(security=Security.SASL_PLAINTEXT, users=["reader"], acl=True, version="3.9.1")
    kcoord = await asyncio.to_thread(start_kcoord, old, **SETTINGS)
    await coordinator_is_known(kcoord, name)
    for user, expected in ((ADMIN, ErrorCode.NONE), ("reader", ErrorCode.CLUSTER_AUTHORIZATION_FAILED)):
        change = AlterableConfig("gateway.owner", Operation.SET, "cluster")
        asked = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, name, [change])])
        [altered] = (await ask(await as_user(kcoord, user), asked)).responses
        assert ErrorCode(altered.error_code) == expected
        question = DescribeConfigsRequest([DescribeConfigsResource(GROUP, name, ["gateway.owner"])])
        [described] = (await ask(await as_user(kcoord, user), question)).results
        assert ErrorCode(described.error_code) == expected
        assert [each.value for each in described.configs] == ([] if expected else ["cluster"])


async def has(kafka: KafkaCluster, group: str, instances: list[str]) -> bool:
    return await members_upstream(kafka, group) == instances


async def are_stable(members: list[LiveMember]) -> None:
    """All are in the group, and have committed since."""
    before = [each.committed for each in members]

    async def commit() -> bool:
        return all(each.is_stable and each.committed > at for each, at in zip(members, before, strict=True))

    await until(commit, "all are stable, and commit")
