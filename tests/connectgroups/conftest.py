"""Which fixtures do the tests of connect groups share?"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.settings import GroupSettings
from tests.gateway.scripted import close_all, connect
from tests.server.harness import Client, Running, standalone

_numbers = itertools.count(1)
CONNECT = ConnectSettings(max_size=4, rebalance_delay_ms=0)
"""Four workers are enough for a test, and nobody waits for who has left."""


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for the test's own group."""
    return f"cg-{request.node.originalname.removeprefix('test_')[:60]}-{next(_numbers)}"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """A kcoord alone, in the test's own process."""
    async with standalone(tmp_path, settings=GroupSettings(initial_rebalance_delay_ms=0, connect=CONNECT)) as running:
        yield running


@pytest.fixture
async def client(server: Running) -> Client:
    """A connection to it."""
    return await connect(server.port)


@pytest.fixture(autouse=True)
async def connections() -> AsyncIterator[None]:
    """Every connection of a test ends with it."""
    yield
    await close_all()
