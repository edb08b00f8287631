"""A group that changes its protocol to one that kcoord does not coordinate: what is refused, and what is in the log.

GW-15. That the answers are what clients understand, `tests/clients/test_newer_protocols.py` shows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from kcoord.gateway.handlers.other_protocols import PAUSE_MS, NewerHeartbeat, RefusedUpgrades
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ShareGroupHeartbeatRequest,
    StreamsGroupHeartbeatRequest,
)
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port
from tests.gateway.test_taking import upstream_state
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

LATER_MS = 600_000


def joining(group: str, topic: str) -> ConsumerGroupHeartbeatRequest:
    """A KIP-848 consumer's first heartbeat."""
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id="AAAAAAAAAAAAAAAAAAAAAA",
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=[topic],
        topic_partitions=[],
    )


async def test_one_line_a_group(kcoord: Kcoord, name: str, topic: str) -> None:
    """However often it comes; of another group again."""
    for group in (name, f"{name}-other"):
        member = await ScriptedMember.at(kcoord.bootstrap, group)
        await member.join_and_sync()
        for _ in range(3):
            answer = await ask(member.client, joining(group, topic))
            assert ErrorCode(answer.error_code) == ErrorCode.UNSUPPORTED_VERSION
        kcoord.wait_for_line(
            f"WARNING kcoord.gateway: group {group}: a consumer with group.protocol=consumer (KIP-848) was refused, "
        )
    assert kcoord.log.read_text().count(f"group {name}: a consumer") == 1
    [line] = [line for line in kcoord.log.read_text().splitlines() if f"group {name}: a consumer" in line]
    assert (
        "(127.0.0.1): the group is kcoord's, and its members speak another protocol. Set group.protocol=classic" in line
    )


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (ConsumerGroupHeartbeatRequest, "a consumer with group.protocol=consumer (KIP-848) was refused"),
        (ShareGroupHeartbeatRequest, "a share consumer was refused"),
        (StreamsGroupHeartbeatRequest, "a streams application with group.protocol=streams was refused"),
    ],
)
def test_what_is_left_out_is_counted(
    request_: type[NewerHeartbeat], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    refused = RefusedUpgrades()
    with caplog.at_level(logging.WARNING, "kcoord.gateway"):
        for now_ms in (0, 1, PAUSE_MS - 1, PAUSE_MS, 2 * PAUSE_MS):
            refused.note(request_(group_id="jobs"), "app (10.0.0.1)", now_ms)
    first, second, third = [record.getMessage() for record in caplog.records]
    assert first.startswith(f"group jobs: {says}, app (10.0.0.1): the group is kcoord's, and its members speak another")
    assert "app (10.0.0.1) (2 more times since the last such line): " in second
    assert "more times" not in third


async def test_a_group_whose_members_were_all_stopped_changes_its_protocol(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str, topic: str
) -> None:
    """At once: it does not wait until kcoord would have given the group back."""
    front = start_kcoord(kafka, gateway_sentinel_grace_ms=LATER_MS)
    member = await ScriptedMember.at(front.bootstrap, name)
    await member.join_and_sync()
    await member.leave()
    assert (await upstream_state(direct, name))[2] == ["kcoord"]
    newer = await connect(await coordinator_port(front.bootstrap, name))
    assert ErrorCode((await ask(newer, joining(name, topic))).error_code) == ErrorCode.NONE
    assert "was refused" not in front.log.read_text()
