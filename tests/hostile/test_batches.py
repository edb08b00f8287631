"""A request that names very many groups is carried out in slices and bounded memory, or refused undecoded."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import RequestHeader, encode_request_header
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConnectGroupDescribeRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    LeaveGroupRequest,
    OffsetFetchRequest,
    Request,
)
from tests.gateway.scripted import ScriptedMember, connect
from tests.hostile.conftest import PLACES, Place
from tests.hostile.frames import frame
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

GROUP = 32
MIB = 1 << 20


def names(count: int) -> list[str]:
    return [f"g{at:06}" for at in range(count)]


def written(request: Request, version: int) -> bytes:
    head = encode_request_header(RequestHeader(request.API_KEY, version, 1, None))
    data = head + request.encode(version)
    return len(data).to_bytes(4, "big") + data


def configs(count: int) -> bytes:
    """DescribeConfigs v1 of groups, with all their settings."""
    resources = b"".join(struct.pack(">bh", GROUP, 7) + name.encode() + b"\xff\xff\xff\xff" for name in names(count))
    return frame(32, 1, struct.pack(">i", count) + resources + b"\0")


def deletes(count: int) -> bytes:
    return frame(42, 0, struct.pack(">i", count) + b"".join(b"\0\7" + name.encode() for name in names(count)))


def fetches(count: int) -> bytes:
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in names(count)]
    return written(OffsetFetchRequest(groups=groups), 8)


BATCHES: dict[str, Callable[[int], bytes]] = {
    "DescribeConfigs": configs,
    "DescribeGroups": lambda count: written(DescribeGroupsRequest(groups=names(count)), 5),
    "ConnectGroupDescribe": lambda count: written(ConnectGroupDescribeRequest(group_ids=names(count)), 0),
    "DeleteGroups": deletes,
    "OffsetFetch": fetches,
    "FindCoordinator": lambda count: written(FindCoordinatorRequest(coordinator_keys=names(count)), 4),
}
NAMED = {"alone": 10_000, "gateway": 2_000}
ASKED_MEANWHILE, ATTEMPTS = 10, 20


@pytest.mark.parametrize("api", BATCHES)
async def test_others_are_answered_while_a_batch_is_in_work(
    api: str, kcoord: Kcoord, request: pytest.FixtureRequest
) -> None:
    place: Place = request.node.callspec.params["kcoord"]
    if place == "gateway" and api == "OffsetFetch":
        pytest.skip("it passes as bytes")
    count = NAMED[place]
    other = await connect(kcoord.bootstrap)
    await other.ask(ApiVersionsRequest(), 0)
    before = high_water(kcoord)
    sent = BATCHES[api](count)

    async def begin() -> asyncio.Task[bytes]:
        hostile = await connect(kcoord.bootstrap)
        hostile.writer.write(sent)
        return asyncio.create_task(hostile.read_frame())

    answer = await begun_and_not_done(begin, other, ASKED_MEANWHILE)
    assert len(await answer) > count * 7, "all are answered"
    assert high_water(kcoord) - before < 64 * MIB + 10 * len(sent)


async def begun_and_not_done(
    begin: Callable[[], Awaitable[asyncio.Task[Any]]], other: Client, asked: int
) -> asyncio.Task[Any]:
    """The answer to what `begin` asks, which is not there yet when `other` has been answered so often.

    If this process gets no CPU at that moment, the answer is there all the same, which shows nothing: so it is asked
    again. A kcoord that has no turns for others in between never lets one of them pass.
    """
    for _ in range(ATTEMPTS):
        answer = await begin()
        for _ in range(asked):
            await other.ask(ApiVersionsRequest(), 0)
        if not answer.done():
            return answer
    raise AssertionError("the others waited for the end of the request, each time")


async def test_others_are_answered_while_a_large_request_of_one_group_is_in_work(kcoord: Kcoord) -> None:
    """Counting it, decoding it, carrying it out and writing its answer have turns of the loop of their own."""
    member = await ScriptedMember.at(kcoord.bootstrap, "large")
    await member.join_and_sync()
    hostile, other = await connect(int(member.client.writer.get_extra_info("peername")[1])), await connect(kcoord.port)
    await other.ask(ApiVersionsRequest(), 0)

    async def begin() -> asyncio.Task[Any]:
        answer = asyncio.create_task(hostile.ask(request, 5))
        await asyncio.sleep(0)  # it is written
        return answer

    nobody = [MemberIdentity(member_id=f"nobody-{at}", group_instance_id=None) for at in range(19_000)]
    request = LeaveGroupRequest(group_id="large", members=nobody)
    left = await (await begun_and_not_done(begin, other, 3))
    assert [each.error_code for each in left.members] == [ErrorCode.UNKNOWN_MEMBER_ID] * len(nobody)
    assert await member.heartbeat() == ErrorCode.NONE


def high_water(kcoord: Kcoord) -> int:
    """The most memory that kcoord had, in bytes."""
    status = Path(f"/proc/{kcoord.process.popen.pid}/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


@pytest.mark.parametrize("place", PLACES)
async def test_too_much_is_refused_before_it_is_decoded(place: Place, start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord(place, request_max_groups=1000, request_max_elements=5000)
    before = high_water(kcoord)
    for api, make in BATCHES.items():
        hostile = await connect(kcoord.bootstrap)
        hostile.writer.write(make(100_000))
        if place == "gateway" and api == "OffsetFetch":
            await hostile.close()
            continue
        assert await hostile.read_frame() == b"", api
        await asyncio.to_thread(kcoord.wait_for_line, f"{api} v")
    client = await connect(kcoord.bootstrap)
    members = [MemberIdentity(member_id="m", group_instance_id=None)] * 5001
    left = await client.ask(LeaveGroupRequest(group_id="g", members=members), 4)
    assert left.error_code == ErrorCode.INVALID_REQUEST  # type: ignore[attr-defined]
    log = kcoord.log.read_text()
    assert "names 100000 groups, 1000 are allowed (request.max.groups)" in log
    assert "LeaveGroup v4 has more than 5000 elements in its arrays (request.max.elements)" in log
    assert high_water(kcoord) - before < 64 * MIB


@pytest.mark.long("19,000 members")
async def test_an_answer_that_would_be_too_large_says_so_group_by_group(start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord("alone", response_max_bytes=100_000)
    client = await connect(kcoord.bootstrap)
    described = await client.ask(DescribeGroupsRequest(groups=names(5000)), 5)
    errors = [each.error_code for each in described.groups]  # type: ignore[attr-defined]
    assert [each.group_id for each in described.groups] == names(5000)  # type: ignore[attr-defined]
    assert errors[0] == ErrorCode.NONE
    assert errors[-1] == ErrorCode.INVALID_REQUEST
    assert kcoord.log.read_text().count("(response.max.bytes)") == 1
