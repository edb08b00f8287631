"""kcoord is started again by somebody who keeps its listening sockets: what do its clients notice?"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.kept_sockets import kept
from tests.server.harness import Client
from tests.server.members import Member

pytestmark = pytest.mark.long("kcoord is started again and again")

CLIENTS_AT_ONCE = 8


@attrs.define
class Callers:
    """Clients that connect again and again, and what became of it."""

    port: int
    answered: int = 0
    refused: int = 0
    """Connections that were refused: nobody listened."""
    broken: int = 0
    """Connections that ended before an answer: kcoord went down with them."""

    async def call(self) -> None:
        while True:
            try:
                async with await Client.connect(self.port) as client:
                    member = Member(client, "nobodys")
                    await member.heartbeat()
                self.answered += 1
            except ConnectionRefusedError:
                self.refused += 1
                await asyncio.sleep(0.01)
            except (OSError, asyncio.IncompleteReadError, AssertionError, ValueError):
                self.broken += 1

    async def go_on(self, calls: int) -> None:
        """Wait until so many more calls were answered."""
        wanted = self.answered + calls
        while self.answered < wanted:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def calling(port: int) -> AsyncIterator[Callers]:
    callers = Callers(port)
    tasks = [asyncio.create_task(callers.call()) for _ in range(CLIENTS_AT_ONCE)]
    try:
        yield callers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_nobody_is_refused_while_kcoord_is_started_again(kill: bool, tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path)
    with kept(kcoord, [kcoord.port], "clients") as keeper:
        await asyncio.to_thread(keeper.start)
        async with await Client.connect(kcoord.port) as client:
            member = await Member.joined(client, "g")
        async with calling(kcoord.port) as callers:
            for _ in range(3):
                await callers.go_on(50)
                await end(kcoord, kill)
                await asyncio.to_thread(keeper.start)
            await callers.go_on(50)
        assert callers.refused == 0, callers
        async with await Client.connect(kcoord.port) as client:
            member.client = client
            assert (await member.heartbeat()).error_code == ErrorCode.NONE, "it is a member still"


async def end(kcoord: Kcoord, kill: bool) -> None:
    if kill:
        await asyncio.to_thread(kcoord.kill)
    else:
        assert await asyncio.to_thread(kcoord.stop) == 0


async def test_who_connects_while_it_is_down_waits_and_is_answered(tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path)
    with kept(kcoord, [kcoord.port]) as keeper:
        await asyncio.to_thread(keeper.start)
        await end(kcoord, kill=True)
        async with await Client.connect(kcoord.port) as client:
            joining = asyncio.create_task(Member.joined(client, "g"))
            await asyncio.to_thread(keeper.start)
            member = await joining
            assert (await member.heartbeat()).error_code == ErrorCode.NONE


async def test_a_worker_that_connected_before_the_start_must_connect_again(tmp_path: Path) -> None:
    """What it asks may have lain there for long, and nobody knows by which connection it came last
    (CG-4).
    """
    kcoord = Kcoord(tmp_path)
    with kept(kcoord, [kcoord.port]) as keeper:
        await asyncio.to_thread(keeper.start)
        async with await Client.connect(kcoord.port) as client:
            first = await client.ask(join("w1"), 0)
            assert error_of(first) == ErrorCode.NONE
        await end(kcoord, kill=True)
        async with await Client.connect(kcoord.port) as old:
            asked = asyncio.create_task(old.ask(join("w1"), 0))
            await asyncio.to_thread(keeper.start)
            assert error_of(await asked) == ErrorCode.NOT_COORDINATOR
        async with await Client.connect(kcoord.port) as new:
            assert error_of(await new.ask(join("w1"), 0)) == ErrorCode.NONE


def join(member_id: str) -> ConnectGroupHeartbeatRequest:
    return ConnectGroupHeartbeatRequest(
        "workers",
        member_id,
        0,
        server_assignor="uniform",
        rebalance_timeout_ms=60_000,
        connectors_and_tasks=[],
        config_offset=1,
        configured_connectors_and_tasks=[],
    )


def error_of(answer: Any) -> ErrorCode:
    return ErrorCode(answer.error_code)


async def test_a_socket_that_does_not_fit_ends_the_start_with_a_line_that_says_why(tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        other = int(probe.getsockname()[1])
    with kept(kcoord, [kcoord.port, other]) as keeper:
        keeper.start(wait=False)
        assert await asyncio.to_thread(kcoord.process.popen.wait) == 1
        said = kcoord.log.read_text()
        assert f"nothing listens on what was handed down for 127.0.0.1:{other}" in said
        assert "Traceback" not in said
