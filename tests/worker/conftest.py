"""Which fixtures do the tests of workers share? A kcoord as users run it, and a look at its groups."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kcoord.client.connection import Connection
from kcoord.client.security import Security
from tests.kafka.kcoord_process import Kcoord
from tests.worker.stepped import Observer

OWN: dict[str, object] = {}
_numbers = itertools.count(1)

QUICK: dict[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.connect.min.session.timeout.ms": 1_000,
    "group.connect.session.timeout.ms": 6_000,
    "group.connect.min.heartbeat.interval.ms": 100,
    "group.connect.heartbeat.interval.ms": 500,
    "group.connect.rebalance.delay.ms": 3_000,
}
"""Short sessions and intervals, so that a test need not wait for Kafka's defaults."""


@pytest.fixture(scope="session")
def shared_kcoord(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kcoord]:
    """A kcoord alone, in a process of its own, for tests that leave it as it is."""
    with running(tmp_path_factory.mktemp("kcoord"), {}) as process:
        yield process


@pytest.fixture
def kcoord(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kcoord]:
    """The shared kcoord; one of the test's own where it is given settings (`OWN` for none)."""
    if hasattr(request, "param"):
        with running(tmp_path, request.param) as process:
            yield process
    else:
        yield request.getfixturevalue("shared_kcoord")


@contextlib.contextmanager
def running(folder: Path, settings: dict[str, object]) -> Iterator[Kcoord]:
    """A kcoord with these settings, in a process of its own."""
    process = Kcoord(folder / "kcoord", settings=QUICK | settings)
    process.folder.mkdir()
    try:
        yield process.start()
    finally:
        process.remove()


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """A name for the test's own group."""
    return f"{request.node.originalname.removeprefix('test_')[:60]}-{next(_numbers)}"


@pytest.fixture
async def observer(kcoord: Kcoord, group: str) -> AsyncIterator[Observer]:
    """A look at the test's group."""
    connection = await Connection.open("127.0.0.1", kcoord.port, Security())
    yield Observer(connection, group)
    await connection.close()
