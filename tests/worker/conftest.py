"""Which fixtures do the tests of workers share? A kcoord as users run it, and a look at its groups."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kcoord.client.connection import Connection
from kcoord.client.security import Security
from tests.kafka.kcoord_process import Kcoord
from tests.worker.stepped import Observer

_numbers = itertools.count(1)

QUICK: dict[str, object] = {
    "group.connect.min.session.timeout.ms": 1_000,
    "group.connect.session.timeout.ms": 6_000,
    "group.connect.min.heartbeat.interval.ms": 100,
    "group.connect.heartbeat.interval.ms": 500,
    "group.connect.rebalance.delay.ms": 3_000,
}
"""Short sessions and intervals, so that a test need not wait for Kafka's defaults."""


@pytest.fixture
def kcoord(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kcoord]:
    """A kcoord alone, in a process of its own; its parameter are other settings."""
    process = Kcoord(tmp_path / "kcoord", settings=QUICK | getattr(request, "param", {}))
    process.folder.mkdir()
    process.start()
    yield process
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
