"""Is a converged worker's heartbeat answered without being decoded, and never beyond what it says? CG-25."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_request import Assignor
from kcoord.protocol.messages import ConnectGroupHeartbeatResponse, IncrementalAlterConfigsRequest
from tests.connectgroups.configs import change
from tests.connectgroups.worker import Worker, packed, resources
from tests.gateway.scripted import connect
from tests.server.harness import Client, Running

A = resources("a", "a-0", "a-1")


@pytest.fixture
def counted(server: Running) -> list[object]:
    """Every request that reaches the coordinator, so that it was decoded."""
    seen: list[object] = []
    submit = server.coordinator.submit

    def counting(request: object, *rest: object) -> None:
        seen.append(request)
        submit(request, *rest)  # type: ignore[arg-type]

    server.coordinator.submit = counting  # type: ignore[method-assign,assignment]
    return seen


@pytest.fixture
async def worker(client: Client, name: str) -> Worker:
    """A converged one."""
    worker = Worker(client, name)
    assert await worker.join(A) == ErrorCode.NONE
    await worker.settle(A)
    return worker


async def test_the_same_frame_again_is_not_decoded(counted: list[object], worker: Worker) -> None:
    await worker.heartbeat()
    counted.clear()
    for _ in range(100):
        assert await worker.heartbeat() == ErrorCode.NONE
    frames = [worker.client.frame(worker.request(), 0) for _ in range(8)]
    worker.client.writer.write(b"".join(data for _, data in frames))
    for correlation_id, _ in frames:
        answer = await worker.client.read(worker.request(), 0, correlation_id)
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        assert (answer.error_code, answer.member_epoch, answer.assignment) == (0, worker.epoch, None)
    assert counted == []


async def test_rule_25_the_first_heartbeat_at_a_new_epoch_is_not_decoded_either(
    server: Running, counted: list[object], worker: Worker
) -> None:
    other = Worker(await connect(server.port), worker.group_id, "w2")
    await other.join()
    while worker.last.assignment is not None or len(other.owned) + len(worker.owned) < len(A) or not other.owned:
        assert await worker.heartbeat() == await other.heartbeat() == ErrorCode.NONE
    epoch = worker.epoch
    assert await other.heartbeat(server_assignor="cooperative") == ErrorCode.NONE
    told = await worker.ask(worker.request())
    assert told.member_epoch == epoch + 1
    assert told.assignment is not None
    counted.clear()
    told = await worker.ask(worker.request())
    assert (told.error_code, told.member_epoch, told.assignment) == (ErrorCode.NONE, epoch + 1, None)
    assert counted == []


async def test_rule_26_one_that_may_be_held_is_never_answered_so(counted: list[object], worker: Worker) -> None:
    await worker.heartbeat()
    counted.clear()
    for _ in range(3):
        assert await worker.heartbeat(max_wait_ms=1) == ErrorCode.NONE
    assert len(counted) == 3
    assert await worker.heartbeat() == ErrorCode.NONE


async def test_one_that_says_something_is_not_remembered(counted: list[object], worker: Worker) -> None:
    counted.clear()
    for _ in range(3):
        assert await worker.heartbeat(rebalance_timeout_ms=60_000, server_assignor="uniform") == ErrorCode.NONE
        assert worker.last.assignment is not None, "all fields: the whole answer"
    assert len(counted) == 3


async def _another_joins(server: Running, worker: Worker) -> None:
    await Worker(await connect(server.port), worker.group_id, "w2").join()


async def _resources_change(server: Running, worker: Worker) -> None:
    request = worker.request(config_offset=2, configured_connectors_and_tasks=packed(resources("b")))
    await worker.ask(request)


async def _configured(server: Running, worker: Worker) -> None:
    admin = await connect(server.port)
    altered = change(worker.group_id, {"connect.heartbeat.interval.ms": "9000"})
    await admin.ask(IncrementalAlterConfigsRequest([altered]), 1)


async def _came_elsewhere(server: Running, worker: Worker) -> None:
    elsewhere = Worker(await connect(server.port), worker.group_id, worker.member_id, worker.epoch, worker.owned)
    assert await elsewhere.heartbeat() == ErrorCode.NONE


async def _left_elsewhere(server: Running, worker: Worker) -> None:
    elsewhere = Worker(await connect(server.port), worker.group_id, worker.member_id, worker.epoch, worker.owned)
    assert await elsewhere.leave() == ErrorCode.NONE


async def _lost(server: Running, worker: Worker) -> None:
    [host] = [host for host in server.coordinator._hosts if worker.group_id in host.shard.group_ids()]
    await server.coordinator.lose(host.partition)


CHANGES: list[tuple[str, Callable[[Running, Worker], Awaitable[None]], Callable[[Any], bool]]] = [
    ("a worker that joins", _another_joins, lambda answer: answer.assignment is not None),
    ("resources that change", _resources_change, lambda answer: answer.assignment is not None),
    ("a configuration", _configured, lambda answer: answer.heartbeat_interval_ms == 9_000),
    ("the member elsewhere", _came_elsewhere, lambda answer: answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH),
    ("its leaving", _left_elsewhere, lambda answer: answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID),
    ("a lost shard", _lost, lambda answer: answer.error_code == ErrorCode.NOT_COORDINATOR),
]


@pytest.mark.parametrize(("why", "happens", "tells"), CHANGES, ids=[why for why, _, _ in CHANGES])
async def test_a_remembered_answer_does_not_outlive_what_it_says(
    server: Running,
    worker: Worker,
    why: str,
    happens: Callable[[Running, Worker], Awaitable[None]],
    tells: Callable[[Any], bool],
) -> None:
    for _ in range(3):
        assert await worker.heartbeat() == ErrorCode.NONE
    request = worker.request()
    await happens(server, worker)
    answer = await worker.client.ask(request, 0)
    assert tells(answer), answer


async def test_a_worker_that_is_asked_to_compute_is_not_answered_from_memory(
    counted: list[object], client: Client, name: str
) -> None:
    worker = Worker(client, name)
    eager: dict[str, Any] = {"server_assignor": None, "client_assignors": [Assignor("eager", 0, 0, 0, 0, b"")]}
    await worker.join(A, **eager)
    counted.clear()
    for _ in range(3):
        assert await worker.heartbeat() == ErrorCode.COMPUTE_ASSIGNMENT
    assert len(counted) == 3
