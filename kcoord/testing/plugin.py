"""The pytest plugin: the fixture `kcoord`, and an event loop with virtual time for the tests that use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Mapping

import pytest

try:
    import pytest_asyncio
except ImportError as error:
    raise ImportError("the fixture `kcoord` needs pytest-asyncio 1.4 or newer: pip install pytest-asyncio") from error

from kcoord.testing.kcoord import Kcoord
from kcoord.testing.virtual_time_loop import VirtualTimeLoop

_Factories = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_asyncio_loop_factories(item: pytest.Item) -> Generator[None, _Factories | None, _Factories]:
    """A loop with virtual time for each test that uses `kcoord`, directly or not. Other tests keep their loops."""
    others = yield
    if "kcoord" in getattr(item, "fixturenames", ()):
        return {"virtual-time": VirtualTimeLoop}
    return others or {"asyncio": asyncio.new_event_loop}


@pytest.fixture
def kcoord_settings() -> Mapping[str, object]:
    """The coordinator's settings by name. Override this fixture in a test module, a class or a conftest.py."""
    return {}


@pytest_asyncio.fixture
async def kcoord(kcoord_settings: Mapping[str, object]) -> AsyncIterator[Kcoord]:
    """A coordinator in this process, workers under test, and the clock: see `kcoord.testing.Kcoord`."""
    async with Kcoord(kcoord_settings) as running:
        yield running
