"""What clients were told is still true after a kill (CG-24), and on a full disk nobody is told what is not."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    HeartbeatResponse,
    JoinGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Response,
)
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client, standalone
from tests.server.members import Member

SHORT_SESSION_MS = 3_000


@pytest.fixture(params=["embedded", "kafka"])
def kcoord(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Kcoord]:
    """A lone kcoord, as users run it, over either log."""
    quick: dict[str, object] = {
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": SHORT_SESSION_MS,
    }
    if request.param == "kafka":
        kafka: KafkaCluster = request.getfixturevalue("kafka")
        name = uuid.uuid4().hex[:8]
        quick |= {
            "log": "kafka",
            "log.bootstrap": kafka.bootstrap,
            "log.topic": f"offsets-{name}",
            "instances.group": f"instances-{name}",
            "instances.session.timeout.ms": 3 * SHORT_SESSION_MS,
            "offsets.topic.num.partitions": 4,
        }
    process = Kcoord(tmp_path, settings=quick)
    try:
        yield process.start()
    finally:
        process.remove()


async def test_a_group_and_its_members_are_still_there_after_kill_9(kcoord: Kcoord) -> None:
    async with await Client.connect(kcoord.port) as client:
        await until_served(client, "survivor")
        member = await Member.joined(client, "survivor")
        assert await committed(member, 41) == ErrorCode.NONE
        before = member.generation, member.assignment
    kcoord.kill_and_restart()
    async with await Client.connect(kcoord.port) as client:
        member.client = client
        assert await fetched(client, "survivor") == 41
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        assert await member.sync() == ErrorCode.NONE
        assert (member.generation, member.assignment) == before


async def test_a_standstill_of_kcoord_ends_no_session_of_those_who_sent_heartbeats(kcoord: Kcoord) -> None:
    async with await Client.connect(kcoord.port) as client:
        await until_served(client, "patient")
        member = await Member.joined(client, "patient", session_timeout_ms=SHORT_SESSION_MS)
        kcoord.process.popen.send_signal(signal.SIGSTOP)
        correlation_id, frame = client.frame(member.heartbeat_request(), 4)
        client.writer.write(frame)
        await asyncio.sleep(2 * SHORT_SESSION_MS / 1000)
        kcoord.process.popen.send_signal(signal.SIGCONT)
        answer: Response = await client.read(member.heartbeat_request(), 4, correlation_id)
        while isinstance(answer, HeartbeatResponse) and answer.error_code == ErrorCode.NOT_COORDINATOR:
            await asyncio.sleep(0.02)  # it has to prove first that nobody took over meanwhile
            answer = await member.heartbeat()
        assert isinstance(answer, HeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE
        assert (await member.heartbeat()).error_code == ErrorCode.NONE


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB, made for the test."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root may mount; tests/log holds the log's part of it without")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


async def test_a_full_disk_is_a_retriable_error_and_costs_no_member_its_place(small_disk: Path) -> None:
    async with (
        standalone(small_disk / "data") as kcoord,
        await Client.connect(kcoord.port) as one,
        await Client.connect(kcoord.port) as two,
    ):
        member = await Member.joined(one, "patient")
        acknowledged = -1
        while (error := await committed(member, acknowledged + 1, text="x" * 4000)) == ErrorCode.NONE:
            acknowledged += 1
        assert error in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        assert error.retriable

        # What would write is refused, what needs no disk goes on, and nothing unacknowledged has stayed.
        newcomer = Member(two, "elsewhere")
        refused = await two.ask(newcomer.join_request(), 9)
        assert isinstance(refused, JoinGroupResponse)
        assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert await fetched(two, "patient") == acknowledged
        assert (await member.heartbeat()).error_code == ErrorCode.NONE

        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        while (error := await committed(member, 1_000_000)) != ErrorCode.NONE:
            assert error.retriable
            await asyncio.sleep(0.01)
        assert await fetched(two, "patient") == 1_000_000
        await newcomer.rejoin()
        assert (await member.heartbeat()).error_code == ErrorCode.NONE


async def committed(member: Member, offset: int, text: str = "") -> ErrorCode:
    """What committing `offset` for this member is answered."""
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata=text)
    request = OffsetCommitRequest(
        group_id=member.group_id,
        generation_id_or_member_epoch=member.generation,
        member_id=member.member_id,
        topics=[OffsetCommitRequestTopic(name="topic", partitions=[partition])],
    )
    answer = await member.client.ask(request, 9)
    assert isinstance(answer, OffsetCommitResponse)
    return ErrorCode(answer.topics[0].partitions[0].error_code)


async def fetched(client: Client, group_id: str) -> int:
    """The group's committed offset, asked for until its shard is loaded."""
    wanted = OffsetFetchRequestGroup(
        group_id=group_id, topics=[OffsetFetchRequestTopics(name="topic", partition_indexes=[0])]
    )
    while True:
        answer = await client.ask(OffsetFetchRequest(groups=[wanted]), 9)
        assert isinstance(answer, OffsetFetchResponse)
        group = answer.groups[0]
        if group.error_code == ErrorCode.NONE:
            return group.topics[0].partitions[0].committed_offset
        assert ErrorCode(group.error_code).retriable
        await asyncio.sleep(0.01)


async def until_served(client: Client, group_id: str) -> None:
    """Come back when the group's shard is loaded."""
    await fetched(client, group_id)
