"""Do offsets age as they would without kcoord? GW-12, GW-13, GW-14.

A commit may name its own retention (OffsetCommit v2-4): seconds, where a broker's setting has minutes.
"""

import asyncio
from collections.abc import Callable

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from tests.gateway.scripted import ScriptedMember, ask, subscription, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord

RETENTION_MS = 10_000
CHECKS_MS = 500
WITH_RETENTION = 4
"""OffsetCommit's last version with a retention of its own."""


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker that looks for expired offsets all the time."""
    return start_kafka(overrides={"offsets.retention.check.interval.ms": CHECKS_MS})


async def commit(member: ScriptedMember, topic: str, offset: int) -> None:
    request = attrs.evolve(member.commit_request(topic, offset), retention_time_ms=RETENTION_MS)
    answer = await ask(member.client, request, WITH_RETENTION)
    assert ErrorCode(answer.topics[0].partitions[0].error_code) == ErrorCode.NONE


@pytest.mark.parametrize("before", ["upstream", "here"])
async def test_rule_14_offsets_live_while_the_group_does_and_age_when_it_is_empty(
    kafka: KafkaCluster, kcoord: Kcoord, name: str, topic: str, before: str
) -> None:
    """The group was there before kcoord took it, or not: upstream counts it as active while kcoord has members. Offsets
    of topics that none of them subscribes to age all the same (AD-2)."""
    unused = kafka.create_topic(f"unused-{name}")
    first = await ScriptedMember.at((kafka if before == "upstream" else kcoord).bootstrap, name)
    await first.join_and_sync()
    await commit(first, topic, 7)
    await commit(first, unused, 8)
    await first.leave()
    member = await ScriptedMember.at(kcoord.bootstrap, name, metadata=subscription(topic))
    await member.join_and_sync()
    for _ in range(10):
        await asyncio.sleep(2 * RETENTION_MS / 10_000)
        assert await member.heartbeat() == ErrorCode.NONE
    assert kafka.committed(name) == {(topic, 0): 7}
    await member.leave()

    async def are_gone() -> bool:
        return not await asyncio.to_thread(kafka.committed, name)

    await until(are_gone, "offsets of the empty group have aged")
