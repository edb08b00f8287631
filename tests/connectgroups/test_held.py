"""Is a heartbeat with MaxWaitMs answered when there is something to say, and never later than it may be? CG-26.

No test here says how long something took: an answer that is held is one that is not there while other things
demonstrably are, and every test ends by what lets it go.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConnectGroupHeartbeatResponse,
    IncrementalAlterConfigsRequest,
)
from tests.connectgroups.configs import change
from tests.connectgroups.worker import Worker, resources
from tests.gateway.scripted import connect, until
from tests.server.harness import Client, Running

A = resources("a", "a-0", "a-1")
LONG_MS = 3_600_000
"""Far longer than any test waits: whatever answers, it is not this."""


class Held:
    """A heartbeat on its way whose answer is held back, proved by an answer on another connection that came after."""

    def __init__(self, worker: Worker, reading: asyncio.Task[Any]) -> None:
        self.worker = worker
        self.reading = reading

    async def answer(self) -> ConnectGroupHeartbeatResponse:
        """What it is answered in the end."""
        async with asyncio.timeout(180):
            answer = await self.reading
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        self.worker.take(answer)
        return answer


async def hold(worker: Worker, max_wait_ms: int = LONG_MS) -> Held:
    """Send a heartbeat that has nothing to be told, and see that it is not answered."""
    request = worker.request(max_wait_ms=max_wait_ms)
    correlation_id, frame = worker.client.frame(request, 0)
    worker.client.writer.write(frame)
    reading = asyncio.create_task(worker.client.read(request, 0, correlation_id))
    port = worker.client.writer.get_extra_info("peername")[1]
    for _ in range(3):
        async with await Client.connect(port) as other:
            await other.ask(ApiVersionsRequest("test", "1"), 0)
    assert not reading.done()
    return Held(worker, reading)


@pytest.fixture
async def worker(client: Client, name: str) -> Worker:
    """One that owns all there is, and has been told so."""
    worker = Worker(client, name)
    assert await worker.join(A) == ErrorCode.NONE
    await worker.settle(A)
    return worker


async def test_news_let_it_go(server: Running, worker: Worker, name: str) -> None:
    held = await hold(worker)
    other = Worker(await connect(server.port), name, "w2")
    assert await other.join() == ErrorCode.NONE
    answer = await held.answer()
    assert answer.assignment is not None, "it is told to let go of something"
    assert worker.owned < A
    assert await worker.heartbeat() == ErrorCode.NONE
    await other.settle(A - worker.owned)


async def test_growth_lets_it_go(server: Running, worker: Worker, name: str) -> None:
    other = Worker(await connect(server.port), name, "w2")
    assert await other.join() == ErrorCode.NONE
    held = await hold(other)
    assert await worker.heartbeat() == ErrorCode.NONE  # told to let go
    assert await worker.heartbeat() == ErrorCode.NONE  # has let go
    assert (await held.answer()).assignment is not None
    assert other.owned == A - worker.owned


async def test_being_chosen_to_compute_lets_it_go(server: Running, client: Client, name: str) -> None:
    from kcoord.protocol.generated.connect_group_heartbeat_request import Assignor

    eager: dict[str, Any] = {"server_assignor": None, "client_assignors": [Assignor("eager", 0, 0, 0, 0, b"")]}
    worker = Worker(client, name)
    assert await worker.join(A, **eager) == ErrorCode.COMPUTE_ASSIGNMENT
    prepared = await worker.prepare()
    await worker.install(prepared.group_epoch, {"w1": A})
    await worker.settle(A)
    held = await hold(worker)
    assert await Worker(await connect(server.port), name, "w2").join(**eager) == ErrorCode.NONE
    assert (await held.answer()).error_code == ErrorCode.COMPUTE_ASSIGNMENT


async def test_another_request_of_the_connection_lets_it_go(worker: Worker) -> None:
    held = await hold(worker)
    behind = ApiVersionsRequest("test", "1")
    correlation_id, frame = worker.client.frame(behind, 0)
    worker.client.writer.write(frame)
    assert (await held.answer()).error_code == ErrorCode.NONE, "and answers stay in order"
    await worker.client.read(behind, 0, correlation_id)


async def test_the_first_bytes_of_another_request_are_enough(worker: Worker) -> None:
    held = await hold(worker)
    request = worker.request()
    correlation_id, frame = worker.client.frame(request, 0)
    worker.client.writer.write(frame[:3])
    assert (await held.answer()).error_code == ErrorCode.NONE
    worker.client.writer.write(frame[3:])
    await worker.client.read(request, 0, correlation_id)


async def test_what_stands_behind_it_already_lets_it_go_at_once(worker: Worker) -> None:
    requests = [worker.request(max_wait_ms=LONG_MS), worker.request(), ApiVersionsRequest("test", "1")]
    frames = [worker.client.frame(request, 0) for request in requests]
    worker.client.writer.write(b"".join(frame for _, frame in frames))
    async with asyncio.timeout(180):
        for request, (correlation_id, _) in zip(requests, frames, strict=True):
            await worker.client.read(request, 0, correlation_id)


async def test_rule_4_the_same_member_elsewhere_lets_it_go(server: Running, worker: Worker) -> None:
    held = await hold(worker)
    elsewhere = Worker(await connect(server.port), worker.group_id, worker.member_id, worker.epoch, worker.owned)
    assert await elsewhere.heartbeat() == ErrorCode.NONE
    assert (await held.answer()).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert await worker.heartbeat() == ErrorCode.FENCED_MEMBER_EPOCH, "it belongs to the newer connection"
    assert await elsewhere.heartbeat() == ErrorCode.NONE


async def test_leaving_elsewhere_lets_it_go(server: Running, worker: Worker) -> None:
    held = await hold(worker)
    elsewhere = Worker(await connect(server.port), worker.group_id, worker.member_id, worker.epoch, worker.owned)
    assert await elsewhere.leave() == ErrorCode.NONE
    assert (await held.answer()).error_code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH)


async def test_a_client_that_has_gone_is_not_waited_for(server: Running, worker: Worker, name: str) -> None:
    held = await hold(worker)
    held.reading.cancel()
    await worker.client.close()
    [host] = [host for host in server.coordinator._hosts if name in host.shard.group_ids()]

    async def forgotten() -> bool:
        return not host.shard.state.held

    await until(forgotten, "nobody is waited for")
    again = Worker(await connect(server.port), name, worker.member_id, worker.epoch, worker.owned)
    assert await again.heartbeat() == ErrorCode.NONE


async def test_a_shard_that_is_lost_answers_not_coordinator(server: Running, worker: Worker, name: str) -> None:
    held = await hold(worker)
    [host] = [host for host in server.coordinator._hosts if name in host.shard.group_ids()]
    await server.coordinator.lose(host.partition)
    assert (await held.answer()).error_code == ErrorCode.NOT_COORDINATOR
    assert await worker.heartbeat() == ErrorCode.NOT_COORDINATOR
    await server.coordinator.gain(host.partition)
    assert await worker.heartbeat() == ErrorCode.NOT_COORDINATOR, "CG-4: which connection was its newest is lost"
    worker.client = await connect(server.port)
    assert await worker.heartbeat() == ErrorCode.NONE
    assert worker.owned == A


async def test_it_is_answered_when_it_has_waited_as_long_as_it_may(worker: Worker) -> None:
    held = await hold(worker, max_wait_ms=300)
    answer = await held.answer()
    assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, None)


async def test_a_changed_interval_is_news(server: Running, worker: Worker, name: str) -> None:
    admin = await connect(server.port)
    await admin.ask(IncrementalAlterConfigsRequest([change(name, {"connect.heartbeat.interval.ms": "7000"})]), 1)
    assert await worker.heartbeat(max_wait_ms=LONG_MS) == ErrorCode.NONE, "not held: the next heartbeat is told"
    assert worker.last.heartbeat_interval_ms == 7_000
