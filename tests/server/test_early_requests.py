"""Who waits while a partition is loaded, in which order, until when, and for what not?

How long nobody waits longer is shortened here, or made so long that a test would not end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    HeartbeatRequest,
    OffsetFetchRequest,
    Request,
    SyncGroupRequest,
)
from kcoord.server.connections import connection, early_requests
from kcoord.server.shards import shard_host as shard_host_module
from kcoord.server.shards.shard_host import ShardHost
from kcoord.server.shards.shard_loading import read_shard
from tests.instances.standing import until
from tests.server.harness import Client, standalone
from tests.server.members import Member

LONG_S = 3_600.0


@attrs.define(eq=False)
class Loading:
    """A partition with one group of one member, whose load goes on until the test lets it end."""

    port: int
    host: ShardHost
    member: Member
    gate: asyncio.Event
    ending: list[BaseException]

    def waiting(self) -> int:
        """Requests that wait."""
        return len(self.host._room)

    def end(self, failure: BaseException | None = None) -> None:
        """Let the load end."""
        if failure is not None:
            self.ending.append(failure)
        self.gate.set()


@asynccontextmanager
async def loading(folder: Path, monkeypatch: pytest.MonkeyPatch, wait_s: float = LONG_S) -> AsyncIterator[Loading]:
    """The group is there, and its partition is being loaded again."""
    monkeypatch.setattr(early_requests, "WAIT_S", wait_s)
    async with standalone(folder) as running, await Client.connect(running.port) as client:
        member = await Member.joined(client, "g")
        coordinator = running.coordinator
        partition = coordinator.partition_of("g")
        await coordinator.lose(partition)
        gate, ending = asyncio.Event(), list[BaseException]()

        async def gated(*arguments: Any) -> None:
            await gate.wait()
            if ending:
                raise ending[0]
            await read_shard(*arguments)

        monkeypatch.setattr(shard_host_module, "read_shard", gated)
        gaining = asyncio.create_task(coordinator.gain(partition))
        try:
            yield Loading(running.port, coordinator._hosts[partition], member, gate, ending)
        finally:
            gate.set()
            await gaining


def ask(client: Client, request: Request, version: int) -> asyncio.Task[Any]:
    return asyncio.create_task(client.ask(request, version))


async def test_what_waited_is_carried_out_when_the_partition_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        loading(tmp_path, monkeypatch) as here,
        await Client.connect(here.port) as one,
        await Client.connect(here.port) as two,
    ):
        member = here.member
        synced = ask(one, SyncGroupRequest("g", member.generation, member.member_id), 3)
        described = ask(two, DescribeGroupsRequest(groups=["g"]), 5)
        await until(lambda: here.waiting() == 2, "both wait")
        here.end()
        assert (await synced).error_code == ErrorCode.NONE, "it need not join again"
        [group] = (await described).groups
        assert (group.group_state, len(group.members)) == ("Stable", 1)


async def test_a_heartbeat_does_not_wait_where_nobody_else_can_have_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with loading(tmp_path, monkeypatch) as here, await Client.connect(here.port) as client:
        member = here.member
        answer = await client.ask(HeartbeatRequest("g", member.generation, member.member_id), 4)
        assert getattr(answer, "error_code", None) == ErrorCode.NONE


async def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with loading(tmp_path, monkeypatch, wait_s=0.05) as here, await Client.connect(here.port) as client:
        answer: Any = await client.ask(OffsetFetchRequest(group_id="g", topics=[]), 7)
        assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


async def test_who_waits_for_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with loading(tmp_path, monkeypatch) as here, await Client.connect(here.port) as client:
        described = ask(client, DescribeGroupsRequest(groups=["g"]), 5)
        await until(here.waiting, "it waits")
        here.end(ValueError("a fault"))
        [group] = (await described).groups
        assert group.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


async def test_who_hangs_up_waits_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LAST_REQUESTS_S", 0.1)
    async with loading(tmp_path, monkeypatch) as here:
        async with await Client.connect(here.port) as client:
            _, frame = client.frame(DescribeGroupsRequest(groups=["g"]), 5)
            client.writer.write(frame)
            await until(here.waiting, "it waits")
        await until(lambda: not here.waiting(), "it has gone")


async def test_calls_for_a_partition_that_is_about_to_have_another_owner_wait_until_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere, and its owner has died: until it is known that a third has it."""
    monkeypatch.setattr(early_requests, "WAIT_S", LONG_S)
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        coordinator = running.coordinator
        partition = coordinator.partition_of("g")
        awaited = {partition}
        coordinator.is_awaited = awaited.__contains__
        await coordinator.lose(partition)
        host = coordinator._hosts[partition]
        described = ask(client, DescribeGroupsRequest(groups=["g"]), 5)
        await until(lambda: len(host._room), "it waits")
        assert coordinator.serves("g"), "FindCoordinator names this instance meanwhile"
        coordinator.follow_owners()
        assert len(host._room) == 1
        awaited.clear()
        coordinator.follow_owners()
        [group] = (await described).groups
        assert group.error_code == ErrorCode.NOT_COORDINATOR
        assert not coordinator.serves("g")
