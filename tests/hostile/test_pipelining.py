"""A client that sends without waiting for answers holds nobody else up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ApiVersionsRequest, HeartbeatRequest
from kcoord.server.connections.connection import FRAMES_AT_ONCE
from kcoord.server.connections.heartbeat_hot_path import ANSWERED_AT_ONCE
from tests.gateway.scripted import connect, coordinator_port
from tests.hostile.frames import API_VERSIONS_FRAME
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client, standalone
from tests.server.members import Member

PIPELINED = 60_000
"""Some ten reads of a socket: whoever answers all of one read at once lets others in ten times at most."""
ASKED_MEANWHILE = 20


@pytest.mark.long("thousands of requests at one time")
async def test_others_are_answered_while_one_connection_pipelines(kcoord: Kcoord) -> None:
    other, hostile = await connect(kcoord.bootstrap), await connect(kcoord.bootstrap)
    await other.ask(ApiVersionsRequest(), 0)
    hostile.writer.write(API_VERSIONS_FRAME * PIPELINED)
    answered = 0

    async def read_all() -> None:
        nonlocal answered
        for _ in range(PIPELINED):
            assert await hostile.read_frame(), kcoord.log.read_text()
            answered += 1

    reading = asyncio.create_task(read_all())
    for _ in range(ASKED_MEANWHILE):
        await other.ask(ApiVersionsRequest(), 0)
    assert answered < PIPELINED, "the others waited for the last answer to the hostile client"
    await reading


async def test_an_instance_keeps_its_leases_meanwhile(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> None:
    """With the log in Kafka, and the shortest lease: members go on."""
    kcoord = start_kcoord(
        "alone",
        log="kafka",
        log_bootstrap=kafka.bootstrap,
        log_topic="hostile-pipelining",
        offsets_topic_num_partitions=2,
        coordinator_lease_ms=1000,
    )
    await coordinator_port(kcoord.bootstrap, "group")
    member = await Member.joined(await connect(kcoord.bootstrap), "group")
    hostile = await connect(kcoord.bootstrap)
    beat = HeartbeatRequest(group_id="group", generation_id=member.generation, member_id=member.member_id)
    hostile.writer.write(API_VERSIONS_FRAME * PIPELINED)
    answered = 0

    async def read_all() -> None:
        nonlocal answered
        for _ in range(PIPELINED):
            assert await hostile.read_frame(), "the server closed the connection"
            answered += 1

    reading = asyncio.create_task(read_all())
    beats = 0
    while answered < PIPELINED:
        answer = await member.client.ask(beat, 4)
        assert answer.error_code == ErrorCode.NONE  # type: ignore[attr-defined]
        beats += 1
    await reading
    assert beats > ASKED_MEANWHILE
    assert "lease" not in kcoord.log.read_text()


async def test_frames_of_one_connection_are_begun_in_slices(tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as hostile:
        hostile.writer.write(API_VERSIONS_FRAME * 2000)
        for _ in range(2000):
            assert await hostile.read_frame()
        assert kcoord.server.most_frames_at_once == FRAMES_AT_ONCE
        assert kcoord.server.turns.slices >= 1000 // FRAMES_AT_ONCE
        assert len(kcoord.server.turns) == 0
        assert len(kcoord.server.held) == 0, "nothing is begun and not finished: it may be idle"
        assert kcoord.server.held.total == 0


async def test_repeated_heartbeats_are_answered_in_slices_too(tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as client:
        member = await Member.joined(client, "group")
        beat = HeartbeatRequest(group_id="group", generation_id=member.generation, member_id=member.member_id)
        await client.ask(beat, 4)
        count = 8 * ANSWERED_AT_ONCE
        sent = [client.frame(beat, 4) for _ in range(count)]
        client.writer.write(b"".join(data for _, data in sent))
        for correlation_id, _ in sent:
            assert (await client.read(beat, 4, correlation_id)).error_code == ErrorCode.NONE  # type: ignore[attr-defined]
        assert kcoord.server.turns.slices > 0
        assert len(kcoord.server.turns) == 0
