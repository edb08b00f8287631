"""One connection: frames in, answers out, in order; what is no Kafka ends its own connection and nothing else."""

from __future__ import annotations

import asyncio
import logging
import struct
from pathlib import Path

import attrs
import pytest

from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupResponse,
    MetadataRequest,
    MetadataResponse,
)
from tests.instances.standing import until
from tests.server.harness import LIMITS, Client, standalone
from tests.server.members import Member


def frame(api_key: int, version: int, body: bytes, correlation_id: int = 1) -> bytes:
    data = struct.pack(">hhih", api_key, version, correlation_id, -1) + body
    return struct.pack(">i", len(data)) + data


BAD_INPUT = {
    "HTTP": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "it looks like an HTTP request"),
    "TLS": (bytes.fromhex("16030100c8010000c40303"), "it looks like a TLS handshake"),
    "size below a header": (struct.pack(">i", 3) + b"abc", "too small for a request header"),
    "negative size": (struct.pack(">i", -5) + b"abcdefgh", "too small for a request header"),
    "size above the limit": (struct.pack(">i", 2**31 - 1) + b"abcdefgh", "above the limit"),
    "an API that nobody knows": (frame(9999, 0, b""), "is not served"),
    "an API that needs a cluster": (frame(0, 9, b""), "Produce is not served"),
    "a version from the future": (frame(12, 99, b""), "Heartbeat is served in versions 0 to 4, not in 99"),
    "a body that ends early": (frame(12, 0, b"\x00\x05ab"), "Heartbeat v0"),
    "a string longer than its frame": (frame(12, 0, b"\x7f\xffab"), "Heartbeat v0"),
    "a count that its bytes cannot hold": (frame(15, 0, struct.pack(">i", 2**31 - 1)), "DescribeGroups v0"),
    "bytes left over": (frame(12, 0, b"\x00\x01g" + bytes(4) + b"\x00\x01m" + b"more"), "Heartbeat v0"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
async def test_bad_input_ends_its_own_connection_with_one_line(
    case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data, reason = BAD_INPUT[case]
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as healthy:
        async with await Client.connect(kcoord.port) as bad:
            bad.writer.write(data)
            assert await bad.read_frame() == b""
        lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
        assert len(lines) == 1
        assert reason in lines[0]
        assert lines[0].startswith("closed the connection of 127.0.0.1:")
        assert isinstance(await healthy.ask(MetadataRequest(topics=[]), 9), MetadataResponse)


async def test_pipelined_requests_are_answered_in_order(tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as client:
        asked = [
            (FindCoordinatorRequest(key=f"g{at}"), 1) if at % 2 else (MetadataRequest(topics=[]), 9) for at in range(50)
        ]
        sent = [client.frame(request, version) for request, version in asked]
        client.writer.write(b"".join(data for _, data in sent))
        for (request, version), (correlation_id, _) in zip(asked, sent, strict=True):
            await client.read(request, version, correlation_id)


async def test_a_frame_may_come_byte_by_byte(tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as client:
        request = FindCoordinatorRequest(key="g")
        correlation_id, data = client.frame(request, 2)
        for at in range(len(data)):
            client.writer.write(data[at : at + 1])
            await client.writer.drain()
            await asyncio.sleep(0)
        found = await client.read(request, 2, correlation_id)
        assert isinstance(found, FindCoordinatorResponse)
        assert found.port == kcoord.port


async def test_api_versions_of_an_unknown_version_is_answered_as_v0_with_the_list(tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as client:
        client.writer.write(frame(18, 99, b"what the future brings", correlation_id=7))
        data = await client.read_frame()
        assert data[:4] == (7).to_bytes(4, "big")
        answer = ApiVersionsResponse.decode(data, 0, 4)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        ranges = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        assert ranges[ApiVersionsRequest.API_KEY] == (0, 4)
        assert ranges[HeartbeatRequest.API_KEY] == (0, 4)


@pytest.mark.parametrize("name", ["", "-kcoord", "two words"])
async def test_a_client_that_names_itself_badly_is_told_so(name: str, tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as client:
        request = ApiVersionsRequest(client_software_name=name, client_software_version="1.0")
        answer = await client.ask(request, 3)
        assert isinstance(answer, ApiVersionsResponse)
        assert answer.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (attrs.evolve(LIMITS, connections=2), "max.connections)"),
        (attrs.evolve(LIMITS, connections_per_address=2), "max.connections.per.ip"),
    ],
)
async def test_connections_above_a_limit_are_closed(
    limits: object, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with standalone(tmp_path, limits=limits) as kcoord:  # type: ignore[arg-type]
        clients = [await Client.connect(kcoord.port) for _ in range(2)]
        for client in clients:
            await client.ask(MetadataRequest(topics=[]), 9)
        third = await Client.connect(kcoord.port)
        assert await third.read_frame() == b""
        assert reason in caplog.text
        await third.close()
        await clients[0].ask(MetadataRequest(topics=[]), 9)
        await clients.pop().close()
        while True:  # until the server has seen that it went
            again = await Client.connect(kcoord.port)
            again.writer.write(again.frame(MetadataRequest(topics=[]), 9)[1])
            answered = await again.read_frame()
            await again.close()
            if answered:
                break
        await clients[0].close()


async def test_an_idle_connection_is_closed_and_one_that_waits_for_its_answer_is_not(tmp_path: Path) -> None:
    for_ever = GroupSettings(initial_rebalance_delay_ms=3_600_000)
    async with (
        standalone(tmp_path, attrs.evolve(LIMITS, idle_ms=2000), for_ever) as kcoord,
        await Client.connect(kcoord.port) as waiting,
        await Client.connect(kcoord.port) as idle,
    ):
        member = Member(waiting, "g")
        named = await waiting.ask(member.join_request(), 9)
        assert isinstance(named, JoinGroupResponse)
        member.member_id = named.member_id
        waiting.writer.write(waiting.frame(member.join_request(), 9)[1])
        assert await idle.read_frame() == b""
        assert len(kcoord.server._connections) == 1
        assert not waiting.is_closed


async def test_a_client_that_does_not_read_is_not_read_from(tmp_path: Path) -> None:
    """Back pressure: the answers that wait for it stay bounded, however much it asks."""
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as greedy:
        request = DescribeGroupsRequest(groups=["x" * 1000] * 50)
        asked = 0
        sent = bytearray()
        for _ in range(400):
            asked += 1
            sent += greedy.frame(request, 0)[1]
        greedy.writer.write(sent)  # 20 MB of questions, about as much of answers
        connection = next(iter(kcoord.server._connections))
        while "client does not read" not in connection._pausers:
            await asyncio.sleep(0)
        assert connection._transport is not None
        assert connection._transport.get_write_buffer_size() < 1024 * 1024
        for _ in range(asked):
            assert await greedy.read_frame()


async def test_a_heartbeat_that_nothing_changed_is_not_decoded_again(tmp_path: Path) -> None:
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as client:
        member = await Member.joined(client, "hot")
        seen = 0
        submit = kcoord.coordinator.submit

        def counting(*args: object) -> None:
            nonlocal seen
            seen += 1
            submit(*args)  # type: ignore[arg-type]

        kcoord.coordinator.submit = counting  # type: ignore[method-assign,assignment]
        for _ in range(100):
            assert (await member.heartbeat()).error_code == ErrorCode.NONE
        assert seen == 1
        frames = [client.frame(member.heartbeat_request(), 4) for _ in range(8)]
        client.writer.write(b"".join(data for _, data in frames))
        for correlation_id, _ in frames:
            answer = await client.read(member.heartbeat_request(), 4, correlation_id)
            assert isinstance(answer, HeartbeatResponse)
            assert answer.error_code == ErrorCode.NONE
        assert seen == 1


async def test_a_remembered_answer_does_not_outlive_what_it_says(tmp_path: Path) -> None:
    async with (
        standalone(tmp_path) as kcoord,
        await Client.connect(kcoord.port) as one,
        await Client.connect(kcoord.port) as two,
    ):
        member = await Member.joined(one, "hot")
        for _ in range(3):
            assert (await member.heartbeat()).error_code == ErrorCode.NONE
        newcomer = asyncio.create_task(Member.joined(two, "hot"))
        while (await member.heartbeat()).error_code == ErrorCode.NONE:
            pass
        assert (await member.heartbeat()).error_code == ErrorCode.REBALANCE_IN_PROGRESS
        await member.rejoin()
        await newcomer
        assert (await member.heartbeat()).error_code == ErrorCode.NONE


async def test_a_group_learns_that_a_members_connection_has_closed(tmp_path: Path) -> None:
    """CM-19, CM-20 and CM-23 ask for that."""
    async with standalone(tmp_path) as server:
        asking = await Client.connect(server.port)
        await asking.ask(HeartbeatRequest(group_id="g", member_id="m"), 4)
        host = server.coordinator._host("g")
        [connection] = host.shard.state.connections._used
        await asking.close()
        await until(lambda: not host.shard.knows_connection(connection), "its end is known")
        assert host.shard.state.is_closed(connection)
