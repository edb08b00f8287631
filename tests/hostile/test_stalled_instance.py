"""A request that lay in an instance which stood still frees nothing that its sender has been given since.

Two instances before one broker: all groups are those of the one that stands before it, the other one relays.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatResponse
from tests.connectgroups.worker import Worker, resources
from tests.gateway.fleet import Fleet, fleet
from tests.gateway.scripted import connect, coordinator_port, until
from tests.kafka.cluster import KafkaCluster
from tests.server.harness import Client

REFUSED = (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.NOT_COORDINATOR)
"""An older connection; one of which nobody can say whether it is older."""
FINE = (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT)
CONFIGURED = resources("a", "b", "c", "d")


async def owner_of_all(pair: Fleet) -> int:
    """The number of the instance that stands before the one broker, once both say the same."""

    async def same() -> dict[int, int] | None:
        try:
            first, second = [await pair.map(each) for each in pair.instances]
        except OSError:
            return None
        return first if first and first == second else None

    [number] = (await until(same, "both tell the same map")).values()
    return int(number)


async def joined(client: Client, group: str, member_id: str) -> Worker:
    """A worker that has joined by this connection."""
    worker = Worker(client, group, member_id)

    async def told() -> bool:
        error = await worker.join(configured=CONFIGURED)
        assert error in FINE or error.retriable, worker.last
        return not error.retriable

    await until(told, f"{member_id} has joined")
    return worker


@pytest.mark.parametrize(
    "connects_while_it_stands",
    [
        pytest.param(True, id="connected meanwhile"),
        pytest.param(False, id="connected before", marks=pytest.mark.proof),
    ],
)
async def test_a_join_that_lay_in_a_stalled_instance(
    kafka: KafkaCluster, tmp_path: Path, connects_while_it_stands: bool
) -> None:
    group = f"stalled-{int(connects_while_it_stands)}"
    with fleet(kafka, tmp_path, 2, **{"instances.session.timeout.ms": 30_000}) as pair:
        owner = await owner_of_all(pair)
        [broker] = kafka.ports
        front, stalled = pair.instances[owner], pair.other(owner)
        here, there = front.port + 1 + broker, stalled.port + 1 + broker
        await coordinator_port(front.bootstrap, group)
        warm = await joined(await connect(there), group, "w0")
        assert await warm.leave() == ErrorCode.NONE, "the other instance relays"

        old = None if connects_while_it_stands else await connect(there)
        stalled.process.freeze()
        try:
            old = old or await connect(there)
            lying = Worker(old, group, "w1").join_request(CONFIGURED)
            number, frame = old.frame(lying, 0)
            old.writer.write(frame)
            await old.writer.drain()

            first = await joined(await connect(here), group, "w1")
            await first.settle(CONFIGURED)
            second = await joined(await connect(here), group, "w2")

            async def withdrawn() -> bool:
                assert await first.heartbeat(connectors_and_tasks=None) in FINE, first.last
                return first.owned < CONFIGURED

            await until(withdrawn, "w1 is told to let go")
            runs = CONFIGURED  # it has not stopped yet
        finally:
            stalled.process.thaw()

        answer = await old.read(lying, 0, number)
        given = await second.heartbeat(), second.owned & runs
        assert given == (ErrorCode.NONE, frozenset()), "two run the same"
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        assert answer.error_code in REFUSED, answer
        assert await first.heartbeat(connectors_and_tasks=None) == ErrorCode.NONE, "it belongs to its newest connection"

        await first.heartbeat()

        async def shared() -> bool:
            assert await second.heartbeat() in FINE, second.last
            return second.owned == CONFIGURED - first.owned

        await until(shared, "what w1 has let go is w2's")
        await pair.stop()
        assert pair.relayed()["ConnectGroupHeartbeat"] >= 2
