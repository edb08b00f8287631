"""Do classic workers of ours live under a kcoord that manages each of them on its own, and beside workers of the new
protocol? Real processes of kcoord, real sockets; what Java's do there is in `tests/javafleet`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from kcoord.assign import ConnectAssignor, CooperativeAssignor, MixedAssignor
from kcoord.worker import Configured, Worker
from tests.kafka.kcoord_process import Kcoord
from tests.worker.conftest import running
from tests.worker.driver import resources
from tests.worker.house import House

ALL = "a a-0 a-1 b b-0 b-1 c c-0 c-1"
INDIVIDUAL: dict[str, object] = {"group.connect.classic.mode": "individual"}


@pytest.fixture(scope="module")
def kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """One for all tests of this file."""
    with running(tmp_path_factory.mktemp("kcoord"), INDIVIDUAL) as process:
        yield process


@pytest.fixture
def house() -> Iterator[House]:
    house = House()
    yield house
    assert not house.twice


def worker(kcoord: Kcoord, group: str, house: House, name: str, protocol: str, *assignors: ConnectAssignor) -> Worker:
    """One of a fleet that knows what there is, all as of one offset."""
    return Worker(
        kcoord.bootstrap,
        group,
        listener=house.listener(name),
        url=f"http://{name}",
        group_protocol="classic" if protocol == "classic" else "connect",
        assignors=assignors,
        configured=Configured(5, resources(ALL), of_topic=True),
        heartbeat_interval=0.3,
        session_timeout=6,
        scheduled_rebalance_max_delay=0.5,
    )


async def test_one_after_the_other_comes_and_goes(kcoord: Kcoord, group: str, house: House) -> None:
    """CM-3 to CM-5, CM-9 to CM-11: only those whose share changes start or stop anything"""
    async with AsyncExitStack() as others:
        async with worker(kcoord, group, house, "w1", "classic"):
            await house.shared_by("w1", all_of=ALL)
            await others.enter_async_context(worker(kcoord, group, house, "w2", "classic"))
            await house.shared_by("w1", "w2", all_of=ALL)
            await others.enter_async_context(worker(kcoord, group, house, "w3", "classic"))
            await house.shared_by("w1", "w2", "w3", all_of=ALL)
            assert house.starts["w1"] == len(resources(ALL)), "nothing that it kept was started anew"
        await house.shared_by("w2", "w3", all_of=ALL)


@pytest.mark.parametrize("assignor", [MixedAssignor(), CooperativeAssignor()], ids=lambda each: each.name)
async def test_beside_workers_of_the_new_protocol(
    kcoord: Kcoord, group: str, house: House, assignor: ConnectAssignor
) -> None:
    """Whoever computes: with `connect` one of the new ones, else a classic one."""
    async with AsyncExitStack() as others:
        async with worker(kcoord, group, house, "old1", "classic"), worker(kcoord, group, house, "old2", "classic"):
            await house.shared_by("old1", "old2", all_of=ALL)
            await others.enter_async_context(worker(kcoord, group, house, "new1", "connect", assignor))
            await house.shared_by("old1", "old2", "new1", all_of=ALL)
            await others.enter_async_context(worker(kcoord, group, house, "new2", "connect", assignor))
            await house.shared_by("old1", "old2", "new1", "new2", all_of=ALL)
        await house.shared_by("new1", "new2", all_of=ALL)
        async with worker(kcoord, group, house, "old3", "classic"):
            await house.shared_by("new1", "new2", "old3", all_of=ALL)
