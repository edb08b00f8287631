"""Tests of workers: a coordinator in the test's own process, workers under test, and a clock that the test drives.

For pytest, write `pytest_plugins = ["kcoord.testing"]` into the conftest.py at the top, or start pytest with
`pytest -p kcoord.testing`. Then there is a fixture `kcoord`. The plugin has no entry point, so that only those who ask
for it get it: pytest would import an entry point in every run wherever kcoord is installed, it would take the name
`kcoord` among the fixtures, and it would have a say in everybody's event loop. Without pytest, use `Kcoord` inside
`run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from kcoord.testing.errors import NotReached, TestingError, TimeRanAway, WorkerFailed, WorkerLeftRunning
from kcoord.testing.kcoord import Kcoord
from kcoord.testing.virtual_time_loop import VirtualTimeLoop
from kcoord.testing.worker import TestedWorker

__all__ = [
    "Kcoord",
    "NotReached",
    "TestedWorker",
    "TestingError",
    "TimeRanAway",
    "VirtualTimeLoop",
    "WorkerFailed",
    "WorkerLeftRunning",
    "run",
]

pytest_plugins = ("kcoord.testing.plugin",)
"""The plugin that pytest loads with this module. Nothing else loads it."""

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` on an event loop with virtual time, as `asyncio.run` does in real time. Returns its result."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
