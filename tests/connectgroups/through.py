"""How does a worker come to its group's coordinator, as clients do: ask, connect there, join?"""

from __future__ import annotations

from typing import Any

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest
from tests.connectgroups.worker import Worker
from tests.gateway.scripted import ask, connect, until
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client


async def found_by_name(client: Client, group: str) -> Any:
    """What FindCoordinator says, once the cluster has a place where groups are kept."""
    seen: list[Any] = []

    async def known() -> bool:
        found = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        seen.append(found.coordinators[0])
        return not found.coordinators[0].error_code

    await until(known, "a coordinator")
    return seen[-1]


async def member(kcoord: Kcoord, group: str, member_id: str = "w1", **fields: Any) -> Worker:
    """A worker that has joined."""
    found = await found_by_name(await connect(kcoord.bootstrap), group)
    if kcoord.upstream is not None:
        assert found.port == kcoord.port + 2, "the broker that coordinates it, at kcoord's port"
    worker = Worker(await connect(found.port), group, member_id)

    async def joined() -> bool:  # a cluster may need a moment until its coordinator serves
        error = await worker.join(**fields)
        assert error in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT) or error.retriable, worker.last
        return not error.retriable

    await until(joined, "joined")
    return worker
